// The window over a bucket's ready jobs, compared with a plain sorted list: whichever jobs enter and leave, both name the same heads.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Op, StoreRead } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import { MANY, Window } from "./ready-queue.ts";

const inOrder = (a: ReadyJob, b: ReadyJob) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id;
const before = (a: { age_at: number; id: number }, b: { age_at: number; id: number }) =>
	a.age_at < b.age_at || (a.age_at === b.age_at && a.id < b.id);

/** The rows of one bucket: all of them, sorted, and a store that answers from them. */
class List {
	rows: ReadyJob[] = [];
	reads = 0;
	readonly window = new Window();
	private next = 1;

	get bucket(): Bucket {
		return { id: 1, kind: "command", lane: "default", ready: this.rows.length };
	}

	/** Stored before the window reads for the first time. */
	preset(head: Omit<ReadyJob, "id">): void {
		this.insert({ ...head, id: this.next++ });
	}
	enter(head: Omit<ReadyJob, "id">): ReadyJob {
		const row = { ...head, id: this.next++ };
		this.insert(row);
		this.window.enter(row);
		return row;
	}
	leave(row: ReadyJob): void {
		const at = this.rows.indexOf(row);
		if (at < 0) throw new Error(`job ${row.id} is not there`);
		this.rows.splice(at, 1);
		this.window.leave(row);
	}
	private insert(row: ReadyJob): void {
		const at = this.rows.findIndex((one) => inOrder(row, one) < 0);
		this.rows.splice(at < 0 ? this.rows.length : at, 0, row);
	}

	drive<T>(op: Op<T>): T {
		let step = op.next();
		while (!step.done) {
			this.reads++;
			step = op.next(this.answer(step.value));
		}
		return step.value;
	}

	private answer(request: StoreRead): unknown {
		switch (request.read) {
			case "line": {
				const { below, after, limit } = request;
				let rows = this.rows;
				if (below) rows = rows.filter((row) => row.rank < below.rank || (row.rank === below.rank && row.level < below.level));
				if (after) rows = rows.filter((row) => row.rank === after.rank && row.level === after.level && before(after, row));
				return rows.slice(0, limit);
			}
			case "ahead":
				return this.ahead(request, request, request.limit);
			case "oldest":
				return this.eldest().slice(0, request.limit);
			default:
				throw new Error(`not a read of a window: ${request.read}`);
		}
	}

	ahead(level: { rank: number; level: number }, bound: { age_at: number; id: number }, limit: number): number {
		const all = this.rows.filter((row) => row.rank === level.rank && row.level === level.level && before(row, bound));
		return Math.min(limit, all.length);
	}
	eldest(): ReadyJob[] {
		return [...this.rows].sort((a, b) => a.ready_at - b.ready_at || a.id - b.id);
	}
	heads(reach: number): ReadyJob[] {
		const [top] = this.rows;
		const plain = this.rows.find((row) => row.rank <= 0);
		const found = top && top.rank > 0 ? [top] : [];
		for (const row of this.rows) {
			if (!plain || row.rank !== plain.rank || row.level < plain.level - reach) continue;
			if (!found.some((one) => one.rank === row.rank && one.level === row.level)) found.push(row);
		}
		return found;
	}
	levels(floor: { rank: number; level: number }): string[] {
		const above = this.rows.filter((row) => row.rank > floor.rank || (row.rank === floor.rank && row.level >= floor.level));
		return [...new Set(above.map((row) => `${row.rank}/${row.level}`))];
	}
}

const head = (more: Partial<ReadyJob> = {}): Omit<ReadyJob, "id"> => ({ rank: 0, level: 0, age_at: 0, ready_at: 0, ...more });
const ids = (heads: readonly ReadyJob[]) => heads.map((one) => one.id);

/** For the inner loop, where `expect` itself would take most of the time. */
function same(found: unknown, real: unknown): void {
	if (JSON.stringify(found) !== JSON.stringify(real)) expect(found).toEqual(real);
}

