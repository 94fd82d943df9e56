// Several hosts on one store: names, leases, drain, and the loss of a host with its runs.

import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventRow } from "../src/index.ts";
import { FakeClock, FakeHost, MINUTE, SECOND } from "./make/fakes.ts";
import { makeFolder } from "./make/folder.ts";
import { openStand, type Stand, type StandOptions } from "./make/stand.ts";

const STALE = 10 * MINUTE;
const GRACE = 30 * SECOND;

/** Opens further hosts on the same file and clock. */
function makeFleet(config: Record<string, unknown> = {}) {
	const path = join(makeFolder(), "fleet.db");
	const clock = new FakeClock();
	const host = new FakeHost();
	return {
		clock,
		open: (name: string, more: StandOptions & { labels?: string[]; home?: string } = {}): Promise<Stand> => {
			const { labels = [], home = `home-${name}`, ...rest } = more;
			return openStand({ path, clock, host, config, join: { name, labels, home }, ...rest });
		},
	};
}
const start = (stand: Stand, host: string, max = 100) => stand.start(max, { host, worker: `host:${host}` });
const kinds = (events: EventRow[]) => events.flatMap(({ kind, data }) => ("host" in data ? [`${kind} ${data.host}`] : []));
const states = async (stand: Stand) => Object.fromEntries((await stand.sluice.hosts()).map(({ name, state }) => [name, state]));

test("a name is held by one home; the same home has it back at once", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	await expect(fleet.open("a", { home: "another" })).rejects.toMatchObject({
		code: "conflict",
		field: "host.name",
		message: expect.stringContaining('the host name "a" is held by the daemon of another home (last heard of 0 s ago)'),
	});
	const again = await fleet.open("a");
	await expect(a.sluice.heartbeat()).rejects.toMatchObject({ code: "fenced" });
	await a.add();
	await expect(start(a, "a")).rejects.toMatchObject({ code: "fenced" });
	await expect(a.sluice.leave()).rejects.toMatchObject({ code: "fenced" });
	expect(await again.sluice.heartbeat()).toEqual({ state: "live", lost: false });
	expect(await start(again, "a")).toEqual([1]);
});

test("a name is free again when its host has left, or was lost", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	expect(await a.sluice.leave()).toEqual({ left: true });
	await fleet.open("a", { home: "another" });
	fleet.clock.pass(STALE);
	await b.sluice.heartbeat();
	await expect(fleet.open("a", { home: "third" })).rejects.toMatchObject({ code: "conflict" });
	await b.sluice.tick();
	await b.wait(GRACE);
	await fleet.open("a", { home: "third" });
});

test("a home has one name: the old one is left, unless it still has runs", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a", { home: "h" });
	await a.add();
	await start(a, "a");
	await expect(fleet.open("b", { home: "h" })).rejects.toMatchObject({
		code: "conflict",
		message: expect.stringContaining("still has 1 runs"),
	});
	await a.succeed(1);
	const b = await fleet.open("b", { home: "h" });
	expect(await states(b)).toEqual({ a: "gone", b: "live" });
});

test("one that is not heard of goes stale, then is lost with its runs, and not sooner", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.add();
	await a.add();
	expect(await start(a, "a", 1)).toEqual([1]);
	fleet.clock.pass(STALE - 1);
	await b.sluice.heartbeat();
	await b.sluice.tick();
	expect(await states(b)).toEqual({ a: "live", b: "live" });
	fleet.clock.pass(1);
	expect(await states(b)).toMatchObject({ a: "stale" });
	// It may not claim, and its run is still its own.
	expect(await start(a, "a")).toEqual([]);
	await b.sluice.tick();
	await b.wait(GRACE - 1);
	expect(await b.status(1)).toBe("running");
	await b.wait(1);
	expect(await states(b)).toEqual({ a: "gone", b: "live" });
	expect(await b.show(1)).toMatchObject({ status: "queued", last_failure: "scheduler recovery: host a was lost", exit_kind: "lost" });
	expect(await b.sluice.status()).toMatchObject({ running: 0 });
	expect(kinds(await b.events())).toEqual(["host_joined a", "host_joined b", "host_stale a", "host_lost a"]);

	await expect(a.succeed(1)).rejects.toMatchObject({ code: "fenced" });
	expect(await a.sluice.heartbeat()).toEqual({ state: "live", lost: true });
	expect(await a.sluice.heartbeat()).toEqual({ state: "live", lost: false });
	// Both hosts are live again, and the job waits for nothing: whoever asks first gets it.
	expect(await start(b, "b")).toEqual([2, 1]);
	await b.succeed(1);
	expect(await b.show(1)).toMatchObject({ status: "succeeded", attempt: 2 });
});

