// The ready queue of 004: strict order, its own states, admission by the pid's ledger.

import type { EnqueueParams, ReadyEntry } from "../../src/contracts/scheduler.ts";
import { enter } from "./add.ts";
import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { isOverBudget } from "./gates/ledgers.ts";
import { find, isKernel, isWaiting, type ModelJob, type State } from "./state.ts";

export const entries = (state: State) => state.jobs.filter(isKernel);

const entryOf = (state: State, id: number, seen: Seen): ModelJob | undefined => {
	const job = find(state, id);
	if (job !== undefined && isKernel(job)) return job;
	refused(seen, ["not_found"], `there is no entry ${id}`);
	return undefined;
};

export const stateOf = (job: ModelJob): ReadyEntry["state"] =>
	isWaiting(job)
		? "queued"
		: job.status === "running"
			? "dispatched"
			: job.status === "expired"
				? "expired"
				: job.dispatched_at === undefined
					? "cancelled"
					: "completed";

export function enqueue(state: State, params: EnqueueParams & { dedupe_by?: ("pid" | "trigger" | "priority")[] }, seen: Seen): void {
	const agent = state.agents.find((one) => one.pid === params.pid);
	if (agent === undefined || agent.state === "DEAD") {
		refused(seen, ["not_found", "invalid", "forbidden"], `pid ${params.pid} is ${agent?.state ?? "unknown"}`);
		return;
	}
	const result = accepted<{ sched_id: number; created?: boolean }>(seen);
	const trigger = params.trigger ?? "manual";
	const wanted = { pid: params.pid, trigger, priority: params.priority ?? 0 };
	const twin =
		params.dedupe_by === undefined
			? undefined
			: entries(state).find((job) => isWaiting(job) && params.dedupe_by?.every((field) => job[field] === wanted[field]));
	if (twin !== undefined) {
		agree(seen.fresh.length === 0, "enqueue_unique stored a second entry");
		if (result !== undefined) agreeSame(result, { sched_id: twin.id, created: false }, "enqueue_unique");
		return;
	}
	agreeSame(seen.fresh.length, 1, "entries stored by one enqueue");
	const id = seen.fresh[0] as number;
	if (result !== undefined) agreeSame(result.sched_id, id, "enqueue: sched_id");
	const at = (params.runnable_at ?? 0) * 1000;
	enter(state, {
		...BLANK,
		id,
		pid: params.pid,
		trigger,
		priority: wanted.priority,
		created_at: state.now,
		runnable_at: at,
		...(typeof params.deadline === "number" ? { deadline: params.deadline * 1000 } : {}),
	});
}

const BLANK: ModelJob = {
	id: 0,
	chain: 0,
	status: "queued",
	kind: "kernel",
	lane: "kernel",
	path: [],
	trigger: "manual",
	priority: 0,
	rank: 0,
	first: 0,
	forced: false,
	created_at: 0,
	runnable_at: 0,
	come: false,
	after: [],
	needs: [],
	on_missing: "block",
	produces: [],
	conditions: [],
	locks: [],
	uses: {},
	host_labels: [],
	will_merge: false,
	failures: 0,
	attempt: 0,
	dispatch_failures: 0,
};

export function claimEntries(
	state: State,
	params: { worker_id: string; max_n?: number; now?: number; admission_check?: boolean },
	seen: Seen,
): void {
	const result = accepted<{ entries: ReadyEntry[] }>(seen);
	const now = params.now === undefined ? state.now : Math.round(params.now * 1000);
	const over = (job: ModelJob) =>
		state.ledgers.some((ledger) => ledger.subject === `pid:${job.pid}` && isOverBudget(state, ledger, state.now));
	const taken = entries(state)
		.filter((job) => isWaiting(job) && job.runnable_at <= now && (job.deadline === undefined || job.deadline > now))
		.filter((job) => params.admission_check === false || !over(job))
		.sort((a, b) => b.priority - a.priority || a.runnable_at - b.runnable_at || a.id - b.id)
		.slice(0, params.max_n ?? 1);
	if (result !== undefined)
		agreeSame(
			result.entries.map((entry) => entry.sched_id),
			taken.map((job) => job.id),
			"kernel.claim: entries, in order",
		);
	for (const job of taken) {
		job.status = "running";
		job.attempt += 1;
		job.worker = params.worker_id;
		job.dispatched_at = state.now;
		job.heartbeat_at = state.now;
	}
}

export function completeEntry(
	state: State,
	params: { sched_id: number; exit_kind: "completed" | "cancelled" | "failed" | "crashed"; worker_id?: string },
	seen: Seen,
): void {
	const job = entryOf(state, params.sched_id, seen);
	if (job === undefined) return;
	if (job.status !== "running" || (params.worker_id !== undefined && params.worker_id !== job.worker)) {
		refused(seen, ["illegal_transition", "fenced"], `entry ${job.id} is ${stateOf(job)} with ${job.worker}`);
		return;
	}
	const result = accepted<{ state: string; prev_state: string }>(seen);
	if (result !== undefined) agreeSame([result.state, result.prev_state], ["completed", "dispatched"], "kernel.complete");
	job.status = params.exit_kind === "completed" ? "succeeded" : params.exit_kind === "cancelled" ? "cancelled" : "failed";
	job.exit_kind = params.exit_kind;
	job.ended_at = state.now;
}

export function cancelEntry(state: State, params: { sched_id: number }, seen: Seen): void {
	const job = entryOf(state, params.sched_id, seen);
	if (job === undefined) return;
	if (!isWaiting(job)) {
		refused(seen, ["illegal_transition"], `entry ${job.id} is ${stateOf(job)}`);
		return;
	}
	accepted(seen);
	job.status = "cancelled";
	delete job.dispatched_at;
	job.ended_at = state.now;
}

export function extendEntry(state: State, params: { sched_id: number; worker_id: string }, seen: Seen): void {
	const job = entryOf(state, params.sched_id, seen);
	if (job === undefined) return;
	if (job.status !== "running" || params.worker_id !== job.worker) {
		refused(seen, ["illegal_transition", "fenced"], `entry ${job.id} is ${stateOf(job)} with ${job.worker}`);
		return;
	}
	const result = accepted<{ cancel_requested: boolean }>(seen);
	job.heartbeat_at = state.now;
	if (result !== undefined) agreeSame(result.cancel_requested, job.cancel_requested === true, `kernel.extend of ${job.id}`);
}

export function expireEntries(state: State, params: { now?: number } | undefined, seen: Seen): void {
	const result = accepted<{ swept: number }>(seen);
	const now = params?.now === undefined ? state.now : params.now * 1000;
	const late = entries(state).filter((job) => isWaiting(job) && job.deadline !== undefined && job.deadline < now);
	for (const job of late) {
		job.status = "expired";
		job.ended_at = state.now;
	}
	if (result !== undefined) agreeSame(result.swept, late.length, "kernel.gc_expired");
}

export function requeueStale(state: State, params: { stale_seconds: number }, seen: Seen): void {
	const result = accepted<{ swept: number }>(seen);
	const stale = entries(state).filter(
		(job) => job.status === "running" && (job.heartbeat_at ?? 0) < state.now - params.stale_seconds * 1000,
	);
	for (const job of stale) {
		job.status = "queued";
		delete job.dispatched_at;
		delete job.worker;
		delete job.cancel_requested;
	}
	if (result !== undefined) agreeSame(result.swept, stale.length, "kernel.gc_dispatched");
}
