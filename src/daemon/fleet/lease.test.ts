// When heartbeats are sent: a lease counts from its request, so after a slow answer the next heartbeat follows at once.

import { expect, test } from "vitest";
import { beatMs } from "../../core/fleet.ts";
import { localHost } from "../../host/local.ts";
import { keepLease } from "./lease.ts";

const STALE_MS = 12_000;

/** A clock in seconds that is moved by hand, the last timer that was set, and answers that are given by hand. */
function stand() {
	let now = 100;
	let timer: { ms: number; call: () => void } | undefined;
	const answers: { give: (answer: { state: "live"; lost: boolean }) => void; fail: (error: unknown) => void }[] = [];
	const fed: number[] = [];
	const keeper = keepLease({
		scheduler: {
			heartbeat: () => new Promise((give, fail) => void answers.push({ give, fail })),
			leave: async () => ({ left: true }),
			config: () => ({ stale_after_ms: STALE_MS }) as never,
		},
		host: {
			after: (ms, call) => {
				timer = { ms, call };
				return () => {};
			},
		},
		log: { debug() {}, info() {}, warn() {}, error() {} } as never,
		guard: { now: () => now, feed: (until) => void fed.push(until), end() {} },
	});
	const calls = { lost: () => {}, overtaken: () => {}, also: async () => {} };
	return {
		keeper: { ...keeper, start: () => keeper.start(calls) },
		fed,
		pass: (seconds: number) => {
			now += seconds;
		},
		timer: () => timer?.ms,
		ring: () => timer?.call(),
		async answer() {
			answers.shift()?.give({ state: "live", lost: false });
			await localHost.turn();
		},
		async fail() {
			answers.shift()?.fail(new Error("away"));
			await localHost.turn();
		},
	};
}

test("heartbeats are one interval apart while answers come at once", async () => {
	const t = stand();
	t.keeper.granted(100);
	t.keeper.start();
	expect(t.timer()).toBe(beatMs(STALE_MS));
	t.pass(2);
	t.ring();
	await t.answer();
	expect([t.timer(), t.fed]).toEqual([beatMs(STALE_MS), [112, 114]]);
});

test("after an answer that took longer than an interval the next heartbeat is sent at once", async () => {
	const t = stand();
	t.keeper.start();
	t.ring();
	t.pass(5);
	await t.answer();
	// Half of the lease has passed by now.
	expect([t.timer(), t.fed]).toEqual([0, [112]]);
	t.ring();
	t.pass(0.5);
	await t.answer();
	expect([t.timer(), t.fed]).toEqual([beatMs(STALE_MS) - 500, [112, 117]]);
});

test("a slow start leaves less time until the first heartbeat", () => {
	const t = stand();
	t.keeper.granted(100);
	t.pass(1.5);
	t.keeper.start();
	expect(t.timer()).toBe(500);
});

test("no run may start once the guard may be ending runs", () => {
	const t = stand();
	expect(t.keeper.holds()).toBe(true);
	t.keeper.granted(100);
	t.pass(8.9);
	expect(t.keeper.holds()).toBe(true);
	t.pass(0.2);
	expect(t.keeper.holds()).toBe(false);
	t.keeper.granted(109.1);
	expect(t.keeper.holds()).toBe(true);
});

test("after a failure the next heartbeat comes sooner", async () => {
	const t = stand();
	t.keeper.start();
	t.ring();
	await t.fail();
	expect(t.timer()).toBe(beatMs(STALE_MS) / 4);
});
