// Forecasts: small queues by example, caps and locks never exceeded in any simulation, and ranges that hold as often as they say.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Sample, sequence } from "./durations.ts";
import { type Forecast, forecast, type Queue, type QueuedJob } from "./forecast.ts";
import { type ForecastJob, type ForecastView, play } from "./play.ts";

const NOW = 1_000_000_000_000;
const MINUTE = 60_000;

const job = (id: number, more: Partial<QueuedJob> = {}): QueuedJob => ({
	id,
	name: null,
	status: "queued",
	lane: "code",
	batch: null,
	recipe: null,
	after: [],
	earliest: 0,
	started_at: null,
	locks: [],
	takes: { all: 1, [`lane:${more.lane ?? "code"}`]: 1 },
	stuck: null,
	...more,
});
/** Runs that all took the same time: ranges are narrow, and sums can be predicted. */
const same = (ms: number, lane = "code", count = 30): Sample[] => Array.from({ length: count }, () => ({ lane, recipe: null, ms }));

function run(jobs: QueuedJob[], more: Partial<Queue> = {}): Forecast {
	const steps = forecast({
		now: NOW,
		jobs,
		caps: { all: 2 },
		cycle: { every: 0, next_at: 0, most: 0 },
		spacing: 0,
		samples: same(10 * MINUTE),
		...more,
	});
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}
const minutes = (at: number | undefined) => (at === undefined ? undefined : Math.round((at - NOW) / MINUTE));
const ends = (found: Forecast) => found.jobs.map(({ end }) => minutes(end?.p50));

