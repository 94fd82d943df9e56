// The comments of a review that are not sent yet, and the way to send them.

import type { JobDocument } from "../../../src/api/documents.ts";
import { app } from "../../app.ts";
import { copyText } from "../../parts/clipboard.ts";
import { type ReviewComment, reviewWords } from "../../state/diff/review.ts";
import { count } from "../../state/words.ts";
import { deliveryOf } from "./tell-agent.ts";

/** A longer text is refused by the daemon. */
const MOST = 10_000;

export function ReviewBar({ job, comments, clear }: { job: JobDocument; comments: readonly ReviewComment[]; clear: () => void }) {
	if (comments.length === 0 || !app.mayAct) return null;
	const text = reviewWords(comments);
	const { words, title, send } = deliveryOf(job);
	const isLong = text.length > MOST;
	return (
		<section class="review-bar" aria-label="Comments">
			<details>
				<summary>
					{count(comments.length)} {comments.length === 1 ? "comment" : "comments"}
				</summary>
				<pre>{text}</pre>
			</details>
			{isLong ? (
				<span class="dim">
					They have {count(text.length)} characters, at most {count(MOST)} can be sent at once.
				</span>
			) : null}
			<button
				type="button"
				class="main"
				title={title}
				disabled={send === null || isLong}
				onClick={() => send?.(`Comments of a reviewer on your changes:\n${text}`, clear)}
			>
				{words}
			</button>
			<button type="button" onClick={() => void copyText(text, "the comments")}>
				Copy
			</button>
			<button
				type="button"
				onClick={() =>
					app.confirm({
						title: "Discard the comments?",
						text: "They were not sent.",
						yes: "Discard them",
						grave: true,
						act: clear,
					})
				}
			>
				Discard…
			</button>
			{send === null ? <span class="dim">{title}</span> : null}
		</section>
	);
}
