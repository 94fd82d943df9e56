// Triggers on a clock that the test moves: slots and restarts, a machine that slept, clock changes, jobs that stay open, files.

import { describe, expect, onTestFinished, test } from "vitest";
import { FakeClock, HOUR, MINUTE, NOON, SECOND } from "../../test/make/fakes.ts";
import { openStand, type Stand } from "../../test/make/stand.ts";
import { SILENT } from "../contracts/log.ts";
import { readSchedule } from "../host/schedule.ts";
import type { CronSettings, WatchSettings } from "./config/settings.ts";
import { createTriggers, type Triggers } from "./triggers.ts";

const cron = (schedule: string, more: Partial<CronSettings> = {}): CronSettings => ({
	schedule,
	timezone: null,
	catch_up: "skip",
	add: { command: ["true"] },
	...more,
});

class Bench {
	readonly timers = new Set<{ at: number; call: () => void }>();
	readonly said: string[] = [];
	settings: { cron: Record<string, CronSettings>; watches: Record<string, WatchSettings> } = { cron: {}, watches: {} };
	/** Open watches, by their paths. */
	readonly watched = new Map<string, () => void>();
	triggers!: Triggers;
	/** Whether this host leads; undefined without a shared store. */
	leads: boolean | undefined;

	constructor(readonly t: Stand) {}

	open(): void {
		const { clock, sluice } = this.t;
		const say = (message: string) => void this.said.push(message);
		this.triggers = createTriggers({
			scheduler: { ...sluice, leads: async () => this.leads ?? true },
			company: this.leads === undefined ? "alone" : "others",
			clock,
			host: {
				after: (ms, call) => {
					const timer = { at: clock.monotonic() + ms, call };
					this.timers.add(timer);
					return () => this.timers.delete(timer);
				},
			},
			log: { ...SILENT, warn: say, error: say },
			readSchedule,
			watchPaths: (paths, call) => {
				this.watched.set(paths.join(), call);
				return () => this.watched.delete(paths.join());
			},
			expand: async ({ recipe, ...rest }) => ({
				warnings: [],
				jobs: (recipe === "two" ? ["one", "two"] : [recipe as string]).map((word) => ({ ...rest, command: ["do", word] })),
			}),
		});
	}

	async set(settings: Partial<Bench["settings"]>): Promise<void> {
		this.settings = { ...this.settings, ...settings };
		await this.triggers.reload(this.settings);
	}

