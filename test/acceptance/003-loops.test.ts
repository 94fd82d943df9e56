// 003, loop prioritisation, on the preset `loops`: its example, its caps, its gates, its back-off, and the starvation that its own rule allows.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";

/** A plan, its spec and its phase, all done: what is added below them has depth 1, 2, 3. */
async function doneFamily(t: Stand): Promise<{ plan: number; spec: number; phase: number }> {
	const plan = await t.done({ lane: "plan" });
	const spec = await t.done({ lane: "spec", parent: plan });
	const phase = await t.done({ lane: "phase", parent: spec });
	return { plan, spec, phase };
}

describe("priority", () => {
	/** 003's three loops, each as old, as deep and as often tried as its example says. */
	async function example(): Promise<{ t: Stand; a: number; b: number; c: number }> {
		const t = await openStand({ preset: "loops" });
		const { spec, phase } = await doneFamily(t);
		const b = await t.add({ lane: "phase", parent: spec });
		await t.wait(25 * MINUTE);
		const a = await t.add({ lane: "code", parent: phase });
		await t.wait(4 * MINUTE);
		const c = await t.add({ lane: "code", parent: phase, retry: { base_ms: 0 } });
		for (let failures = 0; failures < 4; failures++) {
			await t.sluice.runNow(c);
			expect(await t.start(1)).toEqual([c]);
			await t.fail(c);
		}
		await t.wait(MINUTE);
		return { t, a, b, c };
	}

	test("003's example comes out term by term: A 135, B 130, C 111", async () => {
		const { t, a, b, c } = await example();
		const sum = async (id: number) => {
			const { total, terms } = (await t.sluice.why(id)).priority;
			return { total, ...Object.fromEntries(terms.map((term) => [term.name, term.value])) };
		};
		expect(await sum(a)).toEqual({ total: 135, "lane code": 100, priority: 0, "depth 3": 30, age: 5, "iteration 1": 0 });
		expect(await sum(b)).toEqual({ total: 130, "lane phase": 80, priority: 0, "depth 2": 20, age: 30, "iteration 1": 0 });
		expect(await sum(c)).toEqual({ total: 111, "lane code": 100, priority: 0, "depth 3": 30, age: 1, "iteration 5": -20 });
	});

	test("and they start in that order, claimed together", async () => {
		const { t, a, b, c } = await example();
		expect((await t.sluice.plan()).dispatch).toEqual([a, b, c]);
		expect(await t.start(3)).toEqual([a, b, c]);
	});

	test("and claimed one at a time", async () => {
		const { t, a, b, c } = await example();
		expect([await t.start(1), await t.start(1), await t.start(1)]).toEqual([[a], [b], [c]]);
	});

	test("a lane has its base: code before phase before spec before plan", async () => {
		const t = await openStand({ preset: "loops" });
		const plan = await t.add({ lane: "plan" });
		const spec = await t.add({ lane: "spec" });
		const phase = await t.add({ lane: "phase" });
		const code = await t.add({ lane: "code" });
		expect(await t.start()).toEqual([code, phase, spec, plan]);
	});

	test("each whole minute since its creation adds one, fifty at most", async () => {
		const t = await openStand({ preset: "loops" });
		const job = await t.add({ lane: "code" });
		const ages: number[] = [];
		for (const pass of [0, MINUTE - 1, 1, 48 * MINUTE, MINUTE, MINUTE, 20 * HOUR]) {
			await t.wait(pass);
			ages.push((await t.sluice.why(job)).priority.total - 100);
		}
		expect(ages).toEqual([0, 0, 1, 49, 50, 50, 50]);
	});

	test("age counts from creation even while the parent still runs", async () => {
		const t = await openStand({ preset: "loops" });
		const plan = await t.add({ lane: "plan" });
		const child = await t.add({ lane: "spec", parent: plan });
		await t.start();
		await t.wait(10 * MINUTE);
		await t.succeed(plan);
		expect((await t.sluice.why(child)).priority.total).toBe(60 + 10 + 10);
	});

	test("each failed iteration takes five, thirty at most", async () => {
		const t = await openStand({ preset: "loops" });
		const job = await t.add({ lane: "code", retry: { max: 20, base_ms: 0 } });
		const penalties: number[] = [];
		for (let failures = 0; failures <= 8; failures++) {
			penalties.push((await t.sluice.why(job)).priority.total - 100);
			await t.start(1);
			await t.fail(job);
		}
		expect(penalties).toEqual([0, -5, -10, -15, -20, -25, -30, -30, -30]);
	});

	test("equals go first in, first out", async () => {
		const t = await openStand({ preset: "loops" });
		const jobs: number[] = [];
		for (let n = 0; n < 5; n++) {
			jobs.push(await t.add({ lane: "code" }));
			await t.wait(SECOND);
		}
		jobs.push(await t.add({ lane: "code" }), await t.add({ lane: "code" }));
		expect(await t.start()).toEqual(jobs);
	});

	test("the preset has 003's numbers", async () => {
		const t = await openStand({ preset: "loops", config: { accounts: { api: {} } } });
		const { order, lanes, max_concurrent, poll_interval_ms, accounts } = t.sluice.config();
		expect(order).toMatchObject({
			age_boost_per_minute: 1,
			age_boost_max: 50,
			depth_boost_per_level: 10,
			retry_penalty_per_iteration: 5,
			retry_penalty_max: 30,
			age_from: "created",
		});
		expect(Object.entries(lanes).map(([name, { max, priority }]) => [name, max, priority])).toEqual([
			["plan", 2, 40],
			["spec", 5, 60],
			["phase", 20, 80],
			["code", 50, 100],
		]);
		expect({ max_concurrent, poll_interval_ms, calls: accounts.api?.max_api_calls }).toEqual({
			max_concurrent: 50,
			poll_interval_ms: 1000,
			calls: 10,
		});
	});
});

