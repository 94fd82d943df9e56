// Which of the known ready jobs of a bucket can be started next, and what must be read before that can be said.

import { describe, expect, test } from "vitest";
import { headsOf, NONE_TAKEN, oldestOf, type ReadyJob, type ReadyLevel, type ReadyRows, TakenJobs } from "./ready-rows.ts";

const row = (id: number, rank: number, level: number, ready_at = id): ReadyJob => ({ id, rank, level, age_at: id, ready_at });
const level = (rank: number, at: number, ids: number[], more: Partial<ReadyLevel> = {}): ReadyLevel => ({
	rank,
	level: at,
	rows: ids.map((id) => row(id, rank, at)),
	next: 0,
	complete: true,
	...more,
});
const rows = (levels: ReadyLevel[], more: Partial<ReadyRows> = {}): ReadyRows => ({
	levels,
	complete: true,
	since: undefined,
	elders: undefined,
	...more,
});
const taking = (...ids: number[]) => {
	const taken = new TakenJobs();
	for (const id of ids) taken.add(id);
	return taken;
};
/** As numbers, or as what must be read. */
const heads = (of: ReadyRows, { reach = 0, ready = 9, taken = NONE_TAKEN } = {}) => {
	const found = headsOf(of, reach, ready, taken);
	return Array.isArray(found) ? found.map(({ id }) => id) : found;
};

describe("heads", () => {
	test("one a level, as far as aging can reach", () => {
		const some = rows([level(0, 30, [1, 2]), level(0, 20, [3]), level(0, 10, [4])]);
		expect(heads(some)).toEqual([1]);
		expect(heads(some, { reach: 10 })).toEqual([1, 3]);
		expect(heads(some, { reach: 50 })).toEqual([1, 3, 4]);
	});

	test("of promoted jobs the first alone; demoted ones only when there is nothing else", () => {
		const some = rows([level(2, 0, [1]), level(1, 0, [2]), level(0, 0, [3]), level(-1, 9, [4])]);
		expect(heads(some, { reach: 50 })).toEqual([1, 3]);
		expect(heads(some, { reach: 50, taken: taking(1, 2, 3) })).toEqual([4]);
	});

	test("a job that was taken or has left is passed over", () => {
		const some = rows([level(0, 30, [1, 2, 3], { next: 1 }), level(0, 20, [4])]);
		expect(heads(some)).toEqual([2]);
		expect(heads(some, { taken: taking(3) })).toEqual([2]);
		expect(heads(some, { taken: taking(2, 3) })).toEqual([4]);
	});

	test("says which rows are missing", () => {
		expect(heads(rows([], { complete: false }))).toEqual({ read: "lower", below: undefined });
		expect(heads(rows([], { complete: false }), { ready: 0 })).toEqual([]);
		const cut = level(0, 30, [1], { complete: false });
		expect(heads(rows([cut]))).toEqual([1]);
		expect(heads(rows([cut]), { taken: taking(1) })).toEqual({ read: "level", level: cut });
		expect(heads(rows([cut], { complete: false }))).toEqual({ read: "lower", below: cut });
		const lower = level(0, 20, [2]);
		expect(heads(rows([cut, lower], { complete: false }), { reach: 9 })).toEqual([1]);
		expect(heads(rows([cut, lower], { complete: false }), { reach: 10 })).toEqual({ read: "lower", below: lower });
	});
});

test("the oldest: only if it is overdue, and known to be", () => {
	const elders = { rows: [row(1, 0, 0, 100), row(2, 0, 0, 200)], next: 0, complete: false };
	const of = (more: Partial<ReadyRows>, by: number, taken = NONE_TAKEN) => oldestOf(rows([], more), by, taken);
	expect(of({}, Number.NEGATIVE_INFINITY)).toBeUndefined();
	expect(of({}, 100)).toEqual({ read: "elders" });
	expect(of({ since: 101 }, 100)).toBeUndefined();
	expect(of({ since: 100 }, 100)).toEqual({ read: "elders" });
	expect(of({ since: 100, elders }, 100)).toEqual(elders.rows[0]);
	expect(of({ since: 100, elders }, 199, taking(1))).toBeUndefined();
	expect(of({ since: 100, elders }, 200, taking(1))).toEqual(elders.rows[1]);
	expect(of({ since: 100, elders }, 300, taking(1, 2))).toEqual({ read: "elders" });
	expect(of({ since: 100, elders: { ...elders, complete: true } }, 300, taking(1, 2))).toBeUndefined();
});
