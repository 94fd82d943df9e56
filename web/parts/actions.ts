// All actions of the page: the confirmation, the call, the message afterwards.

import type { JobDocument } from "../../src/api/documents.ts";
import { grantWords, isGrantable } from "../../src/core/agents/permissions/denied.ts";
import { app } from "../app.ts";
import type { PageRow } from "../state/row.ts";
import { count, dollars, inWords, microsOf } from "../state/words.ts";
import { keepDraft } from "./drafts.ts";

export type Scope = { lane?: string; repo?: string; batch?: string; account?: string };
const scopeWords = (scope: Scope | { agent: string }): string =>
	Object.entries(scope)
		.map(([kind, name]) => `${kind} ${name}`)
		.join(" ") || "everything";
const jobs = (some: readonly number[]): string =>
	some.length === 1 ? `job ${some[0]}` : `${count(some.length)} jobs${some.length > 0 && some.length <= 8 ? ` (${some.join(", ")})` : ""}`;

/** A pause of everything stops the whole fleet, so it is asked about; a smaller one is done at once and can be undone. */
export function askPause(): void {
	app.confirm({
		title: "Pause everything?",
		text: "Nothing new starts until it is resumed. What runs goes on.",
		yes: "Pause everything",
		grave: false,
		act: () => pause(),
	});
}

export function pause(scope: Scope = {}): void {
	void app.act(
		"scheduler.pause",
		scope,
		({ kernel }) =>
			`Paused ${scopeWords(scope)}: nothing new starts, what runs goes on.${
				Object.keys(scope).length === 0 && kernel.queued > 0 ? " Entries of the kernel's queue can still be claimed." : ""
			}`,
		() => resume(scope),
	);
}
export function resume(scope: Scope = {}): void {
	void app.act(
		"scheduler.resume",
		scope,
		() => `Resumed ${scopeWords(scope)}.`,
		() => pause(scope),
	);
}

export function holdJob(id: number): void {
	app.confirm({
		title: `Hold job ${id}?`,
		text: "It does not start before it is released.",
		yes: "Hold it",
		grave: false,
		first: "yes",
		field: { label: "Why (for the record)", value: "", needed: false, lines: 1 },
		act: (reason) => void app.act("job.hold", { ids: [id], ...(reason ? { reason } : {}) }, () => `Job ${id} is held.`),
	});
}
export const release = (ids: number[]) =>
	void app.act("job.release", { ids }, ({ done }) => (done.length === 1 ? `Released job ${done[0]}.` : `Released ${done.length} jobs.`));

export const promote = (id: number) => void app.act("job.promote", { id }, () => `Job ${id} is first in its lane now.`);
export const demote = (id: number) => void app.act("job.demote", { id }, () => `Job ${id} is last in its lane now.`);
export const runNow = (id: number) =>
	void app.act("job.run_now", { id }, ({ reasons = [] }) =>
		reasons.length === 0
			? `Job ${id} goes before all others now.`
			: `Job ${id} goes first of all as soon as it can: ${reasons.map(({ detail }) => detail).join("; ")}.`,
	);
export const approve = (id: number) => void app.act("job.approve", { id }, () => `Approved job ${id}.`);

export function reject(id: number): void {
	app.confirm({
		title: `Reject job ${id}?`,
		text: "It ends as cancelled, and what waits for it cannot run.",
		yes: "Reject",
		grave: true,
		field: { label: "Why (for the record)", value: "", needed: false, lines: 1 },
		act: (reason) => void app.act("job.reject", { id, ...(reason ? { reason } : {}) }, () => `Rejected job ${id}.`),
	});
}

export function cancel(row: Pick<PageRow, "id" | "label" | "status">): void {
	app.confirm({
		title: `Cancel job ${row.id}?`,
		text: row.status === "running" ? `“${row.label}” runs: it is asked to stop, then made to.` : `“${row.label}” will not run.`,
		yes: "Cancel the job",
		grave: true,
		field: { label: "Why (for the record)", value: "", needed: false, lines: 1 },
		act: (reason) =>
			void app.act("job.cancel", { id: row.id, ...(reason ? { reason } : {}) }, ({ cancelled, requested }) =>
				requested.length > 0 ? `Asked ${jobs(requested)} to stop.` : `Cancelled ${jobs(cancelled)}.`,
			),
	});
}

