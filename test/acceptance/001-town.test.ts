// 001, capacity-controlled dispatch, on the preset `town`: plan, modes, pace, circuit breaker, pause, clear, and the environment breaker that we add.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type JobInput, planDispatch } from "../../src/index.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand, type StandOptions } from "../make/stand.ts";

const repos = { gastown: { prefix: "gt-" }, beads: { prefix: "bd-" } };

/** Deferred mode: 001's own numbers but for the cap and the time between two cycles. */
const deferred = (max: number, more: Record<string, unknown> = {}): StandOptions => ({
	preset: "town",
	config: { repos, max_concurrent: max, batch_size: 0, cycle_interval: 0, ...more },
});

const bead = (id: string, more: JobInput = {}): JobInput => ({ repo: "gastown", item: id, source: "beads", command: ["work"], ...more });

async function addBeads(t: Stand, count: number): Promise<number[]> {
	const jobs: number[] = [];
	for (let n = 1; n <= count; n++) jobs.push(await t.add(bead(`gt-${n}`)));
	return jobs;
}

describe("plan: starts = min(capacity, batch, ready)", () => {
	const ready = (count: number) => Array.from({ length: count }, (_, n) => `bead-${n + 1}`);

	test.each([
		{ capacity: 3, batch: 5, ready: 10, starts: 3, reason: "capacity" },
		{ capacity: 5, batch: 3, ready: 10, starts: 3, reason: "batch" },
		{ capacity: 10, batch: 5, ready: 3, starts: 3, reason: "ready" },
		{ capacity: 1, batch: 1, ready: 1, starts: 1 },
		{ capacity: 0, batch: 5, ready: 10, starts: 0, reason: "capacity" },
		{ capacity: -2, batch: 5, ready: 10, starts: 0, reason: "capacity" },
		{ capacity: 5, batch: 5, ready: 0, starts: 0, reason: "none" },
		{ capacity: 0, batch: 5, ready: 0, starts: 0, reason: "none" },
		{ capacity: Number.POSITIVE_INFINITY, batch: 2, ready: 9, starts: 2, reason: "batch" },
		{ capacity: Number.POSITIVE_INFINITY, batch: Number.POSITIVE_INFINITY, ready: 9, starts: 9, reason: "ready" },
	])("capacity $capacity, batch $batch, ready $ready → $starts ($reason)", (row) => {
		const all = ready(row.ready);
		const plan = planDispatch(row.capacity, row.batch, all);
		expect(plan.dispatch).toEqual(all.slice(0, row.starts));
		expect(plan.skipped).toEqual(all.slice(row.starts));
		if (row.reason !== undefined) expect(plan.reason).toBe(row.reason);
	});

	test("for any numbers: the first min(…) of them, the rest skipped, nothing lost", () => {
		for (let capacity = -1; capacity <= 4; capacity++)
			for (let batch = 1; batch <= 4; batch++)
				for (let count = 0; count <= 4; count++) {
					const all = ready(count);
					const { dispatch, skipped, reason } = planDispatch(capacity, batch, all);
					expect(dispatch).toHaveLength(Math.max(0, Math.min(capacity, batch, count)));
					expect([...dispatch, ...skipped]).toEqual(all);
					const bound = { capacity: Math.max(0, capacity), batch, ready: count, paused: -1, none: 0 }[reason];
					expect(dispatch).toHaveLength(bound);
				}
	});

	test.each([
		{ what: "fewer slots than beads", max: 2, batch: 0, beads: 3, starts: 2, reason: "capacity" },
		{ what: "a smaller batch", max: 5, batch: 2, beads: 3, starts: 2, reason: "batch" },
		{ what: "room for all", max: 5, batch: 4, beads: 3, starts: 3, reason: "ready" },
		{ what: "nothing scheduled", max: 5, batch: 4, beads: 0, starts: 0, reason: "none" },
	])("through the engine, with $what: $reason", async ({ max, batch, beads, starts, reason }) => {
		const t = await openStand(deferred(max, { batch_size: batch }));
		const jobs = await addBeads(t, beads);
		const plan = await t.sluice.plan();
		expect(plan.reason).toBe(reason);
		expect(plan.dispatch).toEqual(jobs.slice(0, starts));
		expect(plan.skipped.map((one) => one.job)).toEqual(jobs.slice(starts));
		expect(await t.start()).toEqual(plan.dispatch);
	});

	test("while paused the plan is empty, and says so", async () => {
		const t = await openStand(deferred(5));
		const jobs = await addBeads(t, 2);
		await t.sluice.pause();
		const plan = await t.sluice.plan();
		expect(plan).toMatchObject({ dispatch: [], reason: "paused" });
		expect(plan.skipped.map((one) => one.job)).toEqual(jobs);
	});

	test("it changes nothing", async () => {
		const t = await openStand(deferred(1));
		const jobs = await addBeads(t, 3);
		const before = { jobs: await t.sluice.list({ all: true }), status: await t.sluice.status(), plan: await t.sluice.plan() };
		const events = (await t.events()).length;
		for (let n = 0; n < 3; n++) expect(await t.sluice.plan()).toEqual(before.plan);
		expect(await t.sluice.list({ all: true })).toEqual(before.jobs);
		expect(await t.sluice.status()).toEqual(before.status);
		expect((await t.events()).filter((event) => event.kind !== "marked")).toHaveLength(events);
		expect(await t.start()).toEqual([jobs[0]]);
	});
});