describe("by example", () => {
	test("nothing", () => {
		const list = new List();
		expect(list.drive(list.window.heads(list.bucket, 50))).toEqual([]);
		expect(list.reads).toBe(0);
	});

	test("one read for many rows, none for known ones", () => {
		const list = new List();
		for (let at = 0; at < 100; at++) list.preset(head({ age_at: at }));
		for (let at = 0; at < 100; at++) {
			const [best] = list.drive(list.window.heads(list.bucket, 50));
			expect(best).toEqual(list.rows[0]);
			list.leave(best as ReadyJob);
		}
		expect(list.reads).toBe(1);
	});

	test("a thousand jobs of one level come in the order of their age, about a hundred per read", () => {
		const list = new List();
		for (let at = 0; at < 1000; at++) list.preset(head({ age_at: 1000 - at }));
		for (let left = 1000; left > 0; left--) {
			const [best] = list.drive(list.window.heads(list.bucket, 50));
			expect(best).toEqual(list.rows[0]);
			list.leave(best as ReadyJob);
		}
		expect(list.reads).toBeLessThan(20);
	});

	test("an older job that comes back when the window has just run dry is not missed", () => {
		const list = new List();
		for (let at = 0; at < 200; at++) list.preset(head({ age_at: 1000 + at }));
		for (let taken = 0; taken < 128; taken++) list.leave(list.drive(list.window.heads(list.bucket, 50))[0] as ReadyJob);
		const back = list.enter(head({ age_at: 5 }));
		expect(list.drive(list.window.heads(list.bucket, 50))).toEqual([back]);
	});

	test("the jobs that have been ready longest come about a hundred per read, however they leave", () => {
		const list = new List();
		for (let at = 0; at < 200; at++) list.preset(head({ age_at: at, ready_at: 1000 - at }));
		for (let left = 200; left > 0; left--) {
			const [eldest] = list.eldest() as [ReadyJob];
			expect(list.drive(list.window.oldest(list.bucket, 5000))).toEqual(eldest);
			list.leave(eldest);
		}
		// One more read, of a single row: mostly it says that no job has been ready for that long.
		expect(list.reads).toBe(3);
		const late = list.enter(head({ ready_at: 2000 }));
		expect(list.drive(list.window.oldest(list.bucket, 5000))).toEqual(late);
		expect(list.reads).toBe(3);
	});

	test("that no job has been ready for long is read once, whichever jobs enter and leave", () => {
		const list = new List();
		for (let at = 0; at < 300; at++) list.preset(head({ age_at: at, ready_at: 1000 + at }));
		for (let left = 300; left > 0; left--) {
			expect(list.drive(list.window.oldest(list.bucket, 999))).toBeUndefined();
			list.leave(list.eldest()[0] as ReadyJob);
			if (left % 3 === 0) list.enter(head({ age_at: 900, ready_at: 3000 }));
		}
		expect(list.reads).toBe(1);
		const long = list.enter(head({ ready_at: 999 }));
		expect(list.drive(list.window.oldest(list.bucket, 998))).toBeUndefined();
		expect(list.drive(list.window.oldest(list.bucket, 999))).toEqual(long);
		expect(list.drive(list.window.oldest(list.bucket, Number.NEGATIVE_INFINITY))).toBeUndefined();
	});

	test("the position of the only job of a level needs no read", () => {
		const list = new List();
		const place = (row: ReadyJob) => list.drive(list.window.ahead(list.bucket, row, row, row));
		const first = list.enter(head());
		expect(place(first)).toBe(0);
		const reads = list.reads;
		list.leave(first);
		expect(place(list.enter(head({ age_at: 5 })))).toBe(0);
		expect(list.reads).toBe(reads);
	});

	test("levels within reach of the age boost count, lower ones do not", () => {
		const list = new List();
		for (const level of [100, 60, 50, 49, 0]) list.preset(head({ level }));
		expect(list.drive(list.window.heads(list.bucket, 50)).map((one) => one.level)).toEqual([100, 60, 50]);
		expect(list.drive(list.window.heads(list.bucket, 0)).map((one) => one.level)).toEqual([100]);
	});

	test("the highest promoted job beside the plain ones; demoted jobs only when nothing else is left", () => {
		const list = new List();
		const [plain, demoted, promoted, first] = [0, -2, 1, 2].map((rank) => list.enter(head({ rank }))) as [
			ReadyJob,
			ReadyJob,
			ReadyJob,
			ReadyJob,
		];
		expect(list.drive(list.window.heads(list.bucket, 50))).toEqual([first, plain]);
		list.leave(first);
		expect(list.drive(list.window.heads(list.bucket, 50))).toEqual([promoted, plain]);
		list.leave(promoted);
		list.leave(plain);
		expect(list.drive(list.window.heads(list.bucket, 50))).toEqual([demoted]);
	});

	test("the next jobs, to be fetched together", () => {
		const list = new List();
		for (let at = 0; at < 10; at++) list.preset(head({ age_at: at }));
		const [best] = list.drive(list.window.heads(list.bucket, 50)) as [ReadyJob];
		expect(list.window.upcoming(best.id, 3)).toEqual(ids(list.rows.slice(0, 3)));
		expect(list.window.upcoming(999, 3)).toEqual([999]);
	});

	test("positions are exact up to a thousand", () => {
		const list = new List();
		for (let at = 0; at < 1500; at++) list.preset(head({ age_at: at }));
		const place = (age_at: number, id = 0) => list.drive(list.window.ahead(list.bucket, { rank: 0, level: 0 }, { age_at, id }));
		expect(place(0)).toBe(0);
		expect(place(1000)).toBe(1000);
		expect(place(1400)).toBeGreaterThan(MANY);
		for (let gone = 0; gone < 600; gone++) list.leave(list.rows[0] as ReadyJob);
		expect(place(1000)).toBe(400);
		expect(place(5000)).toBe(900);
	});
});

