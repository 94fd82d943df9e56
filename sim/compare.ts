// Holds the engine's jobs against the model's, field by field: the first difference, in words.

import type { AgentState, BudgetView, JobView, StatusReport } from "../src/contracts/scheduler.ts";
import { RUN_NOW } from "../src/core/order.ts";
import { same } from "./model/agree.ts";
import { isHeldOff, lockRefusals } from "./model/gates/locks.ts";
import { viewOf } from "./model/standing.ts";
import { isKernel, isWaiting, type ModelJob, type State, waiting } from "./model/state.ts";
import { awaitedBy } from "./model/waits.ts";

const absent = (value: unknown) =>
	value === undefined || value === null || value === 0 || value === "" || value === "none" || (Array.isArray(value) && value.length === 0);

type Edges = readonly { job: number }[] | undefined;
const inJobOrder = (edges: Edges) => edges && [...edges].sort((a, b) => a.job - b.job);

function differs(engine: unknown, model: unknown): boolean {
	if (absent(engine) && absent(model)) return false;
	return !same(engine, model);
}

/** Kept for an overdue job, perhaps. */
const mayBeReserved = (state: State, job: ModelJob) => lockRefusals(state, job).length > 0;

/** Better jobs of its kind were woken for the same key: it may still be shown in the lock's line. */
const mayLineUp = (state: State, job: ModelJob) =>
	job.locks.length > 0 &&
	waiting(state).some(
		(other) =>
			other.id !== job.id &&
			other.lane === job.lane &&
			other.ready_at !== undefined &&
			other.locks.some((lock) => job.locks.some((mine) => mine.key === lock.key)),
	);

function statusDiffers(state: State, job: ModelJob, view: JobView): boolean {
	if (view.status === job.status) return false;
	if (!isWaiting(job)) return true;
	if (job.status === "queued" && job.ready_at !== undefined && view.status === "waiting_on_locks")
		return !mayLineUp(state, job) && !mayBeReserved(state, job);
	// Kept by a reservation alone: that comes and goes with time, the line need not move.
	if (job.status === "waiting_on_locks" && view.status === "queued") return isHeldOff(state, job);
	return true;
}

const wait = (view: JobView) => view.wait_reason?.kind;

function jobDifference(state: State, job: ModelJob, view: JobView): string | null {
	const say = (field: string, engine: unknown, model: unknown) =>
		`job ${job.id}: ${field} is ${JSON.stringify(engine)}, the model says ${JSON.stringify(model)}`;
	if (statusDiffers(state, job, view))
		return say(
			"status",
			`${view.status} (${view.wait_reason?.detail ?? view.end_reason ?? ""})`,
			`${job.status} (${job.wait?.codes.join("/") ?? job.end_reason ?? ""})`,
		);
	const fields = [
		"kind",
		"lane",
		"repo",
		"account",
		"owner",
		"agent",
		"batch",
		"priority",
		"created_at",
		"runnable_at",
		"deadline",
		"approval",
		"question",
		"granted",
		"denied",
		"closing_question",
		"failures",
		"attempt",
		"dispatch_failures",
		"backoff_until",
		"merge_status",
		"ended_at",
	] as const;
	for (const field of fields) {
		if (isKernel(job) && !["priority", "created_at", "runnable_at"].includes(field)) continue;
		const mine = field === "backoff_until" && (job.backoff_until ?? 0) <= state.now ? undefined : job[field];
		const theirs = field === "backoff_until" && (view.backoff_until ?? 0) <= state.now ? undefined : view[field];
		if (differs(theirs, mine)) return say(field, theirs, mine);
	}
	if (!isKernel(job)) {
		const said = (one: { verdict: string; text: string } | undefined) => (one ? [one.verdict, one.text] : undefined);
		const [theirs, mine] = [said(view.run ? view.run.verdict : view.verdict), said(job.run ? job.run.verdict : job.verdict)];
		if (differs(theirs, mine)) return say("verdict", theirs, mine);
		if (differs(view.result, job.result)) return say("result", view.result, job.result);
	}
	if (differs(view.hold !== undefined, job.hold === true)) return say("hold", view.hold, job.hold);
	if (differs(view.parent, job.path.at(-1))) return say("parent", view.parent, job.path.at(-1));
	// An edit may write the gate on the parent after the others: their order means nothing.
	if (differs(inJobOrder(view.after), inJobOrder(job.after))) return say("after", view.after, job.after);
	if (differs(view.depth, job.path.length)) return say("depth", view.depth, job.path.length);
	// To the number: that somebody promoted it once more shows in nothing else.
	const rank = job.first > 0 ? RUN_NOW + job.first : job.rank;
	if (differs(view.rank, rank)) return say("rank", view.rank, rank);
	if (isWaiting(job) && (view.forced ?? false) !== job.forced) return say("forced", view.forced, job.forced);
	return isWaiting(job)
		? waitingDifference(job, view, say)
		: job.status === "running"
			? runDifference(job, view, say)
			: endDifference(job, view, say);
}

type Say = (field: string, engine: unknown, model: unknown) => string;

