// 004, the kernel's schedule queue, on the preset `kernel`: its acceptance criteria 2 to 7, its errors, and what it left open. Times are epoch seconds.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EnqueueParams, Kernel, ReadyEntry } from "../../src/contracts/scheduler.ts";
import { KERNEL_CODES, KernelError } from "../../src/index.ts";
import { NOON } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";

const NOW = NOON / 1000;

async function open(options: Parameters<typeof openStand>[0] = {}): Promise<{ t: Stand; kernel: Kernel; pid: number }> {
	const t = await openStand({ preset: "kernel", ...options });
	const { kernel } = t.sluice;
	const { pid } = await kernel.agent.create({ name: "researcher" });
	return { t, kernel, pid };
}

const enqueue = async (kernel: Kernel, params: EnqueueParams) => (await kernel.enqueue(params)).sched_id;
const claim = async (kernel: Kernel, max_n = 1000, more: { now?: number; admission_check?: boolean; worker_id?: string } = {}) =>
	(await kernel.claim({ worker_id: "sup-7", max_n, ...more })).entries.map((entry) => entry.sched_id);

/** 004's error number of a refused call. */
async function refusal(call: Promise<unknown>): Promise<number | string> {
	const error = await call.then(
		() => "accepted",
		(error: unknown) => error,
	);
	return error instanceof KernelError ? error.rpc_code : String(error);
}
const ILLEGAL = -32131;
const UNKNOWN_ID = -32132;
const INVALID = -32133;
const BAD_FILTER = -32135;