describe("per-type limits", () => {
	test.each([
		["plan", 2],
		["spec", 5],
		["phase", 20],
		["code", 50],
	])("%s: %i at a time", async (lane, max) => {
		const t = await openStand({ preset: "loops", config: { max_concurrent: 1000 } });
		const jobs: number[] = [];
		for (let n = 0; n < max + 2; n++) jobs.push(await t.add({ lane }));
		expect(await t.start()).toEqual(jobs.slice(0, max));
		expect(await t.reasons(jobs[max]!)).toMatchObject([{ gate: "capacity", code: "capacity", subject: `lane:${lane}` }]);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([jobs[max]]);
	});

	test("a full lane does not keep a lower one waiting", async () => {
		const t = await openStand({ preset: "loops", config: { lanes: { code: { max: 1 } } } });
		const [first, second] = [await t.add({ lane: "code" }), await t.add({ lane: "code" })];
		const plan = await t.add({ lane: "plan" });
		expect(await t.start()).toEqual([first, plan]);
		expect(await t.status(second)).toBe("queued");
	});

	test("a lane that names no limit has none of its own", async () => {
		const t = await openStand({ preset: "loops", config: { max_concurrent: 60, lanes: { docs: {} } } });
		for (let n = 0; n < 61; n++) await t.add({ lane: "docs" });
		expect(await t.start()).toHaveLength(60);
		expect(await t.reasons(61)).toMatchObject([{ subject: "all", detail: "max_concurrent is full: 60 of 60 running" }]);
	});

	test("fifty loops at most, over all lanes", async () => {
		const t = await openStand({ preset: "loops" });
		for (let n = 0; n < 45; n++) await t.add({ lane: "code" });
		for (let n = 0; n < 15; n++) await t.add({ lane: "phase" });
		expect(await t.start()).toHaveLength(50);
		expect(await t.start()).toEqual([]);
	});
});

