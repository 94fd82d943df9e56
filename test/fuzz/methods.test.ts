// Every other method, given anything: an answer or a typed error, a promise in any case, and a scheduler that goes on as before.

import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { INPUT_KEYS } from "../../src/core/schema/job.ts";
import { openScheduler, type Scheduler, SluiceError } from "../../src/index.ts";
import { HOUR, NOON } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";
import { expectTyped, fault, keysOf, spoilt, Witness, wild } from "./wild.ts";

type Scene = { t: Stand; watch: Witness; waiting: number; running: { job: number; token: number }; entry: number; pid: number };

/** A scheduler with something of everything: waiting, running, ended, asking, held, owing, and kernel entries. */
async function makeScene(): Promise<Scene> {
	const path = join(makeFolder(), "sluice.db");
	const t = await openStand({
		path,
		config: { max_concurrent: 50, lanes: { default: {}, code: { accounts: ["work"] } }, accounts: { work: {} }, repos: { web: {} } },
	});
	const watch = new Witness(path);
	onTestFinished(() => watch.close());
	await t.done({ repo: "web" });
	const claimed = await t.add({ payload: {}, lane: "code", owner: "ann", retry: 1000 });
	await t.start();
	const waiting = await t.add({ name: "waiting", batch: "b", after: [claimed], locks: ["k"], item: "CARD-1" });
	await t.add({ requires_approval: true, needs: ["custom:a:b"] });
	await t.sluice.grant("owner:ann", "tokens", { limit: 100 });
	await t.sluice.arm("cron:y", "daily");
	const { pid } = await t.sluice.kernel.agent.create({ name: "agent" });
	const { sched_id } = await t.sluice.kernel.enqueue({ pid, payload: {} });
	return { t, watch, waiting, running: t.run(claimed), entry: sched_id, pid };
}

/** Method, good arguments, and what its fields are called. */
type Call = { call: (s: Scheduler, ...args: never[]) => unknown; good: (scene: Scene) => unknown[]; said: string[] };
const act = { by: "ann", reason: "because" };
const ACT = ["options", "by", "reason"];
const call = (method: Call["call"], good: Call["good"], ...said: string[]): Call => ({ call: method, good, said });

