// edit: any field of a waiting job, checked as `add` checks it.

import { describe, expect, test } from "vitest";
import { CONFIG, FIELDS } from "../../../test/fuzz/job-fields.ts";
import { HOUR, MINUTE } from "../../../test/make/fakes.ts";
import { openStand, type Stand } from "../../../test/make/stand.ts";
import { INPUT_KEYS } from "../../core/schema/job.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { type JobInput, JsonText } from "../../index.ts";

const FIXED = ["item", "source", "parent", "trigger", "recipe", "vars"] as const;
/** The job without what it has waited for, and without who holds it. */
const seen = async (t: Stand, id: number) => {
	const { waited_on: _, hold, ...view } = await t.show(id);
	return { ...view, hold: hold !== undefined };
};
const stand = async (): Promise<Stand> => {
	const t = await openStand({ config: CONFIG, join: { name: "h", labels: ["gpu"] } });
	for (const name of ["first", "second"]) await t.add({ name });
	return t;
};

describe("each field: set, the job is what `add` would have made; unset, it is as before", () => {
	test.each(INPUT_KEYS.filter((key) => !isOneOf(key, FIXED)))("%s", async (key) => {
		const { good, with: base = {} } = FIELDS[key];
		const work = base.agent === undefined ? { command: ["other"] } : { prompt: "other" };
		const plain: JobInput = { ...work, ...(key === "needs" ? { on_missing: "wait" } : {}), ...base };
		const { command, ...rest } = plain;
		const whole: JobInput = { ...(key === "agent" ? rest : plain), [key]: good };
		const [t, fresh] = [await stand(), await stand()];
		const id = await t.add(plain);
		const before = await seen(t, id);
		const { changed, fields } = await t.sluice.edit(id, { set: { [key]: good } });
		expect(await seen(t, id)).toEqual(await seen(fresh, await fresh.add(whole)));
		// `parallelizable: true`, `raw: false` and the like are what the job had.
		if (changed.length > 0) expect(changed).toContain(key);
		expect((await t.sluice.edit(id, { set: fields })).changed).toEqual([]);
		if (Object.hasOwn(plain, key) || key === "agent") return;
		expect((await t.sluice.edit(id, { unset: [key] })).changed).toEqual(changed);
		expect(await seen(t, id)).toEqual(before);
	});
});

test("the fields that say what a job is cannot be changed", async () => {
	const t = await openStand();
	const id = await t.add();
	for (const key of FIXED) {
		const value = key === "vars" ? {} : key === "parent" ? 1 : "x";
		await expect(t.sluice.edit(id, { set: { [key]: value } })).rejects.toMatchObject({ code: "invalid", field: key });
	}
	const child = await t.add({ parent: id, item: "i", source: "cards", trigger: "cron" });
	for (const key of ["parent", "item", "source", "trigger"])
		await expect(t.sluice.edit(child, { unset: [key] })).rejects.toMatchObject({ code: "invalid", field: key });
	expect((await t.sluice.edit(child, { set: { parent: id, item: "i", source: "cards", trigger: "cron" } })).changed).toEqual([]);
});

test("the history says who changed which fields, and no values", async () => {
	const t = await openStand({ config: { lanes: { default: {}, slow: {} } } });
	const id = await t.add();
	const { job, changed } = await t.sluice.edit(id, { set: { env: { API_KEY: "hush" }, lane: "slow", priority: 0 } }, { by: "ann" });
	expect([changed, job.lane]).toEqual([["lane", "env"], "slow"]);
	expect((await t.sluice.history(id)).filter(({ kind }) => kind === "edited")).toMatchObject([
		{ by: "ann", data: { fields: ["lane", "env"] } },
	]);
	expect((await t.sluice.edit(id, { set: { lane: "slow" } })).changed).toEqual([]);
	expect((await t.sluice.history(id)).filter(({ kind }) => kind === "edited")).toHaveLength(1);
	expect((await t.sluice.status()).lanes).toMatchObject({ default: { queued: 0 }, slow: { queued: 1 } });
});

