// Gate `locks`: who holds which key, for whom it is reserved, and whether a job can take all of its keys together.

import type { Lock } from "../../../src/core/job.ts";
import { find, isWaiting, type ModelJob, running, type State, waiting } from "../state.ts";
import { late } from "./late.ts";
import { early, type Refusal } from "./refusal.ts";

export const clash = (a: Lock, b: Lock) => a.key === b.key && (a.mode === "exclusive" || b.mode === "exclusive");

/** Running jobs, other than this one, that have the key in a way that excludes this mode. */
const holders = (state: State, job: ModelJob, lock: Lock): ModelJob[] =>
	running(state).filter((other) => other.id !== job.id && other.locks.some((held) => clash(held, lock)));

/** Kept from one of its keys by a holder, not by a mere reservation. */
export const isHeldOff = (state: State, job: ModelJob) => job.locks.some((lock) => holders(state, job, lock).length > 0);

export const isOverdue = (state: State, job: ModelJob): boolean => {
	const wait = state.config.order.overdue_after_ms;
	return wait > 0 && job.ready_at !== undefined && job.ready_at + wait <= state.now;
};

/** Overdue jobs that locks alone keep from starting: oldest first. */
export const overdueForLocks = (state: State): ModelJob[] =>
	waiting(state)
		.filter((job) => job.locks.length > 0 && isOverdue(state, job) && isHeldOff(state, job))
		.filter((job) => early(state, job, state.now).length === 0 && late(state, job, state.now).length === 0)
		.sort((a, b) => (a.ready_at ?? 0) - (b.ready_at ?? 0) || a.id - b.id);

/** Descends from a job that holds this key: it must not wait for a reservation that waits for its ancestor. */
export const isExempt = (state: State, job: ModelJob, key: string) =>
	job.path.some((id) => {
		const ancestor = find(state, id);
		return ancestor?.status === "running" && ancestor.locks.some((lock) => lock.key === key);
	});

/** The waiting job for which this key is kept, if its other gates pass; when it was kept is the engine's choice, told by its events. */
function keeperOf(state: State, job: number, key: string): ModelJob | undefined {
	const entry = state.reserved.find((one) => one.key === key && one.job !== job);
	const keeper = entry === undefined ? undefined : find(state, entry.job);
	if (keeper === undefined || !isWaiting(keeper)) return undefined;
	return early(state, keeper, state.now).length === 0 && late(state, keeper, state.now).length === 0 ? keeper : undefined;
}

/** Keys that are really kept now: the one they are kept for has nothing else in its way. */
export const keptNow = (state: State): State["reserved"] => state.reserved.filter(({ key, job }) => keeperOf(state, 0, key)?.id === job);

export function lockRefusals(state: State, job: ModelJob): Refusal[] {
	if (job.locks.length === 0) return [];
	const list: Refusal[] = [];
	for (const lock of job.locks) {
		const refusal: Refusal = { gate: "locks", codes: ["locks"], subject: `lock:${lock.key}` };
		if (holders(state, job, lock).length > 0) {
			list.push(refusal);
			continue;
		}
		const keeper = keeperOf(state, job.id, lock.key);
		const before = state.kept_before.find((one) => one.key === lock.key && one.job !== job.id);
		if ((keeper ?? before) === undefined || isExempt(state, job, lock.key)) continue;
		// Two shared ones would not be in each other's way, and one that could start now may have left the line: then it need not count.
		// Neither need one that the cycle itself left no room for: that is noticed after it.
		const counts = keeper !== undefined && isHeldOff(state, keeper) && keeper.locks.some((wanted) => clash(wanted, lock));
		list.push(counts ? refusal : { ...refusal, optional: true });
	}
	return list;
}
