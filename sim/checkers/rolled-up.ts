// What the events of a run of the simulator add up to: counted one by one, without hours, cells or dimensions. The rollups must have the same sums.

import type { EventRow } from "../../src/contracts/scheduler.ts";

const ENDS = ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"] as const;
type End = (typeof ENDS)[number];

export type Sums = Record<"started" | "runs" | "requeued" | "retried" | "cost_micro" | "tokens" | "slot_ms" | "wait_ms" | End, number>;
export type RolledUp = {
	sums: Sums;
	/** Kernel entries, which are not counted. */
	entries: Set<number>;
	/** Since when a job waits. */
	since: Map<number, number>;
	/** When its live run started, for how long that has lent its slot, and since when it does so now. */
	live: Map<number, { at: number; lent: number; lending: number | null }>;
	first: number | null;
	last: number;
	/** The clock was set back: how long anything took is not certain any more. */
	isSetBack: boolean;
};

export const newRolledUp = (): RolledUp => ({
	sums: {
		...{ started: 0, runs: 0, requeued: 0, retried: 0, cost_micro: 0, tokens: 0, slot_ms: 0, wait_ms: 0 },
		...{ succeeded: 0, failed: 0, cancelled: 0, blocked_by_dependency: 0, expired: 0 },
	},
	entries: new Set(),
	since: new Map(),
	live: new Map(),
	first: null,
	last: 0,
	isSetBack: false,
});

/** `createdAt`: of a job that came with a large manifest, which is told of as a range. */
export function rollUp(rolled: RolledUp, event: EventRow, createdAt: (job: number) => number | undefined): void {
	const { sums, since, live } = rolled;
	rolled.first ??= event.at;
	if (event.at < rolled.last) rolled.isSetBack = true;
	rolled.last = event.at;
	const { job, at } = event;
	if (job === null) return;
	if (event.kind === "added" && event.data.kind === "kernel") rolled.entries.add(job);
	if (rolled.entries.has(job)) return;
	const waited = () => Math.max(0, at - (since.get(job) ?? createdAt(job) ?? at));
	switch (event.kind) {
		case "added":
			since.set(job, at);
			if (isEnd(event.data.to)) sums[event.data.to]++;
			return;
		case "reset":
			since.set(job, at);
			return;
		case "started":
			sums.started++;
			sums.wait_ms += waited();
			live.set(job, { at, lent: 0, lending: null });
			return;
		case "wait_began":
		case "wait_ended": {
			const run = live.get(job);
			if (!run) return;
			if (run.lending !== null) run.lent += Math.max(0, at - run.lending);
			run.lending = event.kind === "wait_began" ? at : null;
			return;
		}
		case "requeued":
			endRun(rolled, job, at, event.data.usage);
			sums.requeued++;
			if (event.data.burns === "failure" || event.data.burns === "dispatch") sums.retried++;
			since.set(job, at);
			return;
		case "ended":
			if (event.data.from === "running") endRun(rolled, job, at, event.data.usage);
			else sums.wait_ms += waited();
			if (isEnd(event.data.to)) sums[event.data.to]++;
	}
}

const isEnd = (status: string): status is End => ENDS.some((one) => one === status);

function endRun(rolled: RolledUp, job: number, at: number, usage: Record<string, number> = {}): void {
	rolled.sums.runs++;
	rolled.sums.cost_micro += usage.cost_micro ?? 0;
	rolled.sums.tokens += usage.tokens ?? 0;
	rolled.sums.slot_ms += heldBy(rolled, job, at);
	rolled.live.delete(job);
}

/** For how long the live run of a job has held its slot. */
export function heldBy({ live }: RolledUp, job: number, now: number): number {
	const run = live.get(job);
	if (!run) return 0;
	return Math.max(0, now - run.at - run.lent - (run.lending === null ? 0 : Math.max(0, now - run.lending)));
}
