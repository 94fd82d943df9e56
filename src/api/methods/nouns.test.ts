// The methods of the queue, of the nouns and of the configuration, as a caller sees them.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";
import { MINUTE, NOON } from "../../../test/make/fakes.ts";

const at = (ms: number) => new Date(ms).toISOString();

test.each([
	["account.acquire", { name: "a:b" }, "name"],
	["account.limit", { name: "a:b", closed: "x" }, "name"],
	["batch.close", { name: "a:b" }, "name"],
	["host.drain", { name: "a:b" }, "name"],
	["scheduler.pause", { batch: "a:b" }, "batch"],
	["scheduler.resume", { agent: "a:b" }, "agent"],
	["job.graph", { batch: "a:b" }, "batch"],
	["artifact.set", { artifact: "custom:a\nb" }, "artifact"],
	["budget.report", { subject: "ann", dim: "tokens", amount: 1 }, "subject"],
] as const)("%s refuses %j by its own check, under the parameter's name", async (method, params, field) => {
	const desk = await openDesk();
	expect(await desk.refused(method, params)).toMatchObject({ data: { code: "invalid", field } });
});

describe("stats", () => {
	test("figures as the scheduler has them, times in RFC 3339", async () => {
		const desk = await openDesk();
		const id = await desk.t.add({ owner: "ann" });
		await desk.t.start();
		desk.t.clock.pass(MINUTE);
		await desk.t.succeed(id);
		const found = await desk.call("stats.show", { since: at(NOON - MINUTE), per: "owner" });
		expect(found).toMatchObject({
			schema_version: 1,
			since: at(NOON - 60 * MINUTE),
			until: at(NOON + MINUTE),
			known_since: at(NOON),
			per: "owner",
			bucket: "hour",
			times: [at(NOON - 60 * MINUTE), at(NOON)],
			total: { started: 1, succeeded: 1, slot_ms: MINUTE },
			series: { ended: [0, 1] },
			groups: [{ name: "ann", total: { ended: 1 } }],
		});
	});

	test.each([
		[{ per: "colour" }, "per"],
		[{ bucket: "week" }, "bucket"],
		[{ since: "tomorrow" }, "since"],
		[{ since: at(NOON + MINUTE) }, "since"],
		[{ since: at(NOON - 400 * 24 * 60 * MINUTE) }, "since"],
		[{ since: at(NOON - 100 * 24 * 60 * MINUTE), bucket: "hour" }, "bucket"],
	])("%j is refused by name", async (params, field) => {
		const desk = await openDesk();
		expect(await desk.refused("stats.show", params as never)).toMatchObject({ data: { code: "invalid", field } });
	});
});