describe("criterion 2: enqueue, claim, complete, cancel, get, list round trip", () => {
	test("an entry's life: queued, dispatched, completed", async () => {
		const { t, kernel, pid } = await open();
		const sched_id = await enqueue(kernel, {
			pid,
			priority: 5,
			runnable_at: NOW - 10,
			deadline: NOW + 60.5,
			trigger: "cron",
			payload: { tool: "search", steps: [1, 2] },
		});
		const queued: ReadyEntry = {
			sched_id,
			pid,
			priority: 5,
			runnable_at: NOW - 10,
			deadline: NOW + 60.5,
			trigger: "cron",
			payload: { tool: "search", steps: [1, 2] },
			state: "queued",
			worker_id: null,
			created_at: NOW,
			dispatched_at: null,
			completed_at: null,
			exit_kind: null,
		};
		expect(await kernel.get({ sched_id })).toEqual(queued);

		await t.wait(2500);
		const dispatched = { ...queued, state: "dispatched", worker_id: "sup-7", dispatched_at: NOW + 2.5 };
		expect(await kernel.claim({ worker_id: "sup-7" })).toEqual({ entries: [dispatched] });
		expect(await kernel.get({ sched_id })).toEqual(dispatched);

		await t.wait(500);
		expect(await kernel.complete({ sched_id, exit_kind: "completed" })).toEqual({ sched_id, state: "completed", prev_state: "dispatched" });
		const completed = { ...dispatched, state: "completed", completed_at: NOW + 3, exit_kind: "completed" };
		expect(await kernel.get({ sched_id })).toEqual(completed);
		expect(await kernel.list()).toEqual({ entries: [completed], total: 1 });
	});

	test("what is not given has 004's defaults", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		expect(await kernel.get({ sched_id })).toMatchObject({ priority: 0, runnable_at: 0, deadline: null, trigger: "manual", payload: {} });
		expect((await kernel.claim({ worker_id: "w" })).entries).toHaveLength(1);
	});

	test("claim takes one unless told otherwise", async () => {
		const { kernel, pid } = await open();
		for (let n = 0; n < 3; n++) await enqueue(kernel, { pid });
		expect((await kernel.claim({ worker_id: "w" })).entries).toHaveLength(1);
		expect((await kernel.claim({ worker_id: "w", max_n: 5 })).entries).toHaveLength(2);
		expect((await kernel.claim({ worker_id: "w", max_n: 5 })).entries).toEqual([]);
	});

	test.each(["completed", "cancelled", "failed", "crashed"] as const)(
		"complete records %s, and the state is completed",
		async (exit_kind) => {
			const { kernel, pid } = await open();
			const sched_id = await enqueue(kernel, { pid });
			await claim(kernel);
			await kernel.complete({ sched_id, exit_kind });
			expect(await kernel.get({ sched_id })).toMatchObject({ state: "completed", exit_kind });
		},
	);

	test("cancel ends a queued entry", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		expect(await kernel.cancel({ sched_id })).toEqual({ sched_id, state: "cancelled" });
		expect(await kernel.get({ sched_id })).toMatchObject({ state: "cancelled", completed_at: null, exit_kind: null });
		expect(await claim(kernel)).toEqual([]);
	});

	test("list filters by state and pid, and pages with limit and offset", async () => {
		const { kernel, pid } = await open();
		const { pid: other } = await kernel.agent.create({ name: "other" });
		const ids: number[] = [];
		for (let n = 0; n < 130; n++) ids.push(await enqueue(kernel, { pid: n < 125 ? pid : other, priority: n < 3 ? 9 : 0 }));
		const [a, b, c] = await claim(kernel, 3);
		await kernel.complete({ sched_id: b!, exit_kind: "completed" });
		await kernel.cancel({ sched_id: ids[10]! });

		const listed = async (params: Parameters<Kernel["list"]>[0]) => {
			const { entries, total } = await kernel.list(params);
			return { ids: entries.map((entry) => entry.sched_id), total };
		};
		expect(await listed({})).toEqual({ ids: ids.slice(0, 100), total: 130 });
		expect(await listed({ offset: 100 })).toEqual({ ids: ids.slice(100), total: 130 });
		expect(await listed({ limit: 2, offset: 1 })).toEqual({ ids: ids.slice(1, 3), total: 130 });
		expect(await listed({ state: "dispatched" })).toEqual({ ids: [a, c], total: 2 });
		expect(await listed({ state: "completed" })).toEqual({ ids: [b], total: 1 });
		expect(await listed({ state: "cancelled" })).toEqual({ ids: [ids[10]], total: 1 });
		expect(await listed({ state: "expired" })).toEqual({ ids: [], total: 0 });
		expect(await listed({ state: "queued", limit: 1 })).toMatchObject({ total: 126 });
		expect(await listed({ pid: other })).toEqual({ ids: ids.slice(125), total: 5 });
		expect(await listed({ pid: other, state: "completed" })).toEqual({ ids: [], total: 0 });
	});

	test("entries survive a restart", async () => {
		const { t, kernel, pid } = await open({ path: join(makeFolder(), "sluice.db") });
		const [first, second] = [await enqueue(kernel, { pid }), await enqueue(kernel, { pid })];
		await claim(kernel, 1);
		const later = (await t.reopen()).sluice.kernel;
		expect(await later.get({ sched_id: first })).toMatchObject({ state: "dispatched", worker_id: "sup-7" });
		expect(await claim(later)).toEqual([second]);
		expect(await later.agent.get({ pid })).toEqual({ pid, name: "researcher", state: "READY" });
	});
});

describe("criterion 3: two workers never get the same entry, and none is lost", () => {
	const N = 300;

	/** Claims one at a time until nothing is left. */
	async function drain(kernel: Kernel, worker_id: string): Promise<number[]> {
		const got: number[] = [];
		for (;;) {
			const { entries } = await kernel.claim({ worker_id, max_n: 1 });
			if (entries.length === 0) return got;
			got.push(...entries.map((entry) => entry.sched_id));
		}
	}

	test("two workers of one process", async () => {
		const { kernel, pid } = await open();
		const ids = await Promise.all(Array.from({ length: N }, () => enqueue(kernel, { pid })));
		const [a, b] = await Promise.all([drain(kernel, "a"), drain(kernel, "b")]);
		expect(a.length + b.length).toBe(N);
		expect(new Set([...a, ...b])).toEqual(new Set(ids));
		expect(Math.min(a.length, b.length)).toBeGreaterThan(0);
	});

	test("two connections to one file", async () => {
		const path = join(makeFolder(), "sluice.db");
		const { t, kernel, pid } = await open({ path });
		const second = await openStand({ preset: "kernel", path, clock: t.clock });
		const ids = await Promise.all(Array.from({ length: N }, () => enqueue(kernel, { pid })));
		const [a, b] = await Promise.all([drain(kernel, "a"), drain(second.sluice.kernel, "b")]);
		expect(a.length + b.length).toBe(N);
		expect(new Set([...a, ...b])).toEqual(new Set(ids));
		expect(Math.min(a.length, b.length)).toBeGreaterThan(0);
		const { entries } = await kernel.list({ state: "dispatched", limit: N });
		expect(entries.filter((entry) => entry.worker_id === "a").map((entry) => entry.sched_id)).toEqual(a.sort((x, y) => x - y));
	});
});

