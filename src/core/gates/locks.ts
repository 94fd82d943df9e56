// Gate `locks`: the job can take all its locks together, now.

import type { Job, Lock, LockMode } from "../job.ts";
import { onLock } from "../parked.ts";
import { type FactGate, type GateAnswer, type JobFacts, type LockState, pass, refuse } from "./gate.ts";

export type Obstacle = { key: string; mode: LockMode; holders: number[]; reserved?: number };

/** What keeps the job from taking one lock; undefined if it can take it. */
export function obstacle(job: Pick<Job, "id" | "path">, lock: Lock, state: LockState): Obstacle | undefined {
	if (state.holders.length === 0 && state.reserved === undefined) return undefined;
	const others = state.holders.filter((holder) => holder.job !== job.id);
	const clash = lock.mode === "exclusive" ? others : others.filter((holder) => holder.mode === "exclusive");
	if (clash.length > 0) return { key: lock.key, mode: lock.mode, holders: clash.map((holder) => holder.job) };
	const { reserved } = state;
	if (reserved === undefined || reserved === job.id) return undefined;
	if (lock.mode === "shared" && state.reserved_mode === "shared") return undefined;
	// A holder may wait for jobs that it added: if a reservation kept those out, the lock would be held forever.
	if (job.path?.some((ancestor) => others.some((holder) => holder.job === ancestor))) return undefined;
	return { key: lock.key, mode: lock.mode, holders: [], reserved };
}

/** Checked in the order of keys, which is also the order of reservation: the job is parked on the first obstacle. */
export function obstacles(job: Job, facts: Pick<JobFacts, "lock">): Obstacle[] {
	const found: Obstacle[] = [];
	for (const lock of job.locks ?? []) {
		const one = obstacle(job, lock, facts.lock(lock.key));
		if (one) found.push(one);
	}
	return found;
}

export const locks: FactGate = {
	name: "locks",
	concerns: (job) => job.locks !== undefined,
	factKeys: () => [],
	ask(job, facts) {
		if (!job.locks) return pass;
		const found = obstacles(job, facts);
		const first = found[0];
		if (!first) return pass;
		const answer: GateAnswer = { reasons: [], parked_on: onLock(first.key, first.mode) };
		for (const { key, holders, reserved } of found) {
			const holder = (reserved === undefined ? holders : [reserved]).map((id) => `job:${id}`);
			answer.reasons.push(refuse("locks", "locks", `lock:${key}`, "waiting on locks", { holder }));
		}
		return answer;
	},
};
