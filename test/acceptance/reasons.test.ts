// Every reason code, reached through the engine: one scenario each, complete by the compiler.

import { describe, expect, test } from "vitest";
import { GATES, REASON_CODES, type Reason, type ReasonCode } from "../../src/index.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../make/fakes.ts";
import { openStand, type Stand } from "../make/stand.ts";

/** Brings a job to wait for this and nothing else; what `why` should say of it. */
type Scenario = (t: Stand) => Promise<{ job: number; reason: Partial<Reason> }>;

const config = {
	max_concurrent: 2,
	dispatch_breaker: "off",
	lanes: { default: {}, nights: { active_hours: ["22:00-06:00"] }, narrow: { max: 1 } },
	repos: { app: {} },
	accounts: { work: {} },
	resources: { build: 1 },
};

const SCENARIOS: Record<ReasonCode, Scenario> = {
	delayed: async (t) => {
		const at = t.clock.now() + HOUR;
		const job = await t.add({ runnable_at: at });
		return { job, reason: { gate: "time", subject: "time", clears_at: at, detail: `not before ${new Date(at).toISOString()}` } };
	},
	backoff: async (t) => {
		const job = await t.add({ retry: 1 });
		await t.start();
		const { retry_at } = await t.fail(job, { message: "exit 1" });
		return { job, reason: { gate: "time", clears_at: retry_at!, detail: expect.stringMatching(/attempt 2 .*exit 1/) } };
	},
	deadline: async (t) => {
		const { pid } = await t.sluice.kernel.agent.create({ name: "a" });
		const { sched_id } = await t.sluice.kernel.enqueue({ pid, deadline: t.clock.now() / 1000 + 1 });
		await t.wait(2 * SECOND);
		return { job: sched_id, reason: { gate: "deadline" } };
	},
	dependencies: async (t) => {
		const before = await t.add();
		const job = await t.add({ after: [before] });
		return { job, reason: { gate: "after", subject: `job:${before}`, detail: `waiting on job ${before}` } };
	},
	probing: async (t) => {
		const job = await t.add({ needs: ["file:plan.md"] });
		return { job, reason: { gate: "artifacts", subject: "file:plan.md", detail: "probing file:plan.md" } };
	},
	item_blocked: async (t) => {
		const observed_at = t.clock.now();
		t.host.facts.set("item:cards:c1", { open: true, blocked_by: ["c0"] });
		const job = await t.add({ source: "cards", item: "c1" });
		return { job, reason: { gate: "item", subject: "item:cards:c1", holder: ["c0"], observed_at } };
	},
	pinned_head: async (t) => {
		const observed_at = t.clock.now();
		t.host.facts.set("head:app:main", "bbbb2222");
		const job = await t.add({ repo: "app", pinned_head: { branch: "main", commit: "aaaa1111" } });
		return { job, reason: { gate: "head", subject: "head:app:main", detail: "pinned head mismatch on main", observed_at } };
	},
	condition: async (t) => {
		t.host.facts.set("condition:clean_worktree@app", false);
		const job = await t.add({ repo: "app", conditions: ["clean_worktree"] });
		return { job, reason: { gate: "conditions", subject: "clean_worktree" } };
	},
	held: async (t) => {
		const job = await t.add();
		await t.sluice.hold([job], { by: "ann", reason: "after the demo" });
		return { job, reason: { gate: "held", detail: "held by ann: after the demo", holder: ["ann"], since: t.clock.now() } };
	},
	approval: async (t) => ({ job: await t.add({ requires_approval: true }), reason: { gate: "approval", detail: "waiting for approval" } }),
	needs_human: async (t) => {
		const job = await t.add();
		await t.start();
		await t.end(job, "needs_human", { question: "Drop the table?" });
		return { job, reason: { gate: "approval", detail: "Drop the table?" } };
	},
	locks: async (t) => {
		const holder = await t.add({ locks: ["db"] });
		await t.start();
		return {
			job: await t.add({ locks: ["db"] }),
			reason: { gate: "locks", subject: "lock:db", detail: "waiting on locks", holder: [`job:${holder}`] },
		};
	},
	paused: async (t) => {
		const since = t.clock.now();
		await t.sluice.pause({ lane: "default" }, { by: "ann", reason: "release" });
		return { job: await t.add(), reason: { gate: "holds", subject: "lane:default", holder: ["ann"], since } };
	},
	quiet_hours: async (t) => {
		const opens = t.clock.now() + 10 * HOUR;
		return { job: await t.add({ lane: "nights" }), reason: { gate: "holds", subject: "lane:nights", clears_at: opens } };
	},
	rate_limited: async (t) => {
		await t.sluice.limit("work", { retry_after_ms: MINUTE });
		const clears_at = t.clock.now() + MINUTE;
		return { job: await t.add({ account: "work" }), reason: { gate: "holds", subject: "account:work", clears_at } };
	},
	account_closed: async (t) => {
		await t.sluice.limit("work", { closed: "payment declined" });
		const job = await t.add({ account: "work" });
		return { job, reason: { gate: "holds", subject: "account:work", detail: expect.stringContaining("payment declined") } };
	},
	outage: async (t) => {
		const job = await t.add({ agent: "claude", prompt: "a" });
		const behind = await t.add({ agent: "claude", prompt: "b", runnable_at: t.clock.now() + SECOND });
		await t.start();
		await t.end(job, "crashed", { message: "529 Overloaded", outage: true });
		await t.wait(SECOND);
		return {
			job: behind,
			reason: {
				gate: "holds",
				subject: "account:claude",
				detail: expect.stringMatching(/provider is down \(outage\) since .*next try at/),
			},
		};
	},
	breaker_open: async (t) => {
		await t.sluice.configure({ environment_breaker: { failures: 2 } });
		const jobs = [await t.add({ agent: "claude", prompt: "a" }), await t.add({ agent: "claude", prompt: "b" })];
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "not found" });
		return { job: jobs[0]!, reason: { gate: "holds", subject: "agent:claude", clears_at: t.clock.now() + MINUTE } };
	},
	review: async (t) => {
		await t.sluice.configure({ review: { max_open: 1 } });
		const first = await t.add({ repo: "app" });
		await t.start();
		await t.end(first, "completed", { exit_code: 0, merge_status: "requested" });
		const job = await t.add({ repo: "app" });
		return {
			job,
			reason: { gate: "review", subject: "repo:app", detail: "repo app has 1 unreviewed of at most 1: their work waits for a person" },
		};
	},
	budget: async (t) => {
		await t.sluice.grant("owner:ann", "tokens", { limit: 100, window: "day" });
		await t.sluice.charge("owner:ann", "tokens", 100);
		const job = await t.add({ owner: "ann" });
		const midnight = t.clock.now() + DAY / 2;
		return {
			job,
			reason: { gate: "budget", subject: "owner:ann/tokens", clears_at: midnight, detail: expect.stringContaining("100 of 100") },
		};
	},
	no_host: async (t) => ({
		job: await t.add({ host_labels: ["gpu"] }, { force: true }),
		reason: { gate: "host", detail: "no live host with label gpu: local lacks label gpu" },
	}),
	capacity: async (t) => {
		await t.add({ lane: "narrow" });
		await t.start();
		const job = await t.add({ lane: "narrow" });
		return { job, reason: { gate: "capacity", subject: "lane:narrow", detail: "lane narrow is full: 1 of 1 running" } };
	},
	safety_cap: async (t) => {
		await t.sluice.configure({ max_concurrent: -1, safety_cap: 1 });
		await t.add();
		await t.start();
		return { job: await t.add(), reason: { gate: "capacity", subject: "safety_cap" } };
	},
	dispatch_failed: async (t) => {
		const job = await t.add();
		await t.start();
		await t.end(job, "launch_failed", { message: "no such program" });
		return { job, reason: { gate: "spawn", detail: expect.stringContaining("no such program") } };
	},
	worker: async (t) => ({ job: await t.add({ payload: { a: 1 } }), reason: { gate: "capacity", subject: "lane:default" } }),
	turn: async (t) => ({ job: await t.add(), reason: { gate: "capacity", subject: "lane:default" } }),
};