describe("a child runs when its parent is complete and its artifact exists", () => {
	test("it waits for its parent", async () => {
		const t = await openStand({ preset: "loops" });
		const parent = await t.add({ lane: "plan" });
		const child = await t.add({ lane: "spec", parent });
		expect(await t.show(child)).toMatchObject({
			status: "waiting_on_deps",
			depth: 1,
			wait_reason: { kind: "dependencies", detail: `waiting on job ${parent}` },
		});
		expect(await t.start()).toEqual([parent]);
		expect(await t.start()).toEqual([]);
		await t.succeed(parent);
		expect(await t.start()).toEqual([child]);
	});

	test("it never runs when its parent failed for good", async () => {
		const t = await openStand({ preset: "loops" });
		const parent = await t.add({ lane: "plan", retry: 0 });
		const child = await t.add({ lane: "spec", parent });
		await t.start();
		await t.fail(parent);
		expect(await t.show(child)).toMatchObject({
			status: "blocked_by_dependency",
			wait_reason: { kind: "dependencies", detail: `dependency failed for job ${parent} (failed)` },
		});
	});

	test("a parent gives lineage alone where its gate is off", async () => {
		const t = await openStand({ preset: "loops" });
		const parent = await t.add({ lane: "plan" });
		const child = await t.add({ lane: "spec", parent, parent_gate: "none" });
		expect((await t.show(child)).depth).toBe(1);
		expect(await t.start()).toEqual([child, parent]);
	});

	test("it waits for its artifact, for as long as it takes", async () => {
		const t = await openStand({ preset: "loops" });
		t.host.facts.set("artifact:file:plan.md", false);
		const result = await t.tryAdd({ lane: "spec", needs: ["file:plan.md"] });
		if (result.outcome !== "queued") throw new Error(result.outcome);
		expect(result.warning).toBe("nothing produces file:plan.md yet");
		const job = result.job.id;
		await t.wait(20 * HOUR);
		expect(await t.show(job)).toMatchObject({
			status: "waiting_on_deps",
			wait_reason: { kind: "dependencies", detail: "awaiting producer for file:plan.md" },
		});
		expect(await t.start()).toEqual([]);

		t.host.facts.set("artifact:file:plan.md", true);
		await t.wait(SECOND);
		expect(await t.start()).toEqual([job]);
	});

	test("with on_missing: block it is blocked instead", async () => {
		const t = await openStand({ preset: "loops" });
		t.host.facts.set("artifact:file:plan.md", false);
		const job = await t.add({ lane: "spec", needs: ["file:plan.md"], on_missing: "block" });
		expect(await t.show(job)).toMatchObject({ status: "blocked_by_dependency", end_reason: "missing file:plan.md" });
	});
});

describe("rate limits", () => {
	const accounts = { work: {}, home: {} };
	const holdOf = async (t: Stand, account: string) =>
		(await t.sluice.status()).holds.find((hold) => hold.kind === "rate_limited" && hold.scope === `account:${account}`);

	test("a 429 holds its account, and others go on", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const hit = await t.add({ lane: "code", account: "work" });
		await t.start();
		await t.end(hit, "rate_limited", { retry_after_ms: 45 * SECOND });
		const until = t.clock.now() + 45 * SECOND;
		expect(await t.show(hit)).toMatchObject({ status: "queued" });
		expect(await t.reasons(hit)).toMatchObject([{ gate: "holds", code: "rate_limited", subject: "account:work", clears_at: until }]);

		const [same, other] = [await t.add({ lane: "code", account: "work" }), await t.add({ lane: "plan", account: "home" })];
		expect(await t.start()).toEqual([other]);
		await t.wait(45 * SECOND - 1);
		expect(await t.start()).toEqual([]);
		await t.wait(1);
		expect(await t.start()).toEqual([hit]);
		expect(await t.gates(same)).toEqual(["holds/rate_limited"]);
	});

	test("the job that hit it burns no iteration", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const hit = await t.add({ lane: "code", account: "work" });
		for (let hits = 0; hits < 8; hits++) {
			expect(await t.start()).toEqual([hit]);
			await t.end(hit, "rate_limited");
			await t.wait(64 * SECOND);
		}
		expect((await t.show(hit)).failures ?? 0).toBe(0);
		expect((await t.sluice.why(hit)).priority.terms.at(-1)).toEqual({ name: "iteration 1", value: 0 });
	});

	test("hit after hit the hold doubles: 2, 4, 8, 16, 32, 64 and no more", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const hit = await t.add({ lane: "code", account: "work" });
		const lengths: number[] = [];
		for (let hits = 0; hits < 8; hits++) {
			await t.start();
			await t.end(hit, "rate_limited", { retry_after_ms: SECOND });
			const length = (await holdOf(t, "work"))!.until! - t.clock.now();
			lengths.push(length / SECOND);
			await t.wait(length);
		}
		expect(lengths).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
	});

	test("a success starts the count anew", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const [first, second] = [await t.add({ lane: "code", account: "work" }), await t.add({ lane: "code", account: "work" })];
		for (let hits = 0; hits < 3; hits++) {
			await t.start(1);
			await t.end(first, "rate_limited");
			await t.wait(8 * SECOND);
		}
		await t.start(1);
		await t.succeed(first);
		expect(await holdOf(t, "work")).toBeUndefined();
		expect(await t.start(1)).toEqual([second]);
		await t.end(second, "rate_limited");
		expect((await holdOf(t, "work"))!.until).toBe(t.clock.now() + 2 * SECOND);
	});

	test("a success ends a back-off that others brought, never a reset that the provider named", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const jobs = [await t.add({ lane: "code", account: "work" }), await t.add({ lane: "code", account: "work" })];
		const waiting = await t.add({ lane: "plan", account: "work", runnable_at: t.clock.now() + 1 });
		expect(await t.start()).toEqual(jobs);
		await t.sluice.limit("work", { retry_after_ms: HOUR });
		await t.wait(SECOND);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([waiting]);

		await t.sluice.limit("work", { until: t.clock.now() + HOUR });
		await t.succeed(jobs[1]!);
		const held = await t.add({ lane: "code", account: "work" });
		expect(await t.start()).toEqual([]);
		expect(await t.gates(held)).toEqual(["holds/rate_limited"]);
	});

	test("after a limit starts on the account are spaced until one has succeeded", async () => {
		const t = await openStand({ preset: "loops", config: { accounts } });
		const jobs: number[] = [];
		for (let n = 0; n < 4; n++) jobs.push(await t.add({ lane: "code", account: "work" }));
		await t.sluice.limit("work", { retry_after_ms: 10 * SECOND });
		await t.wait(10 * SECOND);
		expect(await t.start()).toEqual([jobs[0]]);
		expect(await t.start()).toEqual([]);
		await t.wait(SECOND);
		expect(await t.start()).toEqual([jobs[1]]);
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([jobs[2], jobs[3]]);
	});

	test("a hold and its count survive a restart", async () => {
		const t = await openStand({ preset: "loops", config: { accounts }, path: join(makeFolder(), "sluice.db") });
		for (let hits = 0; hits < 3; hits++) await t.sluice.limit("work", {});
		const until = t.clock.now() + 8 * SECOND;
		const later = await t.reopen();
		expect((await holdOf(later, "work"))?.until).toBe(until);
		const job = await later.add({ lane: "code", account: "work" });
		expect(await later.start()).toEqual([]);
		await later.wait(8 * SECOND);
		expect(await later.start()).toEqual([job]);
		await later.end(job, "rate_limited");
		expect((await holdOf(later, "work"))?.until).toBe(later.clock.now() + 16 * SECOND);
	});
});