describe("scheduler", () => {
	test("status is the document of the spec", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.call("scheduler.pause", { reason: "lunch", until: at(NOON + MINUTE) });
		expect(await desk.call("scheduler.status", {})).toEqual({
			schema_version: 1,
			kernel: { queued: 0, dispatched: 0 },
			paused: true,
			paused_by: "ann",
			paused_at: at(NOON),
			queued_total: 1,
			queued_ready: 1,
			queued_held: 1,
			held: [{ kind: "paused", subject: "all", detail: "everything paused by ann: lunch", jobs: 1 }],
			running: 0,
			lending: 0,
			frozen: [],
			max_concurrent: 4,
			lanes: { default: { queued: 1, running: 0, lending: 0, max: null } },
			holds: [{ scope: "all", kind: "paused", since: at(NOON), until: at(NOON + MINUTE), by: "ann", reason: "lunch" }],
			hosts: [
				{
					name: "local",
					state: "live",
					labels: [],
					repos: null,
					running: 0,
					max: null,
					heartbeat_at: at(NOON),
					joined_at: at(NOON),
					lease_until: null,
					drain: null,
					gone: null,
					leads: false,
				},
			],
			backpressure: null,
			last_dispatch_at: null,
			unmerged: [],
			webhook_problems: [],
			needs_human: [],
			denied: [],
			recent_failures: { since: at(NOON - 86_400_000), failed: 0, blocked_by_dependency: 0 },
			budgets: [],
			config_problem: null,
			http_port: 7420,
			http_problem: null,
			disk_problem: null,
			now: expect.any(String),
		});
	});

	test("pause and resume reach the processes when asked to", async () => {
		const desk = await openDesk();
		expect(await desk.refused("scheduler.pause", { lane: "defualt" })).toMatchObject({
			data: { code: "not_found", hint: 'did you mean "default"?' },
		});
		expect(await desk.refused("scheduler.pause", { repo: "app" })).toMatchObject({ data: { code: "not_found", field: "repo" } });
		expect(await desk.call("scheduler.pause", { lane: "default", freeze: true })).toMatchObject({ scope: "lane:default", frozen: true });
		expect(await desk.call("scheduler.resume", { lane: "default" })).toMatchObject({ scope: "lane:default", paused: false });
		expect(desk.pretended.frozen).toEqual([
			["freeze", { lane: "default" }],
			["thaw", { lane: "default" }],
		]);
		await desk.call("scheduler.pause", {});
		expect(desk.pretended.frozen).toHaveLength(2);
	});

	test("resume returns whether there was a pause, and what is still paused", async () => {
		const desk = await openDesk();
		await desk.call("scheduler.pause", { lane: "default" });
		expect(await desk.call("scheduler.resume", {})).toMatchObject({ scope: "all", was_paused: false, still_paused: ["lane:default"] });
		expect(await desk.call("scheduler.resume", { lane: "default" })).toMatchObject({ was_paused: true, still_paused: [] });
	});

	test("resume closes the open breaker of an agent or a repo; its jobs go on at once", async () => {
		const desk = await openDesk({
			config: { environment_breaker: { failures: 2 }, agents: ["claude"], repos: { app: {} }, dispatch_breaker: "off" },
		});
		for (const [kind, name] of [
			["agent", "claude"],
			["repo", "app"],
		] as const) {
			const job = () => desk.t.add(kind === "agent" ? { agent: name, prompt: "x" } : { repo: name });
			const [one, two, waits] = [await job(), await job(), await job()];
			await desk.t.start(2);
			for (const id of [one, two]) await desk.t.end(id, "launch_failed", { message: "not there" });
			expect((await desk.call("scheduler.status", {})).holds).toMatchObject([{ kind: "breaker_open", scope: `${kind}:${name}` }]);
			expect(await desk.t.start()).toEqual([]);
			const resumed = await desk.call("scheduler.resume", { [kind]: name });
			expect(resumed).toEqual({
				schema_version: 1,
				scope: `${kind}:${name}`,
				paused: false,
				breaker_closed: true,
				was_paused: false,
				still_paused: [],
			});
			expect((await desk.call("scheduler.status", {})).holds).toEqual([]);
			expect(await desk.t.start()).toEqual([one, two, waits]);
			expect((await desk.t.events()).at(-4)).toMatchObject({ kind: "breaker_closed", job: null, by: "ann" });
			for (const id of [one, two, waits]) await desk.t.succeed(id);
			expect(await desk.call("scheduler.resume", { [kind]: name })).toMatchObject({ breaker_closed: false });
		}
		expect(await desk.refused("scheduler.resume", { agent: "cluade" })).toMatchObject({
			data: { code: "not_found", hint: 'did you mean "claude"?' },
		});
		expect(await desk.refused("scheduler.resume", { agent: "claude", lane: "default" })).toMatchObject({ data: { code: "invalid" } });
	});

	test("run returns its plan, or what it started; clear cancels waiting jobs, or one item's jobs", async () => {
		const desk = await openDesk({ config: { max_concurrent: 1 } });
		await desk.t.add({ item: "A-1" });
		await desk.t.add();
		expect(await desk.call("scheduler.run", { dry_run: true })).toMatchObject({ schema_version: 1, dispatch: [1], reason: "capacity" });
		expect(await desk.call("scheduler.clear", { item: "A-1" })).toEqual({ schema_version: 1, cleared: [1] });
		expect(await desk.call("scheduler.run", {})).toMatchObject({ dispatch: [2] });
		expect(await desk.t.status(2)).toBe("running");
		expect(await desk.call("scheduler.run", {})).toEqual({ schema_version: 1, dispatch: [], skipped: [], reason: "none" });
		await desk.t.add();
		expect(await desk.call("scheduler.clear", {})).toEqual({ schema_version: 1, cleared: [3] });
		desk.t.clock.pass(10 * 24 * 60 * MINUTE);
		expect(await desk.call("scheduler.gc", { days: 3 })).toEqual({ schema_version: 1, deleted: 2, kept: 0 });
	});

	test("down is passed to the daemon; version identifies it", async () => {
		const desk = await openDesk();
		expect(await desk.call("scheduler.down", { stop_runs: true, grace_ms: "5s" })).toEqual({
			schema_version: 1,
			stopping: true,
			running: 0,
		});
		expect(desk.pretended.downs).toEqual([{ runs: "stop", graceMs: 5000, by: "ann" }]);
		expect(await desk.call("scheduler.version", { by: "bo" })).toEqual({
			schema_version: 1,
			version: "0.0.0-test",
			pid: 4711,
			protocol: 1,
			home: "/home/of/test",
			started_at: at(NOON),
			port: 7420,
			http_problem: null,
			ready: true,
			by: "bo",
			role: "admin",
			...{ person: null, shared: null },
		});
		desk.pretended.doors = { port: null, problem: "port 7420 is taken by another program", ready: false };
		expect(await desk.call("scheduler.version", {})).toMatchObject({ port: null, ready: false });
		expect(await desk.call("scheduler.status", {})).toMatchObject({ http_problem: "port 7420 is taken by another program" });
	});
});