async function inTurns(count: number): Promise<void> {
	for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const CALLS: Record<string, Call> = {
	claim: call(
		(s, request) => s.claim(request),
		() => [{ worker: "w", max: 1, lanes: ["nowhere"], kinds: ["command"], host: "local" }],
		"claim",
		"worker",
		"max",
		"lanes",
		"kinds",
		"host",
	),
	started: call(
		(s, run) => s.started(run),
		({ running }) => [running],
		"run",
		"job",
		"token",
	),
	extend: call(
		(s, run) => s.extend(run),
		({ running }) => [running],
		"run",
		"job",
		"token",
	),
	complete: call(
		(s, ending) => s.complete(ending),
		({ running }) => [
			{
				...running,
				token: running.token + 1,
				exit_kind: "failed",
				exit_code: 1,
				message: "m",
				usage: { tokens: 5 },
				session: "s",
				until: NOON + HOUR,
				retry_after_ms: 5,
				closed: "c",
				question: "q",
				reboot: false,
				merge_status: "none",
			},
		],
		"ending",
		"job",
		"token",
		"exit_kind",
		"exit_code",
		"message",
		"usage",
		"session",
		"until",
		"retry_after_ms",
		"closed",
		"question",
		"reboot",
		"merge_status",
	),
	cancel: call(
		(s, id, options) => s.cancel(id, options),
		() => [999, { ...act, subtree: true }],
		"id",
		"subtree",
		...ACT,
	),
	retry: call(
		(s, id, options) => s.retry(id, options),
		() => [1, act],
		"id",
		...ACT,
	),
	retryAll: call(
		(s, ids, options) => s.retryAll(ids, options),
		() => [[1, 999], act],
		"ids",
		...ACT,
	),
	rerun: call(
		(s, id, options) => s.rerun(id, options),
		() => [1, act],
		"id",
		...ACT,
	),
	promote: call(
		(s, id, options) => s.promote(id, options),
		({ waiting }) => [waiting, act],
		"id",
		...ACT,
	),
	demote: call(
		(s, id, options) => s.demote(id, options),
		({ waiting }) => [waiting, act],
		"id",
		...ACT,
	),
	priority: call(
		(s, id, priority, options) => s.priority(id, priority, options),
		({ waiting }) => [waiting, 5, act],
		"id",
		"priority",
		...ACT,
	),
	runNow: call(
		(s, id, options) => s.runNow(id, options),
		({ waiting }) => [waiting, { ...act, force: true }],
		"id",
		"force",
		...ACT,
	),
	edit: call(
		(s, id, fields, options) => s.edit(id, fields, options),
		({ waiting }) => [waiting, { set: { priority: 3, title: "x" }, unset: ["deadline"] }, act],
		"id",
		"fields",
		"set",
		"unset",
		"unheard_of",
		...INPUT_KEYS,
		...ACT,
	),
	hold: call(
		(s, ids, options) => s.hold(ids, options),
		({ waiting }) => [[waiting], act],
		"ids",
		"id",
		...ACT,
	),
	release: call(
		(s, ids, options) => s.release(ids, options),
		({ waiting }) => [[waiting], act],
		"ids",
		"id",
		...ACT,
	),
	freeze: call(
		(s, ids, options) => s.freeze(ids, options),
		({ waiting }) => [[waiting], act],
		"ids",
		"id",
		...ACT,
	),
	thaw: call(
		(s, ids, options) => s.thaw(ids, options),
		({ waiting }) => [[waiting], act],
		"ids",
		"id",
		...ACT,
	),
	signalled: call(
		(s, run, signal, options) => s.signalled(run, signal, options),
		({ waiting }) => [{ job: waiting, attempt: 1 }, "HUP", act],
		"run",
		"job",
		"attempt",
		"signal",
		"id",
		...ACT,
	),
	approve: call(
		(s, id, options) => s.approve(id, options),
		({ waiting }) => [waiting, act],
		"id",
		...ACT,
	),
	reject: call(
		(s, id, options) => s.reject(id, options),
		({ waiting }) => [waiting, act],
		"id",
		...ACT,
	),
	answer: call(
		(s, id, text, options) => s.answer(id, text, options),
		({ waiting }) => [waiting, "yes", { ...act, grant: { permission: "full", allow: ["Bash: npm test"] } }],
		"id",
		"text",
		"grant",
		...ACT,
	),
	pause: call(
		(s, scope, options) => s.pause(scope, options),
		() => [{ lane: "code" }, { ...act, until: NOON + HOUR }],
		"scope",
		"until",
		...ACT,
	),
	resume: call(
		(s, scope, options) => s.resume(scope, options),
		() => [{ batch: "b" }, act],
		"scope",
		...ACT,
	),
	clear: call(
		(s, options) => s.clear(options),
		() => [{ ...act, item: "inline:CARD-2" }],
		"item",
		...ACT,
	),
	mergeAgain: call(
		(s, id, options) => s.mergeAgain(id, options),
		() => [1, act],
		"id",
		...ACT,
	),
	dropMerge: call(
		(s, id, options) => s.dropMerge(id, options),
		() => [1, act],
		"id",
		...ACT,
	),
	merged: call(
		(s, id, status, report) => s.merged(id, status, report),
		() => [1, "merged", { files: ["a"], message: "m", commit: "c" }],
		"id",
		"status",
		"report",
		"files",
		"message",
		"commit",
	),
	show: call(
		(s, id) => s.show(id),
		() => [1],
		"id",
	),
	list: call(
		(s, filter) => s.list(filter),
		() => [{ status: ["queued"], lane: "default", repo: "web", batch: "b", all: true, limit: 5, after: 0 }],
		"filter",
		"status",
		"lane",
		"repo",
		"batch",
		"all",
		"limit",
		"after",
	),
	why: call(
		(s, id) => s.why(id),
		() => [1],
		"id",
	),
	history: call(
		(s, id) => s.history(id),
		() => [1],
		"id",
	),
	graph: call(
		(s, filter) => s.graph(filter),
		() => [{ all: true, batch: "b", max_depth: 2 }],
		"filter",
		"all",
		"job",
		"batch",
		"max_depth",
	),
	forecast: call(
		(s, options) => s.forecast(options),
		() => [{ max_concurrent: 3, lanes: { code: 2 }, batch: "b" }],
		"options",
		"max_concurrent",
		"lanes",
		"batch",
	),
	arm: call(
		(s, trigger, mark) => s.arm(trigger, mark),
		() => ["cron:x", "mark"],
		"trigger",
		"mark",
	),
	disarm: call(
		(s, trigger) => s.disarm(trigger),
		() => ["cron:x"],
		"trigger",
	),
	fire: call(
		(s, trigger, firing, options) => s.fire(trigger, firing, options),
		() => ["cron:y", { slot: NOON + HOUR, when_open: "skip", error: "no" }, act],
		"trigger",
		"firing",
		"slot",
		"job",
		"when_open",
		"error",
		...ACT,
	),
	plan: call(
		(s, options) => s.plan(options),
		() => [{ max: 5 }],
		"options",
		"max",
		"claim",
	),
	observe: call(
		(s, facts) => s.observe(facts),
		() => [
			{
				"artifact:file:x": true,
				"head:web:main": "abcd",
				"item:inline:CARD-1": { open: true, blocked_by: ["2"] },
				"busy:web": null,
				"artifact:file:y": { error: "e" },
			},
		],
		"facts",
	),
	mark: call(
		(s, artifact, options) => s.mark(artifact, options),
		() => ["custom:a:c", { ...act, absent: true }],
		"artifact",
		"absent",
		...ACT,
	),
	limit: call(
		(s, account, report, options) => s.limit(account, report, options),
		() => ["work", { until: NOON + HOUR, retry_after_ms: 5, closed: "c" }, act],
		"account",
		"report",
		"until",
		"retry_after_ms",
		"closed",
		...ACT,
	),
	closeBreaker: call(
		(s, of, options) => s.closeBreaker(of, options),
		() => [{ agent: "claude" }, act],
		"of",
		"agent",
		"repo",
		...ACT,
	),
	clearAccount: call(
		(s, account, options) => s.clearAccount(account, options),
		() => ["work", act],
		"account",
		...ACT,
	),
	acquireCall: call(
		(s, account, holder) => s.acquireCall(account, holder),
		() => ["work", "h"],
		"account",
		"holder",
	),
	releaseCall: call(
		(s, account, holder) => s.releaseCall(account, holder),
		() => ["work", "h"],
		"account",
		"holder",
	),
	grant: call(
		(s, subject, dim, grant, options) => s.grant(subject, dim, grant, options),
		() => ["owner:ann", "tokens", { limit: 5, warn_at: 0.5, window: "day", on_breach: "stop" }, act],
		"subject",
		"dim",
		"grant",
		"limit",
		"warn_at",
		"window",
		"on_breach",
		...ACT,
	),
	charge: call(
		(s, subject, dim, amount) => s.charge(subject, dim, amount),
		() => ["owner:ann", "tokens", 5],
		"subject",
		"dim",
		"amount",
	),
	ledgers: call(
		(s, subject) => s.ledgers(subject),
		() => ["owner:ann"],
		"subject",
	),
	configure: call(
		(s, config) => s.configure(config),
		() => [{ max_concurrent: 50, lanes: { code: { max: 5 } }, order: { overdue_share: 4 } }],
		"config",
		"max_concurrent",
		"lanes",
		"order",
		"unheard_of",
	),
	gc: call(
		(s, options) => s.gc(options),
		() => [{ days: 100 }],
		"options",
		"days",
	),
	recover: call(
		(s, found, options) => s.recover(found, options),
		() => [[{ run: "1.1", state: "exited", exit_code: 0 }], { host: "elsewhere", reboot: true }],
		"found",
		"options",
		"host",
		"reboot",
	),
	heartbeat: call(
		(s, host) => s.heartbeat(host),
		() => ["local"],
		"host",
	),
	"events, the first of them": call(
		(s, options) => {
			const first = s.events(options)[Symbol.asyncIterator]().next();
			// There may be none yet: then it waits, and that is an answer too.
			return Promise.race([first, inTurns(10)]);
		},
		() => [{ since: 0 }],
		"options",
		"since",
	),
	"kernel.enqueue": call(
		(s, params) => s.kernel.enqueue(params),
		({ pid }) => [{ pid, priority: 5, runnable_at: 1, deadline: 2, trigger: "cron", payload: { a: [1] } }],
		"params",
		"pid",
		"priority",
		"runnable_at",
		"deadline",
		"trigger",
		"payload",
	),
	"kernel.enqueueUnique": call(
		(s, params) => s.kernel.enqueueUnique(params),
		({ pid }) => [{ pid, trigger: "cron", dedupe_by: ["pid", "trigger"] }],
		"params",
		"pid",
		"trigger",
		"dedupe_by",
	),
	"kernel.claim": call(
		(s, params) => s.kernel.claim(params),
		() => [{ worker_id: "w", max_n: 0, now: 5, admission_check: true }],
		"params",
		"worker_id",
		"max_n",
		"now",
		"admission_check",
	),
	"kernel.complete": call(
		(s, params) => s.kernel.complete(params),
		({ entry }) => [{ sched_id: entry, exit_kind: "completed", worker_id: "w" }],
		"params",
		"sched_id",
		"exit_kind",
		"worker_id",
	),
	"kernel.cancel": call(
		(s, params) => s.kernel.cancel(params),
		() => [{ sched_id: 999 }],
		"params",
		"sched_id",
	),
	"kernel.get": call(
		(s, params) => s.kernel.get(params),
		({ entry }) => [{ sched_id: entry }],
		"params",
		"sched_id",
	),
	"kernel.list": call(
		(s, params) => s.kernel.list(params),
		({ pid }) => [{ state: "queued", pid, limit: 5, offset: 0 }],
		"params",
		"state",
		"pid",
		"limit",
		"offset",
	),
	"kernel.gcExpired": call(
		(s, params) => s.kernel.gcExpired(params),
		() => [{ now: 5 }],
		"params",
		"now",
	),
	"kernel.gcDispatched": call(
		(s, params) => s.kernel.gcDispatched(params),
		() => [{ stale_seconds: 5 }],
		"params",
		"stale_seconds",
	),
	"kernel.extend": call(
		(s, params) => s.kernel.extend(params),
		({ entry }) => [{ sched_id: entry, worker_id: "w" }],
		"params",
		"sched_id",
		"worker_id",
	),
	"kernel.agent.create": call(
		(s, params) => s.kernel.agent.create(params),
		() => [{ name: "n" }],
		"params",
		"name",
	),
	"kernel.agent.transition": call(
		(s, params) => s.kernel.agent.transition(params),
		({ pid }) => [{ pid, to: "RUNNING" }],
		"params",
		"pid",
		"to",
	),
	"kernel.agent.get": call(
		(s, params) => s.kernel.agent.get(params),
		({ pid }) => [{ pid }],
		"params",
		"pid",
	),
	"kernel.ledger.grant": call(
		(s, params) => s.kernel.ledger.grant(params),
		({ pid }) => [{ pid, dim: "tokens", limit: 5, warn_at: 0.5, window: "hour" }],
		"params",
		"pid",
		"dim",
		"limit",
		"warn_at",
		"window",
	),
	"kernel.ledger.charge": call(
		(s, params) => s.kernel.ledger.charge(params),
		({ pid }) => [{ pid, dim: "tokens", amount: 5 }],
		"params",
		"pid",
		"dim",
		"amount",
	),
	"kernel.ledger.refund": call(
		(s, params) => s.kernel.ledger.refund(params),
		({ pid }) => [{ pid, dim: "tokens", amount: 5 }],
		"params",
		"pid",
		"dim",
		"amount",
	),
	"kernel.ledger.check": call(
		(s, params) => s.kernel.ledger.check(params),
		({ pid }) => [{ pid, dim: "tokens", amount: 5 }],
		"params",
		"pid",
		"dim",
		"amount",
	),
	"kernel.ledger.get": call(
		(s, params) => s.kernel.ledger.get(params),
		({ pid }) => [{ pid }],
		"params",
		"pid",
	),
};

/** Calls it and judges how it ends; a refused call leaves the store as it was. */
async function tryCall({ t, watch }: Scene, { call, said }: Call, args: readonly unknown[]): Promise<unknown> {
	const before = watch.text();
	let promise: unknown;
	try {
		promise = call(t.sluice, ...(args as never[]));
	} catch (error) {
		return expect.fail(`throws at once, without a promise: ${String(error)}`);
	}
	try {
		return await promise;
	} catch (error) {
		const kernelState =
			error instanceof SluiceError && "kernel" in error && ["not_found", "illegal_transition", "fenced"].includes(error.code);
		if (!kernelState) expectTyped(error, said);
		if (watch.text() !== before) expect.fail("the store has changed");
		return error;
	}
}

/** Good arguments, but not at this moment. */
const REFUSED: Record<string, string> = {
	cancel: "not_found",
	complete: "fenced",
	release: "illegal_transition",
	freeze: "illegal_transition",
	thaw: "illegal_transition",
	approve: "illegal_transition",
	reject: "illegal_transition",
	answer: "illegal_transition",
	"kernel.complete": "illegal_transition",
	"kernel.cancel": "not_found",
	"kernel.extend": "illegal_transition",
};

describe("each method", () => {
	test.each(Object.keys(CALLS))("%s", async (name) => {
		const scene = await makeScene();
		const one = CALLS[name] as Call;
		const good = one.good(scene);
		const answer = await tryCall(scene, one, good);
		expect(answer instanceof SluiceError ? answer.code : "answered").toBe(REFUSED[name] ?? "answered");
		const places = good.map((value, index) => fc.oneof(wild, spoilt(value)).map((bad) => ({ index, bad })));
		await fc.assert(
			fc.asyncProperty(fc.oneof(...places), async ({ index, bad }) => {
				const args = good.map((value, at) => (at === index ? bad.value : value));
				const said = [...one.said, ...keysOf(bad.value), ...(bad.trap ? ["params", "options", "facts", "run", "id"] : [])];
				await tryCall(scene, { ...one, said }, args);
				// And it goes on.
				await scene.t.sluice.tick();
				expect((await scene.t.sluice.list({ all: true })).length).toBeGreaterThan(0);
			}),
			{ numRuns: 25 },
		);
		const fresh = await scene.t.add();
		await scene.t.sluice.resume();
		await scene.t.sluice.runNow(fresh);
		expect(await scene.t.start()).toContain(fresh);
		expect((await scene.t.reopen()).sluice.config().max_concurrent).toBe(50);
	});
});

describe("numbers of jobs", () => {
	const METHODS = ["cancel", "retry", "rerun", "promote", "demote", "runNow", "approve", "reject", "show", "why", "history"] as const;
	test.each(METHODS)("%s of one that is not there", async (name) => {
		const { t } = await makeScene();
		for (const id of [100, 999_999_999, Number.MAX_SAFE_INTEGER]) {
			const error = await (t.sluice[name] as (id: number) => Promise<unknown>)(id).catch((error: unknown) => error);
			expect(error).toMatchObject({ code: "not_found", field: "id", message: `there is no job ${id}` });
			expect((error as SluiceError).hint).toBeTruthy();
		}
	});
});

describe("what is written down is what was meant", () => {
	const refused = async (promise: Promise<unknown>, field: string) => {
		const error = await promise.then(
			(answer) => expect.fail(`accepted: ${JSON.stringify(answer)}`),
			(error: unknown) => error,
		);
		const complaint = fault(error, [field]);
		if (complaint !== undefined) expect.fail(complaint);
	};
	const any = (value: unknown) => value as never;

	test.each([Number.NaN, "tomorrow", -1, {}, null, 1.5])("pause until %s", async (until) => {
		const { t } = await makeScene();
		await refused(t.sluice.pause({}, { until: any(until) }), "until");
	});
	test.each([{}, 5, "", "a\nb", ["ann"], "x".repeat(10_000), "\ud800"])("by %j", async (by) => {
		const { t, waiting } = await makeScene();
		await refused(t.sluice.promote(waiting, { by: any(by) }), "by");
		await refused(t.sluice.add({ command: ["x"] }, { by: any(by) }), "by");
		await refused(t.sluice.apply({ jobs: [{ command: ["x"] }] }, { by: any(by) }), "by");
	});
	test.each([{}, 5, ["why"], "x".repeat(2_000_000), "\ud800"])("reason %#", async (reason) => {
		const { t, waiting } = await makeScene();
		await refused(t.sluice.cancel(waiting, { reason: any(reason) }), "reason");
		await refused(t.sluice.pause({}, { reason: any(reason) }), "reason");
	});
	test.each([
		[{ until: Number.NaN }, "until"],
		[{ until: "soon" }, "until"],
		[{ retry_after_ms: -1 }, "retry_after_ms"],
		[{ retry_after_ms: "1s" }, "retry_after_ms"],
		[{ closed: 5 }, "closed"],
		[{ untl: 5 }, "untl"],
		[null, "report"],
		[5, "report"],
	])("limit %j", async (report, field) => {
		const { t } = await makeScene();
		await refused(t.sluice.limit("work", any(report)), field);
	});
	test.each([
		["item:inline:CARD-1", { open: true, blocked_by: 5 }],
		["item:inline:CARD-1", { open: true, blocked_by: "2" }],
		["item:inline:CARD-1", { open: "yes" }],
		["item:inline:CARD-1", () => 1],
		["artifact:file:x", 5],
		["artifact:file:x", { error: 5 }],
		["artifact:file:x", undefined],
		["head:web:main", ["abcd"]],
		["", true],
	])("observe %s: %j", async (key, value) => {
		const { t, watch } = await makeScene();
		const before = watch.text();
		await refused(t.sluice.observe({ [key]: any(value) }), "facts");
		expect(watch.text()).toBe(before);
	});
	test("a host that answers nonsense keeps nobody but its own jobs from going on", async () => {
		const { t } = await makeScene();
		for (const [at, nonsense] of [
			{ open: true, blocked_by: 5 },
			{ open: true, blocked_by: "2" },
			5,
			[],
			{ error: { a: 1 } },
			{ error: 7 },
			Symbol("s"),
		].entries()) {
			t.host.facts.set(`item:inline:X-${at}`, any(nonsense));
			t.host.facts.set(`artifact:file:x${at}`, any(nonsense));
			await t.sluice
				.add({ command: ["x"], item: `X-${at}`, needs: [`file:x${at}`] })
				.catch((error: unknown) => expectTyped(error, ["item", "needs", "facts"]));
			await t.sluice.tick();
			const free = await t.add();
			expect(await t.start()).toContain(free);
		}
	});
	test.each([
		[[{ run: "1.1", state: "exited", exit_code: "x" }], "found[0].exit_code"],
		[[{ run: "1.1", state: "exited", exit_code: Number.NaN }], "found[0].exit_code"],
		[[{ run: 5, state: "alive" }], "found[0].run"],
		[[{ run: "1.1", state: "asleep" }], "found[0].state"],
		[[null], "found[0]"],
		["1.1", "found"],
		[null, "found"],
	])("recover %j", async (found, field) => {
		const { t } = await makeScene();
		await refused(t.sluice.recover(any(found)), field);
	});
	test.each([
		[{ usage: 5 }, "usage"],
		[{ usage: [1] }, "usage"],
		[{ usage: { tokens: 1.5 } }, "usage.tokens"],
		[{ reboot: "yes" }, "reboot"],
		[{ exit_kind: "exploded" }, "exit_kind"],
		[{ tokens: 5 }, "tokens"],
	])("complete %j", async (more, field) => {
		const { t, running } = await makeScene();
		await refused(t.sluice.complete({ ...running, exit_kind: "completed", ...(more as object) }), field);
		expect(await t.status(running.job)).toBe("running");
	});
	test.each([
		[{ limt: 5 }, "limt"],
		[{ limit: 5, windw: "day" }, "windw"],
		[null, "grant"],
		[{ limit: "5" }, "limit"],
	])("grant %j", async (grant, field) => {
		const { t } = await makeScene();
		await refused(t.sluice.grant("owner:ann", "tokens", any(grant)), field);
	});
	test("a grant may take a stop back", async () => {
		const { t, running } = await makeScene();
		await t.sluice.grant("owner:ann", "tokens", { limit: 100, on_breach: "stop" });
		await t.sluice.grant("owner:ann", "tokens", { limit: 100, on_breach: "finish" });
		await t.sluice.charge("owner:ann", "tokens", 500);
		expect(await t.sluice.extend(running)).toMatchObject({ cancel_requested: false });
	});
	test("charges stay whole numbers, however large", async () => {
		const { t } = await makeScene();
		for (let times = 0; times < 3; times++) await t.sluice.charge("owner:ann", "tokens", Number.MAX_SAFE_INTEGER).catch(() => {});
		const [ledger] = await t.sluice.ledgers("owner:ann");
		expect(Number.isSafeInteger(ledger?.used)).toBe(true);
	});
	test("list of no filter at all, and of one that is none", async () => {
		const { t } = await makeScene();
		await refused(t.sluice.list(any(null)), "filter");
		await refused(t.sluice.list(any(5)), "filter");
		await refused(t.sluice.list(any({ lanes: "x" })), "lanes");
	});
	test("what config() gives cannot be changed behind its back", async () => {
		const { t } = await makeScene();
		const config = t.sluice.config() as { max_concurrent: number };
		try {
			config.max_concurrent = 1;
		} catch {
			// Frozen is as good as copied.
		}
		expect(t.sluice.config().max_concurrent).toBe(50);
	});
	test("a configuration that could not be recorded is not in force", async () => {
		const path = join(makeFolder(), "sluice.db");
		let broken = false;
		const t = await openStand({
			path,
			fault: (point) => {
				if (broken && point === "commit") throw new Error("no space");
			},
		});
		broken = true;
		await expect(t.sluice.configure({ max_concurrent: 9 })).rejects.toThrow();
		broken = false;
		expect(t.sluice.config().max_concurrent).toBe(4);
	});
});

describe("opening", () => {
	const good = {
		preset: "cards",
		config: { max_concurrent: 2 },
		by: "ann",
		join: { name: "h", labels: ["gpu"], repos: ["web"] },
		drive: "manual",
	};

	test("with anything", async () => {
		const path = join(makeFolder(), "sluice.db");
		await (await openScheduler({ ...good, path } as never)).close();
		await fc.assert(
			fc.asyncProperty(spoilt(good), async ({ value }) => {
				// Some value for one of the options, on a file of our own.
				fc.pre(Object.keys(good).every((key) => keysOf(value).includes(key)));
				const given = { ...(value as object), path };
				try {
					const sluice = await openScheduler(given as never);
					await sluice.status();
					await sluice.close();
				} catch (error) {
					const keys = [...keysOf(value), ...keysOf((value as { config?: unknown }).config)];
					expectTyped(error, ["options", "preset", "config", "by", "join", "drive", "path", "max_concurrent", ...keys]);
				}
			}),
			{ numRuns: 150 },
		);
	});

	test("with a configuration that cannot be looked at", async () => {
		const struck = () => {
			throw new Error("a getter was struck");
		};
		const config = new Proxy({}, { get: struck, ownKeys: struck, getPrototypeOf: struck });
		const error = await openScheduler({ path: ":memory:", drive: "manual", config }).catch((error: unknown) => error);
		expectTyped(error, ["config", "options"]);
	});

	test.each([
		[{ preset: "crads" }, "preset"],
		[{ preset: "toString" }, "preset"],
		[{ config: { max_concurrnt: 1 } }, "max_concurrnt"],
		[{ join: { name: "a b" } }, "join.name"],
		[{ join: { labels: "gpu" } }, "join.labels"],
		[{ join: { repos: [5] } }, "join.repos[0]"],
		[{ by: 5 }, "by"],
		[{ drive: "automatic" }, "drive"],
		[{ pth: "x" }, "pth"],
		[{ path: 5 }, "path"],
		[{ path: undefined }, "path"],
		[{ path: "" }, "path"],
		[{ path: "a\u0000b" }, "path"],
	])("%j", async (more, field) => {
		const folder = makeFolder();
		const error = await openScheduler({ path: join(folder, "sluice.db"), drive: "manual", ...(more as object) } as never).then(
			async (sluice) => {
				await sluice.close();
				return expect.fail("it was opened");
			},
			(error: unknown) => error,
		);
		expectTyped(error, [field]);
	});
});

test("after close every call says that it is closed", async () => {
	const { t, running, waiting } = await makeScene();
	await t.sluice.close();
	const s = t.sluice;
	const calls = [
		() => s.add({ command: ["x"] }),
		() => s.apply({ jobs: [{ command: ["x"] }] }),
		() => s.claim({ worker: "w" }),
		() => s.complete({ ...running, exit_kind: "completed" }),
		() => s.cancel(waiting),
		() => s.list(),
		() => s.plan(),
		() => s.tick(),
		() => s.kernel.list(),
		() => s.gc(),
	];
	for (const one of calls) await expect((async () => one())()).rejects.toMatchObject({ code: "closed" });
	await s.close();
});
