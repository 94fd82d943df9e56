// Charts from the known jobs: how many waited, how long starts took, how many ended, what they cost, over time. Pure.

import type { PageRow } from "./row.ts";

export type Trends = {
	/** The middle of each step, epoch seconds, as the chart library wants it. */
	at: number[];
	queued: number[];
	running: number[];
	/** Seconds from ready to started, for jobs that started in that step; null if none did. */
	latencyMiddle: (number | null)[];
	latencyNinety: (number | null)[];
	succeeded: number[];
	failed: number[];
	/** Dollars, accumulated over the time that is shown. */
	cost: number[];
};

const at = (sorted: readonly number[], share: number): number | null =>
	sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number);

export function trendsOf(rows: Iterable<PageRow>, from: number, to: number, steps: number): Trends {
	const step = (to - from) / steps;
	const zeros = () => new Array<number>(steps + 1).fill(0);
	const [queued, running, succeeded, failed, cost] = [zeros(), zeros(), zeros(), zeros(), zeros()];
	const latencies: number[][] = Array.from({ length: steps }, () => []);
	const index = (time: number) => Math.min(steps, Math.max(0, Math.floor((time - from) / step)));
	/** Counts the job at the end of each step that its span covers. */
	const cover = (into: number[], begin: number, end: number | null) => {
		if (begin > to || (end !== null && end < from)) return;
		into[index(begin)] = (into[index(begin)] ?? 0) + 1;
		if (end !== null && end <= to) into[index(end)] = (into[index(end)] ?? 0) - 1;
	};
	for (const row of rows) {
		cover(queued, row.createdAt, row.startedAt ?? row.endedAt);
		if (row.startedAt !== null) {
			cover(running, row.startedAt, row.endedAt);
			const slot = Math.floor((row.startedAt - from) / step);
			if (row.readyAt !== null && slot >= 0 && slot < steps) latencies[slot]?.push(Math.max(0, row.startedAt - row.readyAt) / 1000);
		}
		if (row.endedAt !== null && row.endedAt >= from && row.endedAt < to) {
			const slot = Math.floor((row.endedAt - from) / step);
			const into = row.status === "succeeded" ? succeeded : failed;
			into[slot] = (into[slot] ?? 0) + 1;
			cost[slot] = (cost[slot] ?? 0) + (row.costMicros ?? 0) / 1e6;
		}
	}
	const runningSum = (values: number[]) => {
		let sum = 0;
		return values.slice(0, steps).map((value) => {
			sum += value;
			return sum;
		});
	};
	const sorted = latencies.map((some) => some.sort((a, b) => a - b));
	return {
		at: Array.from({ length: steps }, (_, i) => (from + (i + 0.5) * step) / 1000),
		queued: runningSum(queued),
		running: runningSum(running),
		latencyMiddle: sorted.map((some) => at(some, 0.5)),
		latencyNinety: sorted.map((some) => at(some, 0.9)),
		succeeded: succeeded.slice(0, steps),
		failed: failed.slice(0, steps),
		cost: runningSum(cost),
	};
}
