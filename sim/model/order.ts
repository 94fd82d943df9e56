// Who goes first among those that can start: the priority sum of 003, promote, demote, run-now, and the overdue share.

import { laneOf } from "../../src/core/config.ts";
import { late } from "./gates/late.ts";
import { lockRefusals } from "./gates/locks.ts";
import { early } from "./gates/refusal.ts";
import { type ModelJob, note, type State, waiting } from "./state.ts";

export const ageAt = (state: State, job: ModelJob): number =>
	state.config.order.age_from === "created" ? job.created_at : (job.ready_at ?? job.created_at);

export function prioritySum(state: State, job: ModelJob, now: number): number {
	const { order } = state.config;
	const minutes = Math.max(0, Math.floor((now - ageAt(state, job)) / 60_000));
	return (
		laneOf(state.config, job.lane).priority +
		job.priority +
		job.path.length * order.depth_boost_per_level +
		Math.min(order.age_boost_max, minutes * order.age_boost_per_minute) -
		Math.min(order.retry_penalty_max, order.retry_penalty_per_iteration * job.failures)
	);
}

/** Passes every gate, for this host (or any). */
export const isStartable = (state: State, job: ModelJob, now: number, host?: string): boolean =>
	early(state, job, now).length === 0 &&
	lockRefusals(state, job).every((refusal) => refusal.optional) &&
	late(state, job, now, host).length === 0;

export type Filter = { lanes?: string[] | undefined; kinds?: string[] | undefined; host?: string | undefined };

export const startable = (state: State, now: number, filter: Filter = {}): ModelJob[] =>
	waiting(state).filter(
		(job) =>
			(filter.lanes === undefined || filter.lanes.includes(job.lane)) &&
			(filter.kinds === undefined || filter.kinds.includes(job.kind)) &&
			isStartable(state, job, now, filter.host),
	);

/** By P, then by who could run first, then by id. */
const byPriority = (state: State, now: number) => (a: ModelJob, b: ModelJob) =>
	prioritySum(state, b, now) - prioritySum(state, a, now) || ageAt(state, a) - ageAt(state, b) || a.id - b.id;

/** The order within one lane: promoted ones (last first), the others by P, demoted ones (last last). */
export function laneOrder(state: State, jobs: ModelJob[], now: number): ModelJob[] {
	return [
		...jobs.filter((job) => job.rank > 0).sort((a, b) => b.rank - a.rank),
		...jobs.filter((job) => job.rank === 0).sort(byPriority(state, now)),
		...jobs.filter((job) => job.rank < 0).sort((a, b) => b.rank - a.rank),
	];
}

/** What the head of a lane counts for against other lanes. */
function standing(state: State, job: ModelJob, mates: ModelJob[], now: number): number {
	const own = prioritySum(state, job, now);
	if (job.rank <= 0) return own;
	return Math.max(own, ...mates.filter((mate) => mate.rank === 0).map((mate) => prioritySum(state, mate, now)));
}

export const isOverdueTurn = (state: State): boolean => {
	const share = state.config.order.overdue_share;
	return share > 0 && state.config.order.overdue_after_ms > 0 && state.starts % share === share - 1;
};

/** The one that has been startable longest, if that is long enough to count. */
export function mostOverdue(state: State, jobs: ModelJob[], now: number): ModelJob | undefined {
	const oldest = [...jobs].sort((a, b) => (a.ready_at ?? 0) - (b.ready_at ?? 0) || a.id - b.id)[0];
	return oldest !== undefined && (oldest.ready_at ?? now) <= now - state.config.order.overdue_after_ms ? oldest : undefined;
}

/** The next to start. */
export function best(state: State, jobs: ModelJob[], now: number): ModelJob | undefined {
	const first = jobs.filter((job) => job.first > 0).sort((a, b) => b.first - a.first)[0];
	if (first !== undefined) return first;
	if (isOverdueTurn(state)) {
		const overdue = mostOverdue(state, jobs, now);
		if (overdue !== undefined) {
			note(state, "overdue-turn");
			return overdue;
		}
	}
	const lanes = [...new Set(jobs.map((job) => job.lane))];
	const heads = lanes.map((lane) => {
		const mates = jobs.filter((job) => job.lane === lane);
		const head = laneOrder(state, mates, now)[0] as ModelJob;
		return { head, value: standing(state, head, mates, now) };
	});
	heads.sort((a, b) => b.value - a.value || ageAt(state, a.head) - ageAt(state, b.head) || a.head.id - b.head.id);
	return heads[0]?.head;
}