test("it keeps its age, its attempts and its back-off", async () => {
	const t = await openStand();
	const [old, retried] = [await t.add(), await t.add({ retry: { max: 3, base_ms: HOUR, jitter: 0 } })];
	await t.sluice.runNow(retried);
	await t.start(1);
	await t.fail(retried);
	const before = await t.show(old);
	await t.wait(MINUTE);
	await t.add();
	await t.sluice.edit(old, { set: { locks: ["db"], title: "x" } });
	expect((await t.show(old)).ready_at).toBe(before.ready_at);
	await t.sluice.edit(retried, { set: { priority: 100 } });
	expect(await t.show(retried)).toMatchObject({ failures: 1, attempt: 1, priority: 100, backoff_until: expect.any(Number) });
	expect(await t.start(1)).toEqual([old]);
});

test("what keeps it from starting is decided anew: predecessors, locks, times, approval, a hold", async () => {
	const t = await openStand();
	const [first, id] = [await t.add({ requires_approval: true }), await t.add()];
	await t.sluice.edit(id, { set: { after: [first] } });
	expect(await t.status(id)).toBe("waiting_on_deps");
	expect((await t.show(id)).after).toEqual([{ job: first, policy: "success" }]);
	await t.sluice.edit(id, { unset: ["after"], set: { runnable_at: t.clock.now() + HOUR } });
	expect((await t.reasons(id)).map(({ code }) => code)).toEqual(["delayed"]);
	await t.sluice.edit(id, { unset: ["runnable_at"], set: { hold: true, requires_approval: true } }, { by: "ann" });
	expect((await t.reasons(id)).map(({ code }) => code)).toEqual(["held", "approval"]);
	expect((await t.show(id)).hold).toMatchObject({ by: "ann" });
	await t.sluice.edit(id, { unset: ["hold", "requires_approval"] });
	expect(await t.start()).toEqual([id]);
	await t.succeed(id);
	await t.sluice.approve(first);
	expect(await t.start()).toEqual([first]);
});

test("jobs that come after it still do", async () => {
	const t = await openStand();
	const id = await t.add();
	const next = await t.add({ after: [id] });
	await t.sluice.edit(id, { set: { priority: 5, lane: "default", batch: "b" } });
	await t.start();
	await t.succeed(id);
	expect(await t.start()).toEqual([next]);
	expect(await t.sluice.batches()).toMatchObject([{ name: "b", open: 0, total: 1 }]);
});

test("circles, unknown lanes, agents, jobs and fields are refused, and change nothing", async () => {
	const t = await openStand({ agents: () => ["claude"] });
	const id = await t.add({ requires_approval: true });
	const next = await t.add({ after: [id] });
	const last = await t.add({ after: [next] });
	const before = await t.show(id);
	const refused = (fields: Parameters<typeof t.sluice.edit>[1], code: string, field: string) =>
		expect(t.sluice.edit(id, fields)).rejects.toMatchObject({ code, field });
	await refused({ set: { after: [last] } }, "cycle", "after");
	await refused({ set: { after: [id] } }, "cycle", "after");
	await refused({ set: { after: [99] } }, "not_found", "after[0]");
	await refused({ set: { after: ["nobody"] } }, "not_found", "after[0]");
	await refused({ set: { lane: "nope" } }, "not_found", "lane");
	await refused({ set: { agent: "cluade", prompt: "x" } }, "not_found", "agent");
	await refused({ set: { repo: "nope" } }, "not_found", "repo");
	await refused({ set: { priority: "high" as never } }, "invalid", "priority");
	await refused({ set: { prio: 5 } as never }, "unknown_key", "prio");
	await refused({ unset: ["prio"] }, "invalid", "unset");
	await refused({ set: { lane: "default" }, unset: ["lane"] }, "invalid", "unset");
	await refused({ unset: ["command"] }, "invalid", "command");
	await refused({ set: { deadline: t.clock.now() + 1, runnable_at: t.clock.now() + HOUR } }, "invalid", "deadline");
	await refused({ set: { host_labels: ["gpu"] } }, "impossible", "host_labels");
	expect(await t.show(id)).toEqual(before);
});

test("a job that runs or has ended is not edited", async () => {
	const t = await openStand();
	const [ended, runs] = [await t.done(), await t.add()];
	await t.start();
	for (const id of [ended, runs])
		await expect(t.sluice.edit(id, { set: { priority: 1 } })).rejects.toMatchObject({ code: "illegal_transition", field: "id" });
	await expect(t.sluice.edit(99, { set: { priority: 1 } })).rejects.toMatchObject({ code: "not_found" });
});