describe("criterion 4: an entry is invisible before runnable_at", () => {
	test("until the time has passed", async () => {
		const { t, kernel, pid } = await open();
		const later = await enqueue(kernel, { pid, runnable_at: NOW + 30, priority: 100 });
		const now = await enqueue(kernel, { pid });
		expect(await claim(kernel)).toEqual([now]);
		await t.wait(29_999);
		expect(await claim(kernel)).toEqual([]);
		await t.wait(1);
		expect(await claim(kernel)).toEqual([later]);
	});

	test("by the caller's clock, when it brings one", async () => {
		const { kernel, pid } = await open();
		const [soon, later] = [await enqueue(kernel, { pid, runnable_at: NOW + 30 }), await enqueue(kernel, { pid, runnable_at: NOW + 60 })];
		expect(await claim(kernel, 10, { now: NOW + 29 })).toEqual([]);
		expect(await claim(kernel, 10, { now: NOW + 30 })).toEqual([soon]);
		expect(await claim(kernel, 10, { now: NOW + 59.999 })).toEqual([]);
		expect(await claim(kernel, 10, { now: NOW + 60 })).toEqual([later]);
	});

	test("what one caller's clock sees is still invisible to others", async () => {
		const { kernel, pid } = await open();
		const [a, b] = [await enqueue(kernel, { pid, runnable_at: NOW + 30 }), await enqueue(kernel, { pid, runnable_at: NOW + 30 })];
		expect(await claim(kernel, 1, { now: NOW + 30 })).toEqual([a]);
		expect(await claim(kernel)).toEqual([]);
		expect(await claim(kernel, 10, { now: NOW + 30 })).toEqual([b]);
	});

	test("a clock that runs behind sees less, and takes nothing away", async () => {
		const { kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, runnable_at: NOW - 10 });
		expect(await claim(kernel, 10, { now: NOW - 11 })).toEqual([]);
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "queued" });
		expect(await claim(kernel)).toEqual([entry]);
	});
});

describe("criterion 5: past its deadline an entry is invisible, and gc_expired sweeps it", () => {
	test("invisible first, swept when asked", async () => {
		const { t, kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, deadline: NOW + 30 });
		await t.wait(30_000);
		// At the deadline itself it can no longer be claimed (deadline > now), nor is it past it yet (deadline < now).
		expect(await claim(kernel)).toEqual([]);
		expect(await kernel.gcExpired()).toEqual({ swept: 0 });
		await t.wait(1);
		expect(await claim(kernel)).toEqual([]);
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "queued" });
		expect(await kernel.gcExpired()).toEqual({ swept: 1 });
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "expired", worker_id: null });
		expect(await kernel.gcExpired()).toEqual({ swept: 0 });
	});

	test("only gc_expired expires: time alone does not", async () => {
		const { t, kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, deadline: NOW + 30 });
		await t.wait(3_600_000);
		await t.start();
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "queued" });
	});

	test("by the caller's clock, when it brings one", async () => {
		const { kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, deadline: NOW + 30 });
		expect(await claim(kernel, 10, { now: NOW + 31 })).toEqual([]);
		expect(await kernel.gcExpired({ now: NOW + 30 })).toEqual({ swept: 0 });
		expect(await kernel.gcExpired({ now: NOW + 31 })).toEqual({ swept: 1 });
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "expired" });
	});

	test("an entry that was late by the caller's clock can still be claimed by ours", async () => {
		const { kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, deadline: NOW + 30 });
		expect(await claim(kernel, 10, { now: NOW + 31 })).toEqual([]);
		expect(await claim(kernel)).toEqual([entry]);
	});

	test("a dispatched entry is never swept by its deadline", async () => {
		const { t, kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid, deadline: NOW + 30 });
		await claim(kernel);
		await t.wait(60_000);
		expect(await kernel.gcExpired()).toEqual({ swept: 0 });
		expect(await kernel.get({ sched_id: entry })).toMatchObject({ state: "dispatched" });
	});
});