test("a lost host burns no retry, also of a job that has none", async () => {
	const fleet = makeFleet({ retry: { max: 0 } });
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.add();
	await start(a, "a");
	fleet.clock.pass(STALE);
	await b.sluice.heartbeat();
	await b.sluice.tick();
	await b.wait(GRACE);
	expect(await b.show(1)).toMatchObject({ status: "queued", exit_kind: "lost" });
	expect((await b.show(1)).failures ?? 0).toBe(0);
	expect(await start(b, "b")).toEqual([1]);
});

test("a heartbeat within the grace keeps everything", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.add();
	await start(a, "a");
	fleet.clock.pass(STALE);
	await b.sluice.heartbeat();
	await b.sluice.tick();
	fleet.clock.pass(GRACE - 1);
	expect(await a.sluice.heartbeat()).toEqual({ state: "live", lost: false });
	await b.wait(MINUTE);
	await a.succeed(1);
	expect(kinds(await b.events())).toEqual(["host_joined a", "host_joined b", "host_stale a", "host_back a"]);
});

test("after a jump of the clock a host has the grace to say that it is there", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.add();
	await start(a, "a");
	fleet.clock.jump(24 * 60 * MINUTE);
	await b.sluice.tick();
	expect(await b.status(1)).toBe("running");
	await a.sluice.heartbeat();
	await b.wait(GRACE);
	expect(await b.status(1)).toBe("running");
});

test("many runs of a lost host end in pieces; what it starts afterwards is not touched", async () => {
	const fleet = makeFleet({ max_concurrent: 1000, safety_cap: 0, retry: { max: 1, on: ["lost"] } });
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.sluice.apply({ jobs: Array.from({ length: 700 }, () => ({ command: ["true"] })) });
	expect(await start(a, "a", 699)).toHaveLength(699);
	fleet.clock.pass(STALE);
	await b.sluice.tick();
	await b.wait(GRACE);
	await a.sluice.heartbeat();
	expect(await start(a, "a", 1)).toEqual([700]);
	for (let round = 0; round < 10; round++) await b.sluice.tick();
	expect(await b.sluice.status()).toMatchObject({ running: 1, queued_total: 699 });
	expect(await b.status(700)).toBe("running");
});

test("a drained host starts nothing, and goes on with what it has; the drain survives a restart", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a", { labels: ["gpu"] });
	const b = await fleet.open("b");
	await a.add({ host_labels: ["gpu"] });
	await a.add({ host_labels: ["gpu"] });
	await start(a, "a", 1);
	const { host, stopping } = await b.sluice.drain("a", { by: "ann", reason: "a new disk" });
	expect([host.state, host.running, host.drain, stopping]).toEqual([
		"draining",
		1,
		{ by: "ann", at: fleet.clock.now(), reason: "a new disk" },
		[],
	]);
	expect(await start(a, "a")).toEqual([]);
	expect((await b.reasons(2))[0]).toMatchObject({
		code: "no_host",
		detail: "no live host with label gpu: a is draining; b lacks label gpu",
	});
	await a.succeed(1);
	const again = await fleet.open("a", { labels: ["gpu"] });
	expect(await again.sluice.heartbeat()).toEqual({ state: "draining", lost: false });
	expect(await start(again, "a")).toEqual([]);
	expect((await b.sluice.undrain("a")).state).toBe("live");
	expect(await start(again, "a")).toEqual([2]);
	expect(kinds(await b.events()).filter((one) => one.includes("drained"))).toEqual(["host_drained a", "host_undrained a"]);
});

test("drained with stop, its runs go back into the queue and burn nothing", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	await a.add();
	await start(a, "a");
	expect((await b.sluice.drain("a", { stop: true })).stopping).toEqual([1]);
	expect(await a.sluice.extend(a.run(1))).toMatchObject({ cancel_requested: true });
	await a.end(1, "crashed");
	expect(await b.show(1)).toMatchObject({ status: "queued", exit_kind: "drained" });
	expect(await start(b, "b")).toEqual([1]);
});