test("names: taken ones are refused, the old one is free, the new one finds the job", async () => {
	const t = await openStand();
	const [id, other] = [await t.add({ name: "one" }), await t.add({ name: "two" })];
	await expect(t.sluice.edit(id, { set: { name: "two" } })).rejects.toMatchObject({ code: "conflict", field: "name" });
	await t.sluice.edit(id, { set: { name: "three" } });
	expect([await t.sluice.find("three"), await t.sluice.find("two")]).toEqual([id, other]);
	expect(await t.add({ name: "one" })).toBe(other + 1);
	await t.sluice.edit(id, { unset: ["name"] });
	await expect(t.sluice.find("three")).rejects.toMatchObject({ code: "not_found" });
});

test("unique keys: one that another open job has is refused, the old one is free", async () => {
	const t = await openStand();
	const [id] = [await t.add({ unique: { key: "a" } }), await t.add({ unique: { key: "b" } })];
	await expect(t.sluice.edit(id, { set: { unique: { key: "b" } } })).rejects.toMatchObject({ code: "conflict" });
	await t.sluice.edit(id, { set: { unique: { key: "c" } } });
	expect(await t.tryAdd({ unique: { key: "a" } })).toMatchObject({ outcome: "queued" });
	expect(await t.tryAdd({ unique: { key: "c" } })).toEqual({ outcome: "duplicate", job: id });
	await t.sluice.edit(id, { unset: ["unique"] });
	expect(await t.tryAdd({ unique: { key: "c" } })).toMatchObject({ outcome: "queued" });
});

test("a command becomes an agent and back; a lock of its lane goes with the job to another lane", async () => {
	const t = await openStand({ config: { lanes: { default: {}, slow: {} } } });
	const id = await t.add({ command: ["make"], parallelizable: false, serial: "g", locks: ["db:shared"] });
	await t.sluice.edit(id, { set: { agent: "claude", prompt: "fix it", model: "opus", lane: "slow" } });
	const agent = await t.show(id);
	expect(agent).toMatchObject({ kind: "agent", agent: "claude", spec: { prompt: "fix it", model: "opus" } });
	expect(agent.spec.command).toBeUndefined();
	expect(agent.locks).toEqual([
		{ key: "db", mode: "shared" },
		{ key: "serial:g", mode: "exclusive" },
		{ key: "serial:inline::slow", mode: "exclusive" },
	]);
	const { changed } = await t.sluice.edit(id, { set: { command: ["true"] } });
	expect(changed).toEqual(["command", "agent", "prompt", "model"]);
	expect(await t.show(id)).toMatchObject({ kind: "command", spec: { command: ["true"] } });
});

test("a payload stays exact, and an exact one can be set", async () => {
	const t = await openStand();
	const exact = '{"n":12345678901234567890}';
	const id = await t.add({ payload: new JsonText(exact) });
	await t.sluice.edit(id, { set: { priority: 1 } });
	expect((await t.show(id)).spec.payload_json).toBe(exact);
	await t.sluice.edit(id, { set: { payload: new JsonText('{"n":99999999999999999999}') } });
	expect((await t.show(id)).spec.payload_json).toBe('{"n":99999999999999999999}');
	await t.sluice.edit(id, { set: { payload: { n: 1 } } });
	expect((await t.show(id)).spec).toMatchObject({ payload: { n: 1 } });
	expect((await t.show(id)).spec.payload_json).toBeUndefined();
});

test("what was added with force stays possible to edit, as long as that is not touched", async () => {
	const t = await openStand();
	const id = await t.add({ host_labels: ["gpu"] }, { force: true });
	expect((await t.sluice.edit(id, { set: { priority: 5 } })).changed).toEqual(["priority"]);
	await expect(t.sluice.edit(id, { set: { host_labels: ["gpu", "big"] } })).rejects.toMatchObject({ code: "impossible" });
});

test("an edited job of a manifest stays its job: applied again unchanged, nothing happens", async () => {
	const t = await openStand();
	const manifest = { jobs: [{ name: "x", command: ["true"] }] };
	const { jobs } = await t.sluice.apply(manifest);
	await t.sluice.edit(jobs[0] as number, { set: { priority: 5 } });
	expect(await t.sluice.apply(manifest)).toMatchObject({ jobs: [], skipped: [{ name: "x", reason: "exists" }] });
	expect((await t.show(jobs[0] as number)).priority).toBe(5);
});
