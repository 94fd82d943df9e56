// The short text beside each structured answer: a summary of a line or two.

import type { ToolDocument } from "../api/mcp-client.ts";
import type { Result } from "../api/protocol.ts";
import type { ToolMethod } from "./tools.ts";

/** An answer as `bounded` leaves it, and as a daemon of another version may give it: any field may be missing. */
type Spared<T> = T extends readonly (infer Entry)[] ? Spared<Entry>[] : T extends object ? { [Key in keyof T]?: Spared<T[Key]> } : T;

type ShownKey = "id" | "name" | "status" | "wait_reason" | "held" | "exit_kind" | "exit_code" | "end_reason";
type Job = Spared<Pick<Result<"job.show">["job"], ShownKey>>;

const called = ({ id, name }: Job) => `job ${id}${name ? ` (${name})` : ""}`;
const stand = (job: Job) => {
	const { status, wait_reason, held, exit_kind, exit_code, end_reason } = job;
	const why =
		wait_reason?.detail ??
		held?.detail ??
		(status === "succeeded" ? undefined : (end_reason ?? (exit_code ? `exit code ${exit_code}` : exit_kind)));
	return `${called(job)}: ${status}${why ? `, ${why}` : ""}`;
};
const count = (many: readonly unknown[] | undefined, noun: string) => {
	const n = many?.length ?? 0;
	return `${n} ${noun}${n === 1 ? "" : "s"}`;
};

const failures = ({ failed = 0, blocked_by_dependency = 0 }: { failed?: number; blocked_by_dependency?: number } = {}) => {
	return failed + blocked_by_dependency === 0 ? "" : `; ${failed} failed, ${blocked_by_dependency} blocked in the last 24 hours`;
};

const refusals = (refused: readonly { message?: string }[] | undefined) =>
	(refused ?? []).slice(0, 20).map(({ message }) => `refused: ${message}`);
const each = (done: string, ids: readonly number[] | undefined, refused: readonly { message?: string }[] | undefined) =>
	[`${count(ids, "job")} ${done}`, ...refusals(refused)].join("\n");

const WORDS: { [M in ToolMethod]: (answer: Spared<Result<M>>) => string } = {
	"job.add": (answer) => {
		switch (answer.outcome) {
			case "duplicate":
				return `not added: job ${answer.job} has this unique key already`;
			case "already_running":
				return `not added: job ${answer.holder} works on this item already`;
			case "deferred":
				return `not added: the queue is full${answer.limit === undefined ? "" : ` (limit ${answer.limit})`}`;
			case "queued":
				return `added ${stand(answer.job ?? {})}${typeof answer.position === "number" ? `, number ${answer.position} in line` : ""}`;
			default:
				return "the daemon does not say what became of it";
		}
	},
	"job.list": ({ jobs }) => [count(jobs, "job"), ...(jobs ?? []).slice(0, 20).map(stand)].join("\n"),
	"job.show": ({ job }) => stand(job ?? {}),
	"job.why": ({ job, reasons, position }) => {
		const all = (reasons ?? []).slice(0, 20).map(({ detail }) => `- ${detail}`);
		const place = typeof position === "number" ? `, number ${position} in line` : "";
		return [`${called(job ?? {})} is ${job?.status}${place}: ${count(reasons, "reason")}`, ...all].join("\n");
	},
	"job.cancel": ({ cancelled, requested, refused }) =>
		[`${count(cancelled, "job")} cancelled, ${count(requested, "running job")} asked to stop`, ...refusals(refused)].join("\n"),
	"job.edit": ({ job, changed }) =>
		(changed ?? []).length === 0 ? `${called(job ?? {})}: nothing changed` : `${called(job ?? {})} changed: ${(changed ?? []).join(", ")}`,
	"job.hold": ({ done, refused }) => each("held", done, refused),
	"job.release": ({ done, refused }) => each("released", done, refused),
	"job.freeze": ({ done, refused }) => each("frozen", done, refused),
	"job.thaw": ({ done, refused }) => each("thawed", done, refused),
	"job.tell": ({ job, detail }) => `${called(job ?? {})} is told: ${detail}`,
	"job.retry": ({ reset }) => `${count(reset, "job")} reset`,
	"job.logs": ({ run, stream, offset, next_offset, text, ended }) =>
		`${stream === "both" ? "stdout and stderr" : stream} of run ${run ?? "(none yet)"}, bytes ${offset} to ${next_offset}${ended ? ", all there is" : ", it goes on"}\n${text}`,
	"job.wait": ({ jobs, done }) => [done ? "all have ended" : "not all have ended yet", ...(jobs ?? []).slice(0, 20).map(stand)].join("\n"),
	"job.graph": (answer) =>
		"nodes" in answer ? `${count(answer.nodes, "job")}, ${count(answer.edges, "edge")}` : "text" in answer ? String(answer.text) : "",
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
		const { p50, p90 } = end ?? {};
		const cap = binding ? `; ${binding.cap} holds it back most` : "";
		return `${count(jobs, "job")}${p50 ? `, done about ${p50}, by ${p90} with nine chances in ten` : ""}${cap}`;
	},
	"stats.show": ({ since, until, per, total, groups }) =>
		[
			`${since} to ${until}: ${total?.ended ?? 0} jobs ended, ${total?.failed ?? 0} of them failed, ${total?.cost_micro ?? 0} micro-dollars`,
			...(groups ?? []).map((group) =>
				per === "cause"
					? `${group.name}: ${group.total?.wait_ms ?? 0} ms waited`
					: `${group.name ?? `no ${per}`}: ${group.total?.ended ?? 0} ended, ${group.total?.failed ?? 0} failed, ${group.total?.cost_micro ?? 0} micro-dollars`,
			),
		].join("\n"),
	"account.list": ({ accounts }) =>
		[
			count(accounts, "account"),
			...(accounts ?? []).map(({ name, state, until }) => `${name}: ${state}${until ? ` until ${until}` : ""}`),
		].join("\n"),
	"budget.list": ({ budgets }) =>
		[
			count(budgets, "budget"),
			...(budgets ?? []).slice(0, 20).map(({ subject, dim, used, limit }) => `${subject} ${dim}: ${used} of ${limit ?? "no limit"}`),
		].join("\n"),
};

/** The answer is that of the method: the caller has just asked for it. */
export const wordsFor = (method: ToolMethod, answer: ToolDocument): string => (WORDS[method] as (answer: ToolDocument) => string)(answer);