describe("modes", () => {
	test.each([-1, 0])("max_concurrent %i is direct: everything starts at once", async (max_concurrent) => {
		const t = await openStand({ preset: "town", config: { repos, max_concurrent } });
		const jobs = await addBeads(t, 30);
		expect(await t.start()).toEqual(jobs);
		const late = await t.add(bead("gt-late"));
		expect(await t.start()).toEqual([late]);
	});

	test("direct is what town has unless told otherwise", async () => {
		const t = await openStand({ preset: "town" });
		expect(t.sluice.config()).toMatchObject({ max_concurrent: -1, safety_cap: 0, batch_size: 1, spawn_delay_ms: 0, dispatch_breaker: 3 });
	});

	test("N > 0 is deferred: at most N live runs, however they were started", async () => {
		const t = await openStand(deferred(3));
		const jobs = await addBeads(t, 5);
		await t.sluice.runNow(jobs[4]!);
		expect(await t.start(1)).toEqual([jobs[4]]);
		expect(await t.start()).toEqual([jobs[0], jobs[1]]);
		expect(await t.start()).toEqual([]);
		expect(await t.reasons(jobs[2]!)).toMatchObject([
			{ gate: "capacity", code: "capacity", subject: "all", detail: "max_concurrent is full: 3 of 3 running" },
		]);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([jobs[2]]);
	});

	test("one setting turns one mode into the other, for what is queued already", async () => {
		const t = await openStand(deferred(1));
		const jobs = await addBeads(t, 4);
		expect(await t.start()).toEqual([jobs[0]]);
		await t.sluice.configure({ max_concurrent: -1 });
		expect(await t.start()).toEqual(jobs.slice(1));
	});

	test("runs that were started in direct mode count against a cap that is set later", async () => {
		const t = await openStand(deferred(-1));
		const jobs = await addBeads(t, 3);
		expect(await t.start()).toEqual(jobs);
		await t.sluice.configure({ max_concurrent: 3 });
		const late = await t.add(bead("gt-late"));
		expect(await t.sluice.plan()).toMatchObject({ dispatch: [], reason: "capacity" });
		expect(await t.start()).toEqual([]);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([late]);
	});

	test("the safety cap holds in direct mode too", async () => {
		const t = await openStand(deferred(-1, { safety_cap: 2 }));
		const jobs = await addBeads(t, 3);
		expect(await t.start()).toEqual(jobs.slice(0, 2));
		expect(await t.gates(jobs[2]!)).toEqual(["capacity/safety_cap"]);
	});
});