describe("criterion 6: order", () => {
	test("higher priority, then earlier runnable_at, then lower sched_id", async () => {
		const { kernel, pid } = await open();
		const ids: Record<string, number> = {};
		const add = async (name: string, priority: number, runnable_at: number) => {
			ids[name] = await enqueue(kernel, { pid, priority, runnable_at });
		};
		await add("low", -5, 0);
		await add("plain", 0, 50);
		await add("earlier", 0, 40);
		await add("twin 1", 0, 45);
		await add("twin 2", 0, 45);
		await add("high", 10, NOW);
		await add("fraction", 0, 44.999);
		const names = Object.keys(ids);
		const order = (await claim(kernel)).map((id) => names.find((name) => ids[name] === id));
		expect(order).toEqual(["high", "earlier", "fraction", "twin 1", "twin 2", "plain", "low"]);
	});

	test("over several agents, and however long an entry has waited", async () => {
		const { t, kernel, pid } = await open();
		const { pid: other } = await kernel.agent.create({ name: "other" });
		const old = await enqueue(kernel, { pid, priority: 1 });
		await t.wait(48 * 3_600_000);
		const urgent = [await enqueue(kernel, { pid: other, priority: 2 }), await enqueue(kernel, { pid, priority: 2 })];
		expect(await claim(kernel)).toEqual([...urgent, old]);
	});
});

describe("criterion 7: admission", () => {
	test("entries of an owner over its limit are skipped, and stay queued", async () => {
		const { kernel, pid } = await open();
		const { pid: rich } = await kernel.agent.create({ name: "rich" });
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 100 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 101 });
		const [poor, free] = [await enqueue(kernel, { pid, priority: 9 }), await enqueue(kernel, { pid: rich })];
		const before = await kernel.get({ sched_id: poor });
		expect(await claim(kernel)).toEqual([free]);
		expect(await kernel.get({ sched_id: poor })).toEqual(before);
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 200 });
		expect(await claim(kernel)).toEqual([poor]);
	});

	test("at its limit is not over it", async () => {
		const { kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 100 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 100 });
		const entry = await enqueue(kernel, { pid });
		expect(await claim(kernel)).toEqual([entry]);
	});

	test("any dimension over its limit is enough", async () => {
		const { kernel, pid } = await open();
		for (const dim of ["tokens", "cost", "wall"]) await kernel.ledger.grant({ pid, dim, limit: 10 });
		await kernel.ledger.charge({ pid, dim: "wall", amount: 11 });
		await enqueue(kernel, { pid });
		expect(await claim(kernel)).toEqual([]);
	});

	test("admission_check: false looks past the ledger", async () => {
		const { kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 0 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 1 });
		const entries = [await enqueue(kernel, { pid }), await enqueue(kernel, { pid })];
		expect(await claim(kernel)).toEqual([]);
		expect(await claim(kernel, 10, { admission_check: false })).toEqual(entries);
	});

	test("the scheduler only reads the ledger: a run is never charged", async () => {
		const { t, kernel, pid } = await open();
		for (const dim of ["runs", "wall_s"]) await kernel.ledger.grant({ pid, dim, limit: 10 });
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel);
		await t.wait(60_000);
		await kernel.complete({ sched_id, exit_kind: "completed" });
		expect((await kernel.ledger.get({ pid })).map((ledger) => ledger.used)).toEqual([0, 0]);
	});

	test("an entry that is skipped can be cancelled, or expires", async () => {
		const { t, kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 0 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 1 });
		const [a, b] = [await enqueue(kernel, { pid }), await enqueue(kernel, { pid, deadline: NOW + 1 })];
		await kernel.cancel({ sched_id: a });
		await t.wait(2_000);
		expect(await kernel.gcExpired()).toEqual({ swept: 1 });
		expect((await kernel.get({ sched_id: b })).state).toBe("expired");
	});
});

