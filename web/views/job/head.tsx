// The head of a job's page: what it is, how it stands and why, what it costs, how long it takes; and what can be done with it.

import { useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import type { Result } from "../../../src/api/protocol.ts";
import { isTerminal, mergeWords } from "../../../src/core/job.ts";
import { app } from "../../app.ts";
import { cancel, demote, dropMerge, holdJob, merge, priority, promote, release, rerun, retry, runNow } from "../../parts/actions.ts";
import { Moment, Running, Span, StatusChip } from "../../parts/bits.tsx";
import { useNews } from "../../parts/hooks.ts";
import { openForm } from "../../parts/overlay.ts";
import { lateness } from "../../state/now.ts";
import { awaitedWords, commandLine, labelOf, mergeTrouble } from "../../state/row.ts";
import { count, dollars, elapsed, inWords, localTimes, moment } from "../../state/words.ts";

export type WhyAnswer = Result<"job.why">;

export function Head({ told }: { told: WhyAnswer }) {
	const { job } = told;
	const reason = reasonWords(told);
	return (
		<div class="jobhead">
			<p class="back">
				<button type="button" class="link" onClick={() => app.go({ job: null })}>
					← Back
				</button>
			</p>
			<h1 title={labelOf(job)}>
				<span class="id num">{job.id}</span> {labelOf(job)}
			</h1>
			<p class="facts">
				<StatusChip status={job.status} />
				{reason === null ? null : <span class="reason">{reason}</span>}
				<Chips job={job} />
				<Times told={told} />
				<Cost job={job} />
			</p>
			{app.mayAct ? <Acts job={job} /> : null}
		</div>
	);
}

/** Why it stands as it does, in the daemon's words. */
function reasonWords({ job, reasons }: WhyAnswer): string | null {
	if (job.status === "running") return job.run?.frozen ? "frozen" : awaitedWords(job.waits_for);
	if (job.status === "succeeded") return null;
	if (isTerminal(job.status)) return job.end_reason ?? job.last_failure ?? (job.exit_kind ? inWords(job.exit_kind) : null);
	if (job.question !== null) return "asks you";
	const [first, ...others] = reasons;
	return first ? `${localTimes(first.detail)}${others.length > 0 ? ` and ${count(others.length)} more` : ""}` : "about to start";
}

function Chips({ job }: { job: JobDocument }) {
	return (
		<>
			{job.agent ? <span class="chip">{[job.agent, job.model].filter(Boolean).join(" ")}</span> : null}
			{job.repo ? <span class="chip">{job.repo}</span> : null}
			<span class="chip lane">{job.lane}</span>
			{job.batch ? <span class="chip">{job.batch}</span> : null}
			{job.run?.frozen ? <span class="chip">frozen</span> : null}
			{job.merge_status && job.merge_status !== "none" ? (
				<span class="chip">{job.merge_status === "merged" ? mergeWords(job) : `merge ${mergeWords(job)}`}</span>
			) : null}
		</>
	);
}

function Cost({ job }: { job: JobDocument }) {
	const usage: Record<string, number> = job.usage;
	const cost = (usage.cost_micro ?? 0) + (job.run?.progress?.cost_micro ?? 0);
	return cost > 0 ? <span class="num">{dollars(cost)}</span> : null;
}

/** How long it runs or ran, beside what is usual, and when it is expected. */
function Times({ told: { job, eta } }: { told: WhyAnswer }) {
	useNews("clock");
	const ended = isTerminal(job.status);
	const usual = eta?.basis?.like === "same" ? (eta.basis.usual ?? null) : null;
	const end = eta?.end ? moment(Date.parse(eta.end.p50), app.now()) : null;
	const begin = eta?.start ? moment(Date.parse(eta.start.p50), app.now()) : null;
	if (job.status === "running" && job.started_at) {
		const took = app.now() - Date.parse(job.started_at);
		const isLate = lateness(took, usual) === "late";
		return (
			<span class="dim">
				runs for <Running since={Date.parse(job.started_at)} />
				{usual ? ` of usually ${usual.p50_ms < 1000 ? "< 1 s" : elapsed(usual.p50_ms)}` : ""}
				{isLate ? <span class="chip late">late</span> : null}
				{end ? `, done about ${end}` : ""}
			</span>
		);
	}
	if (ended && job.ended_at)
		return (
			<span class="dim">
				ended <Moment at={Date.parse(job.ended_at)} />
				{job.started_at ? (
					<>
						{" "}
						after <Span ms={Date.parse(job.ended_at) - Date.parse(job.started_at)} />
					</>
				) : null}
			</span>
		);
	return (
		<span class="dim">
			added <Moment at={Date.parse(job.created_at)} />
			{begin ? `, starts about ${begin}` : ""}
		</span>
	);
}

function Acts({ job }: { job: JobDocument }) {
	const ended = isTerminal(job.status);
	const waits = !ended && job.status !== "running";
	const row = { id: job.id, label: labelOf(job), status: job.status };
	const all: [words: string, act: () => void, is?: "main"][] = [];
	if (waits) {
		all.push(["Run next", () => runNow(job.id)], ["To the front", () => promote(job.id)], ["To the end", () => demote(job.id)]);
		all.push(["Priority…", () => priority(job.id, job.priority)], ["Edit…", () => openForm("edit", job.id)]);
		all.push(job.hold ? ["Release", () => release([job.id])] : ["Hold…", () => holdJob(job.id)]);
	}
	if (mergeTrouble(job) !== null) {
		all.push(["Merge again", () => merge(job.id), "main"], ["Give up the merge…", () => dropMerge(job.id)]);
	}
	if (!ended) all.push(["Cancel…", () => cancel(row)]);
	else if (job.kind !== "kernel") all.push(["Retry…", () => retry(row)], ["Run again alone…", () => rerun(job.id)]);
	all.push(["Clone…", () => openForm("clone", job.id)]);
	return (
		<div class="acts">
			{all.map(([words, act, is]) => (
				<button key={words} type="button" class={is ?? ""} onClick={act}>
					{words}
				</button>
			))}
		</div>
	);
}

/** More lines or letters than this are folded. */
const FOLDED = { lines: 8, letters: 900 };

/** What it is to do: the prompt, or the command; all of it on request. */
export function Does({ job: { prompt, command, payload } }: { job: Pick<JobDocument, "prompt" | "command"> & { payload?: unknown } }) {
	const [open, setOpen] = useState(false);
	const text = prompt ?? (command ? commandLine(command) : payload ? JSON.stringify(payload, null, 2) : null);
	if (text === null) return null;
	const isLong = text.length > FOLDED.letters || text.split("\n", FOLDED.lines + 1).length > FOLDED.lines;
	return (
		<div class={`task ${isLong && !open ? "folded" : ""}`}>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys */}
			<pre class="does" title={prompt === null ? "Command" : "Prompt"} tabIndex={0}>
				{text}
			</pre>
			{isLong ? (
				<button type="button" class="small" aria-expanded={open} onClick={() => setOpen(!open)}>
					{open ? "Fold" : `All of the ${prompt === null ? "command" : "prompt"}`}
				</button>
			) : null}
		</div>
	);
}
