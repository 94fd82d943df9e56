// The watchdog with a clock that is moved by hand: what it reports, and what it must not report.

import { expect, test } from "vitest";
import type { Log } from "../../contracts/log.ts";
import type { JobView, PlanReport } from "../../contracts/scheduler.ts";
import { logDepths } from "../depths.ts";
import { createWatchdog } from "./watchdog.ts";

/** Timers in the order of their time; the wall clock and the monotonic clock can be moved apart. */
class HandClock {
	mono = 0;
	wall = 1_000_000;
	private timers: { at: number; call: () => void }[] = [];
	now = () => this.wall;
	monotonic = () => this.mono;
	after = (ms: number, call: () => void) => {
		const timer = { at: this.mono + ms, call };
		this.timers.push(timer);
		return () => {
			this.timers = this.timers.filter((one) => one !== timer);
		};
	};
	/** Time passes, and timers fire at their time. */
	async pass(ms: number): Promise<void> {
		const end = this.mono + ms;
		for (;;) {
			const next = this.timers.filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0];
			if (!next) break;
			this.timers = this.timers.filter((one) => one !== next);
			const step = Math.max(0, next.at - this.mono);
			this.mono += step;
			this.wall += step;
			next.call();
			for (let turn = 0; turn < 10; turn++) await null;
		}
		this.wall += end - this.mono;
		this.mono = end;
	}
	/** Time passes without any timer firing. */
	stand(ms: number): void {
		this.mono += ms;
		this.wall += ms;
	}
}

function stand(plan: () => Promise<PlanReport> = async () => ({ dispatch: [], skipped: [], reason: "none" })) {
	const clock = new HandClock();
	const said: string[] = [];
	const say = (message: string, fields: object = {}) => void said.push(`${message} ${JSON.stringify(fields)}`);
	const log: Log = { debug: say, info: say, warn: say, error: say };
	const kinds: Record<number, string> = { 1: "command", 2: "payload" };
	const scheduler = { plan, status: async () => ({}) as never, show: async (id: number) => ({ kind: kinds[id] }) as JobView };
	const watchdog = createWatchdog({ clock, host: clock, log, scheduler });
	watchdog.start();
	return { clock, said, watchdog, log };
}

test("a loop that was stuck is reported, with its duration", async () => {
	const { clock, said, watchdog } = stand();
	await clock.pass(10_000);
	expect(said).toEqual([]);
	clock.stand(4500);
	await clock.pass(0);
	expect(said).toEqual(['the event loop was stuck {"ms":3500}']);
	expect(watchdog.longestMs()).toBe(3500);
	await clock.pass(10_000);
	expect(said).toHaveLength(1);
	watchdog.stop();
});

test("a clock that jumped either way is reported; a machine that slept is not stuck", async () => {
	const { clock, said, watchdog } = stand();
	await clock.pass(1500);
	clock.wall += 86_400_000;
	await clock.pass(1000);
	clock.wall -= 3_600_000;
	await clock.pass(1000);
	expect(said).toEqual([
		'the clock jumped, or the machine slept {"ms":86400000}',
		'the clock jumped, or the machine slept {"ms":-3600000}',
	]);
	expect(watchdog.jumps()).toBe(2);
});

test("a dead claim loop: a job that could start has not in two checks; jobs for outside workers may wait", async () => {
	const { clock, said } = stand(async () => ({ dispatch: [1, 2], skipped: [], reason: "ready" }));
	await clock.pass(31_000);
	expect(said).toEqual([]);
	await clock.pass(31_000);
	expect(said).toEqual(['jobs that could start do not: the claim loop is not alive {"jobs":[1]}']);
});

test("a scheduler that does not answer", async () => {
	const { clock, said, watchdog } = stand(() => new Promise(() => {}));
	await clock.pass(45_000);
	expect(said).toEqual(['the scheduler does not answer {"ms":10000}']);
	watchdog.stop();
	await clock.pass(100_000);
	expect(said).toHaveLength(1);
});

test("queue depths: every 30 s while there are jobs, once when they are gone, then silence", async () => {
	const { clock, said, log, watchdog } = stand();
	watchdog.stop();
	let queued = 0;
	const status = async () =>
		({ lanes: { code: { queued, running: 0, max: null } }, queued_total: queued, running: 0, paused: false }) as never;
	const stop = logDepths({ scheduler: { status }, host: clock, log });
	queued = 3;
	await clock.pass(60_000);
	queued = 0;
	await clock.pass(90_000);
	const line = (n: number) => `queue depth {"code":"${n} queued, 0 running"}`;
	expect(said).toEqual([line(3), line(3), line(0)]);
	stop();
});
