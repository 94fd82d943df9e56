// Numbers in names compare as numbers.

import fc from "fast-check";
import { expect, test } from "vitest";
import { naturalOrder } from "./natural-order.ts";

test.each([
	[
		["12.10", "12.2", "12.1"],
		["12.1", "12.2", "12.10"],
	],
	[
		["phase-10-b", "phase-9-a"],
		["phase-9-a", "phase-10-b"],
	],
	[
		["A-12", "A-2", "B-1", "A"],
		["A", "A-2", "A-12", "B-1"],
	],
	[
		["01", "1", "2", "010"],
		["01", "1", "2", "010"],
	],
	[
		["99999999999999999999", "100000000000000000000"],
		["99999999999999999999", "100000000000000000000"],
	],
])("%j", (given, sorted) => {
	expect([...given].sort(naturalOrder)).toEqual(sorted);
});

test("is a total order: independent of the order before", () => {
	fc.assert(
		fc.property(fc.array(fc.stringMatching(/^[a1.0-9-]{0,6}$/)), (texts) => {
			expect([...texts].reverse().sort(naturalOrder)).toEqual([...texts].sort(naturalOrder));
		}),
	);
});