test("only a host that is gone can be removed; its labels go with it", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a", { labels: ["gpu"] });
	const b = await fleet.open("b");
	await expect(b.sluice.removeHost("a")).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("host a is live") });
	await expect(b.sluice.removeHost("c")).rejects.toMatchObject({ code: "not_found" });
	await a.sluice.leave();
	// It may come back: that is no label which no host has.
	await b.add({ host_labels: ["gpu"] });
	await b.sluice.removeHost("a");
	expect(await states(b)).toEqual({ b: "live" });
	await expect(b.tryAdd({ host_labels: ["gpu"] })).rejects.toMatchObject({ code: "impossible" });
	await b.add({ host_labels: ["gpu"] }, { force: true });
	await expect(a.sluice.heartbeat()).rejects.toMatchObject({ code: "fenced", message: "host a has been removed" });
});

test("a host with runs does not leave: it is expected back", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	await a.add();
	await start(a, "a");
	fleet.clock.pass(MINUTE);
	expect(await a.sluice.leave()).toEqual({ left: false });
	const [host] = await a.sluice.hosts();
	expect([host?.state, host?.lease_until]).toEqual(["live", fleet.clock.now() + STALE]);
});

test("a process of the library that is called like a host does not take its name, nor its lease", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const library = await openStand({ ...a.options, clock: fleet.clock, host: new FakeHost(), join: { name: "a" } });
	await library.sluice.heartbeat();
	expect((await a.sluice.hosts())[0]?.lease_until).toBe(fleet.clock.now() + STALE);
	expect(await a.sluice.heartbeat()).toEqual({ state: "live", lost: false });
});

test("a host without a lease is never lost", async () => {
	const stand = await openStand();
	await stand.add();
	await stand.start(1, { host: "local" });
	await stand.wait(365 * 24 * 60 * MINUTE);
	expect(await stand.status(1)).toBe("running");
	expect(await states(stand)).toEqual({ local: "live" });
});

test("one leads: the first that is there", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a");
	const b = await fleet.open("b");
	expect([await a.sluice.leads(), await b.sluice.leads()]).toEqual([true, false]);
	fleet.clock.pass(STALE);
	await b.sluice.heartbeat();
	expect([await a.sluice.leads(), await b.sluice.leads()]).toEqual([false, true]);
});

test("settings in the store: the first host brings them, all have them, whoever changes them", async () => {
	const fleet = makeFleet();
	const a = await fleet.open("a", { settings: "shared", config: { max_concurrent: 1, lanes: { code: { max: 1 } } } });
	const b = await fleet.open("b", { settings: "shared", config: { max_concurrent: 9 } });
	await a.add();
	await a.add();
	expect(b.sluice.config()).toMatchObject({ max_concurrent: 1, lanes: { code: { max: 1 } } });
	expect(await start(a, "a")).toEqual([1]);
	expect(await start(b, "b")).toEqual([]);
	const news: string[] = [];
	b.sluice.watch(({ heard }) => news.push(...heard.map(({ kind }) => kind)));
	await b.sluice.tick();
	news.length = 0;
	await a.sluice.configure({ max_concurrent: 2 }, { more: { cron: { nightly: 1 } } });
	await b.sluice.tick();
	expect(news).toEqual(["configured"]);
	expect(b.sluice.config().max_concurrent).toBe(2);
	expect([a.sluice.more(), b.sluice.more()]).toEqual([{ cron: { nightly: 1 } }, { cron: { nightly: 1 } }]);
	expect(await start(b, "b")).toEqual([2]);
	await b.sluice.configure({ lanes: { code: { max: 5 } } }, { more: { cron: null } });
	await a.sluice.tick();
	expect(a.sluice.config()).toMatchObject({ max_concurrent: 2, lanes: { code: { max: 5 } } });
	expect(a.sluice.more()).toEqual({});
});

test("a trigger that two hosts have fires once a slot", async () => {
	const fleet = makeFleet();
	const [a, b] = [await fleet.open("a"), await fleet.open("b")];
	const since = (await a.sluice.arm("cron:nightly", "0 3 * * *")).since;
	fleet.clock.pass(MINUTE);
	expect((await b.sluice.arm("cron:nightly", "0 3 * * *")).since).toBe(since);
	const slot = fleet.clock.now();
	const firing = { slot, job: { command: ["true"] } };
	const outcomes = await Promise.all([a, b].map(async (one) => (await one.sluice.fire("cron:nightly", firing)).outcome));
	expect(outcomes.sort()).toEqual(["added", "past"]);
	expect(await a.sluice.list()).toHaveLength(1);
});