export function retry(row: Pick<PageRow, "id" | "label">): void {
	app.confirm({
		title: `Retry job ${row.id}?`,
		text: `“${row.label}” and everything that comes after it begin again; what they had reached is put back.`,
		yes: "Retry",
		grave: false,
		first: "yes",
		act: () => void app.act("job.retry", { id: row.id }, ({ reset }) => `Put back ${jobs(reset)}: they run again when it is their turn.`),
	});
}

export function rerun(id: number): void {
	app.confirm({
		title: `Run job ${id} again, alone?`,
		text: "What comes after it stays as it is.",
		yes: "Run again",
		grave: false,
		first: "yes",
		act: () => void app.act("job.rerun", { id }, () => `Job ${id} runs again.`),
	});
}

export const merge = (id: number) => void app.act("job.merge", { id }, () => `Job ${id} is in line to be merged.`);

export function dropMerge(id: number): void {
	app.confirm({
		title: `Give up the merge of job ${id}?`,
		text: "Its branch stays, nothing is merged, and what waits for the merge cannot run.",
		yes: "Give it up",
		grave: true,
		field: { label: "Why (for the record)", value: "", needed: false, lines: 1 },
		act: (reason) => void app.act("job.merge", { id, drop: true, ...(reason ? { reason } : {}) }, () => `Gave up the merge of job ${id}.`),
	});
}

/** Sends an answer that was typed in place, a permission, or both; its draft goes when it has arrived. */
export async function sendAnswer(id: number, text: string, mode = ""): Promise<"done" | "failed"> {
	const how = await app.act(
		"job.answer",
		{ id, ...(text.trim() === "" ? {} : { text }), ...(mode === "" ? {} : { permission: mode as "edit" | "full" | "asked" }) },
		() => `Answered job ${id}: it goes on with that.`,
	);
	if (how === "done") keepDraft(`answer ${id}`, "");
	return how;
}

export type Asking = Pick<JobDocument, "id" | "question" | "agent" | "permission" | "granted" | "denied">;

/** What a person can grant with the answer, as value and words. */
export function grantsFor({ agent, permission, granted, denied }: Asking): [string, string][] {
	const now = granted?.permission ?? permission;
	return [
		["", "nothing more than now"],
		...((denied ?? []).length > 0 && isGrantable(denied, agent)
			? [["asked", `what it was denied: ${grantWords(denied).join("; ")}`] as [string, string]]
			: []),
		...(now === "ask" ? [["edit", "edit files"] as [string, string]] : []),
		...(now === "full" ? [] : [["full", "everything"] as [string, string]]),
	];
}

export function answer(job: Asking): void {
	const { id, question, agent } = job;
	app.confirm({
		title: `Answer job ${id}`,
		text: question ?? "",
		yes: "Send the answer",
		grave: false,
		field: { label: "Your answer", value: "", needed: true, lines: 5, draft: `answer ${id}` },
		...(agent === null ? {} : { choice: { label: "It may now do without asking", options: grantsFor(job) } }),
		act: (text, mode) => void sendAnswer(id, text, mode),
	});
}

export function tell(id: number): void {
	app.confirm({
		title: `Tell job ${id} something`,
		text: "Its agent gets it as soon as it can: a run that can be resumed goes on with it after its present turn, any other job with its next run.",
		yes: "Tell it",
		grave: false,
		field: { label: "What it should know", value: "", needed: true, lines: 5, draft: `tell ${id}` },
		act: (text) => void app.act("job.tell", { id, text }, ({ detail }) => `Job ${id}: ${detail}.`),
	});
}

