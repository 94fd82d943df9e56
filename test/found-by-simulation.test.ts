// What the simulator found, each as a test of its own; the seeds are in sim/seeds.txt.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock, HOUR, MINUTE, SECOND } from "./make/fakes.ts";
import { makeFolder } from "./make/folder.ts";
import { openStand } from "./make/stand.ts";

describe("a clock that was set back", () => {
	it("does not make a job ready later than the end of its back-off", async () => {
		const stand = await openStand();
		const id = await stand.add({ retry: { max: 1, base_ms: 30 * SECOND, jitter: 0 } });
		stand.clock.jump(-2 * MINUTE);
		await stand.start();
		await stand.fail(id);
		const over = stand.clock.now() + 30 * SECOND;
		await stand.wait(40 * SECOND);
		expect((await stand.show(id)).ready_at).toBe(over);
	});

	it("does not bring back a back-off that was over while the job waited for a lock", async () => {
		const stand = await openStand();
		const id = await stand.add({ locks: ["db"], retry: { max: 1, base_ms: 30 * SECOND, jitter: 0 } });
		await stand.start();
		await stand.fail(id);
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		await stand.wait(40 * SECOND);
		expect(await stand.status(id)).toBe("waiting_on_locks");
		stand.clock.jump(-2 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([id]);
	});
});

describe("a manifest that goes in by stages", () => {
	it("has no events of its jobs before they are there", async () => {
		const stand = await openStand({ piece: 2 });
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], needs: ["custom:report:none"] },
				{ name: "b", command: ["true"], after: ["a"] },
				{ name: "c", command: ["true"], after: ["b"] },
			],
		});
		expect(await stand.status(names.c as number)).toBe("blocked_by_dependency");
		expect((await stand.events()).map(({ kind }) => kind)).toEqual(["host_joined", "applied"]);
	});

	it("decides jobs that produce for each other in a circle when all are there", async () => {
		const stand = await openStand({ piece: 2, config: { on_missing: "block" } });
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"] },
				{ name: "b", command: ["true"], after: ["a"], needs: ["custom:report:two"], produces: ["custom:report:one"] },
				{ name: "c", command: ["true"], needs: ["custom:report:one"], produces: ["custom:report:two"] },
			],
		});
		for (const name of ["b", "c"]) expect(await stand.status(names[name] as number)).toBe("waiting_on_deps");
	});
});

describe("a batch whose jobs end as they come", () => {
	const jobs = ["a", "b", "c"].map((name) => ({ name, command: ["true"], needs: ["custom:report:none"] }));
	it.each([
		["in one piece", 10],
		["by stages", 2],
	])("is closed once, when all are there: %s", async (_, piece) => {
		const stand = await openStand({ piece });
		await stand.sluice.apply({ batch: "night", jobs });
		const told = (await stand.events()).flatMap(({ kind, data }) => (kind === "batch_closed" ? [data] : []));
		expect(told).toEqual([{ batch: "night", total: 3 }]);
	});
});

describe("kernel.enqueueUnique", () => {
	it("refuses a dead agent, also when an entry of its own is there already", async () => {
		const { kernel } = (await openStand()).sluice;
		const { pid } = await kernel.agent.create({ name: "a" });
		await kernel.enqueue({ pid });
		await kernel.agent.transition({ pid, to: "DEAD" });
		await expect(kernel.enqueueUnique({ pid, dedupe_by: ["pid"] })).rejects.toMatchObject({ code: "forbidden" });
	});
});

describe("a reservation", () => {
	it("is not made for a job whose batch has used up its budget", async () => {
		const stand = await openStand({ config: { order: { overdue_after_ms: MINUTE } } });
		const { sluice } = stand;
		const spent = await stand.add({ batch: "b", locks: ["db"] });
		await sluice.grant("batch:b", "tokens", { limit: 0 });
		await stand.wait(2 * MINUTE);
		const first = await stand.add({ locks: ["db:shared"] });
		const second = await stand.add({ locks: ["db:shared"] });
		expect(await stand.start(1)).toEqual([first]);
		await sluice.tick();
		expect(await stand.status(spent)).toBe("waiting_on_locks");
		expect(await stand.start(1)).toEqual([second]);
	});
});