function waitingDifference(job: ModelJob, view: JobView, say: Say): string | null {
	if (differs(view.ready_at, job.ready_at)) return say("ready_at", view.ready_at, job.ready_at);
	if (view.status === job.status) {
		const codes = job.wait?.codes ?? [];
		const kind = wait(view);
		if (kind === undefined ? codes.length > 0 : !codes.includes(kind)) return say("wait_reason", view.wait_reason ?? null, codes);
	}
	if (view.wait_reason !== undefined && !(view.waited_on ?? []).includes(view.wait_reason.kind))
		return say("waited_on", view.waited_on, `with ${view.wait_reason.kind}`);
	if (view.exit_code !== undefined && view.exit_code !== null) return say("exit_code of an active job", view.exit_code, null);
	return null;
}

function runDifference(job: ModelJob, view: JobView, say: Say): string | null {
	const fields = ["attempt", "token", "host", "worker", "account", "started_at", "lease_until"] as const;
	for (const field of fields) {
		if (differs(view.run?.[field], job.run?.[field])) return say(`run.${field}`, view.run?.[field], job.run?.[field]);
	}
	if (differs(view.run?.frozen !== undefined, job.run?.frozen === true)) return say("run.frozen", view.run?.frozen, job.run?.frozen);
	const awaited = awaitedBy(job);
	if (differs(view.waits_for, awaited.length === 0 ? undefined : awaited)) return say("waits_for", view.waits_for, awaited);
	if (differs(view.run?.intent?.kind, job.run?.intent)) return say("run.intent", view.run?.intent, job.run?.intent);
	return view.wait_reason === undefined ? null : say("wait_reason of a running job", view.wait_reason, undefined);
}

function endDifference(job: ModelJob, view: JobView, say: Say): string | null {
	if (view.run !== undefined) return say("run of an ended job", view.run, undefined);
	if (isKernel(job)) return null;
	if (differs(view.exit_code, job.exit_code)) return say("exit_code", view.exit_code, job.exit_code);
	if (differs(view.raw_exit_code, job.raw_exit_code)) return say("raw_exit_code", view.raw_exit_code, job.raw_exit_code);
	if (differs(view.exit_kind, job.exit_kind)) return say("exit_kind", view.exit_kind, job.exit_kind);
	if (job.end_reason !== undefined && differs(view.end_reason, job.end_reason)) return say("end_reason", view.end_reason, job.end_reason);
	return null;
}

/** The first difference between what the engine shows and what the model has, or null. */
export function difference(state: State, view: ReadonlyMap<number, JobView>): string | null {
	for (const job of state.jobs) {
		const shown = view.get(job.id);
		if (shown === undefined) return `job ${job.id} (${job.status}) is gone`;
		const found = jobDifference(state, job, shown);
		if (found !== null) return found;
	}
	for (const id of view.keys()) {
		if (!state.jobs.some((job) => job.id === id)) return `job ${id} appeared from nowhere`;
	}
	return null;
}

/** Ledgers, likewise. */
export function ledgerDifference(state: State, views: BudgetView[]): string | null {
	for (const ledger of state.ledgers) {
		const view = views.find((one) => one.subject === ledger.subject && one.dim === ledger.dim);
		const mine = viewOf(state, ledger);
		if (view === undefined) return `ledger ${ledger.subject} ${ledger.dim} is missing`;
		if (view.used !== mine.used || view.limit !== mine.limit || view.over_limit !== mine.over_limit || view.reserved !== mine.reserved)
			return `ledger ${ledger.subject} ${ledger.dim}: ${view.used} of ${view.limit} (${view.over_limit}, ${view.reserved} reserved), the model says ${mine.used} of ${mine.limit} (${mine.over_limit}, ${mine.reserved} reserved)`;
	}
	return views.length > state.ledgers.length ? `${views.length} ledgers, the model has ${state.ledgers.length}` : null;
}

type Holds = StatusReport["holds"];
export type Agents = { pid: number; name: string; state: AgentState }[];

/** Limits on accounts and closed ones, likewise. */
export function accountDifference(state: State, holds: Holds): string | null {
	const names = new Set([
		...Object.keys(state.accounts),
		...holds
			.filter(({ kind }) => kind === "rate_limited" || kind === "account_closed" || kind === "outage")
			.map(({ scope }) => scope.slice("account:".length)),
	]);
	for (const name of names) {
		const find = (kind: string) => holds.find((hold) => hold.scope === `account:${name}` && hold.kind === kind);
		const account = state.accounts[name];
		const limit = account?.staggered ? account.until : undefined;
		if (find("rate_limited")?.until !== limit)
			return `account ${name} is limited until ${find("rate_limited")?.until}, the model says ${limit}`;
		const isClosed = (account?.closed ?? null) !== null;
		if ((find("account_closed") !== undefined) !== isClosed)
			return `account ${name} is ${isClosed ? "open, the model says closed" : "closed, the model says open"}`;
		const down = holds.filter(({ kind, scope }) => kind === "outage" && scope === `account:${name}`);
		const theirs = down.map(({ agent, since, until }) => `${agent ?? ""} since ${since}, until ${until}`).sort();
		const mine = Object.entries(account?.outages ?? {}).map(([agent, { since, until }]) => `${agent} since ${since}, until ${until}`);
		if (theirs.join("; ") !== mine.sort().join("; "))
			return `account ${name} has outages ${theirs.join("; ")}, the model says ${mine.join("; ")}`;
	}
	return null;
}

/** Agents of the kernel, likewise. */
export function agentDifference(state: State, agents: Agents): string | null {
	const tell = (list: Agents) => list.map(({ pid, name, state: at }) => `${pid} ${name} ${at}`).join(", ");
	return tell(agents) === tell(state.agents) ? null : `agents ${tell(agents)}, the model says ${tell(state.agents)}`;
}