describe("errors", () => {
	test("have 004's numbers", () => {
		expect(KERNEL_CODES).toEqual({
			kernel_sched_illegal_transition: -32131,
			kernel_sched_unknown_id: -32132,
			kernel_sched_invalid_payload: -32133,
			kernel_sched_admission_denied: -32134,
			kernel_sched_invalid_state_filter: -32135,
		});
	});

	/** Entries in every state. */
	async function oneOfEach(t: Stand, kernel: Kernel, pid: number): Promise<Record<ReadyEntry["state"], number>> {
		const expired = await enqueue(kernel, { pid, deadline: NOW + 1 });
		await t.wait(2_000);
		await kernel.gcExpired();
		const completed = await enqueue(kernel, { pid });
		await claim(kernel);
		await kernel.complete({ sched_id: completed, exit_kind: "completed" });
		const dispatched = await enqueue(kernel, { pid });
		await claim(kernel);
		const cancelled = await enqueue(kernel, { pid });
		await kernel.cancel({ sched_id: cancelled });
		return { expired, completed, dispatched, cancelled, queued: await enqueue(kernel, { pid }) };
	}

	test("complete works from dispatched only, cancel from queued only; all else is an illegal transition", async () => {
		const { t, kernel, pid } = await open();
		const ids = await oneOfEach(t, kernel, pid);
		for (const state of ["queued", "completed", "expired", "cancelled"] as const)
			expect([state, await refusal(kernel.complete({ sched_id: ids[state], exit_kind: "completed" }))]).toEqual([state, ILLEGAL]);
		for (const state of ["dispatched", "completed", "expired", "cancelled"] as const)
			expect([state, await refusal(kernel.cancel({ sched_id: ids[state] }))]).toEqual([state, ILLEGAL]);
		for (const [state, sched_id] of Object.entries(ids)) expect((await kernel.get({ sched_id })).state).toBe(state);
	});

	test("an id that nobody has is unknown", async () => {
		const { t, kernel } = await open();
		const calls = [
			kernel.get({ sched_id: 99 }),
			kernel.cancel({ sched_id: 99 }),
			kernel.complete({ sched_id: 99, exit_kind: "completed" }),
			kernel.extend({ sched_id: 99, worker_id: "w" }),
		];
		for (const call of calls) expect(await refusal(call)).toBe(UNKNOWN_ID);
		// A job of another kind is no entry.
		expect(await refusal(kernel.get({ sched_id: await t.add() }))).toBe(UNKNOWN_ID);
	});

	const bad: [string, Record<string, unknown>][] = [
		["a fractional priority", { priority: 1.5 }],
		["a priority that is no number", { priority: "9" }],
		["a priority of NaN", { priority: Number.NaN }],
		["an empty trigger", { trigger: "" }],
		["a trigger that is no text", { trigger: 7 }],
		["a payload that is no object", { payload: "do it" }],
		["a payload that is a list", { payload: [1] }],
		["a payload that JSON cannot carry", { payload: { call: () => 1 } }],
		["a runnable_at that is no number", { runnable_at: "soon" }],
		["a negative runnable_at", { runnable_at: -1 }],
		["an infinite deadline", { deadline: Number.POSITIVE_INFINITY }],
		["a key that nobody knows", { prioritiy: 1 }],
		["a pid that is no number", { pid: "1" }],
		["a pid that nobody has", { pid: 99 }],
	];
	test.each(bad)("enqueue refuses %s, and stores nothing", async (_what, params) => {
		const { kernel, pid } = await open();
		expect(await refusal(kernel.enqueue({ pid, ...params } as EnqueueParams))).toBe(INVALID);
		expect(await kernel.list()).toEqual({ entries: [], total: 0 });
	});

	test("enqueue refuses a DEAD owner", async () => {
		const { kernel, pid } = await open();
		await kernel.agent.transition({ pid, to: "DEAD" });
		expect(await refusal(kernel.enqueue({ pid }))).toBe(INVALID);
		expect(await refusal(kernel.enqueueUnique({ pid, dedupe_by: ["pid"] }))).toBe(INVALID);
	});

	test("bad parameters of the other calls are refused too", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel);
		const calls: [string, () => Promise<unknown>][] = [
			["claim without a worker", () => kernel.claim({} as { worker_id: string })],
			["claim of -1", () => kernel.claim({ worker_id: "w", max_n: -1 })],
			["claim of 1.5", () => kernel.claim({ worker_id: "w", max_n: 1.5 })],
			["claim at a time that is none", () => kernel.claim({ worker_id: "w", now: Number.NaN })],
			["complete with another exit kind", () => kernel.complete({ sched_id, exit_kind: "timeout" as "failed" })],
			["complete without an id", () => kernel.complete({ exit_kind: "failed" } as { sched_id: number; exit_kind: "failed" })],
			["gc_dispatched without a time", () => kernel.gcDispatched({} as { stale_seconds: number })],
			["list with a negative limit", () => kernel.list({ limit: -1 })],
			["charge of a fraction", () => kernel.ledger.charge({ pid, dim: "tokens", amount: 0.5 })],
			["charge of less than nothing", () => kernel.ledger.charge({ pid, dim: "tokens", amount: -1 })],
		];
		for (const [what, call] of calls) expect([what, await refusal(call())]).toEqual([what, INVALID]);
		expect((await kernel.get({ sched_id })).state).toBe("dispatched");
	});

	test.each(["running", "QUEUED", "", "succeeded"])("list refuses the state filter %j", async (state) => {
		const { kernel } = await open();
		expect(await refusal(kernel.list({ state }))).toBe(BAD_FILTER);
	});

	test("with kernel.enabled off all of it is hidden", async () => {
		const t = await openStand({ preset: "kernel", config: { kernel: { enabled: false } } });
		await expect(t.sluice.kernel.agent.create({ name: "a" })).rejects.toMatchObject({ code: "not_found" });
		await expect(t.sluice.kernel.claim({ worker_id: "w" })).rejects.toMatchObject({ code: "not_found" });
	});
});

