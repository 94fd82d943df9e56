// The planner, and a small fake that applies its plans: the order, caps that fill up, overdue turns, ranks.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Bucket } from "../bucket.ts";
import { type Config, DEFAULTS, LANE_DEFAULT } from "../config.ts";
import { footprint } from "../gates/buckets/capacity.ts";
import { shut } from "../gates/index.ts";
import type { LimitsView } from "../limits-view.ts";
import { ageBoost, RUN_NOW } from "../order.ts";
import { plan, type ReadyBucket } from "./plan.ts";
import type { ReadyJob, ReadyRows } from "./ready-rows.ts";

const MINUTE = 60_000;
const NOW = 10_000 * MINUTE;

type Ready = ReadyJob & { bucket: number };
type Setup = {
	config: Config;
	buckets: Bucket[];
	jobs: Ready[];
	starts?: number;
	usage?: [string, number][];
	refuse?: (id: number) => boolean;
	/** How many rows of a level, or of the oldest, a read brings. */
	depth?: number;
};

/** A fake store of ready jobs, of which a plan knows the rows that were read. */
function fake({ config, buckets, jobs, starts = 0, usage = [], refuse = () => false, depth = 128 }: Setup) {
	const left = new Map(jobs.map((job) => [job.id, job]));
	const counts = new Map(usage);
	const state = { starts };
	const all = buckets.map((bucket) => ({ ...bucket, ready: jobs.filter((job) => job.bucket === bucket.id).length }));
	const world: LimitsView = {
		now: NOW,
		config,
		holds: new Map(),
		ledgers: new Map(),
		hosts: [{ name: "h", labels: [], repos: null, heartbeat_at: 0, state: "live" }],
		usage: counts,
		last_cycle_at: 0,
		cycle_left: 0,
		last_start_at: 0,
		get starts() {
			return state.starts;
		},
	};
	const of = (bucket: Bucket) => [...left.values()].filter((job) => job.bucket === bucket.id);
	const inOrder = (a: ReadyJob, b: ReadyJob) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id;
	const known = new Map<number, ReadyRows>(all.map(({ id }) => [id, { levels: [], complete: false, since: undefined, elders: undefined }]));

	function read(bucket: Bucket, rows: "heads" | "oldest"): void {
		const mine = of(bucket).sort(inOrder);
		const before = known.get(bucket.id) as ReadyRows;
		if (rows === "oldest") {
			const elders = [...mine].sort((a, b) => a.ready_at - b.ready_at || a.id - b.id);
			const list = { rows: elders.slice(0, depth), next: 0, complete: elders.length <= depth };
			known.set(bucket.id, { ...before, since: elders[0]?.ready_at ?? Number.POSITIVE_INFINITY, elders: list });
			return;
		}
		const levels = new Map<string, ReadyJob[]>();
		for (const job of mine) levels.set(`${job.rank}/${job.level}`, [...(levels.get(`${job.rank}/${job.level}`) ?? []), job]);
		const listed = [...levels.values()].map((level) => {
			const { rank, level: at } = level[0] as ReadyJob;
			return { rank, level: at, rows: level.slice(0, depth), next: 0, complete: level.length <= depth };
		});
		known.set(bucket.id, { ...before, levels: listed, complete: true });
	}

	/** What was read, without the jobs that have left. */
	function view(bucket: Bucket): ReadyBucket {
		const { levels, complete, since, elders } = known.get(bucket.id) as ReadyRows;
		const still = <L extends { rows: readonly ReadyJob[] }>(list: L): L => ({ ...list, rows: list.rows.filter(({ id }) => left.has(id)) });
		return { bucket, rows: { levels: levels.map(still), complete, since, elders: elders && still(elders) } };
	}

	const try_ = (bucket: Bucket, id: number): boolean => {
		const real = all.find((one) => one.id === bucket.id) as Bucket;
		left.delete(id);
		real.ready--;
		if (refuse(id)) return false;
		for (const [key, amount] of footprint(real, undefined, undefined)) counts.set(key, (counts.get(key) ?? 0) + amount);
		state.starts++;
		return true;
	};

	function run(want: number): { started: number[]; tried: number } {
		const started: number[] = [];
		let tried = 0;
		for (;;) {
			const before = [...counts];
			const { picks, next } = plan({ limits: world, buckets: all.map(view) }, want - started.length);
			// A plan changes nothing.
			expect([...counts]).toEqual(before);
			let went = true;
			for (const { bucket, head } of picks) {
				tried++;
				went = try_(bucket, head.id);
				if (!went) break;
				started.push(head.id);
			}
			if (started.length === want || (went && next === "done")) return { started, tried };
			if (went && typeof next === "object") for (const bucket of next.of) read(bucket, next.read);
		}
	}

	/** The same result, computed by checking every job again for every start. */
	function naive(want: number): number[] {
		const started: number[] = [];
		while (started.length < want) {
			const open = all.filter((bucket) => bucket.stage === undefined && !shut(bucket, world));
			const startable = [...left.values()].filter((job) => open.some((bucket) => bucket.id === job.bucket));
			const pick = best(startable);
			if (!pick) break;
			if (try_(all.find((bucket) => bucket.id === pick.bucket) as Bucket, pick.id)) started.push(pick.id);
		}
		return started;
	}

	function best(startable: Ready[]): Ready | undefined {
		const [urgent] = startable.filter((job) => job.rank >= RUN_NOW).sort((a, b) => b.rank - a.rank);
		if (urgent) return urgent;
		const { overdue_share, overdue_after_ms } = config.order;
		if (overdue_share > 0 && overdue_after_ms > 0 && state.starts % overdue_share === overdue_share - 1) {
			const [oldest] = [...startable].sort((a, b) => a.ready_at - b.ready_at || a.id - b.id);
			if (oldest && oldest.ready_at <= NOW - overdue_after_ms) return oldest;
		}
		const laneOfJob = (job: Ready) => all.find((bucket) => bucket.id === job.bucket)?.lane as string;
		const p = (job: Ready) => (config.lanes[laneOfJob(job)]?.priority ?? 0) + job.level + ageBoost(job.age_at, NOW, config);
		const candidates: { job: Ready; p: number }[] = [];
		for (const lane of new Set(startable.map(laneOfJob))) {
			const mine = startable.filter((job) => laneOfJob(job) === lane);
			const plain = mine.filter((job) => job.rank === 0).map((job) => ({ job, p: p(job) }));
			const [promoted] = mine.filter((job) => job.rank > 0).sort((a, b) => b.rank - a.rank);
			const [demoted] = mine.filter((job) => job.rank < 0).sort((a, b) => b.rank - a.rank);
			if (promoted) candidates.push({ job: promoted, p: Math.max(p(promoted), ...plain.map((one) => one.p)) });
			else if (plain.length > 0) candidates.push(...plain);
			else if (demoted) candidates.push({ job: demoted, p: p(demoted) });
		}
		candidates.sort((a, b) => b.p - a.p || a.job.age_at - b.job.age_at || a.job.id - b.job.id);
		return candidates[0]?.job;
	}

	return { run, naive };
}

