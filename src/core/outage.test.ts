// The rules of outages, case by case and for all numbers.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULTS } from "./config.ts";
import { afterOutage, type MetOutage, OUTAGE_CAP_MS, outageDelayMs } from "./outage.ts";

const NOW = 1_000_000_000;
const met = (more: Partial<MetOutage> = {}) =>
	afterOutage({ hold: undefined, startedAt: NOW - 5000, last: undefined, now: NOW, chance: 0.5, config: DEFAULTS, ...more });
const hold = { since: NOW - 60_000, until: NOW - 1000, hits: 3 };

describe("a run that ends with an outage", () => {
	test("opens a hold", () => {
		expect(met()).toEqual({
			burns: "nothing",
			since: NOW,
			hold: { since: NOW, until: NOW + 5000, hits: 1 },
		});
	});

	test("lengthens it as the probe", () => {
		expect(met({ hold, last: hold.since })).toMatchObject({ burns: "nothing", hold: { since: hold.since, until: NOW + 40_000, hits: 4 } });
	});

	test("leaves it unchanged if the run began before it", () => {
		const open = { ...hold, until: NOW + 7000 };
		expect(met({ hold: open, startedAt: open.since })).toEqual({ burns: "nothing", since: open.since });
	});

	test("uses a retry if the last outage that its job met is over", () => {
		expect(met({ last: NOW - 100_000 }).burns).toBe("failure");
		expect(met({ hold, last: hold.since - 1 }).burns).toBe("failure");
	});

	test("uses a retry if the outage lasts too long", () => {
		const long = { ...hold, since: NOW - DEFAULTS.rate_limit.outage_max_ms - 1 };
		expect(met({ hold: long, last: long.since }).burns).toBe("failure");
		expect(met({ hold: { ...long, since: long.since + 1 }, last: long.since + 1 }).burns).toBe("nothing");
	});
});

test("probes are five seconds to five minutes apart, ± 10 %", () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (hits, chance) => {
			const delay = outageDelayMs(hits, chance);
			expect(Number.isSafeInteger(delay)).toBe(true);
			expect(delay).toBeGreaterThanOrEqual(4500);
			expect(delay).toBeLessThanOrEqual(OUTAGE_CAP_MS * 1.1);
		}),
	);
});