describe("workers", () => {
	test("complete by another worker than the one that claimed is an illegal transition", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel, 1, { worker_id: "a" });
		expect(await refusal(kernel.complete({ sched_id, exit_kind: "completed", worker_id: "b" }))).toBe(ILLEGAL);
		expect((await kernel.get({ sched_id })).state).toBe("dispatched");
		await kernel.complete({ sched_id, exit_kind: "completed", worker_id: "a" });
	});

	test("gc_dispatched gives entries of silent workers back to the queue", async () => {
		const { t, kernel, pid } = await open();
		const [silent, alive] = [await enqueue(kernel, { pid }), await enqueue(kernel, { pid })];
		await claim(kernel, 2, { worker_id: "a" });
		await t.wait(50_000);
		expect(await kernel.extend({ sched_id: alive, worker_id: "a" })).toEqual({ sched_id: alive, cancel_requested: false });
		await t.wait(10_000);
		expect(await kernel.gcDispatched({ stale_seconds: 61 })).toEqual({ swept: 0 });
		expect(await kernel.gcDispatched({ stale_seconds: 30 })).toEqual({ swept: 1 });
		expect(await kernel.get({ sched_id: silent })).toMatchObject({ state: "queued", worker_id: null, dispatched_at: null });
		expect(await kernel.get({ sched_id: alive })).toMatchObject({ state: "dispatched" });
		expect(await claim(kernel, 10, { worker_id: "b" })).toEqual([silent]);
		// The silent one comes back from the dead: its entry has moved on.
		expect(await refusal(kernel.complete({ sched_id: silent, exit_kind: "completed", worker_id: "a" }))).toBe(ILLEGAL);
	});

	test("extend belongs to the worker that claimed", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		expect(await refusal(kernel.extend({ sched_id, worker_id: "a" }))).toBe(ILLEGAL);
		await claim(kernel, 1, { worker_id: "a" });
		expect(await refusal(kernel.extend({ sched_id, worker_id: "b" }))).toBe(ILLEGAL);
	});

	test("an operator's cancel of a dispatched entry is a request that extend tells of", async () => {
		const { t, kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel, 1, { worker_id: "a" });
		expect(await t.sluice.cancel(sched_id)).toEqual({ cancelled: [], requested: [sched_id] });
		expect(await kernel.extend({ sched_id, worker_id: "a" })).toEqual({ sched_id, cancel_requested: true });
		await kernel.complete({ sched_id, exit_kind: "cancelled", worker_id: "a" });
		expect(await kernel.get({ sched_id })).toMatchObject({ state: "completed", exit_kind: "cancelled" });
	});
});

