// Where a person answers a job that asks, or grants what it was denied: the same on the home and on the job's page.

import { useState } from "preact/hooks";
import { type Asking, grantsFor, sendAnswer } from "./actions.ts";
import { keepDraft, recallDraft } from "./drafts.ts";

export function AnswerBox({ job }: { job: Asking }) {
	const name = `answer ${job.id}`;
	const [words, setWords] = useState(recallDraft(name));
	const [grant, setGrant] = useState("");
	const lacks = words.trim() === "" && grant === "";
	const send = async () => {
		if (lacks || (await sendAnswer(job.id, words, grant)) !== "done") return;
		setWords("");
		setGrant("");
	};
	return (
		<form
			class="answer"
			onSubmit={(event) => {
				event.preventDefault();
				void send();
			}}
			onKeyDown={(event) => {
				if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
			}}
		>
			<textarea
				rows={Math.max(2, Math.min(8, words.split("\n").length))}
				placeholder="Your answer; Ctrl Enter sends it"
				aria-label={`Your answer to job ${job.id}`}
				value={words}
				onInput={(event) => {
					setWords(event.currentTarget.value);
					keepDraft(name, event.currentTarget.value);
				}}
			/>
			<button type="submit" class="main" disabled={lacks}>
				Send
			</button>
			{job.agent === null ? null : (
				<label class="grants">
					It may now do without asking{" "}
					<select value={grant} onChange={(event) => setGrant(event.currentTarget.value)}>
						{grantsFor(job).map(([value, text]) => (
							<option key={value} value={value}>
								{text}
							</option>
						))}
					</select>
				</label>
			)}
		</form>
	);
}
