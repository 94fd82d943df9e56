// What an operator does to jobs: cancel, promote, demote, priority, run-now, hold, release, approve, reject, answer, clear, merged.

import type { ErrorCode } from "../../src/core/errors.ts";
import type { JobInput, Lock, MergeStatus } from "../../src/core/job.ts";
import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { artifactKey, isMerging } from "./gates/refusal.ts";
import { finish, settle } from "./settle.ts";
import { find, isKernel, isWaiting, type ModelJob, type State } from "./state.ts";

/** The job, or undefined after the refusal was checked. */
export function known(state: State, id: number, seen: Seen): ModelJob | undefined {
	const job = find(state, id);
	if (job === undefined) refused(seen, ["not_found"], `there is no job ${id}`);
	return job;
}

/** A waiting job, or undefined after the refusal was checked. */
function waitingOne(state: State, id: number, seen: Seen, codes: ErrorCode[] = ["illegal_transition"]): ModelJob | undefined {
	const job = known(state, id, seen);
	if (job === undefined) return undefined;
	if (!isWaiting(job) || isKernel(job)) {
		refused(seen, codes, `job ${id} is ${job.status}`);
		return undefined;
	}
	accepted(seen);
	return job;
}

export function cancelWaiting(state: State, job: ModelJob, reason: string | undefined): void {
	finish(state, job, "cancelled", reason, state.now);
	job.exit_kind = "cancelled";
	job.exit_code = 143;
}

/** All that hangs on a job: what comes after it and what descends from it, over and over. */
function subtree(state: State, root: ModelJob): ModelJob[] {
	const set = [root];
	for (let grown = true; grown; ) {
		const more = state.jobs.filter(
			(job) => !set.includes(job) && set.some((one) => job.path.includes(one.id) || job.after.some((edge) => edge.job === one.id)),
		);
		set.push(...more);
		grown = more.length > 0;
	}
	return set;
}

/** As few as the simulator lets one transaction end. */
const SMALLEST_PIECE = 2;

/** Beside other calls of its turn, a cancel of this many jobs may go on in pieces. */
function noteCancelling(state: State, seen: Seen, jobs: number): void {
	if (seen.blurred && jobs > SMALLEST_PIECE) state.cancelling = true;
}

/** While a cancel goes on in pieces, another call of the same turn may cancel a job that it has not reached yet: then both report it. */
const cancelledTwice = (state: State, jobs: readonly ModelJob[], seen: Seen, reported: readonly number[] | undefined): ModelJob[] =>
	seen.blurred && (state.cancelling || jobs.length > SMALLEST_PIECE)
		? jobs.filter((job) => job.status === "cancelled" && job.ended_at === state.now && reported?.includes(job.id))
		: [];

export function cancel(state: State, id: number, options: { subtree?: boolean; reason?: string }, seen: Seen): void {
	const root = known(state, id, seen);
	if (root === undefined) return;
	const whole = options.subtree === true ? subtree(state, root) : [root];
	const isLive = (job: ModelJob) => isWaiting(job) || job.status === "running";
	const twice = cancelledTwice(state, whole, seen, (seen.result as { cancelled: number[] } | undefined)?.cancelled);
	if (options.subtree !== true && !isLive(root) && twice.length === 0) {
		refused(seen, ["illegal_transition"], `job ${id} is ${root.status}`);
		return;
	}
	const result = accepted<{ cancelled: number[]; requested: number[] }>(seen);
	const said = result === undefined ? undefined : [...result.cancelled, ...result.requested];
	// The root and its descendants must go; which of their dependents go with them, and which are blocked for want of them, is the engine's to say.
	const must = (job: ModelJob) => job === root || job.path.includes(id);
	const set = whole.filter((job) => isLive(job) && (must(job) || (said?.includes(job.id) ?? seen.job(job.id)?.status === "cancelled")));
	const cancelled: number[] = [];
	const requested: number[] = [];
	for (const job of set) {
		if (job.status === "running") {
			if (job.run !== undefined) job.run.intent ??= "cancelled";
			if (isKernel(job)) job.cancel_requested = true;
			requested.push(job.id);
		} else {
			cancelWaiting(state, job, options.reason);
			cancelled.push(job.id);
		}
	}
	settle(state, seen);
	noteCancelling(state, seen, cancelled.length);
	if (result === undefined) return;
	agreeSame([...result.cancelled].sort(), [...cancelled, ...twice.map((job) => job.id)].sort(), `cancel ${id}: cancelled`);
	agreeSame([...result.requested].sort(), requested.sort(), `cancel ${id}: requested`);
}