describe("a queue of its own", () => {
	test("outside max_concurrent, safety cap, pauses and backpressure", async () => {
		const { t, kernel, pid } = await open({ config: { max_concurrent: 1, safety_cap: 1, queue: { soft_limit: 1, hard_limit: 2 } } });
		const job = await t.add();
		await t.start();
		await t.sluice.pause();
		const entries: number[] = [];
		for (let n = 0; n < 10; n++) entries.push(await enqueue(kernel, { pid }));
		expect(await claim(kernel)).toEqual(entries);
		expect((await t.sluice.status()).running).toBe(1);
		expect((await t.tryAdd()).outcome).toBe("queued");
		expect(await t.status(job)).toBe("running");
	});

	test("jobs are not claimed by kernel.claim, nor entries by claim", async () => {
		const { t, kernel, pid } = await open();
		const entry = await enqueue(kernel, { pid });
		const job = await t.add({ payload: { kind: "job" } });
		expect(await t.start()).toEqual([job]);
		expect(await claim(kernel)).toEqual([entry]);
	});

	test("no retries: a failed entry stays where it is", async () => {
		const { t, kernel, pid } = await open({ config: { retry: 5 } });
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel);
		await kernel.complete({ sched_id, exit_kind: "crashed" });
		await t.wait(3_600_000);
		expect(await claim(kernel)).toEqual([]);
	});
});

describe("enqueue_unique", () => {
	test("gives the queued entry that is there already", async () => {
		const { kernel, pid } = await open();
		const { pid: other } = await kernel.agent.create({ name: "other" });
		const unique = (pid: number, trigger: string) => kernel.enqueueUnique({ pid, trigger, dedupe_by: ["pid", "trigger"] });
		const first = await unique(pid, "cron");
		expect(first.created).toBe(true);
		expect(await unique(pid, "cron")).toEqual({ sched_id: first.sched_id, created: false });
		expect((await unique(pid, "event")).created).toBe(true);
		expect((await unique(other, "cron")).created).toBe(true);
		await claim(kernel, 1);
		expect((await unique(pid, "cron")).created).toBe(true);
	});

	test("many at once make one", async () => {
		const { kernel, pid } = await open();
		const results = await Promise.all(
			Array.from({ length: 50 }, () => kernel.enqueueUnique({ pid, trigger: "cron", dedupe_by: ["pid", "trigger"] })),
		);
		expect(results.filter((result) => result.created)).toHaveLength(1);
		expect(new Set(results.map((result) => result.sched_id)).size).toBe(1);
	});
});