describe("an add that is deferred", () => {
	it("leaves the job that it would have replaced", async () => {
		const stand = await openStand({ config: { queue: { hard_limit: 2 } } });
		const twin = await stand.add({ unique: { key: "k" } });
		await stand.sluice.apply({ jobs: [{ command: ["true"] }, { command: ["true"] }] });
		expect((await stand.tryAdd({ unique: { key: "k", policy: "replace" } })).outcome).toBe("deferred");
		expect(await stand.status(twin)).toBe("queued");
	});
});

describe("a breaker that opens", () => {
	it("refunds every failure that opened it, also earlier ones of the job whose launch failed last", async () => {
		const stand = await openStand({ config: { environment_breaker: { failures: 3, cooldown_ms: MINUTE } } });
		const [a, b] = [await stand.add({ agent: "claude", prompt: "x" }), await stand.add({ agent: "claude", prompt: "y" })];
		await stand.start();
		await stand.end(a, "launch_failed");
		await stand.end(b, "launch_failed");
		await stand.wait(MINUTE);
		await stand.start();
		await stand.end(a, "launch_failed");
		expect((await stand.show(a)).dispatch_failures).toBeUndefined();
		expect((await stand.show(b)).dispatch_failures).toBeUndefined();
	});
});

describe("a promoted job", () => {
	it("does not stand for one of its lane whose lock was taken in the same claim", async () => {
		const stand = await openStand({ config: { max_concurrent: 9, lanes: { default: {}, code: {} } } });
		const other = await stand.add({ lane: "code" });
		const first = await stand.add({ payload: {}, owner: "ann", locks: ["db"] });
		await stand.add({ payload: {}, priority: 14, locks: ["db"] });
		const promoted = await stand.add();
		await stand.sluice.promote(promoted);
		await stand.sluice.runNow(first);
		expect(await stand.start()).toEqual([first, other, promoted]);
	});
});

describe("calls of one turn", () => {
	it("a claim sees what an end brought, also when another end was refused", async () => {
		const stand = await openStand();
		const first = await stand.add();
		const second = await stand.add({ after: [first] });
		await stand.start();
		const run = stand.run(first);
		const [, refused, claimed] = await Promise.all([
			stand.sluice.complete({ ...run, exit_kind: "completed" }),
			stand.sluice.complete({ ...run, exit_kind: "completed" }).catch((error: unknown) => error),
			stand.sluice.claim({ worker: "w" }),
		]);
		expect(refused).toMatchObject({ code: "fenced" });
		expect(claimed.map(({ job }) => job.id)).toEqual([second]);
	});
});