/** All of them, before anything can start. One that another's end blocks, before its own piece came, is told as `ended`. */
export function cancelAll(state: State, ids: readonly number[], seen: Seen): void {
	const jobs = ids.flatMap((id) => find(state, id) ?? []);
	const isLive = (job: ModelJob) => isWaiting(job) || job.status === "running";
	const [only] = jobs;
	const twice = cancelledTwice(state, jobs, seen, (seen.result as { cancelled: number[] } | undefined)?.cancelled);
	if (jobs.length === 1 && only && !isLive(only) && twice.length === 0)
		return void refused(seen, ["illegal_transition"], `job ${only.id} is ${only.status}`);
	const result = accepted<{ cancelled: number[]; requested: number[]; ended: number[]; refused: { job: number }[] }>(seen);
	const live = jobs.filter(isLive);
	const isBlocked = (job: ModelJob) => result?.ended.includes(job.id) ?? seen.job(job.id)?.status === "blocked_by_dependency";
	const blocked = live.filter((job) => isWaiting(job) && isBlocked(job));
	const cancelled = live.filter((job) => isWaiting(job) && !blocked.includes(job)).map((job) => job.id);
	for (const job of live) {
		if (blocked.includes(job)) continue;
		if (isWaiting(job)) cancelWaiting(state, job, undefined);
		else {
			if (job.run !== undefined) job.run.intent ??= "cancelled";
			if (isKernel(job)) job.cancel_requested = true;
		}
	}
	settle(state, seen);
	noteCancelling(state, seen, cancelled.length + blocked.length);
	if (result === undefined) return;
	agreeSame([...result.cancelled].sort(), [...cancelled, ...twice.map((job) => job.id)].sort(), "cancelAll: cancelled");
	for (const job of blocked) agree(job.status === "blocked_by_dependency", `cancelAll: job ${job.id} ended as ${job.status}`);
	agreeSame(
		result.refused.map(({ job }) => job).sort(),
		jobs
			.filter((job) => !live.includes(job) && !twice.includes(job))
			.map((job) => job.id)
			.sort(),
		"cancelAll: refused",
	);
}

export function promote(state: State, id: number, seen: Seen): void {
	const job = waitingOne(state, id, seen);
	if (job === undefined) return;
	state.ranks += 1;
	job.rank = state.ranks;
	job.first = 0;
	job.forced = false;
}

export function demote(state: State, id: number, seen: Seen): void {
	const job = waitingOne(state, id, seen);
	if (job === undefined) return;
	state.ranks += 1;
	job.rank = -state.ranks;
	job.first = 0;
	job.forced = false;
}

export function runNow(state: State, id: number, options: { force?: boolean }, seen: Seen): void {
	const job = waitingOne(state, id, seen);
	if (job === undefined) return;
	state.ranks += 1;
	job.first = state.ranks;
	job.rank = 0;
	job.forced = options.force === true;
	// Now is not later: what it was delayed to is over.
	job.runnable_at = Math.min(job.runnable_at, state.now);
	if ((job.backoff_until ?? 0) > state.now) job.backoff_until = state.now;
	settle(state, seen);
}