const bucket = (id: number, lane: string, more: Partial<Bucket> = {}): Bucket => ({ id, kind: "command", lane, ready: 0, ...more });
const ready = (id: number, in_: number, more: Partial<ReadyJob> = {}): Ready => ({
	id,
	bucket: in_,
	rank: 0,
	level: 0,
	age_at: NOW,
	ready_at: more.age_at ?? NOW,
	...more,
});
const lanes = (given: Record<string, Partial<typeof LANE_DEFAULT>>, more: Partial<Config> = {}): Config => ({
	...DEFAULTS,
	max_concurrent: 1000,
	safety_cap: 0,
	lanes: Object.fromEntries(Object.entries(given).map(([name, lane]) => [name, { ...LANE_DEFAULT, ...lane }])),
	...more,
});

describe("the order", () => {
	test("highest P first, then the oldest, then the lowest id", () => {
		const config = lanes({ a: { priority: 10 }, b: {} });
		const jobs = [
			ready(1, 1),
			ready(2, 2, { level: 11 }),
			ready(3, 1, { age_at: NOW - 5 }),
			ready(4, 2, { level: 10 }),
			ready(5, 2, { age_at: NOW - 30 * MINUTE }),
		];
		expect(fake({ config, buckets: [bucket(1, "a"), bucket(2, "b")], jobs }).run(10).started).toEqual([5, 2, 3, 1, 4]);
	});

	test("within one bucket an aged job of a lower level passes a fresh one of a higher", () => {
		const jobs = [ready(1, 1, { level: 10 }), ready(2, 1, { age_at: NOW - 9 * MINUTE }), ready(3, 1, { age_at: NOW - 11 * MINUTE })];
		expect(fake({ config: lanes({ a: {} }), buckets: [bucket(1, "a")], jobs }).run(10).started).toEqual([3, 1, 2]);
	});

	test("no more than wanted, and nothing when nothing is ready", () => {
		const jobs = [ready(1, 1), ready(2, 1)];
		expect(fake({ config: lanes({ a: {} }), buckets: [bucket(1, "a")], jobs }).run(1).started).toEqual([1]);
		expect(fake({ config: lanes({ a: {} }), buckets: [bucket(1, "a")], jobs }).run(0).started).toEqual([]);
		expect(fake({ config: lanes({ a: {} }), buckets: [bucket(1, "a")], jobs: [] }).run(5)).toEqual({ started: [], tried: 0 });
		expect(fake({ config: lanes({ a: {} }), buckets: [], jobs: [] }).run(5).started).toEqual([]);
	});

	test("nothing of an apply that is not committed yet", () => {
		const jobs = [ready(1, 1), ready(2, 2)];
		expect(
			fake({ config: lanes({ a: {} }), buckets: [bucket(1, "a", { stage: 1 }), bucket(2, "a", { repo: "x" })], jobs }).run(5).started,
		).toEqual([2]);
	});

	test("a job that its own gates refuse makes room for the next", () => {
		const jobs = [ready(1, 1), ready(2, 1), ready(3, 1)];
		const setup = { config: lanes({ a: {} }), buckets: [bucket(1, "a")], jobs, refuse: (id: number) => id === 2 };
		expect(fake(setup).run(2)).toEqual({ started: [1, 3], tried: 3 });
	});

	test("kernel entries: by priority, then runnable_at, whatever their age and pid", () => {
		const kernel = (id: number, pid: number) => bucket(id, "kernel", { kind: "kernel", owner: `pid:${pid}` });
		const jobs = [
			ready(1, 1, { level: 5, age_at: 0 }),
			ready(2, 2, { level: 10, age_at: NOW }),
			ready(3, 2, { level: 5, age_at: 1 }),
			ready(4, 1, { level: 10, age_at: NOW - MINUTE }),
		];
		expect(fake({ config: lanes({ a: {} }), buckets: [kernel(1, 1), kernel(2, 2)], jobs }).run(10).started).toEqual([4, 2, 1, 3]);
	});
});