describe("keys kept for overdue jobs", () => {
	const config = { order: { overdue_after_ms: MINUTE, overdue_share: 0 }, lanes: { default: {}, urgent: { priority: 99 } } };

	it("one that is held alone is kept for the next: better jobs that come meanwhile do not get it", async () => {
		const stand = await openStand({ config });
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		const overdue = await stand.add({ locks: ["db"] });
		await stand.wait(2 * MINUTE);
		const urgent = await stand.add({ lane: "urgent", locks: ["db"] });
		await stand.succeed(holder);
		expect(await stand.start(1)).toEqual([overdue]);
		await stand.succeed(overdue);
		expect(await stand.start(1)).toEqual([urgent]);
	});

	it("when the one it was kept for starts, the next has it at once", async () => {
		const stand = await openStand({ config });
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		const first = await stand.add({ locks: ["db:shared"] });
		const second = await stand.add({ locks: ["db"] });
		await stand.wait(2 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([first]);
		const later = await stand.add({ lane: "urgent", locks: ["db:shared"] });
		expect(await stand.start()).toEqual([]);
		await stand.succeed(first);
		expect(await stand.start()).toEqual([second]);
		await stand.succeed(second);
		expect(await stand.start()).toEqual([later]);
	});
});

describe("a job that was running when its predecessor was run again", () => {
	it("waits for it when it comes back to the queue", async () => {
		const stand = await openStand();
		const first = await stand.done();
		const second = await stand.add({ after: [first] });
		await stand.start();
		await stand.sluice.rerun(first);
		await stand.end(second, "preempted");
		expect(await stand.gates(second)).toEqual(["after/dependencies"]);
		expect(await stand.start()).toEqual([first]);
		await stand.succeed(first);
		expect(await stand.start()).toEqual([second]);
	});
});

describe("a rewind", () => {
	it("leaves run-now --force to the waiting jobs downstream", async () => {
		const stand = await openStand({ config: { max_concurrent: 1 } });
		const first = await stand.add({ produces: ["custom:report:one"] });
		const second = await stand.add({ needs: ["custom:report:one"] });
		await stand.sluice.runNow(second, { force: true });
		await stand.sluice.retry(first);
		await stand.start();
		await stand.sluice.mark("custom:report:one");
		expect(await stand.start()).toEqual([second]);
	});
});

describe("an item whose chain has several jobs", () => {
	it("is answered with one of them that is still open", async () => {
		const stand = await openStand();
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], item: "x-1" },
				{ name: "b", command: ["true"], item: "x-1", after: ["a"] },
			],
		});
		await stand.start();
		await stand.succeed(names.a as number);
		expect(await stand.tryAdd({ item: "x-1" })).toMatchObject({ outcome: "already_running", job: names.b });
	});

	it.each([
		["in one piece", 10],
		["by stages", 1],
	])("is one chain, also when the first has ended before the next is there: %s", async (_, piece) => {
		const stand = await openStand({ piece, config: { on_missing: "block" } });
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "root", command: ["true"], needs: ["custom:report:one"] },
				{ name: "a", command: ["true"], item: "x-1", after: ["root"] },
				{ name: "b", command: ["true"], item: "x-1", after: ["root"] },
			],
		});
		expect(await stand.status(names.b as number)).toBe("blocked_by_dependency");
		await stand.sluice.mark("custom:report:one");
		expect((await stand.sluice.retry(names.root as number)).reset).toHaveLength(3);
	});
});

describe("a job of a manifest that exists already", () => {
	it("may be the parent, too, of one that names it as its predecessor", async () => {
		const stand = await openStand({ config: { parents: { gate: "success" } } });
		const parent = await stand.add({ item: "x-1" });
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], item: "x-1" },
				{ name: "b", command: ["true"], parent, after: [{ job: "a", policy: "any" }] },
			],
		});
		expect((await stand.show(names.b as number)).after).toEqual([{ job: parent, policy: "any" }]);
	});

	it.each([
		["in one piece", 10],
		["by stages", 1],
	])("by its unique key is waited for, whichever of its names is used: %s", async (_, piece) => {
		const stand = await openStand({ piece });
		const unique = { key: "k" };
		const [a, b] = [
			{ name: "a", command: ["true"], unique },
			{ name: "b", command: ["true"], unique },
		];
		const { names } = await stand.sluice.apply({ jobs: [a, b, { name: "c", command: ["true"], after: ["b"] }] });
		expect(names.b).toBe(names.a);
		expect(await stand.start()).toEqual([names.a]);
		await stand.succeed(names.a as number);
		expect(await stand.start()).toEqual([names.c]);
	});

	it("cannot be named twice, by two of its names", async () => {
		const stand = await openStand();
		const unique = { key: "k" };
		const jobs = [
			{ name: "a", command: ["true"], unique },
			{ name: "b", command: ["true"], unique },
			{ name: "c", command: ["true"], after: ["a", "b"] },
		];
		await expect(stand.sluice.apply({ jobs })).rejects.toMatchObject({ code: "invalid" });
	});
});