export function priority(id: number, now: number): void {
	app.confirm({
		title: `Priority of job ${id}`,
		text: "Its own term of the sum: higher goes sooner.",
		yes: "Set",
		grave: false,
		field: { label: "A whole number", value: String(now), needed: true, lines: 1 },
		act: (text) =>
			/^-?\d{1,7}$/.test(text.trim())
				? void app.act("job.priority", { id, priority: Number(text) }, () => `Job ${id} has priority ${text.trim()} now.`)
				: app.say("failed", `A priority is a whole number, not “${text}”.`),
	});
}

type Cap = number | null;
const capWords = (what: string, max: Cap): string => (max === null ? `${what}: no cap any more.` : `${what}: at most ${count(max)} runs.`);

/** Sets a cap, and offers the old one. */
export const setMax = (max: Cap, before: Cap) =>
	app.act(
		"config.set",
		{ key: "max_concurrent", value: max ?? -1 },
		() => capWords("Everything", max),
		() => void setMax(before, max),
	);
export const setLane = (name: string, max: Cap, before: Cap) =>
	app.act(
		"lane.set",
		{ name, max },
		() => capWords(`Lane ${name}`, max),
		() => void setLane(name, before, max),
	);

/** A cap of nothing stops its jobs, and no cap at all can start hundreds: both are asked about. */
export function askCap(what: string, max: Cap, set: () => void): void {
	if (max !== null && max > 0) set();
	else
		app.confirm({
			title: max === null ? `No cap for ${what}?` : `Stop ${what}?`,
			text: max === null ? "As many runs start as there are jobs." : "With a cap of 0 none of its jobs starts any more.",
			yes: max === null ? "Remove the cap" : "Set the cap to 0",
			grave: max === 0,
			act: set,
		});
}

/** Asks for a cap as a number or `none`; `lane` null is the cap of everything. */
export function askMax(lane: string | null, now: Cap): void {
	const what = lane === null ? "everything" : `lane ${lane}`;
	app.confirm({
		title: `Cap of ${what}`,
		text: "Maximum concurrent runs, in force at once and kept in the configuration. “none” removes the cap.",
		yes: "Set the cap",
		grave: false,
		field: { label: "A whole number, or none", value: now === null ? "none" : String(now), needed: true, lines: 1 },
		act: (text) => {
			const word = text.trim().toLowerCase();
			if (word !== "none" && !/^\d{1,6}$/.test(word)) return app.say("failed", `A cap is a whole number or none, not “${text}”.`);
			const max = word === "none" ? null : Number(word);
			if (max === 0 && lane === null) return app.say("failed", "A cap of everything is 1 or more; to start nothing, pause everything.");
			askCap(what, max, () => void (lane === null ? setMax(max, now) : setLane(lane, max, now)));
		},
	});
}

export function clearAccount(name: string): void {
	app.confirm({
		title: `Open account ${name} again?`,
		text: "Jobs that wait for it start at once. If the provider still limits it, it closes again.",
		yes: "Open it",
		grave: false,
		act: () => void app.act("account.clear", { name }, () => `Account ${name} is open.`),
	});
}

/** Money is asked for in dollars; everything else in whole units. */
export function setBudget(subject: string, dim: string, limit: number | null, window: "hour" | "day" | null): void {
	const isMoney = dim === "cost_micro";
	const what = isMoney ? "cost" : inWords(dim);
	app.confirm({
		title: `Limit of ${what} for ${subject.replace(":", " ")}`,
		text: `${isMoney ? "In dollars" : "In whole units"}${window ? `, anew each ${window}` : ""}. What waits for it goes on at once.`,
		yes: "Set the limit",
		grave: false,
		field: {
			label: isMoney ? "Limit in dollars" : "Limit",
			value: limit === null ? "" : isMoney ? String(limit / 1_000_000) : String(limit),
			needed: true,
			lines: 1,
		},
		act: (text) => {
			const value = isMoney ? microsOf(text) : /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
			if (value === null)
				app.say("failed", isMoney ? `An amount is like 5 or 2.50, not “${text}”.` : `A limit is a whole number, not “${text}”.`);
			else
				void app.act(
					"budget.grant",
					{ subject, dim, limit: value, window },
					() => `${subject.replace(":", " ")}: ${what} up to ${isMoney ? dollars(value) : count(value)}.`,
				);
		},
	});
}

