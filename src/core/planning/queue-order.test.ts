// The order of the queue for views, compared with what the planner picks when every cap has room.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Bucket } from "../bucket.ts";
import { DEFAULTS, LANE_DEFAULT } from "../config.ts";
import type { LimitsView } from "../limits-view.ts";
import { RUN_NOW } from "../order.ts";
import { plan, type ReadyBucket } from "./plan.ts";
import { dispatchOrder } from "./queue-order.ts";
import type { ReadyJob } from "./ready-rows.ts";

const NOW = 10_000 * 60_000;
const LANES = { code: { ...LANE_DEFAULT, priority: 20 }, docs: { ...LANE_DEFAULT, priority: 0 } };
const limits: LimitsView = {
	now: NOW,
	config: { ...DEFAULTS, max_concurrent: 0, safety_cap: 0, lanes: LANES, order: { ...DEFAULTS.order, overdue_share: 0 } },
	holds: new Map(),
	ledgers: new Map(),
	hosts: [{ name: "h", labels: [], repos: null, heartbeat_at: 0, state: "live" }],
	usage: new Map(),
	last_cycle_at: 0,
	cycle_left: 0,
	last_start_at: 0,
	starts: 0,
};

const inStore = (a: ReadyJob, b: ReadyJob) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id;

/** What the planner picks, one job after the other, with all rows known. */
function picked(jobs: readonly { bucket: Bucket; head: ReadyJob }[]): number[] {
	const left = [...jobs];
	const found: number[] = [];
	while (left.length > 0) {
		const buckets = new Map<number, ReadyBucket>();
		for (const { bucket } of left) {
			const mine = left.filter((one) => one.bucket.id === bucket.id).map(({ head }) => head);
			const levels = [...new Set(mine.sort(inStore).map(({ rank, level }) => `${rank}/${level}`))].map((key) => {
				const rows = mine.filter(({ rank, level }) => `${rank}/${level}` === key);
				const { rank, level } = rows[0] as ReadyJob;
				return { rank, level, rows, next: 0, complete: true };
			});
			buckets.set(bucket.id, {
				bucket: { ...bucket, ready: mine.length },
				rows: { levels, complete: true, since: NOW, elders: undefined },
			});
		}
		const { picks } = plan({ limits, buckets: [...buckets.values()] }, 1);
		const id = picks[0]?.head.id;
		found.push(id as number);
		left.splice(
			left.findIndex(({ head }) => head.id === id),
			1,
		);
	}
	return found;
}

const bucketOf = (id: number): Bucket => ({
	id,
	kind: "command",
	lane: id % 2 === 0 ? "code" : "docs",
	ready: 0,
	...(id > 2 ? { repo: "app" } : {}),
});

test("is the order in which the planner picks, with levels, ages and ranks of every kind", () => {
	const job = fc.record({
		bucket: fc.integer({ min: 1, max: 4 }),
		level: fc.integer({ min: -2, max: 2 }),
		minutes: fc.integer({ min: 0, max: 600 }),
		rank: fc.constantFrom(0, 0, 0, 1, -1),
		urgent: fc.constantFrom(false, false, false, true),
	});
	fc.assert(
		fc.property(fc.array(job, { maxLength: 14 }), (drawn) => {
			const jobs = drawn.map(({ bucket, level, minutes, rank, urgent }, index) => ({
				bucket: bucketOf(bucket),
				// Every promote, demote and run-now takes a rank of its own.
				head: {
					id: index + 1,
					rank: urgent ? RUN_NOW + index : rank * (index + 1),
					level,
					age_at: NOW - minutes * 60_000,
					ready_at: NOW,
				},
			}));
			expect(dispatchOrder(jobs, limits, 100).map(({ head }) => head.id)).toEqual(picked(jobs));
		}),
	);
});

test("gives no more than was asked for", () => {
	const jobs = [3, 1, 2].map((id) => ({ bucket: bucketOf(1), head: { id, rank: 0, level: 0, age_at: 0, ready_at: 0 } }));
	expect(dispatchOrder(jobs, limits, 2).map(({ head }) => head.id)).toEqual([1, 2]);
});