describe("a cancelled run that reports how its program ended", () => {
	it("shows that the launch worked", async () => {
		const stand = await openStand();
		const id = await stand.add();
		await stand.start();
		await stand.end(id, "launch_failed");
		await stand.wait(MINUTE);
		await stand.start();
		await stand.sluice.cancel(id);
		await stand.succeed(id);
		expect(await stand.show(id)).toMatchObject({ status: "cancelled" });
		expect((await stand.show(id)).dispatch_failures).toBeUndefined();
	});
});

describe("a merge that was requested", () => {
	it("is waited for", async () => {
		const stand = await openStand({ config: { repos: { app: {} } } });
		const first = await stand.add({ repo: "app" });
		const second = await stand.add({ after: [{ job: first, policy: "merged" }] });
		await stand.start();
		await stand.end(first, "completed", { merge_status: "requested" });
		expect(await stand.gates(second)).toEqual(["after/dependencies"]);
		await stand.sluice.merged(first, "merged");
		expect(await stand.start()).toEqual([second]);
	});
});

describe("a limit of nothing", () => {
	it("is broken once, not once in every window", async () => {
		const stand = await openStand();
		await stand.sluice.grant("owner:ann", "tokens", { limit: 0, window: "hour" });
		await stand.wait(2 * HOUR);
		expect(await stand.sluice.charge("owner:ann", "tokens", 38)).toMatchObject({ over_limit: true, first_breach: false });
	});
});

describe("a kernel entry whose deadline comes before its time", () => {
	it("leaves nothing to do in the past", async () => {
		const stand = await openStand();
		const { kernel } = stand.sluice;
		const { pid } = await kernel.agent.create({ name: "a" });
		const now = Math.floor(stand.clock.now() / SECOND);
		await kernel.enqueue({ pid, runnable_at: now + 60, deadline: now + 2 });
		await stand.wait(10 * SECOND);
		expect(await stand.sluice.tick()).toBeNull();
	});

	it("is swept when the deadline is over, not only when its time has come", async () => {
		const stand = await openStand();
		const { kernel } = stand.sluice;
		const { pid } = await kernel.agent.create({ name: "a" });
		const now = Math.floor(stand.clock.now() / SECOND);
		await kernel.enqueue({ pid, runnable_at: now + 60, deadline: now + 2 });
		expect(await kernel.gcExpired({})).toEqual({ swept: 0 });
		await stand.wait(10 * SECOND);
		expect(await kernel.gcExpired({})).toEqual({ swept: 1 });
	});
});

describe("a look that began before a producer ended", () => {
	it("does not count, also when nothing was known before", async () => {
		const stand = await openStand();
		const maker = await stand.add({ produces: ["file:out.txt"] });
		await stand.start();
		let found = (_: Record<string, boolean>) => {};
		const began = new Promise<void>((resolve) => {
			stand.host.probe = async () => {
				resolve();
				return new Promise((answer) => {
					found = answer;
				});
			};
		});
		const adding = stand.add({ needs: ["file:out.txt"], on_missing: "block" });
		await began;
		await stand.succeed(maker);
		stand.host.probe = async (keys) => Object.fromEntries(keys.map((key) => [key, true]));
		found({ "artifact:file:out.txt": false });
		expect(await stand.status(await adding)).toBe("waiting_on_deps");
		await stand.sluice.tick();
		expect(await stand.status(await adding)).toBe("queued");
	});
});