describe("nouns", () => {
	test("lanes are listed and set, live", async () => {
		const desk = await openDesk();
		await desk.t.add();
		expect(await desk.call("lane.set", { name: "code", max: 2, priority: 5 })).toMatchObject({
			lane: { name: "code", max: 2, priority: 5 },
		});
		expect((await desk.call("lane.list", {})).lanes.map(({ name, max, queued }) => [name, max, queued])).toEqual([
			["default", null, 1],
			["code", 2, 0],
		]);
		expect(await desk.call("lane.set", { name: "code", max: null })).toMatchObject({ lane: { max: null, priority: 5 } });
		expect(await desk.refused("lane.set", { name: "code", max: -1 })).toMatchObject({ code: -32602, data: { field: "max" } });
		expect((await desk.refused("lane.set", { name: "a b", max: 1 })).code).toBe(-32602);
	});

	test("a lane is removed, but not while a job of it is open", async () => {
		const desk = await openDesk();
		await desk.call("lane.set", { name: "docs", max: 2 });
		const id = await desk.t.add({ lane: "docs" });
		expect(await desk.refused("lane.remove", { name: "docs" })).toMatchObject({ message: `jobs of lane docs have not ended: ${id}` });
		expect(await desk.refused("lane.remove", { name: "doc" })).toMatchObject({ code: -32004, data: { hint: 'did you mean "docs"?' } });
		await desk.t.sluice.cancel(id);
		expect(await desk.call("lane.remove", { name: "docs" })).toMatchObject({ removed: "docs" });
	});

	test("clear takes an item by its id alone or with its source, and ends just that item's jobs", async () => {
		const desk = await openDesk();
		const [one, two, three] = [
			await desk.t.add({ item: "gt-1", source: "gastown" }),
			await desk.t.add({ item: "gt-2", source: "gastown" }),
			await desk.t.add({ item: "gt-2", source: "crew" }),
		];
		expect(await desk.call("scheduler.clear", { item: "gt-1" })).toMatchObject({ cleared: [one] });
		expect(await desk.refused("scheduler.clear", { item: "gt-2" })).toMatchObject({
			message: 'item: crew:gt-2 and gastown:gt-2 are both called "gt-2"',
			data: { hint: "name its source: crew:gt-2" },
		});
		expect(await desk.call("scheduler.clear", { item: "gastown:gt-2" })).toMatchObject({ cleared: [two] });
		expect(await desk.call("scheduler.clear", { item: "gt-9" })).toMatchObject({ cleared: [] });
		expect(await desk.t.status(three)).toBe("queued");
	});

	test("accounts are limited, closed and cleared", async () => {
		const desk = await openDesk({ config: { accounts: { work: { max: 3 } } } });
		expect(await desk.call("account.list", {})).toMatchObject({ accounts: [{ name: "work", max: 3, state: "open", until: null }] });
		const limited = await desk.call("account.limit", { name: "work", retry_after_ms: "1m" });
		expect(limited.account).toMatchObject({ name: "work", state: "rate_limited", until: expect.any(String) });
		expect((await desk.call("account.limit", { name: "work", closed: "billing" })).account).toMatchObject({
			state: "closed",
			reason: "billing",
		});
		expect((await desk.call("account.clear", { name: "work" })).account.state).toBe("open");
		expect(await desk.refused("account.clear", { name: "wrk" })).toMatchObject({ code: -32004, data: { hint: 'did you mean "work"?' } });
	});

	test("budgets are granted, reported and listed", async () => {
		const desk = await openDesk();
		const { budget } = await desk.call("budget.grant", { subject: "owner:ann", dim: "cost_micro", limit: 100, window: "day" });
		expect(budget).toMatchObject({ subject: "owner:ann", used: 0, limit: 100, window: "day" });
		expect(await desk.call("budget.report", { subject: "owner:ann", dim: "cost_micro", amount: 100 })).toMatchObject({
			budget: { used: 100 },
			first_breach: true,
		});
		expect((await desk.call("budget.list", { subject: "owner:ann" })).budgets).toHaveLength(1);
		expect((await desk.call("budget.list", { subject: "owner:bo" })).budgets).toEqual([]);
		expect(await desk.refused("budget.grant", { subject: "ann", dim: "runs", limit: 1 })).toMatchObject({ data: { field: "subject" } });
	});

	test("one account, with everything that keeps runs from it; slots for calls", async () => {
		const desk = await openDesk({ config: { accounts: { work: { max_api_calls: 1 } }, lanes: { default: { accounts: ["work"] } } } });
		await desk.call("account.limit", { name: "work", closed: "auth: log in again" });
		await desk.call("scheduler.pause", { account: "work", reason: "lunch" });
		expect((await desk.call("account.show", { name: "work" })).account).toMatchObject({
			state: "closed",
			lanes: ["default"],
			reasons: [{ code: "paused" }, { code: "account_closed", detail: "account work is closed: auth: log in again" }],
		});
		expect(await desk.call("account.acquire", { name: "work", holder: "a" })).toMatchObject({ granted: true, in_use: 1, limit: 1 });
		expect(await desk.call("account.acquire", { name: "work", holder: "b" })).toMatchObject({ granted: false });
		await desk.call("account.release", { name: "work", holder: "a" });
		expect(await desk.call("account.acquire", { name: "work" })).toMatchObject({ granted: true });
		expect(await desk.refused("account.show", { name: "wrok" })).toMatchObject({ data: { hint: 'did you mean "work"?' } });
		expect(await desk.refused("account.acquire", { name: "wrok" })).toMatchObject({ code: -32004 });
	});

	test("what jobs have cost, by batch and by other traits", async () => {
		const desk = await openDesk();
		const run = async (input: object, usage?: Record<string, number>) => {
			const id = await desk.t.add(input);
			await desk.t.start();
			await desk.t.end(id, "completed", usage === undefined ? {} : { usage });
		};
		await run({ batch: "night", owner: "ann" }, { cost_micro: 300, tokens: 7 });
		await run({ batch: "night", owner: "bo" }, { cost_micro: 200, gpu_s: 4 });
		await run({ batch: "day" }, { cost_micro: 900 });
		await run({});
		await desk.t.add({ batch: "never" });
		expect(await desk.call("budget.report", {})).toEqual({
			schema_version: 1,
			per: "batch",
			costs: [
				{ name: "day", jobs: 1, runs: 1, cost_micro: 900, tokens: 0, usage: { cost_micro: 900 } },
				{ name: "night", jobs: 2, runs: 2, cost_micro: 500, tokens: 7, usage: { cost_micro: 500, tokens: 7, gpu_s: 4 } },
				{ name: null, jobs: 1, runs: 1, cost_micro: 0, tokens: 0, usage: {} },
			],
		});
		expect(await desk.call("budget.report", { per: "job", batch: "night", owner: "bo" })).toMatchObject({
			costs: [{ name: "2", cost_micro: 200 }],
		});
		expect((await desk.call("batch.show", { name: "night" })).batch).toMatchObject({ cost_micro: 500, runs: 2 });
		expect(await desk.refused("budget.report", { subject: "owner:ann" })).toMatchObject({ data: { field: "dim" } });
	});

	test("a question is in the status, with what can be answered; so is a budget that is used up", async () => {
		const desk = await openDesk();
		const id = await desk.t.add({ agent: "claude", prompt: "x", name: "paint", owner: "ann" });
		await desk.t.start();
		await desk.call("budget.grant", { subject: "owner:ann", dim: "cost_micro", limit: 100 });
		await desk.t.end(id, "needs_human", { question: "which colour?", usage: { cost_micro: 150 } });
		const asked = await desk.t.add({ requires_approval: true });
		expect(await desk.call("scheduler.status", {})).toMatchObject({
			needs_human: [
				{ job: id, name: "paint", question: "which colour?", since: at(NOON) },
				{ job: asked, name: null, question: null },
			],
			budgets: [{ subject: "owner:ann", used: 150, limit: 100, over_limit: true, refills_at: null }],
		});
		expect((await desk.call("job.answer", { id, text: "blue" })).job).toMatchObject({
			question: null,
			asked: "which colour?",
			answer: "blue",
		});
		expect((await desk.call("scheduler.status", {})).needs_human.map(({ job }) => job)).toEqual([asked]);
	});

	test("locks, artifacts, hosts and batches are listed", async () => {
		const desk = await openDesk();
		await desk.t.add({ locks: ["db"], batch: "night" });
		await desk.t.start();
		expect((await desk.call("lock.list", {})).locks).toEqual([{ key: "db", holders: [{ job: 1, mode: "exclusive" }], reserved_for: null }]);
		expect((await desk.call("batch.list", {})).batches).toEqual([
			{
				name: "night",
				state: "open",
				open: 1,
				total: 1,
				owned: false,
				counts: { running: 1 },
				progress: 0,
				runs: 1,
				usage: {},
				cost_micro: null,
				eta: null,
			},
		]);
		expect((await desk.call("host.list", {})).hosts.map(({ name }) => name)).toEqual(["local"]);
		expect(await desk.call("artifact.mark", { artifact: "custom:review:A-1" })).toMatchObject({ present: true });
		const present = { artifact: "custom:review:A-1", present: true, observed_at: at(NOON) };
		expect((await desk.call("artifact.list", {})).artifacts).toMatchObject([present]);
		expect(await desk.call("artifact.mark", { artifact: "custom:review:A-1", absent: true })).toMatchObject({ present: false });
		expect((await desk.call("artifact.list", {})).artifacts).toEqual([]);
		expect(await desk.refused("artifact.mark", { artifact: "file:x" })).toMatchObject({ code: -32602 });
	});
});

