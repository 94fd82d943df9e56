// Gate `locks`: shared and exclusive, held and reserved, all together or none.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeFacts, makeJob } from "../../../test/make/job.ts";
import type { LockMode } from "../job.ts";
import type { JobFacts, LockState } from "./gate.ts";
import { locks, obstacle } from "./locks.ts";

const states = (known: Record<string, LockState>): Partial<JobFacts> => ({ lock: (key) => known[key] ?? { holders: [] } });
const held = (...holders: [number, LockMode][]): LockState => ({ holders: holders.map(([id, mode]) => ({ job: id, mode })) });

describe("one key", () => {
	test.each([
		["shared", held(), undefined],
		["exclusive", held(), undefined],
		["shared", held([5, "shared"], [6, "shared"]), undefined],
		["exclusive", held([5, "shared"], [6, "shared"]), [5, 6]],
		["shared", held([5, "exclusive"]), [5]],
		["exclusive", held([5, "exclusive"]), [5]],
		["exclusive", held([1, "exclusive"]), undefined],
		["exclusive", held([1, "shared"], [5, "shared"]), [5]],
	] as [LockMode, LockState, number[] | undefined][])("wants it %s, held %j", (mode, state, holders) => {
		expect(obstacle({ id: 1 }, { key: "db", mode }, state)?.holders).toEqual(holders);
	});

	test("reserved for another: kept free; for itself: its own", () => {
		const state = { ...held([5, "shared"]), reserved: 9 };
		expect(obstacle({ id: 1 }, { key: "db", mode: "shared" }, state)).toEqual({ key: "db", mode: "shared", holders: [], reserved: 9 });
		expect(obstacle({ id: 9 }, { key: "db", mode: "shared" }, state)).toBeUndefined();
	});

	test("the children of a holder are not kept out by a reservation", () => {
		const state = { ...held([5, "shared"]), reserved: 9 };
		expect(obstacle({ id: 1, path: [4, 5] }, { key: "db", mode: "shared" }, state)).toBeUndefined();
		expect(obstacle({ id: 1, path: [4] }, { key: "db", mode: "shared" }, state)?.reserved).toBe(9);
		expect(obstacle({ id: 1, path: [5] }, { key: "db", mode: "exclusive" }, state)?.holders).toEqual([5]);
	});
});

describe("the gate", () => {
	const one = makeJob({
		locks: [
			{ key: "a", mode: "exclusive" },
			{ key: "b", mode: "shared" },
			{ key: "c", mode: "exclusive" },
		],
	});

	test("passes without locks, and when all can be taken", () => {
		expect(locks.ask(makeJob(), makeFacts(states({ a: held([5, "exclusive"]) })))).toBeNull();
		expect(locks.ask(one, makeFacts(states({ b: held([5, "shared"]) })))).toBeNull();
	});

	test("waiting on locks: each key with its holders, parked under the first", () => {
		expect(locks.ask(one, makeFacts(states({ b: held([5, "exclusive"]), c: { ...held(), reserved: 9 } })))).toEqual({
			reasons: [
				{ gate: "locks", code: "locks", subject: "lock:b", detail: "waiting on locks", holder: ["job:5"] },
				{ gate: "locks", code: "locks", subject: "lock:c", detail: "waiting on locks", holder: ["job:9"] },
			],
			parked_on: "lock:shared:b",
		});
	});
});

test("a job that passes is compatible with all holders", () => {
	const mode = fc.constantFrom<LockMode>("shared", "exclusive");
	fc.assert(
		fc.property(fc.array(mode, { maxLength: 20 }), (modes) => {
			const holders: { job: number; mode: LockMode }[] = [];
			modes.forEach((wanted, index) => {
				if (!obstacle({ id: index }, { key: "k", mode: wanted }, { holders })) holders.push({ job: index, mode: wanted });
				expect(holders.length <= 1 || holders.every((holder) => holder.mode === "shared")).toBe(true);
			});
		}),
	);
});
