// Ranges of a forecast and what they are based on, in words.

import { expect, test } from "vitest";
import { clockTime } from "../times.ts";
import { basisWords, oddsWords } from "./ranges.ts";

test("how likely it is to be done by when", () => {
	const now = Date.parse("2030-01-31T12:00:00Z");
	const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
	const clock = (minutes: number) => clockTime(now + minutes * 60_000);
	expect(oddsWords({ p50: at(4), p90: at(9) }, now)).toBe(`${clock(4)} (50 %) – ${clock(9)} (90 %)`);
	expect(oddsWords({ p50: at(4), p90: at(4) }, now)).toBe(clock(4));
});

test("what it is based on", () => {
	expect(basisWords({ runs: 3, of: "other lanes" })).toBe("3 runs in other lanes");
	expect(basisWords({ runs: 1, of: "lane code" })).toBe("1 run in lane code");
	expect(basisWords({ runs: 2, of: "recipe work in lane code" })).toBe("2 runs of recipe work in lane code");
});