describe("what an add or an apply finds out", () => {
	/** A job of item x-1 that waits to hear whether its maker, which failed, has left something: it has not. */
	async function waiting(piece: number) {
		const stand = await openStand({ piece, config: { on_missing: "block" } });
		stand.host.probe = async (keys) => Object.fromEntries(keys.map((key) => [key, key.startsWith("item:") ? { open: true } : false]));
		const maker = await stand.add({ produces: ["file:out.txt"] });
		const user = await stand.add({ needs: ["file:out.txt"], item: "x-1" });
		await stand.start();
		await stand.fail(maker);
		expect(await stand.status(user)).toBe("waiting_on_deps");
		return { stand, user };
	}

	it("counts for the others first: an add gets the item of one that ends by it", async () => {
		const { stand, user } = await waiting(10);
		const added = await stand.tryAdd({ needs: ["file:out.txt"], on_missing: "wait", item: "x-1" });
		expect(await stand.status(user)).toBe("blocked_by_dependency");
		expect(added.outcome).toBe("queued");
	});

	it.each([
		["in one piece", 10],
		["by stages", 1],
	])("counts for the others first: an apply gets the item of one that ends by it, %s", async (_, piece) => {
		const { stand, user } = await waiting(piece);
		const { skipped } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], needs: ["file:out.txt"] },
				{ name: "b", command: ["true"], item: "x-1" },
			],
		});
		expect(await stand.status(user)).toBe("blocked_by_dependency");
		expect(skipped).toEqual([]);
	});

	it.each([
		["in one piece", 10],
		["by stages", 1],
	])("does not count of the patch of one that ends by it, %s", async (_, piece) => {
		const { stand, user } = await waiting(piece);
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], needs: ["file:out.txt"] },
				{ name: "b", command: ["true"], needs: [`patch:${user}`] },
			],
		});
		expect(await stand.status(user)).toBe("blocked_by_dependency");
		expect(await stand.gates(names.b as number)).toEqual(["artifacts/probing"]);
		stand.host.probe = async (keys) => Object.fromEntries(keys.map((key) => [key, true]));
		await stand.sluice.tick();
		expect(await stand.status(names.b as number)).toBe("queued");
	});
});

describe("a rerun", () => {
	it("is refused when the back-off is over and the job waits for a lock", async () => {
		const stand = await openStand();
		const id = await stand.add({ locks: [{ key: "db" }], retry: { max: 1, base_ms: SECOND, jitter: 0 } });
		await stand.start();
		await stand.fail(id);
		await stand.add({ locks: [{ key: "db" }] });
		await stand.start();
		await stand.wait(10 * SECOND);
		await expect(stand.sluice.rerun(id)).rejects.toMatchObject({ code: "illegal_transition" });
	});
});

describe("a claim in the same turn as an end", () => {
	it("sees the job that waited for the other's product", async () => {
		const stand = await openStand({ config: { max_concurrent: 1 } });
		const maker = await stand.add();
		const [run] = await stand.sluice.claim({ worker: "w" });
		const user = await stand.add({ needs: [`job:${maker}`], priority: 10 });
		await stand.add();
		const [, claimed] = await Promise.all([
			stand.sluice.complete({ job: maker, token: run?.run.token ?? 0, exit_kind: "completed", exit_code: 0 }),
			stand.sluice.claim({ worker: "w" }),
		]);
		expect(claimed.map(({ job }) => job.id)).toEqual([user]);
	});
});

describe("a job that replaces another", () => {
	it("is answered with what comes of it for those that waited for the other's product", async () => {
		const stand = await openStand({ config: { on_missing: "block" } });
		const first = await stand.add({ unique: { key: "u" } });
		const user = await stand.add({ needs: [`job:${first}`] });
		const added = await stand.tryAdd({ unique: { key: "u", policy: "replace" }, after: [user] });
		expect(added).toMatchObject({ outcome: "queued", job: { status: "blocked_by_dependency" } });
	});
});

describe("the place in line of a job that waits for a lock", () => {
	/** Two that want the same lock, with the first awake since it came free. */
	async function waiters() {
		const stand = await openStand();
		const holder = await stand.add({ locks: [{ key: "db" }] });
		await stand.start();
		const [first, second] = [await stand.add({ locks: [{ key: "db" }] }), await stand.add({ locks: [{ key: "db" }] })];
		await stand.succeed(holder);
		expect([await stand.status(first), await stand.status(second)]).toEqual(["queued", "waiting_on_locks"]);
		return { stand, first, second };
	}

	it("counts at once when it is promoted", async () => {
		const { stand, second } = await waiters();
		await stand.sluice.promote(second);
		expect(await stand.start()).toEqual([second]);
	});

	it("counts at once when its priority is raised", async () => {
		const { stand, second } = await waiters();
		await stand.sluice.priority(second, 50);
		expect(await stand.start()).toEqual([second]);
	});

	it("counts at once when the one that was woken before it is demoted", async () => {
		const { stand, first, second } = await waiters();
		await stand.sluice.demote(first);
		expect(await stand.start()).toEqual([second]);
	});
});