export function priority(state: State, id: number, value: number, seen: Seen): void {
	const job = waitingOne(state, id, seen);
	if (job !== undefined) job.priority = value;
}

export function hold(state: State, ids: readonly number[], seen: Seen): void {
	for (const id of ids) {
		const job = waitingOne(state, id, seen);
		if (job !== undefined) job.hold = true;
	}
	settle(state, seen);
}

export function release(state: State, ids: readonly number[], seen: Seen): void {
	for (const id of ids) {
		const job = known(state, id, seen);
		if (job === undefined) return;
		if (!isWaiting(job) || !job.hold) return void refused(seen, ["illegal_transition"], `job ${id} is ${job.status} and not held`);
		accepted(seen);
		delete job.hold;
	}
	settle(state, seen);
}

/** What it changes is only what the host does with the run's processes. */
export function freeze(state: State, ids: readonly number[], what: "freeze" | "thaw", seen: Seen): void {
	for (const id of ids) {
		const job = known(state, id, seen);
		if (job === undefined) return;
		const isRun = job.run !== undefined && (job.kind === "command" || job.kind === "agent");
		const may = isRun && (what === "freeze" ? job.run?.intent === undefined : job.run?.frozen === true);
		if (!may || job.run === undefined) return void refused(seen, ["illegal_transition"], `job ${id} is ${job.status}: ${what}`);
		accepted(seen);
		if (what === "freeze") job.run.frozen = true;
		else delete job.run.frozen;
	}
}

export function approve(state: State, id: number, seen: Seen): void {
	const job = known(state, id, seen);
	if (job === undefined) return;
	if (!isWaiting(job) || job.approval !== "needed") {
		if (seen.error !== undefined) refused(seen, ["illegal_transition", "conflict"], `job ${id} is ${job.status}, approval ${job.approval}`);
		return;
	}
	accepted(seen);
	job.approval = "given";
	settle(state, seen);
}

export function reject(state: State, id: number, options: { reason?: string }, seen: Seen): void {
	const job = known(state, id, seen);
	if (job === undefined) return;
	const asks = isWaiting(job) && (job.approval === "needed" || job.question !== undefined);
	if (!asks) {
		if (seen.error !== undefined || !isWaiting(job)) {
			refused(seen, ["illegal_transition", "conflict"], `job ${id} is ${job.status} and asks for nothing`);
			return;
		}
	}
	accepted(seen);
	cancelWaiting(state, job, seen.job(id)?.end_reason ?? options.reason);
	settle(state, seen);
}

export function answer(state: State, id: number, grant: ModelJob["granted"], seen: Seen): void {
	const job = known(state, id, seen);
	if (job === undefined) return;
	if (!isWaiting(job) || job.question === undefined) {
		refused(seen, ["illegal_transition", "conflict"], `job ${id} is ${job.status} and asks nothing`);
		return;
	}
	accepted(seen);
	delete job.question;
	if (grant !== undefined) {
		const { permission = grant.permission, allow = [] } = job.granted ?? {};
		const wider = permission === "full" || grant.permission === "full" ? "full" : permission;
		const all = [...allow, ...(grant.allow ?? []).filter((one) => !allow.includes(one))];
		job.granted = { ...(wider === undefined ? {} : { permission: wider }), ...(all.length === 0 ? {} : { allow: all }) };
	}
	settle(state, seen);
}

export function clear(state: State, options: { item?: string }, seen: Seen): void {
	const result = accepted<{ cleared: number[] }>(seen);
	const twice = cancelledTwice(state, state.jobs, seen, result?.cleared);
	const cleared: number[] = [];
	for (const job of state.jobs) {
		const meant = options.item === undefined || job.item === options.item;
		if (!isWaiting(job) || isKernel(job) || !meant) continue;
		cancelWaiting(state, job, "cleared");
		cleared.push(job.id);
	}
	settle(state, seen);
	noteCancelling(state, seen, cleared.length);
	if (result !== undefined) agreeSame([...result.cleared].sort(), [...cleared, ...twice.map((job) => job.id)].sort(), "clear: cleared");
}