describe("caps fill up inside one plan", () => {
	const jobs = [ready(1, 1), ready(2, 1), ready(3, 1), ready(4, 2), ready(5, 2)];
	const buckets = [bucket(1, "a"), bucket(2, "b")];

	test("a lane's", () => {
		expect(fake({ config: lanes({ a: { max: 2 }, b: {} }), buckets, jobs }).run(10).started).toEqual([1, 2, 4, 5]);
		expect(fake({ config: lanes({ a: { max: 2 }, b: {} }), buckets, jobs, usage: [["lane:a", 1]] }).run(10).started).toEqual([1, 4, 5]);
	});

	test("the shared one", () => {
		expect(fake({ config: lanes({ a: {}, b: {} }, { max_concurrent: 3 }), buckets, jobs }).run(10).started).toEqual([1, 2, 3]);
		expect(fake({ config: lanes({ a: {}, b: {} }, { max_concurrent: -1, safety_cap: 2 }), buckets, jobs }).run(10).started).toEqual([1, 2]);
	});

	test("a resource that two buckets share, by amount", () => {
		const config = lanes({ a: {}, b: {} }, { resources: { build: 5 } });
		const using = [bucket(1, "a", { uses: { build: 2 } }), bucket(2, "b", { uses: { build: 1 } })];
		expect(fake({ config, buckets: using, jobs }).run(10).started).toEqual([1, 2, 4]);
	});
});