describe("by example", () => {
	test("a run that waits for a job lends its slot, and ends after it", () => {
		const running = { status: "running" as const, started_at: NOW - MINUTE };
		const found = run([job(1, { ...running, after: [2] }), job(2), job(3)], { caps: { all: 1 } });
		expect(ends(found)).toEqual([10, 10, 20]);
		expect(found.critical_path.map(({ job: id, because }) => `${id} ${because}`)).toEqual([
			"2 starts now",
			"1 waits for job 2",
			"3 the slot of job 1",
		]);
	});

	test("a run that is frozen keeps its slot", () => {
		const running = { status: "running" as const, started_at: NOW - MINUTE };
		const found = run([job(1, { ...running, stuck: "it is frozen" }), job(2), job(3)]);
		expect(ends(found)).toEqual([undefined, 10, 20]);
	});

	test("a job that waits for one without a forecast has no forecast either", () => {
		const running = { status: "running" as const, started_at: NOW - MINUTE };
		const found = run([job(1, { ...running, after: [2] }), job(2, { stuck: "waits for approval" })]);
		expect(found.jobs.map(({ end, stuck }) => [end, stuck])).toEqual([
			[null, "waits for job 2, for which no time can be told"],
			[null, "waits for approval"],
		]);
	});

	test("two at a time, best first", () => {
		const found = run([job(1), job(2), job(3), job(4), job(5)]);
		expect(ends(found)).toEqual([10, 10, 20, 20, 30]);
		expect(minutes(found.end?.p50)).toBe(30);
		expect(found.binding).toMatchObject({ cap: "all", limit: 2 });
		expect(found.critical_path.map(({ because }) => because.replace(/\d/, "N"))).toEqual([
			"starts now",
			"the slot of job N",
			"the slot of job N",
		]);
		expect(found.jobs[0]?.basis).toMatchObject({ of: "lane code", runs: 30, like: "same" });
	});

	test("what if there were more slots", () => {
		const found = run([job(1), job(2), job(3), job(4), job(5)], { caps: {} });
		expect([ends(found), found.binding]).toEqual([[10, 10, 10, 10, 10], null]);
	});

	test("dependencies, and the chain that counts", () => {
		const found = run([job(1), job(2, { after: [1] }), job(3, { after: [2] }), job(4)], { caps: {} });
		expect(ends(found)).toEqual([10, 20, 30, 10]);
		expect(found.critical_path.map(({ job: id, because }) => [id, because])).toEqual([
			[1, "starts now"],
			[2, "after job 1"],
			[3, "after job 2"],
		]);
	});

	test("locks: exclusive one by one, shared together", () => {
		const exclusive = { locks: [{ key: "db", mode: "exclusive" as const }] };
		expect(ends(run([job(1, exclusive), job(2, exclusive), job(3)], { caps: {} }))).toEqual([10, 20, 10]);
		const shared = { locks: [{ key: "db", mode: "shared" as const }] };
		expect(ends(run([job(1, shared), job(2, shared), job(3, exclusive)], { caps: {} }))).toEqual([10, 10, 20]);
	});

	test("a running job has the rest to go; an earliest start counts", () => {
		const found = run([job(1, { status: "running", started_at: NOW - 4 * MINUTE }), job(2, { earliest: NOW + 60 * MINUTE })]);
		expect(ends(found)).toEqual([6, 70]);
		expect(found.jobs[0]?.start).toEqual({ p50: NOW - 4 * MINUTE, p90: NOW - 4 * MINUTE });
	});

	test("lanes by their own caps and durations; recipes before lanes", () => {
		const samples = [
			...same(10 * MINUTE),
			...same(MINUTE, "plan"),
			...Array.from({ length: 9 }, () => ({ lane: "code", recipe: "quick", ms: 2 * MINUTE })),
		];
		const found = run([job(1, { lane: "plan" }), job(2), job(3, { recipe: "quick" })], { caps: { "lane:code": 1 }, samples });
		expect(ends(found).slice(0, 1)).toEqual([1]);
		expect(found.jobs.map(({ basis }) => basis?.of)).toEqual(["lane plan", "lane code", "recipe quick in lane code"]);
		expect(found.binding?.cap).toBe("lane:code");
	});

	test("cycles and spacing hold starts back", () => {
		const town = run([job(1), job(2), job(3)], { caps: { all: 9 }, cycle: { every: 3 * MINUTE, next_at: NOW + MINUTE, most: 1 } });
		expect(town.jobs.map(({ start }) => minutes(start?.p50))).toEqual([1, 4, 7]);
		const spaced = run([job(1), job(2), job(3)], { caps: { all: 9 }, spacing: 2 * MINUTE });
		expect(spaced.jobs.map(({ start }) => minutes(start?.p50))).toEqual([0, 2, 4]);
		const both = { caps: { all: 9 }, cycle: { every: 5 * MINUTE, next_at: NOW + MINUTE, most: 2 }, spacing: 2 * MINUTE };
		expect(run([job(1), job(2), job(3)], both).jobs.map(({ start }) => minutes(start?.p50))).toEqual([1, 3, 6]);
	});

	test("a job that becomes ready between two cycles waits for the next", () => {
		const one = { ...job(2), after: [1] };
		const found = run([job(1), one], { caps: { all: 9 }, cycle: { every: 30 * MINUTE, next_at: NOW, most: 2 } });
		expect(found.jobs.map(({ start }) => minutes(start?.p50))).toEqual([0, 30]);
	});

	test("no history: says so, and gives no times", () => {
		const found = run([job(1), job(2)], { samples: [] });
		expect([ends(found), found.end, found.notes]).toEqual([[undefined, undefined], null, ["no finished run to estimate from"]]);
	});

	test("history of other lanes only, or of one run: says so", () => {
		expect(run([job(1, { lane: "plan" })]).notes).toEqual([expect.stringContaining("no run of lane plan has ended well yet")]);
		expect(run([job(1)], { samples: same(MINUTE, "code", 1) }).notes).toEqual(["some estimates rest on 1 run only"]);
	});

	test("a job that waits for a person has no time, nor has its successor; the rest has", () => {
		const found = run([job(1, { stuck: "needs approval", batch: "b" }), job(2, { after: [1] }), job(3, { batch: "c" })]);
		expect(found.jobs.map(({ end, stuck }) => [minutes(end?.p50), stuck])).toEqual([
			[undefined, "needs approval"],
			[undefined, "waits for job 1, for which no time can be told"],
			[10, null],
		]);
		expect(found.batches).toMatchObject([
			{ name: "b", jobs: 1, stuck: 1, end: null },
			{ name: "c", jobs: 1, stuck: 0 },
		]);
		expect(found.notes).toEqual(["no time can be told for 2 of 3 jobs"]);
		expect(run([job(1)], { caps: { "lane:code": 0 } }).jobs[0]?.stuck).toBe("no cap would ever have room for it");
	});

	test("the same queue gives the same answer", () => {
		const samples = same(MINUTE).map((one, index) => ({ ...one, ms: one.ms * (1 + index) }));
		const jobs = [job(1), job(2), job(3, { after: [1] })];
		expect(run(jobs, { samples })).toEqual(run(jobs, { samples }));
	});
});