/** Asks for a higher limit of a budget that is used up; `of` is the subject of a cause: `repo:app/cost_micro`. */
export async function grantMore(of: string): Promise<void> {
	const [, subject = "", dim = ""] = /^(.*)\/([^/]+)$/s.exec(of) ?? [];
	const { budgets } = await app.call("budget.list", { subject });
	const found = budgets.find((one) => one.dim === dim);
	setBudget(subject, dim, found?.limit ?? null, found?.window ?? null);
}

export function cancelBatch(name: string): void {
	app.confirm({
		title: `Cancel batch ${name}?`,
		text: "Its waiting jobs end at once, its running ones are asked to stop.",
		yes: "Cancel the batch",
		grave: true,
		act: () =>
			void app.act(
				"batch.cancel",
				{ name },
				({ cancelled, requested }) => `Cancelled ${jobs(cancelled)}, asked ${jobs(requested)} to stop.`,
			),
	});
}
export function retryBatch(name: string): void {
	app.confirm({
		title: `Retry what failed in batch ${name}?`,
		text: "Jobs that failed, were cancelled or expired begin again, each with what comes after it.",
		yes: "Retry",
		grave: false,
		act: () =>
			void app.act(
				"batch.retry",
				{ name },
				({ reset, skipped }) => `Put back ${jobs(reset)}${skipped.length > 0 ? `; ${skipped.length} stay` : ""}.`,
			),
	});
}
export const closeBatch = (name: string) =>
	void app.act("batch.close", { name }, () => `Batch ${name} closes when its last job has ended.`);

export function clearQueue(): void {
	app.confirm({
		title: "Clear the queue?",
		text: "All jobs that do not run end as cancelled. Running ones go on.",
		yes: "Clear the queue",
		grave: true,
		act: () => void app.act("scheduler.clear", {}, ({ cleared }) => `Cleared ${jobs(cleared)}.`),
	});
}

function closeBreaker(scope: { agent: string } | { repo: string }): void {
	const what = scopeWords(scope);
	void app.act("scheduler.resume", scope, ({ breaker_closed }) =>
		breaker_closed ? `The breaker of ${what} is closed: its jobs start again.` : `The breaker of ${what} had closed already.`,
	);
}

export function drainHost(name: string): void {
	app.confirm({
		title: `Drain host ${name}?`,
		text: "It takes no more jobs, also after a restart, until it is undrained. What runs on it goes on.",
		yes: "Drain it",
		grave: false,
		field: { label: "Why (for the record)", value: "", needed: false, lines: 1 },
		act: (reason) => void app.act("host.drain", { name, ...(reason ? { reason } : {}) }, () => `Host ${name} takes no more jobs.`),
	});
}
export const undrainHost = (name: string) => void app.act("host.undrain", { name }, () => `Host ${name} takes jobs again.`);
export function removeHost(name: string): void {
	app.confirm({
		title: `Forget host ${name}?`,
		text: "It is gone. If it comes back it is a new one.",
		yes: "Forget it",
		grave: true,
		act: () => void app.act("host.remove", { name }, ({ removed }) => `Host ${removed} is forgotten.`),
	});
}

/** Ends a hold, in the way that its kind needs. */
export function clearHold({ scope, kind }: { scope: string; kind: string }): void {
	const [what = "", name = ""] = scope.split(/:(.*)/s);
	if (kind === "paused") resume(what === "all" || what === "" ? {} : { [what]: name });
	else if (what === "account") clearAccount(name);
	else if (what === "agent" || what === "repo") closeBreaker({ [what]: name } as { agent: string });
}

export function cancelEntry(sched_id: number): void {
	app.confirm({
		title: `Cancel entry ${sched_id}?`,
		text: "It is not handed out to a worker any more.",
		yes: "Cancel it",
		grave: true,
		act: () => void app.act("kernel.sched.cancel", { sched_id }, () => `Entry ${sched_id} is cancelled.`),
	});
}