describe("overdue turns", () => {
	const config = lanes({ slow: {}, fast: { priority: 1000 } });
	const buckets = [bucket(1, "slow"), bucket(2, "fast")];
	const jobs = [
		ready(1, 1, { ready_at: NOW - 61 * MINUTE, age_at: NOW }),
		ready(2, 1, { ready_at: NOW - 62 * MINUTE, age_at: NOW }),
		...Array.from({ length: 10 }, (_, index) => ready(10 + index, 2)),
	];

	test("every fourth start goes to the longest startable", () => {
		expect(fake({ config, buckets, jobs }).run(9).started).toEqual([10, 11, 12, 2, 13, 14, 15, 1, 16]);
		expect(fake({ config, buckets, jobs, starts: 3 }).run(3).started).toEqual([2, 10, 11]);
	});

	test("not to a job that is not overdue yet; exactly at the time it is", () => {
		const just = (ago: number) => [ready(1, 1, { ready_at: NOW - ago, age_at: NOW }), ready(10, 2)];
		expect(fake({ config, buckets, jobs: just(60 * MINUTE - 1), starts: 3 }).run(1).started).toEqual([10]);
		expect(fake({ config, buckets, jobs: just(60 * MINUTE), starts: 3 }).run(1).started).toEqual([1]);
	});

	test("off with a share or a time of 0", () => {
		for (const off of [{ overdue_share: 0 }, { overdue_after_ms: 0 }])
			expect(fake({ config: { ...config, order: { ...config.order, ...off } }, buckets, jobs, starts: 3 }).run(1).started).toEqual([10]);
	});

	test("run-now goes before them", () => {
		const urgent = [...jobs, ready(99, 2, { rank: RUN_NOW + 1 })];
		expect(fake({ config, buckets, jobs: urgent, starts: 3 }).run(5).started).toEqual([99, 10, 11, 12, 2]);
	});

	test("a full lane gets no overdue turn", () => {
		const full = lanes({ slow: { max: 0 }, fast: {} });
		expect(fake({ config: full, buckets, jobs, starts: 3 }).run(2).started).toEqual([10, 11]);
	});
});

