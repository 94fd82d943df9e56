// What a run is doing now: its tool and last message, or the last line of its output; and in full for the page of its job.

import type { JobDocument } from "../../src/api/documents.ts";
import { isTerminal } from "../../src/core/job.ts";
import type { RunProgress } from "../../src/core/runs/progress.ts";
import { app } from "../app.ts";
import { activityOf, latestProgress, linesWords, short } from "../state/now.ts";
import { awaitedWords } from "../state/row.ts";
import { count, dollars } from "../state/words.ts";
import { tell } from "./actions.ts";
import { useNews } from "./hooks.ts";

type Doer = Pick<JobDocument, "agent" | "waits_for"> & { run: Pick<NonNullable<JobDocument["run"]>, "frozen"> | null };

export function Doing({ job, progress }: { job: Doer; progress: RunProgress | null }) {
	const { tool, text } = activityOf(progress);
	const waits = awaitedWords(job.waits_for);
	if (job.run?.frozen) return <span class="dim">frozen: it goes on when it is resumed</span>;
	if (waits !== null) return <span class="dim">{waits}</span>;
	return (
		<>
			{tool ? <span class="tool">▸ {tool}</span> : null}
			{text ? (
				<span class="text" title={text}>
					{job.agent && progress?.message ? `“${text}”` : text}
				</span>
			) : null}
			{!tool && !text ? <span class="dim">{job.agent ? "has said nothing yet" : "has written nothing yet"}</span> : null}
		</>
	);
}

/** One line under the head of a running job, live. */
export function DoingNow({ job }: { job: JobDocument }) {
	useNews("progress");
	if (job.status !== "running" || job.run === null) return null;
	const progress = latestProgress(app.jobs.progress.get(job.id), job.run);
	if (progress === null) return null;
	const { turns, tokens, cost_micro } = progress;
	const figures = [
		turns ? `${count(turns)} ${turns === 1 ? "turn" : "turns"}` : "",
		tokens ? `${short(tokens)} tokens` : "",
		cost_micro ? dollars(cost_micro) : "",
		linesWords(progress),
	].filter(Boolean);
	return (
		<p class="doingnow doing" aria-live="off">
			<Doing job={job} progress={progress} />
			{figures.length > 0 ? <span class="dim num"> {figures.join(" · ")}</span> : null}
		</p>
	);
}

/** What its agent was told and has not got yet, and a button to tell it more. */
export function Told({ job }: { job: JobDocument }) {
	if (job.kind !== "agent" || isTerminal(job.status) || job.question !== null) return null;
	return (
		<div class="told">
			{job.told
				.filter(({ attempt }) => attempt === null)
				.map(({ number, text, by }) => (
					<p key={number} class="question">
						{by} tells it: {text}
					</p>
				))}
			{app.mayAct ? (
				<button type="button" class="small" onClick={() => tell(job.id)}>
					Tell it something…
				</button>
			) : null}
		</div>
	);
}