describe("by property", () => {
	const rank = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-2, -1, 1, 2, 3) });
	const some = fc.record({
		rank,
		level: fc.constantFrom(0, 0, 0, 10, 30, 90),
		age_at: fc.nat({ max: 1000 }),
		ready_at: fc.nat({ max: 1000 }),
	});
	const step = fc.oneof(
		{ weight: 3, arbitrary: fc.record({ do: fc.constant("take" as const), count: fc.integer({ min: 1, max: 150 }) }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("enter" as const), heads: fc.array(some, { minLength: 1, maxLength: 12 }) }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), picks: fc.array(fc.nat(), { minLength: 1, maxLength: 12 }) }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("look" as const), reach: fc.constantFrom(0, 15, 50) }) },
		{
			weight: 1,
			arbitrary: fc.record({
				do: fc.constant("oldest" as const),
				count: fc.constantFrom(1, 3, 150),
				leaves: fc.boolean(),
				by: fc.constantFrom(0, 300, 600, Number.MAX_SAFE_INTEGER),
			}),
		},
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("ahead" as const), pick: fc.nat(), age_at: fc.nat({ max: 1100 }) }) },
		{ weight: 1, arbitrary: fc.record({ do: fc.constant("newest" as const), pick: fc.nat() }) },
		{ weight: 1, arbitrary: fc.record({ do: fc.constant("levels" as const), pick: fc.nat() }) },
	);
	const many = fc.record({
		count: fc.constantFrom(0, 5, 127, 128, 129, 300, 1100),
		seed: fc.nat({ max: 1000 }),
		spread: fc.constantFrom(1, 1, 3),
	});

	/** Each rank is given to one job only, so a level of that rank has one job. */
	const unique = (one: Omit<ReadyJob, "id">, given: number): Omit<ReadyJob, "id"> =>
		one.rank === 0 ? one : { ...one, rank: one.rank * 10_000 + (one.rank > 0 ? given : -given) };

	test("heads, oldest, positions and levels agree with the list after any steps", () => {
		fc.assert(
			fc.property(many, fc.array(step, { maxLength: 25 }), ({ count, seed, spread }, steps) => {
				const list = new List();
				const { window } = list;
				for (let index = 0; index < count; index++)
					list.preset(head({ level: (index % spread) * 20, age_at: (index * 7919 + seed) % 900, ready_at: (index * 31 + seed) % 900 }));
				let given = 0;
				const look = (reach: number) => same(ids(list.drive(window.heads(list.bucket, reach))), ids(list.heads(reach)));
				for (const one of steps) {
					if (one.do === "take")
						for (let taken = 0; taken < one.count && list.rows.length > 0; taken++) {
							const found = list.drive(window.heads(list.bucket, 50));
							same(ids(found), ids(list.heads(50)));
							list.leave(found[0] as ReadyJob);
						}
					else if (one.do === "enter") for (const each of one.heads) list.enter(unique(each, given++));
					else if (one.do === "leave") {
						for (const pick of one.picks) if (list.rows.length > 0) list.leave(list.rows[pick % list.rows.length] as ReadyJob);
					} else if (one.do === "look") look(one.reach);
					else if (one.do === "oldest") {
						for (let taken = 0; taken < one.count; taken++) {
							const [eldest] = list.eldest();
							const expected = eldest && eldest.ready_at <= one.by ? eldest.id : undefined;
							same(list.drive(window.oldest(list.bucket, one.by))?.id, expected);
							if (eldest && one.leaves) list.leave(eldest);
						}
					} else if (list.rows.length > 0) {
						const row = list.rows[one.pick % list.rows.length] as ReadyJob;
						if (one.do === "ahead")
							for (const bound of [row, { age_at: one.age_at, id: 0 }, { age_at: Number.MAX_SAFE_INTEGER, id: 0 }]) {
								const [found, real] = [list.drive(window.ahead(list.bucket, row, bound)), list.ahead(row, bound, MANY + 1)];
								same(Math.min(found, MANY + 1), real);
							}
						else if (one.do === "newest") {
							const last = list.rows.filter((each) => each.rank === row.rank && each.level === row.level).pop() as ReadyJob;
							same(list.drive(window.ahead(list.bucket, last, last, last)) > MANY, list.ahead(last, last, MANY + 1) > MANY);
						} else {
							const found = list.drive(window.levelsDownTo(list.bucket, row)).map((each) => `${each.rank}/${each.level}`);
							same(
								list.levels(row).filter((level) => !found.includes(level)),
								[],
							);
						}
					}
				}
				look(50);
			}),
			{ numRuns: 300 },
		);
	});
});
