// Gate 9: all locks of the job can be taken together, now.

import { type Answer, type JobFacts, type JobGate, type LockState, pass, refuse } from "../answer.ts";
import type { Job, Lock, LockMode } from "../job.ts";

export type Obstacle = { key: string; mode: LockMode; holders: number[]; reserved?: number };

/** Shared and exclusive waiters of a key stand in lines of their own: a free key wakes all of the first, one of the others. */
export const lockLine = (key: string, mode: LockMode) => `lock:${mode}:${key}`;

/** The lock that a line is about; undefined for any other line. */
export function lockOfLine(line: string): Lock | undefined {
	if (!line.startsWith("lock:")) return undefined;
	const at = line.indexOf(":", "lock:".length);
	return { mode: line.slice("lock:".length, at) as LockMode, key: line.slice(at + 1) };
}

/** Whether those in the line wait for their turn among jobs that run one at a time. */
export const isSerialLine = (line: string): boolean => lockOfLine(line)?.key.startsWith("serial:") === true;

/** What stands in the way of one key; undefined when it can be taken. */
export function obstacle(job: Pick<Job, "id" | "path">, lock: Lock, state: LockState): Obstacle | undefined {
	if (state.holders.length === 0 && state.reserved === undefined) return undefined;
	const others = state.holders.filter((holder) => holder.job !== job.id);
	const clash = lock.mode === "exclusive" ? others : others.filter((holder) => holder.mode === "exclusive");
	if (clash.length > 0) return { key: lock.key, mode: lock.mode, holders: clash.map((holder) => holder.job) };
	const { reserved } = state;
	if (reserved === undefined || reserved === job.id) return undefined;
	if (lock.mode === "shared" && state.reserved_mode === "shared") return undefined;
	// A holder may wait for the jobs that it added: keeping them out would keep the key held for ever.
	if (job.path?.some((ancestor) => others.some((holder) => holder.job === ancestor))) return undefined;
	return { key: lock.key, mode: lock.mode, holders: [], reserved };
}

/** Keys in their order, which is the order of reservation too: the first obstacle is where the job waits. */
export function obstacles(job: Job, facts: Pick<JobFacts, "lock">): Obstacle[] {
	const found: Obstacle[] = [];
	for (const lock of job.locks ?? []) {
		const one = obstacle(job, lock, facts.lock(lock.key));
		if (one) found.push(one);
	}
	return found;
}

export const locks: JobGate = {
	name: "locks",
	ask(job, facts) {
		if (!job.locks) return pass;
		const found = obstacles(job, facts);
		const first = found[0];
		if (!first) return pass;
		const answer: Answer = { reasons: [], line: lockLine(first.key, first.mode) };
		for (const { key, holders, reserved } of found) {
			const holder = (reserved === undefined ? holders : [reserved]).map((id) => `job:${id}`);
			answer.reasons.push(refuse("locks", "locks", `lock:${key}`, "waiting on locks", { holder }));
		}
		return answer;
	},
};