describe("configuration", () => {
	test("is read, changed and checked through the file", async () => {
		const desk = await openDesk();
		await desk.call("config.set", { key: "max_concurrent", value: 9 });
		expect((await desk.call("scheduler.status", {})).max_concurrent).toBe(9);
		const nine = { key: "max_concurrent", value: 9, origin: "config.yml" };
		expect((await desk.call("config.get", { key: "max_concurrent" })).settings).toEqual([nine]);
		expect((await desk.call("config.list", {})).settings).toHaveLength(1);
		expect((await desk.call("config.unset", { key: "max_concurrent" })).settings).toHaveLength(1);
		expect(await desk.call("config.check", {})).toEqual({ schema_version: 1, ok: true, problems: [] });
		expect(await desk.call("config.check", { text: "bad" })).toMatchObject({ ok: false, problems: [{ code: "unknown_key" }] });
		expect(await desk.refused("config.set", { key: "max_concurent", value: 9 })).toMatchObject({ data: { code: "unknown_key" } });
		expect((await desk.refused("config.set", { key: "x" })).data).toMatchObject({ field: "value" });
	});

	test("doctor.run returns the daemon's checks", async () => {
		const desk = await openDesk();
		expect(await desk.call("doctor.run", {})).toMatchObject({ ok: true, checks: [{ name: "node" }] });
		desk.pretended.checks.push({ name: "git", ok: false, detail: "not found", hint: "install it" });
		expect((await desk.call("doctor.run", {})).ok).toBe(false);
	});
});