describe("pace", () => {
	test("one bead each three minutes, as the heartbeat of 001 in deferred mode", async () => {
		const t = await openStand({ preset: "town", config: { repos, max_concurrent: 5 } });
		const jobs = await addBeads(t, 3);
		expect(await t.start()).toEqual([]);
		expect(await t.sluice.status()).toMatchObject({ queued_total: 3, queued_ready: 3 });
		expect(await t.reasons(jobs[1]!)).toMatchObject([
			{ gate: "capacity", code: "capacity", subject: "cycle_interval", clears_at: t.clock.now() + 3 * MINUTE },
		]);
		await t.wait(3 * MINUTE - 1);
		expect(await t.start()).toEqual([]);
		await t.wait(1);
		expect(await t.start()).toEqual([jobs[0]]);
		expect(await t.start()).toEqual([]);
		await t.wait(3 * MINUTE);
		expect(await t.start()).toEqual([jobs[1]]);
		await t.wait(3 * MINUTE);
		expect(await t.start()).toEqual([jobs[2]]);
	});

	test("batch_size bounds the starts of one cycle", async () => {
		const t = await openStand(deferred(10, { batch_size: 2, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 5);
		await t.wait(MINUTE);
		expect(await t.start()).toEqual(jobs.slice(0, 2));
		await t.wait(MINUTE);
		expect(await t.start()).toEqual(jobs.slice(2, 4));
		await t.wait(MINUTE);
		expect(await t.start()).toEqual(jobs.slice(4));
	});

	test("the heartbeat is regular, also while nothing waits: what comes after it waits for the next", async () => {
		const t = await openStand(deferred(10, { cycle_interval: "1m" }));
		await t.wait(90 * SECOND);
		const job = await t.add(bead("gt-1"));
		expect(await t.start()).toEqual([]);
		await t.wait(30 * SECOND - 1);
		expect(await t.start()).toEqual([]);
		await t.wait(1);
		expect(await t.start()).toEqual([job]);
	});

	test("a heartbeat that is noticed late does not move the next one", async () => {
		const t = await openStand(deferred(10, { batch_size: 1, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 2);
		await t.wait(100 * SECOND);
		expect(await t.start()).toEqual([jobs[0]]);
		await t.wait(20 * SECOND);
		expect(await t.start()).toEqual([jobs[1]]);
	});

	test("a slot that frees between two heartbeats waits for the next: starts = min(capacity, batch, ready) of the moment", async () => {
		const t = await openStand(deferred(1, { batch_size: 2, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 2);
		await t.wait(MINUTE);
		expect(await t.start()).toEqual([jobs[0]]);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([]);
		await t.wait(MINUTE);
		expect(await t.start()).toEqual([jobs[1]]);
	});

	test("a cycle by hand starts its batch at once, and leaves the heartbeat where it was", async () => {
		const t = await openStand(deferred(10, { batch_size: 2, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 5);
		await t.wait(30 * SECOND);
		const { claimed, report } = await t.sluice.runCycle({ worker: "w", host: "local", max: 100 });
		expect(claimed.map(({ job }) => job.id)).toEqual(jobs.slice(0, 2));
		expect(report).toMatchObject({ dispatch: jobs.slice(0, 2), reason: "batch" });
		expect(await t.start()).toEqual([]);
		await t.wait(30 * SECOND);
		expect(await t.start()).toEqual(jobs.slice(2, 4));
	});

	test("a cycle by hand that starts nothing leaves nothing open for what comes later", async () => {
		const t = await openStand(deferred(10, { cycle_interval: "1m" }));
		expect((await t.sluice.runCycle({ worker: "w", max: 100 })).report).toEqual({ dispatch: [], skipped: [], reason: "none" });
		await t.add(bead("gt-1"));
		expect(await t.start()).toEqual([]);
	});

	test("cycles by hand at the same time each tell what they themselves started", async () => {
		const t = await openStand(deferred(10, { batch_size: 1, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 3);
		const all = await Promise.all(Array.from({ length: 4 }, () => t.sluice.runCycle({ worker: "w", max: 100 })));
		expect(all.map(({ report }) => report.dispatch)).toEqual([[jobs[0]], [jobs[1]], [jobs[2]], []]);
	});

	test("the started event and the run tell a cycle by hand from the daemon's own", async () => {
		const t = await openStand(deferred(10, { batch_size: 1, cycle_interval: "1m" }));
		const jobs = await addBeads(t, 2);
		const { claimed } = await t.sluice.runCycle({ worker: "host:local", host: "local", max: 100 });
		expect(claimed[0]?.run.started_by).toBe("run");
		await t.wait(MINUTE);
		expect(await t.start(100, { host: "local" })).toEqual([jobs[1]]);
		expect(t.runs.get(jobs[1]!)?.run.started_by).toBeUndefined();
		const told = (await t.events()).filter((event) => event.kind === "started").map(({ job, data }) => [job, data.started_by]);
		expect(told).toEqual([
			[jobs[0], "run"],
			[jobs[1], "daemon"],
		]);
	});

	test("batch_size counts with spawn_delay too: so many starts in a cycle, that far apart", async () => {
		const t = await openStand(deferred(5, { batch_size: 2, spawn_delay: "3s", cycle_interval: "3m" }));
		const jobs = await addBeads(t, 4);
		expect(await t.sluice.plan({ cycle: "now" })).toMatchObject({
			dispatch: jobs.slice(0, 2),
			reason: "batch",
			detail: "spawn_delay: 3000 ms between two starts",
		});
		const { report } = await t.sluice.runCycle({ worker: "w", max: 100 });
		expect(report).toMatchObject({
			dispatch: [jobs[0]],
			reason: "batch",
			detail: "spawn_delay: 1 more can start in this cycle, 3000 ms apart",
		});
		expect(await t.start()).toEqual([]);
		expect((await t.reasons(jobs[1]!)).map(({ subject }) => subject)).toEqual(["spawn_delay"]);
		await t.wait(3 * SECOND);
		expect(await t.start()).toEqual([jobs[1]]);
		await t.wait(3 * SECOND);
		expect(await t.start()).toEqual([]);
		expect((await t.reasons(jobs[2]!)).map(({ subject }) => subject)).toContain("cycle_interval");
	});

	test("spawn_delay spaces the starts", async () => {
		const t = await openStand(deferred(10, { spawn_delay: "3s" }));
		const jobs = await addBeads(t, 3);
		expect(await t.start()).toEqual([jobs[0]]);
		await t.wait(2 * SECOND);
		expect(await t.start()).toEqual([]);
		expect(await t.reasons(jobs[1]!)).toMatchObject([{ subject: "spawn_delay", clears_at: t.clock.now() + SECOND }]);
		await t.wait(SECOND);
		expect(await t.start()).toEqual([jobs[1]]);
	});

	test("tick tells when the next start is due", async () => {
		const t = await openStand(deferred(10, { cycle_interval: "1m" }));
		await addBeads(t, 2);
		await t.sluice.configure({ batch_size: 1 });
		await t.start();
		expect(await t.sluice.tick()).toBeLessThanOrEqual(t.clock.now() + MINUTE);
	});
});

describe("circuit breaker", () => {
	/** Starts the one job that can, and reports that its process never came up. */
	async function failLaunch(t: Stand, job: number, message: string) {
		expect(await t.start(1)).toEqual([job]);
		return t.end(job, "launch_failed", { message });
	}

	test("three dispatch failures in a row end a job: failed, circuit-broken", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1"));
		expect(await failLaunch(t, job, "no worktree 1")).toMatchObject({ status: "queued", retry_at: t.clock.now() + 10 * SECOND });
		expect(await t.show(job)).toMatchObject({ dispatch_failures: 1, last_failure: "no worktree 1" });
		expect(await t.start()).toEqual([]);
		await t.wait(10 * SECOND);
		expect(await failLaunch(t, job, "no worktree 2")).toMatchObject({ status: "queued", retry_at: t.clock.now() + 20 * SECOND });
		expect(await t.show(job)).toMatchObject({ dispatch_failures: 2, last_failure: "no worktree 2" });
		await t.wait(20 * SECOND);
		expect(await failLaunch(t, job, "no worktree 3")).toMatchObject({ status: "failed" });
		expect(await t.show(job)).toMatchObject({
			status: "failed",
			end_reason: "circuit-broken",
			dispatch_failures: 3,
			last_failure: "no worktree 3",
		});
		await t.wait(30 * DAY);
		expect(await t.start()).toEqual([]);
	});

	test("after one failure or two it stays scheduled, and the next cycle tries it again", async () => {
		const t = await openStand({ preset: "town", config: { repos, max_concurrent: 5 } });
		const job = await t.add(bead("gt-1"));
		await t.wait(3 * MINUTE);
		for (const failures of [1, 2]) {
			expect(await failLaunch(t, job, "no worktree")).toMatchObject({ status: "queued" });
			expect(await t.show(job)).toMatchObject({ dispatch_failures: failures });
			await t.wait(3 * MINUTE - 1);
			expect(await t.start()).toEqual([]);
			await t.wait(1);
		}
		expect(await t.start()).toEqual([job]);
	});

	test("it stays broken until an operator's retry, which starts the count anew", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1"));
		for (let n = 1; n <= 3; n++) {
			await failLaunch(t, job, "boom");
			await t.wait(HOUR);
		}
		expect(await t.sluice.retry(job, { by: "mayor" })).toMatchObject({ reset: [job] });
		expect(await t.show(job)).toMatchObject({ status: "queued" });
		expect((await t.show(job)).dispatch_failures ?? 0).toBe(0);
		expect((await t.sluice.history(job)).at(-1)).toMatchObject({ by: "mayor" });
		expect(await failLaunch(t, job, "boom")).toMatchObject({ status: "queued" });
	});

	test("failures count only in a row: a start zeroes them", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1", { retry: { max: 5, base_ms: 0 } }));
		for (let round = 0; round < 3; round++) {
			for (let n = 1; n <= 2; n++) {
				await failLaunch(t, job, "boom");
				await t.wait(HOUR);
			}
			await t.start(1);
			await t.sluice.started(t.run(job));
			expect((await t.show(job)).dispatch_failures ?? 0).toBe(0);
			await t.fail(job);
		}
		expect(await t.status(job)).toBe("queued");
	});

	test("dispatch failures are counted apart from failed runs", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1", { retry: 1 }));
		await failLaunch(t, job, "boom");
		expect((await t.show(job)).failures ?? 0).toBe(0);
	});

	test("the item is free again once its job is broken", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1"));
		for (let n = 1; n <= 3; n++) {
			expect((await t.tryAdd(bead("gt-1"))).outcome).toBe("already_running");
			await failLaunch(t, job, "boom");
			await t.wait(HOUR);
		}
		expect((await t.tryAdd(bead("gt-1"))).outcome).toBe("queued");
	});
});

describe("schedule", () => {
	test("is idempotent: a bead that is scheduled, dispatched or retrying is not scheduled twice", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-abc"));
		expect(await t.tryAdd(bead("gt-abc"))).toEqual({ outcome: "already_running", job, holder: job });
		await t.start();
		expect(await t.tryAdd(bead("gt-abc"))).toEqual({ outcome: "already_running", job, holder: job });
		expect(await t.sluice.list({ all: true })).toHaveLength(1);
	});

	test("many at once schedule it once", async () => {
		const t = await openStand(deferred(5));
		const results = await Promise.all(Array.from({ length: 20 }, () => t.tryAdd(bead("gt-abc"))));
		expect(results.filter((result) => result.outcome === "queued")).toHaveLength(1);
		expect(results.filter((result) => result.outcome === "already_running")).toHaveLength(19);
	});

	test("applying the same batch again adds nothing", async () => {
		const t = await openStand(deferred(5));
		const manifest = { batch: "convoy-1", jobs: ["gt-1", "gt-2"].map((id) => bead(id, { name: `work-${id}` })) };
		const first = await t.sluice.apply(manifest);
		expect(first.jobs).toHaveLength(2);
		const second = await t.sluice.apply(manifest);
		expect(second).toMatchObject({ jobs: [], names: first.names });
		expect(second.skipped.map((one) => one.job)).toEqual(first.jobs);
	});

	test("a unique key makes any add idempotent", async () => {
		const t = await openStand(deferred(5));
		const unique = { key: "nightly", window_ms: HOUR };
		const job = await t.add({ unique });
		expect(await t.tryAdd({ unique })).toEqual({ outcome: "duplicate", job });
		await t.start();
		await t.succeed(job);
		expect(await t.tryAdd({ unique })).toEqual({ outcome: "duplicate", job });
		await t.wait(HOUR);
		expect((await t.tryAdd({ unique })).outcome).toBe("queued");
	});

	test("a bead of another rig is refused with the right command, unless forced", async () => {
		const t = await openStand(deferred(5));
		const error = await t.tryAdd(bead("bd-7")).catch((error) => error);
		expect(error).toMatchObject({ code: "forbidden", field: "item" });
		expect(error.hint).toContain("--repo beads");
		expect((await t.tryAdd(bead("bd-7"), { force: true })).outcome).toBe("queued");
	});

	test("a bead that is in progress elsewhere is refused unless forced, a closed one always", async () => {
		const t = await openStand(deferred(5));
		t.host.facts.set("item:beads:gt-1", { open: true, in_progress: true });
		t.host.facts.set("item:beads:gt-2", { open: false });
		await expect(t.tryAdd(bead("gt-1"))).rejects.toMatchObject({ code: "forbidden", field: "item" });
		expect((await t.tryAdd(bead("gt-1"), { force: true })).outcome).toBe("queued");
		await expect(t.tryAdd(bead("gt-2"), { force: true })).rejects.toMatchObject({ code: "forbidden", field: "item" });
	});

	test("a rig that does not exist is refused, and the nearest one suggested", async () => {
		const t = await openStand(deferred(5));
		await expect(t.tryAdd(bead("gt-1", { repo: "gastwon" }))).rejects.toMatchObject({
			code: "not_found",
			field: "repo",
			hint: expect.stringContaining("gastown"),
		});
	});

	test("a bead that is blocked waits until its source says otherwise; one that closes meanwhile is dropped", async () => {
		const t = await openStand(deferred(5));
		t.host.facts.set("item:beads:gt-1", { open: true, blocked_by: ["gt-0"] });
		t.host.facts.set("item:beads:gt-2", { open: true, blocked_by: ["gt-0"] });
		const [job, dropped] = [await t.add(bead("gt-1")), await t.add(bead("gt-2"))];
		expect(await t.show(job)).toMatchObject({
			status: "waiting_on_deps",
			blocked: true,
			wait_reason: { kind: "item_blocked", detail: "item beads:gt-1 is blocked by gt-0" },
		});
		t.host.facts.set("item:beads:gt-1", { open: true, blocked_by: [] });
		t.host.facts.set("item:beads:gt-2", { open: false });
		await t.wait(SECOND);
		expect(await t.start()).toEqual([job]);
		expect(await t.show(dropped)).toMatchObject({ status: "cancelled", end_reason: "item_closed" });
	});

	test("a bead that another worker takes up after it was scheduled waits until it is free again; so does one that is deferred", async () => {
		const t = await openStand(deferred(5));
		const [taken, deferredBead] = (await addBeads(t, 2)) as [number, number];
		t.host.facts.set("item:beads:gt-1", { open: true, blocked_by: [], in_progress: true, taken: "hooked by ann" });
		t.host.facts.set("item:beads:gt-2", { open: true, blocked_by: [], held: "its status is deferred" });
		await t.wait(SECOND);
		expect(await t.start()).toEqual([]);
		expect((await t.sluice.show(taken)).wait_reason).toMatchObject({ detail: "item beads:gt-1 is in progress elsewhere: hooked by ann" });
		expect((await t.sluice.show(deferredBead)).wait_reason).toMatchObject({
			detail: "item beads:gt-2 is not ready: its status is deferred",
		});
		for (const id of ["gt-1", "gt-2"]) t.host.facts.set(`item:beads:${id}`, { open: true, blocked_by: [] });
		await t.wait(SECOND);
		expect(await t.start()).toEqual([taken, deferredBead]);
	});

	test("a bead that our own run has taken up does not hold back its retry, nor the next step of its recipe", async () => {
		const t = await openStand(deferred(5));
		const { jobs } = await t.sluice.apply({
			jobs: [bead("gt-1", { name: "first", retry: 1, no_merge: true }), bead("gt-1", { name: "second", after: ["first"], no_merge: true })],
		});
		const [first, second] = jobs as [number, number];
		expect(await t.start()).toEqual([first]);
		t.host.facts.set("item:beads:gt-1", { open: true, blocked_by: [], in_progress: true, taken: "in_progress" });
		await t.wait(SECOND);
		await t.fail(first);
		await t.wait(HOUR);
		expect(await t.start()).toEqual([first]);
		await t.end(first, "completed");
		expect(await t.start()).toEqual([second]);
	});

	test("one that was taken up before is started where it was added with force", async () => {
		const t = await openStand(deferred(5));
		t.host.facts.set("item:beads:gt-1", { open: true, blocked_by: [], in_progress: true, taken: "hooked by ann" });
		const added = await t.sluice.add(bead("gt-1"), { force: true });
		expect(await t.start()).toEqual([added.outcome === "queued" ? added.job.id : added.outcome]);
	});

	test("everything that was asked for is handed to whoever runs it", async () => {
		const t = await openStand(deferred(5, { accounts: { main: {} } }));
		await t.add(
			bead("gt-1", {
				recipe: "mol-polecat-work",
				args: "patch the parser",
				vars: { branch: "x" },
				merge: "mr",
				base_branch: "dev",
				account: "main",
				mode: "ralph",
				owned: true,
				raw: true,
				batch: "convoy-9",
			}),
		);
		const [claimed] = await t.sluice.claim({ worker: "w" });
		expect(claimed?.spec).toMatchObject({
			version: 1,
			recipe: "mol-polecat-work",
			args: "patch the parser",
			vars: { branch: "x" },
			merge: "mr",
			base_branch: "dev",
			mode: "ralph",
			owned: true,
			raw: true,
			enqueued_at: t.clock.now(),
		});
		expect(claimed?.job).toMatchObject({ repo: "gastown", account: "main", batch: "convoy-9", item: "beads:gt-1" });
	});
});

describe("pause and resume", () => {
	test("a pause survives a restart, with who and when", async () => {
		const t = await openStand({ ...deferred(5), path: join(makeFolder(), "sluice.db") });
		const job = await t.add(bead("gt-1"));
		const at = t.clock.now();
		await t.sluice.pause({}, { by: "mayor", reason: "release" });
		await t.wait(HOUR);
		const later = await t.reopen();
		expect(await later.sluice.status()).toMatchObject({ paused: true, paused_by: "mayor", paused_at: at });
		expect(await later.start()).toEqual([]);
		expect(await later.reasons(job)).toMatchObject([
			{ gate: "holds", code: "paused", subject: "all", since: at, holder: ["mayor"], detail: expect.stringContaining("release") },
		]);
		await later.sluice.resume({}, { by: "witness" });
		expect(await later.sluice.status()).toMatchObject({ paused: false, paused_by: null, paused_at: null });
		expect(await later.start()).toEqual([job]);
		const events = (await later.events()).filter((event) => event.kind === "paused" || event.kind === "resumed");
		expect(events.map(({ kind, by }) => [kind, by])).toEqual([
			["paused", "mayor"],
			["resumed", "witness"],
		]);
	});

	test("nothing starts after a pause was acknowledged, whoever claims", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ ...deferred(1000), path });
		const other = await openStand({ ...deferred(1000), path, clock: t.clock });
		await addBeads(t, 200);
		let acknowledged = false;
		const late: number[] = [];
		const claimer = async (stand: Stand) => {
			for (let n = 0; n < 60; n++) {
				const paused = acknowledged;
				const started = await stand.start(1);
				if (paused) late.push(...started);
			}
		};
		const pausing = async () => {
			while ((await t.sluice.status()).running < 20);
			await t.sluice.pause();
			acknowledged = true;
		};
		await Promise.all([claimer(t), claimer(other), pausing()]);
		expect(late).toEqual([]);
		const events = await t.events();
		const paused = events.findIndex((event) => event.kind === "paused");
		expect(events.slice(0, paused).filter((event) => event.kind === "started").length).toBeGreaterThanOrEqual(20);
		expect(events.slice(paused).filter((event) => event.kind === "started")).toEqual([]);
	});

	test("runs in flight go on and end; their slots stay empty", async () => {
		const t = await openStand(deferred(1));
		const jobs = await addBeads(t, 2);
		await t.start();
		await t.sluice.pause();
		await t.succeed(jobs[0]!);
		expect(await t.status(jobs[0]!)).toBe("succeeded");
		expect(await t.start()).toEqual([]);
	});

	test("a pause with an end lifts itself", async () => {
		const t = await openStand(deferred(5));
		const job = await t.add(bead("gt-1"));
		await t.sluice.pause({}, { until: t.clock.now() + HOUR });
		expect(await t.reasons(job)).toMatchObject([{ code: "paused", clears_at: t.clock.now() + HOUR }]);
		await t.wait(HOUR);
		expect(await t.start()).toEqual([job]);
		expect((await t.sluice.status()).paused).toBe(false);
	});

	test.each([
		["lane", { lane: "slow" }],
		["repo", { repo: "gastown" }],
		["batch", { batch: "convoy-1" }],
		["account", { account: "main" }],
	] as const)("a pause of one %s leaves the rest alone", async (_what, scope) => {
		const t = await openStand(deferred(5, { lanes: { default: {}, slow: {} }, accounts: { main: {}, other: {} } }));
		const held = await t.add({ lane: "slow", repo: "gastown", batch: "convoy-1", account: "main" });
		const free = await t.add({ lane: "default", repo: "beads", batch: "convoy-2", account: "other" });
		await t.sluice.pause(scope);
		expect(await t.start()).toEqual([free]);
		expect(await t.gates(held)).toEqual(["holds/paused"]);
		await t.sluice.resume(scope);
		expect(await t.start()).toEqual([held]);
	});
});

describe("clear", () => {
	test("ends everything that is not running, with the reason `cleared`", async () => {
		const t = await openStand(deferred(1));
		const jobs = await addBeads(t, 3);
		await t.start();
		const later = await t.add(bead("gt-later", { runnable_at: t.clock.now() + HOUR }));
		const behind = await t.add(bead("gt-behind", { after: [jobs[0]!] }));
		expect((await t.sluice.clear({ by: "mayor" })).cleared.sort((a, b) => a - b)).toEqual([jobs[1], jobs[2], later, behind]);
		for (const job of [jobs[1]!, jobs[2]!, later, behind])
			expect(await t.show(job)).toMatchObject({ status: "cancelled", end_reason: "cleared", exit_code: 143 });
		expect(await t.status(jobs[0]!)).toBe("running");
		expect((await t.sluice.history(jobs[1]!)).at(-1)).toMatchObject({ kind: "ended", by: "mayor" });
		expect((await t.tryAdd(bead("gt-2"))).outcome).toBe("queued");
	});

	test("or one bead's", async () => {
		const t = await openStand(deferred(5));
		const jobs = await addBeads(t, 3);
		expect(await t.sluice.clear({ item: "beads:gt-2" })).toEqual({ cleared: [jobs[1]] });
		expect(await t.start()).toEqual([jobs[0], jobs[2]]);
	});
});

describe("environment breaker", () => {
	const agent = (n: number): JobInput => ({ agent: "claude", prompt: `task ${n}` });
	const breakerOf = async (t: Stand) => (await t.sluice.status()).holds.find((hold) => hold.kind === "breaker_open");

	/** Three jobs of one agent whose launches fail one after the other: the environment is broken. */
	async function broken(): Promise<{ t: Stand; jobs: number[] }> {
		const t = await openStand(deferred(10));
		const jobs = [await t.add(agent(1)), await t.add(agent(2)), await t.add(agent(3))];
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "claude: command not found" });
		return { t, jobs };
	}

	test("launches of one agent that fail in a row open it; its jobs wait, others go on", async () => {
		const { t, jobs } = await broken();
		const until = t.clock.now() + MINUTE;
		expect(await breakerOf(t)).toMatchObject({ scope: "agent:claude", until });
		for (const job of jobs)
			expect(await t.reasons(job)).toMatchObject([
				{ gate: "holds", code: "breaker_open", subject: "agent:claude", clears_at: until, detail: expect.stringContaining("not found") },
			]);
		const other = await t.add({ agent: "codex", prompt: "task" });
		expect(await t.start()).toEqual([other]);
	});

	test("the failures that opened it are refunded", async () => {
		const { t, jobs } = await broken();
		for (const job of jobs) {
			const { status, dispatch_failures, backoff_until } = await t.show(job);
			expect({ status, dispatch_failures: dispatch_failures ?? 0, backoff_until }).toEqual({
				status: "queued",
				dispatch_failures: 0,
				backoff_until: undefined,
			});
		}
	});

	test("after the cool-down one probe goes out, and no more until it has answered", async () => {
		const { t, jobs } = await broken();
		await t.wait(MINUTE - 1);
		expect(await t.start()).toEqual([]);
		await t.wait(1);
		const started = await t.start();
		expect(started).toHaveLength(1);
		expect(await t.start()).toEqual([]);
		const waiting = jobs.filter((job) => job !== started[0]);
		for (const job of waiting) expect(await t.reasons(job)).toMatchObject([{ code: "breaker_open", holder: [`job:${started[0]}`] }]);

		await t.sluice.started(t.run(started[0]!));
		expect(await breakerOf(t)).toBeUndefined();
		expect((await t.start()).sort()).toEqual(waiting);
	});

	test("a probe that fails keeps it open, counts against its job, and the next probe is another job", async () => {
		const { t, jobs } = await broken();
		const probes: number[] = [];
		for (let n = 0; n < 6; n++) {
			await t.wait(MINUTE);
			const [probe] = await t.start();
			probes.push(probe!);
			await t.end(probe!, "launch_failed", { message: "still not there" });
			expect(await breakerOf(t)).toMatchObject({ until: t.clock.now() + MINUTE });
		}
		for (const [index, probe] of probes.entries()) expect(probe).not.toBe(probes[index - 1]);
		const failures = await Promise.all(jobs.map(async (job) => (await t.show(job)).dispatch_failures ?? 0));
		expect(failures.reduce((sum, count) => sum + count, 0)).toBe(6);
	});

	test("a job that fails as a probe three times ends; alone, it is probed with again", async () => {
		const { t, jobs } = await broken();
		for (const job of jobs.slice(1)) await t.sluice.cancel(job);
		for (let n = 0; n < 3; n++) {
			await t.wait(MINUTE);
			expect(await t.start()).toEqual([jobs[0]]);
			await t.end(jobs[0]!, "launch_failed", { message: "still not there" });
		}
		expect(await t.show(jobs[0]!)).toMatchObject({ status: "failed", end_reason: "circuit-broken", dispatch_failures: 3 });
	});

	test("what had started before it opened burns nothing", async () => {
		const t = await openStand(deferred(10));
		const jobs: number[] = [];
		for (let n = 0; n < 5; n++) jobs.push(await t.add(agent(n)));
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "no room on the disk" });
		for (const job of jobs) expect((await t.show(job)).dispatch_failures ?? 0).toBe(0);
	});

	test("switched off, an open one holds nothing", async () => {
		const { t, jobs } = await broken();
		await t.sluice.configure({ environment_breaker: { failures: 0 } });
		expect((await t.start()).sort()).toEqual(jobs);
	});

	test("one job that fails again and again is its own fault: circuit-broken, and no breaker opens", async () => {
		const t = await openStand(deferred(10));
		const job = await t.add(agent(1));
		for (let n = 0; n < 3; n++) {
			await t.start();
			await t.end(job, "launch_failed", { message: "bad flag" });
			await t.wait(MINUTE);
		}
		expect(await t.show(job)).toMatchObject({ status: "failed", end_reason: "circuit-broken" });
		expect(await breakerOf(t)).toBeUndefined();
	});

	test("a launch that works in between starts the count anew", async () => {
		const t = await openStand(deferred(10));
		const jobs: number[] = [];
		for (let n = 0; n < 5; n++) jobs.push(await t.add(agent(n)));
		await t.start();
		await t.end(jobs[0]!, "launch_failed", { message: "x" });
		await t.end(jobs[1]!, "launch_failed", { message: "x" });
		await t.sluice.started(t.run(jobs[2]!));
		await t.end(jobs[3]!, "launch_failed", { message: "x" });
		await t.end(jobs[4]!, "launch_failed", { message: "x" });
		expect(await breakerOf(t)).toBeUndefined();
	});

	test("a repo has one too", async () => {
		const t = await openStand(deferred(10));
		const jobs = await addBeads(t, 3);
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "cannot make worktree" });
		expect(await breakerOf(t)).toMatchObject({ scope: "repo:gastown" });
		const other = await t.add(bead("bd-1", { repo: "beads" }));
		expect(await t.start()).toEqual([other]);
	});

	test("it survives a restart", async () => {
		const t = await openStand({ ...deferred(10), path: join(makeFolder(), "sluice.db") });
		const jobs = [await t.add(agent(1)), await t.add(agent(2)), await t.add(agent(3))];
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "x" });
		const later = await t.reopen();
		expect(await later.start()).toEqual([]);
		await later.wait(MINUTE);
		expect(await later.start()).toHaveLength(1);
	});
});

describe("status", () => {
	test("when the last dispatch was is still known after a restart", async () => {
		const t = await openStand({ ...deferred(5), path: join(makeFolder(), "sluice.db") });
		await addBeads(t, 1);
		await t.start();
		const at = t.clock.now();
		await t.wait(HOUR);
		expect(await (await t.reopen()).sluice.status()).toMatchObject({ running: 1, last_dispatch_at: at });
	});

	test("tells what 001's does: paused, queued, ready, active", async () => {
		const t = await openStand(deferred(2));
		await addBeads(t, 4);
		await t.add(bead("gt-later", { runnable_at: t.clock.now() + HOUR }));
		await t.start();
		expect(await t.sluice.status()).toMatchObject({
			paused: false,
			queued_total: 3,
			queued_ready: 2,
			running: 2,
			max_concurrent: 2,
			last_dispatch_at: t.clock.now(),
		});
	});
});