describe("max_api_calls", () => {
	test("ten calls at a time per account; one given back lets the next in", async () => {
		const t = await openStand({ preset: "loops", config: { accounts: { work: {}, home: {} } } });
		for (let call = 1; call <= 10; call++)
			expect(await t.sluice.acquireCall("work", `agent-${call}`)).toEqual({ granted: true, in_use: call, limit: 10 });
		expect(await t.sluice.acquireCall("work", "agent-11")).toEqual({ granted: false, in_use: 10, limit: 10 });
		expect(await t.sluice.acquireCall("home", "agent-11")).toEqual({ granted: true, in_use: 1, limit: 10 });
		await t.sluice.releaseCall("work", "agent-3");
		expect(await t.sluice.acquireCall("work", "agent-11")).toEqual({ granted: true, in_use: 10, limit: 10 });
	});

	test("asking twice takes one slot, and giving back twice gives one back", async () => {
		const t = await openStand({ preset: "loops", config: { accounts: { work: { max_api_calls: 2 } } } });
		await t.sluice.acquireCall("work", "a");
		expect(await t.sluice.acquireCall("work", "a")).toEqual({ granted: true, in_use: 1, limit: 2 });
		await t.sluice.acquireCall("work", "b");
		expect(await t.sluice.releaseCall("work", "a")).toEqual({ released: true });
		expect(await t.sluice.releaseCall("work", "a")).toEqual({ released: false });
		expect(await t.sluice.releaseCall("work", "nobody")).toEqual({ released: false });
		expect(await t.sluice.acquireCall("work", "c")).toEqual({ granted: true, in_use: 2, limit: 2 });
		expect((await t.sluice.acquireCall("work", "d")).granted).toBe(false);
	});

	test("the slot of an agent that died comes back with its lease", async () => {
		const t = await openStand({ preset: "loops", config: { accounts: { work: { max_api_calls: 1 } } } });
		await t.sluice.acquireCall("work", "dead");
		await t.wait(t.sluice.config().lease_ms - 1);
		expect((await t.sluice.acquireCall("work", "next")).granted).toBe(false);
		await t.wait(1);
		expect((await t.sluice.acquireCall("work", "next")).granted).toBe(true);
	});

	test("it bounds calls, not runs", async () => {
		const t = await openStand({ preset: "loops", config: { accounts: { work: { max_api_calls: 1 } } } });
		for (let n = 0; n < 12; n++) await t.add({ lane: "code", account: "work" });
		expect(await t.start()).toHaveLength(12);
	});
});

