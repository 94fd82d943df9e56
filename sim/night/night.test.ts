// A night in fast-forward: the quota is used, nothing is burned, nothing starts in a hold, nobody rushes in at a reset.

import { describe, expect, it } from "vitest";
import { NIGHT, playNight } from "./night.ts";
import { allowed, HOUR, Provider } from "./provider.ts";

const plan = { name: "a", hourly: 100, weekly: 250, offsetMs: 0, skewMs: 0 };

describe("the provider", () => {
	it("refuses what goes past its hour and past its week, and names the reset", () => {
		const provider = new Provider([plan], 0, () => false);
		expect(provider.call("a", 100, 0)).toEqual({ ok: true });
		expect(provider.call("a", 1, 1)).toEqual({ ok: false, kind: "limited", until: HOUR });
		expect(provider.call("a", 100, HOUR)).toEqual({ ok: true });
		expect(provider.call("a", 60, 2 * HOUR)).toEqual({ ok: false, kind: "limited", until: 7 * 24 * HOUR });
		expect(provider.used("a")).toBe(200);
	});

	it("allows whole windows, a cut one as far as it can be used, and never more than the week", () => {
		expect(allowed(plan, 0, 2 * HOUR, 1)).toBe(200);
		expect(allowed(plan, 0, HOUR + 50, 1)).toBe(150);
		expect(allowed(plan, 0, 5 * HOUR, 1)).toBe(250);
	});
});

describe("a night of 200 jobs on three accounts", () => {
	it.each([1, 2])("seed %i", { timeout: 60_000 }, async (seed) => {
		const report = await playNight({ ...NIGHT, seed });
		expect(report.utilisation).toBeGreaterThanOrEqual(0.95);
		expect(report.limited).toBeGreaterThan(50);
		expect(report.throttled).toBeGreaterThan(0);
		expect(report.resumed).toBeGreaterThan(0);
		expect(report).toMatchObject({ jobs: 200, burned: 0, startedInHold: 0 });
		expect(report.closestMs).toBeGreaterThanOrEqual(1000);
		expect(report.mostAtReset).toBeLessThanOrEqual(3);
		expect(report.done).toBeGreaterThan(150);
	});

	it("would show a provider whose clock is further off than the margin", { timeout: 60_000 }, async () => {
		const behind = (skewMs: number) =>
			playNight({ ...NIGHT, accounts: NIGHT.accounts.map((one) => ({ ...one, skewMs })), jobs: 60, hours: 3, seed: 1 });
		const [level, off] = [await behind(-4_000), await behind(-20_000)];
		expect(off.startedInVain).toBeGreaterThan(level.startedInVain);
		expect(off.burned).toBe(0);
	});
});