const codes = Object.keys(REASON_CODES) as ReasonCode[];

describe("a reason", () => {
	test("has a scenario for each of its codes", () => {
		expect(Object.keys(SCENARIOS).sort()).toEqual([...codes].sort());
	});

	test.each(codes)("%s is what `why` gives, with its subject and what is known about it", async (code) => {
		const t = await openStand({ config });
		const { job, reason } = await SCENARIOS[code](t);
		const { reasons } = await t.sluice.why(job);
		expect(reasons).toContainEqual(expect.objectContaining({ code, ...reason }));
		// A job waits in the status of its first reason.
		const first = reasons[0]!;
		expect(await t.status(job)).toBe(REASON_CODES[first.code]);
		// And nothing starts it.
		if (code !== "turn" && code !== "worker") expect(await t.start()).not.toContain(job);
	});

	test("comes in the order of the gates, several at once, and none is left out", async () => {
		const t = await openStand({ config });
		const holder = await t.add({ lane: "narrow", locks: ["db"] });
		await t.start();
		await t.sluice.pause();
		await t.sluice.grant("owner:ann", "runs", { limit: 0 });
		const job = await t.add({ lane: "narrow", locks: ["db"], after: [holder], owner: "ann", requires_approval: true });
		const found = await t.reasons(job);
		expect(found.map((reason) => reason.code)).toEqual(["dependencies", "approval", "locks", "paused", "budget", "capacity"]);
		const places = found.map((reason) => GATES.indexOf(reason.gate));
		expect(places).toEqual([...places].sort((a, b) => a - b));
	});

	test("is not given for a job that runs or has ended", async () => {
		const t = await openStand({ config });
		const job = await t.add();
		await t.start();
		expect(await t.reasons(job)).toEqual([]);
		await t.succeed(job);
		expect(await t.reasons(job)).toEqual([]);
	});

	test("turn tells the place in its lane", async () => {
		const t = await openStand({ config });
		const jobs = [await t.add(), await t.add(), await t.add()];
		expect(await Promise.all(jobs.map(async (job) => (await t.sluice.why(job)).position))).toEqual([1, 2, 3]);
		await t.sluice.promote(jobs[2]!);
		expect(await Promise.all(jobs.map(async (job) => (await t.sluice.why(job)).position))).toEqual([2, 3, 1]);
		expect(await t.start(1)).toEqual([jobs[2]]);
	});
});