describe("in every simulation", () => {
	const boards = fc.integer({ min: 1, max: 14 }).chain(
		(count) =>
			fc.record({
				pieces: fc.tuple(
					...Array.from({ length: count }, (_, index) =>
						fc.record({
							after: index === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat({ max: index - 1 }), { maxLength: 3 }),
							earliest: fc.constantFrom(0, 0, 5, 30),
							since: fc.constant(null),
							locks: fc.uniqueArray(
								fc.record({ key: fc.constantFrom("a", "b"), mode: fc.constantFrom("shared" as const, "exclusive" as const) }),
								{
									maxLength: 2,
									selector: ({ key }) => key,
								},
							),
							class: fc.nat({ max: 1 }),
						}),
					),
				) as fc.Arbitrary<ForecastJob[]>,
				classes: fc.constant([
					[{ cap: 0, amount: 1 }],
					[
						{ cap: 0, amount: 1 },
						{ cap: 1, amount: 2 },
					],
				]),
				caps: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 4 })) as fc.Arbitrary<number[]>,
				cycle: fc.constantFrom({ every: 0, first: 0, most: Number.POSITIVE_INFINITY }, { every: 7, first: 3, most: 2 }),
				spacing: fc.constantFrom(0, 4),
			}) as fc.Arbitrary<ForecastView>,
	);

	test("all jobs start after their predecessors, within caps and locks at every moment", () => {
		fc.assert(
			fc.property(boards, fc.nat(), (board, seed) => {
				const dice = sequence(seed);
				const lengths = board.pieces.map(() => 1 + Math.floor(dice() * 20));
				const { start, end } = play(board, (index) => lengths[index] as number);
				for (const [index, piece] of board.pieces.entries()) {
					const from = start[index] as number;
					expect(end[index]).toBe(from + (lengths[index] as number));
					expect(from).toBeGreaterThanOrEqual(piece.earliest);
					for (const one of piece.after) expect(from).toBeGreaterThanOrEqual(end[one] as number);
					const live = board.pieces.flatMap((other, place) =>
						(start[place] as number) <= from && (end[place] as number) > from ? [{ other, place }] : [],
					);
					for (const [cap, limit] of board.caps.entries()) {
						const taken = live.reduce(
							(sum, { other }) => sum + (board.classes[other.class]?.find((one) => one.cap === cap)?.amount ?? 0),
							0,
						);
						expect(taken).toBeLessThanOrEqual(limit);
					}
					for (const { key, mode } of piece.locks)
						for (const { other, place } of live)
							if (place !== index) {
								const its = other.locks.find((lock) => lock.key === key);
								if (its) expect([mode, its.mode]).toEqual(["shared", "shared"]);
							}
				}
				if (board.spacing > 0) {
					const times = [...start].sort((a, b) => a - b);
					for (let at = 1; at < times.length; at++)
						expect((times[at] as number) - (times[at - 1] as number)).toBeGreaterThanOrEqual(board.spacing);
				}
			}),
		);
	});
});

describe("ranges hold as often as they say", () => {
	/** Durations as agents have them: a long tail. */
	const lognormal = (dice: () => number, median: number, spread: number) =>
		median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice()));

	test.each([
		["40 past runs a lane", 40],
		["12 past runs a lane", 12],
	])("%s: p90 in 80 to 97 of 100, p50 in 40 to 60", (_, history) => {
		const dice = sequence(7 + history);
		let [half, ninety, all] = [0, 0, 0];
		for (let round = 0; round < 60; round++) {
			const drawn = (lane: string) => lognormal(dice, lane === "code" ? 20 * MINUTE : 3 * MINUTE, lane === "code" ? 0.8 : 0.4);
			const samples = ["code", "plan"].flatMap((lane) => Array.from({ length: history }, () => ({ lane, recipe: null, ms: drawn(lane) })));
			const jobs = Array.from({ length: 24 }, (_, index) => {
				const lane = index % 4 === 0 ? "plan" : "code";
				return job(index + 1, { lane, after: index > 4 && index % 3 === 0 ? [index - 3] : [] });
			});
			const caps = { all: 4, "lane:code": 3 };
			const said = run(jobs, { samples, caps });
			const lengths = jobs.map(({ lane }) => drawn(lane));
			const real = play(
				{
					pieces: jobs.map(({ lane, after }) => ({
						after: after.map((id) => id - 1),
						earliest: 0,
						since: null,
						locks: [],
						class: lane === "code" ? 0 : 1,
					})),
					classes: [
						[
							{ cap: 0, amount: 1 },
							{ cap: 1, amount: 1 },
						],
						[{ cap: 0, amount: 1 }],
					],
					caps: [4, 3],
					cycle: { every: 0, first: 0, most: 0 },
					spacing: 0,
				},
				(index) => lengths[index] as number,
			);
			for (const [index, { end }] of said.jobs.entries()) {
				const at = NOW + (real.end[index] as number);
				all++;
				if (at <= (end?.p50 ?? 0)) half++;
				if (at <= (end?.p90 ?? 0)) ninety++;
			}
		}
		expect((100 * half) / all).toBeGreaterThan(40);
		expect((100 * half) / all).toBeLessThan(60);
		expect((100 * ninety) / all).toBeGreaterThan(80);
		expect((100 * ninety) / all).toBeLessThan(97);
	});
});