describe("starvation", () => {
	/** One slot; every minute a fresh code job of depth 3 comes in and one job runs. Returns the jobs in the order of their starts. */
	async function underLoad(
		t: Stand,
		phase: number,
		minutes: number,
		look?: (started: readonly number[]) => Promise<void>,
	): Promise<number[]> {
		const started: number[] = [];
		for (let minute = 0; minute < minutes; minute++) {
			await t.add({ lane: "code", parent: phase });
			await look?.(started);
			for (const job of await t.start(1)) {
				started.push(job);
				await t.succeed(job);
			}
			await t.wait(MINUTE);
		}
		return started;
	}

	const loaded = (order: Record<string, unknown>) =>
		openStand({ preset: "loops", config: { max_concurrent: 1, parents: { max_descendants: 100_000 }, order } });

	test("under 003's own rule fresh depth-3 code starves a plan for ever", async () => {
		const t = await loaded({ overdue_share: 0 });
		const { phase } = await doneFamily(t);
		const plan = await t.add({ lane: "plan" });
		const started = await underLoad(t, phase, 600);
		expect(started).toHaveLength(600);
		expect(started).not.toContain(plan);
		// And that will not change: its age counts no further, and fresh code stands above it.
		expect((await t.sluice.why(plan)).priority.total).toBe(40 + 50);
		const fresh = await t.add({ lane: "code", parent: phase });
		expect((await t.sluice.why(fresh)).priority.total).toBe(100 + 30);
	});

	test("with the overdue share it starts, at the latest four starts after it is overdue", async () => {
		const t = await loaded({});
		const { phase } = await doneFamily(t);
		const plan = await t.add({ lane: "plan" });
		const started = await underLoad(t, phase, 70);
		const at = started.indexOf(plan);
		expect(at).toBeGreaterThanOrEqual(60);
		expect(at).toBeLessThan(60 + 4);
	});

	test("the bound is place among the overdue × 4 starts, and three of four still go by priority", async () => {
		const t = await loaded({});
		const { phase } = await doneFamily(t);
		const plans: number[] = [];
		for (let n = 0; n < 8; n++) plans.push(await t.add({ lane: "plan" }));
		const afterwards = (await underLoad(t, phase, 60 + 32)).slice(60);
		expect(afterwards.filter((job) => plans.includes(job))).toEqual(plans);
		plans.forEach((plan, index) => {
			expect(afterwards.indexOf(plan) + 1).toBeLessThanOrEqual((index + 1) * 4);
		});
		expect(afterwards.filter((job) => !plans.includes(job))).toHaveLength(24);
	});

	test("the bound holds for jobs that come at different times, of different lanes", async () => {
		const t = await loaded({});
		const { phase } = await doneFamily(t);
		const slow: { job: number; at: number }[] = [];
		const promised = new Map<number, number>();
		const started = await underLoad(t, phase, 200, async (soFar) => {
			const minute = soFar.length;
			if (minute < 30 && minute % 3 === 0) slow.push({ job: await t.add({ lane: minute % 2 === 0 ? "plan" : "spec" }), at: t.clock.now() });
			// Who is overdue now, oldest first: the place that a job has when it becomes so is what it may rely on.
			const overdue = slow.filter(({ job, at }) => at <= t.clock.now() - HOUR && !soFar.includes(job));
			overdue.forEach(({ job }, index) => {
				if (!promised.has(job)) promised.set(job, soFar.length + (index + 1) * 4);
			});
		});
		expect(promised.size).toBe(slow.length);
		for (const { job } of slow) {
			expect(started).toContain(job);
			expect(started.indexOf(job) + 1).toBeLessThanOrEqual(promised.get(job)!);
		}
	});
});