export function merged(state: State, id: number, status: MergeStatus, seen: Seen): void {
	const job = known(state, id, seen);
	if (job === undefined) return;
	if (job.status !== "succeeded" || !job.will_merge) {
		refused(seen, ["illegal_transition", "conflict"], `job ${id} is ${job.status}`);
		return;
	}
	if (job.merge_status === "merged" && status !== "merged") {
		refused(seen, ["illegal_transition", "conflict"], `job ${id} is merged already`);
		return;
	}
	accepted(seen);
	const before = isMerging(job);
	job.merge_status = status;
	// A look from before the merge proves nothing.
	if (before && !isMerging(job)) for (const artifact of job.produces) delete state.facts[artifactKey(artifact, job.repo)];
	settle(state, seen);
}

/** Does the job come after itself, over any number of others, ended ones too? */
function isCircular(state: State, job: ModelJob, after: readonly number[]): boolean {
	const seen: number[] = [];
	const open = [...after];
	for (let id = open.pop(); id !== undefined; id = open.pop()) {
		if (id === job.id) return true;
		if (seen.includes(id)) continue;
		seen.push(id);
		open.push(...(find(state, id)?.after ?? []).map((edge) => edge.job));
	}
	return false;
}

const asLock = (lock: string | { key: string; mode?: Lock["mode"] }): Lock =>
	typeof lock === "string" ? { key: lock, mode: "exclusive" } : { key: lock.key, mode: lock.mode ?? "exclusive" };

/** It gets other fields and is decided anew; it keeps its age and its back-off. */
export function edit(state: State, id: number, { set = {}, unset = [] }: { set?: JobInput; unset?: readonly string[] }, seen: Seen): void {
	const job = known(state, id, seen);
	if (job === undefined) return;
	if (!isWaiting(job) || isKernel(job)) return void refused(seen, ["illegal_transition"], `job ${id} is ${job.status}`);
	const lane = set.lane ?? job.lane;
	// With the lane, the cap of which nobody changed, the rest of the job is checked once more.
	if (set.lane !== undefined && seen.error !== undefined) return void refused(seen, ["impossible"], `job ${id} can be edited`);
	const own = (set.after ?? []).map((edge) => ({ job: Number(edge), policy: "success" as const }));
	const parent = job.path.at(-1);
	const gate = job.after.filter((edge) => edge.job === parent && edge.policy === "success");
	const isAfter = set.after !== undefined || unset.includes("after");
	const after = isAfter ? [...own, ...gate.filter((edge) => !own.some((one) => one.job === edge.job))] : job.after;
	if (
		isCircular(
			state,
			job,
			after.map((edge) => edge.job),
		)
	)
		return void refused(seen, ["cycle"], `job ${id} would wait for itself`);
	accepted(seen);
	job.after = after;
	job.locks = locksAfter(job, set, lane);
	job.lane = lane;
	job.priority = set.priority ?? job.priority;
	if (set.hold) job.hold = true;
	if (set.requires_approval) job.approval ??= "needed";
	settle(state, seen);
}

/** The locks that other fields stand for stay, and follow the lane. */
function locksAfter(job: ModelJob, { locks }: JobInput, lane: string): Lock[] {
	const end = `:${job.phase ?? ""}:${job.lane}`;
	const isOther = ({ key }: Lock) => key.startsWith("serial:") || key.startsWith("branch:");
	const kept = job.locks.filter((lock) => isOther(lock) || locks === undefined);
	const moved = kept.map((lock) => {
		const isOfLane = /^serial:[^:]*:/.test(lock.key) && lock.key.endsWith(end);
		return isOfLane ? { ...lock, key: `${lock.key.slice(0, -job.lane.length)}${lane}` } : lock;
	});
	return [...moved, ...(locks ?? []).map(asLock)];
}
