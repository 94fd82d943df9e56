// Forecasts of the engine: what it reads of the queue, and whether what then happens is what was said.

import { describe, expect, test } from "vitest";
import { sequence } from "../src/core/forecast/durations.ts";
import { MINUTE, NOON } from "./make/fakes.ts";
import { openStand, type Stand } from "./make/stand.ts";

/** A run of so long that ended well. */
async function past(t: Stand, ms: number, more: object = {}): Promise<void> {
	const id = await t.add(more);
	await t.sluice.runNow(id, { force: true });
	await t.start(1);
	t.clock.pass(ms);
	await t.succeed(id);
}
const minutes = (at: number | undefined, now: number) => (at === undefined ? undefined : Math.round((at - now) / MINUTE));

describe("what is read of the queue", () => {
	test("order, edges, artifacts, locks, times, and who is stuck", async () => {
		const t = await openStand({ config: { max_concurrent: 2, lanes: { default: {}, code: { max: 1 } } } });
		for (let count = 0; count < 6; count++) await past(t, 10 * MINUTE);
		for (let count = 0; count < 6; count++) await past(t, 5 * MINUTE, { lane: "code" });
		const now = t.clock.now();
		const running = await t.add({ produces: ["custom:plan:a"] });
		await t.start(1);
		t.clock.pass(4 * MINUTE);
		const later = now + 4 * MINUTE;
		const [after] = [await t.add({ after: [running] })];
		const needing = await t.add({ lane: "code", needs: ["custom:plan:a"], batch: "b" });
		const timed = await t.add({ runnable_at: later + 60 * MINUTE });
		const human = await t.add({ requires_approval: true, batch: "c" });
		const behind = await t.add({ after: [human] });
		const rescue = await t.add({ after: [`${running}:failure`] });
		const found = await t.sluice.forecast();
		const of = (id: number) => found.jobs.find((job) => job.id === id);
		const told = (id: number) => [minutes(of(id)?.start?.p50, later), minutes(of(id)?.end?.p50, later), of(id)?.stuck ?? null];
		expect(found.runs).toBe(12);
		expect(told(running)).toEqual([-4, 6, null]);
		expect(told(after)).toEqual([6, 16, null]);
		expect(told(needing)).toEqual([6, 11, null]);
		expect(of(needing)?.basis).toMatchObject({ of: "lane code", runs: 6, like: "same" });
		expect(told(timed)).toEqual([60, 70, null]);
		expect(told(human)[2]).toContain("approval");
		expect(told(behind)[2]).toBe(`waits for job ${human}, for which no time can be told`);
		expect(told(rescue)[2]).toBe(`runs only if job ${running} fails`);
		expect(found.batches).toMatchObject([
			{ name: "b", jobs: 1, stuck: 0 },
			{ name: "c", jobs: 1, stuck: 1, end: null },
		]);
		expect((await t.sluice.forecast({ batch: "b" })).jobs.map(({ id }) => id)).toEqual([needing]);
		expect((await t.sluice.status()).running).toBe(1);
	});

	test("what if: other caps", async () => {
		const t = await openStand({ config: { max_concurrent: 1, lanes: { default: { max: 3 } } } });
		for (let count = 0; count < 6; count++) await past(t, 10 * MINUTE);
		for (let count = 0; count < 6; count++) await t.add();
		const now = t.clock.now();
		const end = async (options?: object) => {
			const found = await t.sluice.forecast(options);
			return [minutes(found.end?.p50, now), found.binding?.cap ?? null];
		};
		expect(await end()).toEqual([60, "all"]);
		expect(await end({ max_concurrent: 6 })).toEqual([20, "lane:default"]);
		expect(await end({ max_concurrent: 0, lanes: { default: null } })).toEqual([10, null]);
		await expect(t.sluice.forecast({ lanes: { none: 3 } })).rejects.toMatchObject({ code: "not_found", field: "lanes.none" });
		expect(t.sluice.config().max_concurrent).toBe(1);
	});

	test("caps that cannot be read are refused in words", async () => {
		const t = await openStand();
		const lanes = {
			get default(): never {
				throw new Error("a getter was struck");
			},
		};
		await expect(t.sluice.forecast({ lanes })).rejects.toMatchObject({
			code: "invalid",
			message: expect.stringContaining("a getter was struck"),
		});
	});

	test("failed runs and kernel entries are no history; nothing waits: nothing is told", async () => {
		const t = await openStand();
		expect(await t.sluice.forecast()).toMatchObject({ jobs: [], end: null, notes: [] });
		await t.done({}, "failed");
		await t.add();
		const found = await t.sluice.forecast();
		expect([found.runs, found.end, found.notes]).toEqual([0, null, ["no finished run to estimate from"]]);
	});

	test("a paused lane has no time unless the pause ends by itself", async () => {
		const t = await openStand();
		for (let count = 0; count < 6; count++) await past(t, 10 * MINUTE);
		await t.add();
		const now = t.clock.now();
		await t.sluice.pause({}, { until: now + 30 * MINUTE });
		expect(minutes((await t.sluice.forecast()).jobs[0]?.start?.p50, now)).toBe(30);
		await t.sluice.pause({});
		expect((await t.sluice.forecast()).jobs[0]?.stuck).toContain("paused");
	});
});

test("what the engine then does: p90 holds in 80 to 97 of 100 jobs, p50 in 40 to 60", async () => {
	const dice = sequence(11);
	const lasting = (lane: string) =>
		Math.round(
			(lane === "code" ? 20 : 4) *
				MINUTE *
				Math.exp((lane === "code" ? 0.7 : 0.4) * Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice())),
		);
	let [half, ninety, all] = [0, 0, 0];
	for (let round = 0; round < 25; round++) {
		const t = await openStand({
			config: { max_concurrent: 4, safety_cap: 0, lanes: { plan: { priority: 40 }, code: { max: 3, priority: 100 } } },
		});
		for (const lane of ["plan", "code"]) for (let count = 0; count < 30; count++) await past(t, lasting(lane), { lane });
		expect(t.clock.now()).toBeGreaterThan(NOON);
		const ids: number[] = [];
		for (let count = 0; count < 20; count++) {
			const locks = count % 5 === 0 ? { locks: ["db"] } : {};
			ids.push(
				await t.add({
					lane: count % 4 === 0 ? "plan" : "code",
					...locks,
					after: count > 6 && count % 3 === 0 ? [ids[count - 4] as number] : [],
				}),
			);
		}
		const said = new Map((await t.sluice.forecast()).jobs.map((job) => [job.id, job]));
		const ends = new Map<number, number>();
		for (;;) {
			for (const id of await t.start()) ends.set(id, t.clock.now() + lasting((await t.show(id)).lane));
			const [next] = [...ends].filter(([id]) => t.runs.has(id)).sort((a, b) => a[1] - b[1]);
			if (!next) break;
			t.clock.pass(next[1] - t.clock.now());
			await t.succeed(next[0]);
		}
		for (const id of ids) {
			const { end } = said.get(id) as { end: { p50: number; p90: number } };
			all++;
			if ((ends.get(id) as number) <= end.p50) half++;
			if ((ends.get(id) as number) <= end.p90) ninety++;
		}
	}
	expect(all).toBe(500);
	expect(half / all).toBeGreaterThan(0.4);
	expect(half / all).toBeLessThan(0.6);
	expect(ninety / all).toBeGreaterThan(0.8);
	expect(ninety / all).toBeLessThan(0.97);
});
