// The short text beside each structured answer: a summary of a line or two.

import type { ToolDocument } from "./client.ts";
import type { ToolMethod } from "./tools.ts";

type Job = { id: number; name?: string | null; status: string; lane?: string } & {
	wait_reason?: { detail: string } | null;
	held?: { detail: string } | null;
} & ToolDocument;

const called = ({ id, name }: Job) => `job ${id}${name ? ` (${name})` : ""}`;
const stand = (job: Job) => {
	const { status, wait_reason, held, exit_kind, exit_code, end_reason } = job;
	const why =
		wait_reason?.detail ??
		held?.detail ??
		(status === "succeeded" ? undefined : (end_reason ?? (exit_code ? `exit code ${exit_code}` : exit_kind)));
	return `${called(job)}: ${status}${why ? `, ${why}` : ""}`;
};
const count = (many: unknown, noun: string) => {
	const n = Array.isArray(many) ? many.length : 0;
	return `${n} ${noun}${n === 1 ? "" : "s"}`;
};

const failures = (some: unknown) => {
	const { failed = 0, blocked_by_dependency = 0 } = (some ?? {}) as { failed?: number; blocked_by_dependency?: number };
	return failed + blocked_by_dependency === 0 ? "" : `; ${failed} failed, ${blocked_by_dependency} blocked in the last 24 hours`;
};

const WORDS: Record<ToolMethod, (answer: ToolDocument) => string> = {
	"job.add": ({ outcome, job, holder, limit, position }) => {
		if (outcome === "duplicate") return `not added: job ${job} has this unique key already`;
		if (outcome === "already_running") return `not added: job ${holder ?? job} works on this item already`;
		if (outcome === "deferred") return `not added: the queue is full${limit === undefined ? "" : ` (limit ${limit})`}`;
		return `added ${stand(job as Job)}${typeof position === "number" ? `, number ${position} in line` : ""}`;
	},
	"job.list": ({ jobs }) => [count(jobs, "job"), ...(jobs as Job[]).slice(0, 20).map(stand)].join("\n"),
	"job.show": ({ job }) => stand(job as Job),
	"job.why": ({ job, reasons, position }) => {
		const all = (reasons as { detail: string }[]).slice(0, 20).map(({ detail }) => `- ${detail}`);
		const place = typeof position === "number" ? `, number ${position} in line` : "";
		return [`${called(job as Job)} is ${(job as Job).status}${place}: ${count(reasons, "reason")}`, ...all].join("\n");
	},
	"job.cancel": ({ cancelled, requested, refused }) =>
		[
			`${count(cancelled, "job")} cancelled, ${count(requested, "running job")} asked to stop`,
			...((refused ?? []) as { message: string }[]).slice(0, 20).map(({ message }) => `refused: ${message}`),
		].join("\n"),
	"job.retry": ({ reset }) => `${count(reset, "job")} reset`,
	"job.logs": ({ run, stream, offset, next_offset, text, ended }) =>
		`${stream === "both" ? "stdout and stderr" : stream} of run ${run ?? "(none yet)"}, bytes ${offset} to ${next_offset}${ended ? ", all there is" : ", it goes on"}\n${text}`,
	"job.wait": ({ jobs, done }) =>
		[done ? "all have ended" : "not all have ended yet", ...(jobs as Job[]).slice(0, 20).map(stand)].join("\n"),
	"job.graph": ({ nodes, edges, text }) => (typeof text === "string" ? text : `${count(nodes, "job")}, ${count(edges, "edge")}`),
	"run.verdict": ({ job, verdict }) =>
		verdict === "fail"
			? `noted: job ${job} will end as failed. End your work now.`
			: verdict === "ask"
				? `noted: a person is asked when your run has ended. End your work now; job ${job} goes on with the answer.`
				: `noted: job ${job} is ok.`,
	"run.result": ({ job, bytes }) => `noted: job ${job} has its result (${bytes} bytes).`,
	"scheduler.status": ({ paused, queued_total, queued_ready, queued_held, running, max_concurrent, holds, recent_failures }) =>
		`${paused ? "paused, " : ""}${running} running of ${max_concurrent}, ${queued_total} waiting, ${queued_ready} of them ready${queued_held ? ` (${queued_held} held)` : ""}, ${count(holds, "hold")}${failures(recent_failures)}`,
	"scheduler.pause": ({ scope }) => `paused: ${scope}`,
	"scheduler.resume": ({ scope, paused, was_paused }) =>
		paused
			? `${scope} is still paused`
			: was_paused === false
				? scope === "all"
					? "nothing was paused"
					: `${scope} was not paused`
				: `resumed: ${scope}`,
	"scheduler.forecast": ({ jobs, end, binding }) => {
		const { p50, p90 } = (end ?? {}) as { p50?: string; p90?: string };
		const cap = binding === null || binding === undefined ? "" : `; ${(binding as { cap: string }).cap} holds it back most`;
		return `${count(jobs, "job")}${p50 ? `, done about ${p50}, by ${p90} with nine chances in ten` : ""}${cap}`;
	},
	"account.list": ({ accounts }) =>
		[
			count(accounts, "account"),
			...(accounts as ToolDocument[]).map(({ name, state, until }) => `${name}: ${state}${until ? ` until ${until}` : ""}`),
		].join("\n"),
	"budget.list": ({ budgets }) =>
		[
			count(budgets, "budget"),
			...(budgets as ToolDocument[])
				.slice(0, 20)
				.map(({ subject, dim, used, limit }) => `${subject} ${dim}: ${used} of ${limit ?? "no limit"}`),
		].join("\n"),
};

export const wordsFor = (method: ToolMethod, answer: ToolDocument): string => WORDS[method](answer);