	/** Time passes, timer by timer. */
	async pass(ms: number): Promise<void> {
		const until = this.t.clock.monotonic() + ms;
		for (;;) {
			const [due] = [...this.timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
			if (!due) break;
			this.timers.delete(due);
			this.t.clock.pass(Math.max(0, due.at - this.t.clock.monotonic()));
			due.call();
			// Let the call finish, which may be queued behind others.
			await this.settle();
		}
		this.t.clock.pass(until - this.t.clock.monotonic());
	}

	async settle(): Promise<void> {
		for (let turn = 0; turn < 10; turn++) await this.t.host.turn();
		await this.triggers.list();
	}

	/** The machine sleeps: timers stand still, the wall clock goes on. */
	async sleep(ms: number): Promise<void> {
		this.t.clock.jump(ms);
		await this.pass(MINUTE);
	}

	/** When each job of a trigger was added, in minutes after noon. */
	async added(trigger = "cron:x"): Promise<number[]> {
		const jobs = await this.t.sluice.list({ all: true });
		return jobs.filter((job) => job.trigger === trigger).map((job) => Math.floor((job.created_at - NOON) / MINUTE));
	}

	/** Runs all startable jobs to their end. */
	async work(): Promise<void> {
		for (const id of await this.t.start()) await this.t.succeed(id);
		await this.settle();
	}
}

async function bench(clock = new FakeClock(), leads?: boolean): Promise<Bench> {
	const one = new Bench(await openStand({ clock }));
	one.leads = leads;
	one.open();
	onTestFinished(() => one.triggers.stop());
	return one;
}

describe("of several hosts", () => {
	test("the leader fires at once, another host only if the slot is still open seconds later", async () => {
		const b = await bench(new FakeClock(), false);
		await b.set({ cron: { x: cron("*/10 * * * *") } });
		await b.pass(10 * MINUTE + 4 * SECOND);
		expect(await b.added()).toEqual([]);
		await b.pass(2 * SECOND);
		expect(await b.added()).toEqual([10]);
		await b.work();
		b.leads = true;
		await b.pass(10 * MINUTE);
		expect(await b.added()).toEqual([10, 20]);
	});

	test("a slot that the leader has fired is not fired again", async () => {
		const b = await bench(new FakeClock(), false);
		await b.set({ cron: { x: cron("*/10 * * * *") } });
		await b.pass(10 * MINUTE);
		await b.t.sluice.fire("cron:x", { slot: NOON + 10 * MINUTE, job: { command: ["true"] } }, { by: "cron:x" });
		await b.work();
		await b.pass(9 * MINUTE);
		expect(await b.added()).toEqual([10]);
		await b.pass(2 * MINUTE);
		expect(await b.added()).toEqual([10, 20]);
	});
});

describe("cron", () => {
	test("a job at each slot, none at once, none while the last one is open", async () => {
		const b = await bench();
		await b.set({ cron: { x: cron("*/10 * * * *") } });
		await b.pass(9 * MINUTE);
		expect(await b.added()).toEqual([]);
		await b.pass(2 * MINUTE);
		expect(await b.added()).toEqual([10]);
		await b.pass(20 * MINUTE);
		expect(await b.added()).toEqual([10]);
		expect(await b.triggers.list()).toMatchObject([
			{ name: "cron:x", kind: "cron", job: 1, skipped: 2, next_at: NOON + 40 * MINUTE, error: null },
		]);
		await b.work();
		await b.pass(10 * MINUTE);
		expect(await b.added()).toEqual([10, 40]);
		expect((await b.t.sluice.list())[0]).toMatchObject({ trigger: "cron:x" });
	});

	test.each([
		["skip", []],
		["one", [8 * 60 + 1]],
		["all", [8 * 60 + 1]],
	] as const)("a machine that slept for eight hours: %s", async (catch_up, woken) => {
		const b = await bench();
		await b.set({ cron: { x: cron("30 * * * *", { catch_up }) } });
		await b.sleep(8 * HOUR);
		expect(await b.added()).toEqual(woken);
		await b.work();
		await b.pass(25 * MINUTE);
		if (catch_up === "all") {
			// One after the other: each of the eight missed slots, never several at once.
			for (let count = 2; count <= 8; count++) {
				expect((await b.added()).length).toBe(count);
				expect((await b.t.sluice.list()).length).toBe(1);
				await b.work();
			}
			await b.pass(MINUTE);
			expect((await b.added()).length).toBe(8);
		} else expect(await b.added()).toEqual(woken);
		await b.work();
		await b.pass(10 * MINUTE);
		expect((await b.added()).at(-1)).toBe(8 * 60 + 30);
	});

	test("fired slots are known after a restart; slots from before the trigger was added or changed never fire", async () => {
		const clock = new FakeClock();
		const b = await bench(clock);
		clock.pass(30 * SECOND);
		await b.set({ cron: { x: cron("0 * * * *", { catch_up: "all" }) } });
		await b.pass(HOUR);
		expect(await b.added()).toEqual([60]);
		await b.work();
		await b.triggers.stop();
		b.timers.clear();
		clock.pass(2 * HOUR);
		b.open();
		await b.triggers.reload(b.settings);
		expect(await b.added()).toEqual([60, 180]);
		await b.work();
		expect((await b.added()).length).toBe(3);
		await b.work();
		await b.triggers.stop();
		clock.pass(5 * HOUR);
		b.open();
		await b.set({ cron: { x: cron("15 * * * *", { catch_up: "all" }) } });
		expect((await b.added()).length).toBe(3);
		expect((await b.triggers.list())[0]).toMatchObject({ slot: null, skipped: 0, job: 3 });
	});

	test("the job to add may change without arming again; a trigger that is removed is forgotten", async () => {
		const b = await bench();
		await b.set({ cron: { x: cron("*/10 * * * *") } });
		await b.pass(10 * MINUTE);
		await b.work();
		await b.set({ cron: { x: cron("*/10 * * * *", { add: { command: ["false"] } }) } });
		expect((await b.triggers.list())[0]).toMatchObject({ slot: NOON + 10 * MINUTE });
		await b.pass(10 * MINUTE);
		expect((await b.t.sluice.show(2)).spec.command).toEqual(["false"]);
		await b.set({ cron: {} });
		expect([await b.triggers.list(), await b.t.sluice.triggers()]).toEqual([[], []]);
		await b.work();
		await b.pass(HOUR);
		expect((await b.added()).length).toBe(2);
	});

	test("each night in which clocks change has one slot at half past two", async () => {
		for (const [day, utc] of [
			["2026-03-28T12:00:00Z", "2026-03-29T01:30:00.000Z"],
			["2026-10-24T12:00:00Z", "2026-10-25T01:30:00.000Z"],
		] as const) {
			const clock = new FakeClock();
			clock.jump(Date.parse(day) - NOON);
			const b = await bench(clock);
			await b.set({ cron: { x: cron("30 2 * * *", { timezone: "Europe/Berlin" }) } });
			await b.pass(23 * HOUR);
			const jobs = await b.t.sluice.list();
			expect(jobs.map((job) => new Date(job.created_at).toISOString())).toEqual([utc]);
		}
	});

	test("a refused job is reported, and the next slot tries again", async () => {
		const b = await bench();
		await b.set({ cron: { x: cron("*/10 * * * *", { add: { command: ["true"], lane: "gone" } }) } });
		await b.pass(10 * MINUTE);
		expect(b.said).toEqual(["a trigger's job could not be added"]);
		expect((await b.triggers.list())[0]).toMatchObject({ error: expect.stringContaining('no lane "gone"'), skipped: 1, job: null });
		await b.t.sluice.configure({ lanes: { gone: {} } });
		await b.pass(10 * MINUTE);
		expect(await b.added()).toEqual([20]);
		expect((await b.triggers.list())[0]).toMatchObject({ error: null });
	});

	test("a recipe makes its job; a recipe of several jobs is refused and reported", async () => {
		const b = await bench();
		await b.set({
			cron: { single: cron("0 * * * *", { add: { recipe: "nightly" } }), pair: cron("0 * * * *", { add: { recipe: "two" } }) },
		});
		await b.pass(HOUR);
		expect((await b.t.sluice.list({ all: true })).map(({ spec }) => spec.command)).toEqual([["do", "nightly"]]);
		const [pair] = (await b.triggers.list()).filter(({ name }) => name === "cron:pair");
		expect(pair?.error).toBe("recipe two makes 2 jobs, and a trigger adds one");
		await expect(b.triggers.run("pair", "ann")).rejects.toMatchObject({ code: "invalid" });
	});

	test("a full queue does not refuse a trigger's job", async () => {
		const b = new Bench(await openStand({ config: { max_concurrent: 1, queue: { soft_limit: 1, hard_limit: 1 } } }));
		b.open();
		onTestFinished(() => b.triggers.stop());
		await b.t.add();
		expect((await b.t.tryAdd()).outcome).toBe("deferred");
		await b.set({ cron: { x: cron("*/10 * * * *") } });
		await b.pass(10 * MINUTE);
		expect(await b.added()).toEqual([10]);
	});

	test("by hand, by its short name, and not while the last one is open", async () => {
		const b = await bench();
		await b.set({ cron: { x: cron("0 3 * * *") } });
		expect(await b.triggers.run("x", "ann")).toEqual({ outcome: "added", job: 1 });
		expect(await b.triggers.run("cron:x", "ann")).toEqual({ outcome: "open", job: 1 });
		expect((await b.t.sluice.history(1))[0]?.by).toBe("ann");
		await expect(b.triggers.run("y", "ann")).rejects.toMatchObject({ code: "not_found", hint: expect.stringContaining("x") });
	});
});

describe("watches", () => {
	test("a job after some quiet; not while the last one is open; nor after the watch is removed", async () => {
		const b = await bench();
		await b.set({ watches: { docs: { paths: ["/docs"], debounce_ms: 500, add: { command: ["true"] } } } });
		const change = b.watched.get("/docs") as () => void;
		change();
		await b.pass(400);
		change();
		await b.pass(400);
		expect(await b.added("watch:docs")).toEqual([]);
		await b.pass(100);
		expect(await b.added("watch:docs")).toEqual([0]);
		change();
		await b.pass(SECOND);
		expect((await b.added("watch:docs")).length).toBe(1);
		await b.work();
		change();
		await b.pass(SECOND);
		expect((await b.added("watch:docs")).length).toBe(2);
		expect(await b.triggers.list()).toMatchObject([{ name: "watch:docs", kind: "watch", paths: ["/docs"], job: 2, next_at: null }]);
		await b.set({ watches: {} });
		expect(b.watched.size).toBe(0);
	});
});