describe("jobs that wait for a key that has come free", () => {
	const config = { order: { overdue_after_ms: 0, age_boost_max: 5 }, lanes: { default: {}, code: { priority: 6 } } };

	/** One that holds the key, an older waiter, a younger one that counts for more as soon as the older has stopped ageing. */
	async function waiters() {
		const stand = await openStand({ config });
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		const older = await stand.add({ locks: ["db"] });
		await stand.wait(5 * MINUTE);
		const younger = await stand.add({ locks: ["db"], priority: 3 });
		return { stand, holder, older, younger };
	}

	it("start in the order of the moment, not of the moment when it came free", async () => {
		const { stand, holder, younger } = await waiters();
		await stand.succeed(holder);
		await stand.wait(4 * MINUTE);
		expect(await stand.start(1)).toEqual([younger]);
	});

	it("count against other lanes with the best of them at that moment", async () => {
		const { stand, holder, younger } = await waiters();
		await stand.succeed(holder);
		await stand.wait(4 * MINUTE);
		const other = await stand.add({ lane: "code" });
		expect(await stand.start(1)).toEqual([younger]);
		expect(await stand.start(1)).toEqual([other]);
	});

	it("start in the order of the settings of the moment", async () => {
		const { stand, holder, older } = await waiters();
		const ageing = (age_boost_per_minute: number) =>
			stand.sluice.configure({ ...config, order: { ...config.order, age_boost_per_minute } });
		await ageing(0);
		await stand.succeed(holder);
		await ageing(1);
		expect(await stand.start(1)).toEqual([older]);
	});

	it("count for a promoted one of their lane", async () => {
		const { stand, holder, older } = await waiters();
		const other = await stand.add({ lane: "code", priority: 1 });
		await stand.sluice.promote(older);
		await stand.sluice.priority(await stand.add({ locks: ["db"] }), 9);
		await stand.succeed(holder);
		expect(await stand.start(1)).toEqual([older]);
		expect(await stand.start(1)).toEqual([other]);
	});
});

describe("a demoted job", () => {
	it("is no longer behind one whose lock was taken in the same claim", async () => {
		const stand = await openStand({
			config: { lanes: { default: { priority: 0 }, code: { priority: 5 } }, order: { age_boost_max: 0 } },
		});
		const first = await stand.add({ lane: "code", locks: [{ key: "net" }] });
		await stand.add({ lane: "default", locks: [{ key: "net" }] });
		const demoted = await stand.add({ lane: "default", priority: 16 });
		const last = await stand.add({ lane: "code" });
		await stand.sluice.demote(demoted);
		expect(await stand.start()).toEqual([first, demoted, last]);
	});
});