describe("agents", () => {
	test("are created READY, move between states, and stay DEAD", async () => {
		const { kernel, pid } = await open();
		expect(await kernel.agent.get({ pid })).toEqual({ pid, name: "researcher", state: "READY" });
		expect(await kernel.agent.transition({ pid, to: "RUNNING" })).toEqual({ pid, state: "RUNNING", prev_state: "READY" });
		for (const to of ["WAITING", "SUSPENDED", "READY", "DEAD"] as const) await kernel.agent.transition({ pid, to });
		expect(await refusal(kernel.agent.transition({ pid, to: "READY" }))).toBe(ILLEGAL);
		expect(await refusal(kernel.agent.transition({ pid, to: "ZOMBIE" as "DEAD" }))).toBe(INVALID);
		expect(await refusal(kernel.agent.get({ pid: 99 }))).toBe(INVALID);
	});

	test("keep their state through claim and complete: the supervisor moves them", async () => {
		const { kernel, pid } = await open();
		const sched_id = await enqueue(kernel, { pid });
		await claim(kernel);
		expect(await kernel.agent.get({ pid })).toMatchObject({ state: "READY" });
		await kernel.agent.transition({ pid, to: "RUNNING" });
		await kernel.complete({ sched_id, exit_kind: "completed" });
		expect(await kernel.agent.get({ pid })).toMatchObject({ state: "RUNNING" });
	});

	test("creating one enqueues nothing, and pids are never used twice", async () => {
		const { kernel, pid } = await open();
		await kernel.agent.transition({ pid, to: "DEAD" });
		const { pid: next } = await kernel.agent.create({ name: "researcher" });
		expect(next).toBeGreaterThan(pid);
		expect((await kernel.agent.list()).map((agent) => [agent.pid, agent.state])).toEqual([
			[pid, "DEAD"],
			[next, "READY"],
		]);
		expect((await kernel.list()).total).toBe(0);
	});
});

describe("ledgers", () => {
	test("charge tells when the warning mark and the limit are passed, once each", async () => {
		const { kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 100 });
		const charge = (amount: number) => kernel.ledger.charge({ pid, dim: "tokens", amount });
		expect(await charge(79)).toEqual({ used: 79, limit: 100, over_limit: false, warned: false, first_breach: false });
		expect(await charge(1)).toEqual({ used: 80, limit: 100, over_limit: false, warned: true, first_breach: false });
		expect(await charge(20)).toEqual({ used: 100, limit: 100, over_limit: false, warned: false, first_breach: false });
		expect(await charge(1)).toEqual({ used: 101, limit: 100, over_limit: true, warned: false, first_breach: true });
		expect(await charge(1)).toEqual({ used: 102, limit: 100, over_limit: true, warned: false, first_breach: false });
	});

	test("refund gives back, never below nothing", async () => {
		const { kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 100 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 150 });
		expect(await kernel.ledger.refund({ pid, dim: "tokens", amount: 60 })).toMatchObject({ used: 90, limit: 100, over_limit: false });
		expect(await kernel.ledger.refund({ pid, dim: "tokens", amount: 900 })).toMatchObject({ used: 0 });
	});

	test("check asks without charging", async () => {
		const { kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 100 });
		expect(await kernel.ledger.check({ pid, dim: "tokens", amount: 100 })).toEqual({ would_exceed: false });
		expect(await kernel.ledger.check({ pid, dim: "tokens", amount: 101 })).toEqual({ would_exceed: true });
		expect(await kernel.ledger.check({ pid, dim: "unheard-of", amount: 1e9 })).toEqual({ would_exceed: false });
		expect((await kernel.ledger.get({ pid }))[0]).toMatchObject({ used: 0 });
	});

	test("get and list_breached show them", async () => {
		const { kernel, pid } = await open();
		const { pid: other } = await kernel.agent.create({ name: "other" });
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 10 });
		await kernel.ledger.grant({ pid: other, dim: "tokens", limit: 10, warn_at: 0.5 });
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 11 });
		expect(await kernel.ledger.get({ pid: other })).toEqual([
			{ subject: `pid:${other}`, dim: "tokens", used: 0, limit: 10, warn_at: 0.5, window: null, over_limit: false },
		]);
		expect((await kernel.ledger.listBreached()).map((ledger) => [ledger.subject, ledger.dim, ledger.used])).toEqual([
			[`pid:${pid}`, "tokens", 11],
		]);
	});

	test("a window starts anew by itself", async () => {
		const { t, kernel, pid } = await open();
		await kernel.ledger.grant({ pid, dim: "tokens", limit: 10, window: "hour" });
		await t.wait(59 * 60_000);
		await kernel.ledger.charge({ pid, dim: "tokens", amount: 11 });
		const entry = await enqueue(kernel, { pid });
		expect(await claim(kernel)).toEqual([]);
		await t.wait(60_000);
		expect(await claim(kernel)).toEqual([entry]);
		expect((await kernel.ledger.get({ pid }))[0]).toMatchObject({ used: 0, over_limit: false });
	});
});