describe("ranks", () => {
	const config = lanes({ a: { priority: 100 }, b: {} });
	const buckets = [bucket(1, "a"), bucket(2, "b"), bucket(3, "b", { repo: "x" })];

	test("promoted: before all others of its lane, last promoted first, wherever in the lane they are", () => {
		const jobs = [ready(1, 2, { level: 5 }), ready(2, 2, { rank: 1 }), ready(3, 3, { rank: 2 }), ready(4, 3, { level: 9 })];
		expect(fake({ config, buckets, jobs }).run(10).started).toEqual([3, 2, 4, 1]);
	});

	test("against other lanes it counts with the best P of its own lane", () => {
		const jobs = [ready(1, 1), ready(2, 2, { rank: 1, level: -50 }), ready(3, 2, { level: 101 })];
		expect(fake({ config, buckets, jobs }).run(10).started).toEqual([2, 3, 1]);
		const weak = [ready(1, 1), ready(2, 2, { rank: 1, level: -50 }), ready(3, 2, { level: 99 })];
		expect(fake({ config, buckets, jobs: weak }).run(10).started).toEqual([1, 2, 3]);
	});

	test("a promoted job borrows only from startable jobs", () => {
		// Job 3 fills the resource; job 4, which needs it too, is no longer startable, so its P must not count.
		const shared = [bucket(1, "a"), bucket(2, "b"), bucket(3, "b", { uses: { build: 1 } })];
		const jobs = [ready(1, 1), ready(2, 2, { rank: 1 }), ready(3, 3, { rank: 2, level: 200 }), ready(4, 3, { level: 150 })];
		const full = { ...config, resources: { build: 1 } };
		expect(fake({ config: full, buckets: shared, jobs }).run(10).started).toEqual([3, 1, 2]);
	});

	test("demoted: behind all others of its lane, last demoted last, with its own P against other lanes", () => {
		const jobs = [
			ready(1, 2, { rank: -1, level: 50 }),
			ready(2, 3, { rank: -2, level: 60 }),
			ready(3, 2, { level: 1 }),
			ready(4, 3, { level: 0 }),
			ready(5, 1, { level: -60 }),
		];
		expect(fake({ config, buckets, jobs }).run(10).started).toEqual([5, 3, 4, 1, 2]);
	});

	test("run-now: before everything, last one first", () => {
		const jobs = [
			ready(1, 1),
			ready(2, 2, { rank: RUN_NOW + 1, level: -99 }),
			ready(3, 3, { rank: RUN_NOW + 2 }),
			ready(4, 1, { rank: 5 }),
		];
		expect(fake({ config, buckets, jobs }).run(10).started).toEqual([3, 2, 4, 1]);
	});
});

test("for any buckets, levels, ages, ranks and caps: the same as checking every job for every start", () => {
	const head = fc.record({
		bucket: fc.integer({ min: 1, max: 4 }),
		rank: fc.oneof(
			{ weight: 5, arbitrary: fc.constant(0) },
			{ weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
			{ weight: 1, arbitrary: fc.constant(RUN_NOW) },
		),
		level: fc.integer({ min: -15, max: 15 }),
		age: fc.integer({ min: 0, max: 70 }),
		late: fc.integer({ min: 0, max: 90 }),
	});
	const cap = fc.option(fc.nat({ max: 4 }), { nil: null });
	const setup = fc.record({
		heads: fc.array(head, { maxLength: 30 }),
		a: fc.record({ max: cap, priority: fc.integer({ min: -10, max: 10 }) }),
		b: fc.record({ max: cap, priority: fc.integer({ min: -10, max: 10 }) }),
		max_concurrent: fc.integer({ min: 1, max: 20 }),
		build: fc.nat({ max: 6 }),
		starts: fc.nat({ max: 7 }),
		share: fc.nat({ max: 4 }),
		refused: fc.integer({ min: 2, max: 9 }),
		depth: fc.constantFrom(1, 2, 3, 128),
	});
	fc.assert(
		fc.property(setup, fc.nat({ max: 30 }), ({ heads, a, b, max_concurrent, build, starts, share, refused, depth }, want) => {
			const base = lanes({ a, b }, { max_concurrent, resources: { build } });
			const made: Setup = {
				config: { ...base, order: { ...base.order, overdue_share: share } },
				buckets: [bucket(1, "a"), bucket(2, "a", { repo: "x" }), bucket(3, "b"), bucket(4, "b", { uses: { build: 2 } })],
				// Each rank is unique.
				jobs: heads.map(({ bucket: in_, rank, level, age, late }, index) =>
					ready(index + 1, in_, {
						rank: rank === 0 ? 0 : rank >= RUN_NOW ? rank + index : rank * 100 + (rank < 0 ? -index : index),
						level,
						age_at: NOW - age * MINUTE,
						ready_at: NOW - late * MINUTE,
					}),
				),
				starts,
				refuse: (id) => id % refused === 1,
				depth,
			};
			expect(fake(made).run(want).started).toEqual(fake(made).naive(want));
		}),
		{ numRuns: 500 },
	);
});