describe("hosts", () => {
	it("a job that any host could take says what it waits for when there is none", async () => {
		const stand = await openStand();
		const id = await stand.add();
		await stand.sluice.drain("local");
		expect(await stand.reasons(id)).toMatchObject([{ gate: "host", code: "no_host", subject: "any host" }]);
	});

	it("one that was lost is itself again at once, also for what it asks for in the same turn", async () => {
		const stand = await openStand({ join: { name: "a", home: "home" }, config: { stale_after_ms: MINUTE } });
		const id = await stand.add();
		await stand.wait(MINUTE);
		await stand.wait(MINUTE);
		expect(await stand.sluice.hosts()).toMatchObject([{ name: "a", state: "gone", gone: "lost" }]);
		const [first, second, started] = await Promise.all([stand.sluice.heartbeat(), stand.sluice.heartbeat(), stand.start(1, { host: "a" })]);
		expect([first, second]).toEqual([
			{ state: "live", lost: true },
			{ state: "live", lost: false },
		]);
		expect(started).toEqual([id]);
		expect(await stand.sluice.heartbeat()).toEqual({ state: "live", lost: false });
	});

	it("a job of one that was lost is in time for its deadline", async () => {
		const [path, config, clock] = [join(makeFolder(), "fleet.db"), { stale_after_ms: HOUR }, new FakeClock()];
		const a = await openStand({ path, config, clock, join: { name: "a", home: "home-a" } });
		const id = await a.add({ deadline: clock.now() + 90 * MINUTE });
		await a.start(1, { host: "a" });
		const b = await openStand({ path, config, clock, join: { name: "b", home: "home-b" } });
		await b.wait(HOUR);
		await b.sluice.heartbeat();
		clock.pass(MINUTE);
		expect(await b.sluice.tick()).toBe(clock.now() + 29 * MINUTE);
		expect(await b.status(id)).toBe("queued");
	});

	it("one that cannot leave for its runs has them for another lease, also when it was stale", async () => {
		const stand = await openStand({ join: { name: "a", home: "home" }, config: { stale_after_ms: MINUTE } });
		const id = await stand.add();
		await stand.start(1, { host: "a" });
		await stand.wait(MINUTE);
		expect(await stand.sluice.hosts()).toMatchObject([{ name: "a", state: "stale" }]);
		expect(await stand.sluice.leave()).toEqual({ left: false });
		expect(await stand.sluice.hosts()).toMatchObject([{ name: "a", state: "live" }]);
		await stand.wait(MINUTE - SECOND);
		expect(await stand.status(id)).toBe("running");
	});
});

describe("a cancel that goes in pieces", () => {
	it("ends its jobs as cancelled, also where the end of one makes another impossible", async () => {
		const stand = await openStand({ piece: 2, config: { on_missing: "block" } });
		const { names } = await stand.sluice.apply({
			jobs: [
				{ name: "a", command: ["true"], needs: ["custom:report:x"] },
				{ name: "b", command: ["true"], after: ["a"] },
				{ name: "c", command: ["true"], after: ["b"] },
				{ name: "d", command: ["true"], after: ["b"], produces: ["custom:report:x"] },
				{ name: "e", command: ["true"], after: ["c"] },
			],
		});
		const all = Object.values(names);
		const { cancelled } = await stand.sluice.cancel(names.a as number, { subtree: true });
		expect(cancelled.sort()).toEqual(all.sort());
		for (const id of all) expect(await stand.status(id)).toBe("cancelled");
	});
});

describe("a cycle", () => {
	it("starts no job that was added after a pass which found none, though spawn_delay held that pass back", async () => {
		const stand = await openStand({ config: { max_concurrent: 9, cycle_interval_ms: MINUTE, spawn_delay_ms: 5 * SECOND } });
		const [first, second] = [await stand.add(), await stand.add()];
		await stand.wait(MINUTE);
		expect(await stand.start()).toEqual([first]);
		await stand.sluice.cancel(second);
		expect(await stand.start()).toEqual([]);
		const late = await stand.add();
		await stand.wait(6 * SECOND);
		expect(await stand.start()).toEqual([]);
		await stand.wait(MINUTE);
		expect(await stand.start()).toEqual([late]);
	});
});

describe("a budget that is used up", () => {
	it("stops the runs in flight once a grant says so", async () => {
		const stand = await openStand();
		const id = await stand.add({ owner: "ann" });
		await stand.start();
		await stand.sluice.grant("owner:ann", "tokens", { limit: 1 });
		await stand.sluice.charge("owner:ann", "tokens", 5);
		expect((await stand.show(id)).run?.intent).toBeUndefined();
		await stand.sluice.grant("owner:ann", "tokens", { limit: 2, on_breach: "stop" });
		expect((await stand.show(id)).run?.intent).toMatchObject({ kind: "cancelled" });
	});
});
