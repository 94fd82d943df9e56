// The order among startable jobs: the priority sum of preset loops, term by term.
//
//   P = lane.priority + priority + depth × depth_boost + min(age_max, minutes × per_minute) − min(penalty_max, penalty × failures)
//
// All terms but the lane's base and the age are fixed while a job waits: they are its `level`, stored and indexed. Within one level and lane the
// order is first come, first served by `age_at`, so the head of a level is its best job at any time, and nothing is re-keyed as jobs age.
// Total order: rank (promote, demote, run-now), P, age_at, id.

import { type Config, laneOf } from "./config.ts";
import type { Job } from "./job.ts";

/** run-now sets ranks from here up; they come before every lane. */
export const RUN_NOW = 2 ** 40;

export const depthOf = (job: Pick<Job, "path">): number => job.path?.length ?? 0;

/** The part of P that does not change while the job waits. */
export function levelOf(job: Job, config: Config): number {
	const { order } = config;
	const penalty = Math.min(order.retry_penalty_max, order.retry_penalty_per_iteration * (job.failures ?? 0));
	return job.priority + depthOf(job) * order.depth_boost_per_level - penalty;
}

/** The time that the job's age counts from, and its position within its level. */
export function ageAt(job: Job, config: Config): number {
	return config.order.age_from === "created" ? job.created_at : (job.ready_at ?? job.created_at);
}

export function ageBoost(ageAtMs: number, now: number, config: Config): number {
	const { age_boost_per_minute, age_boost_max } = config.order;
	const minutes = Math.max(0, Math.floor((now - ageAtMs) / 60_000));
	return Math.min(age_boost_max, minutes * age_boost_per_minute);
}

export const priorityAt = (base: number, level: number, ageAtMs: number, now: number, config: Config): number =>
	base + level + ageBoost(ageAtMs, now, config);

type PriorityTerms = { total: number; terms: { name: string; value: number }[] };

/** The sum as `why` prints it; zero terms are included, so that the formula is visible. */
function priorityTerms(job: Job, now: number, config: Config): PriorityTerms {
	const { order } = config;
	const terms = [
		{ name: `lane ${job.lane}`, value: laneOf(config, job.lane).priority },
		{ name: "priority", value: job.priority },
		{ name: `depth ${depthOf(job)}`, value: depthOf(job) * order.depth_boost_per_level },
		{ name: "age", value: ageBoost(ageAt(job, config), now, config) },
		{
			name: `iteration ${(job.failures ?? 0) + 1}`,
			value: 0 - Math.min(order.retry_penalty_max, order.retry_penalty_per_iteration * (job.failures ?? 0)),
		},
	];
	return { total: terms.reduce((sum, term) => sum + term.value, 0), terms };
}

/** How a queue orders its ready jobs. */
export type QueueOrder = {
	/** Whether P grows while a job waits. */
	ages: boolean;
	levelOf(job: Job, config: Config): number;
	ageAt(job: Job, config: Config): number;
	priorityTerms(job: Job, now: number, config: Config): PriorityTerms;
};

export const PRIORITY_SUM: QueueOrder = { ages: true, levelOf, ageAt, priorityTerms };

/** Highest priority first, then the earliest runnable_at. */
export const STRICT_ORDER: QueueOrder = {
	ages: false,
	levelOf: ({ priority }) => priority,
	ageAt: ({ runnable_at }) => runnable_at,
	priorityTerms: ({ priority }) => ({ total: priority, terms: [{ name: "priority", value: priority }] }),
};
