// 002, the scheduler of a job DAG, on the preset `dag`: resolution of dependencies and artifacts, pins, locks, wait reasons, rewind, gc, exit codes.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JobInput, Policy, Status } from "../../src/index.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";
import { makeEventsUnreadable, makeUnreadable, writeSpec } from "../make/stores/store-file.ts";

const open = (config: Record<string, unknown> = {}) => openStand({ preset: "dag", config: { repos: { app: {} }, ...config } });

const ACTIVE = ["queued", "waiting_on_deps", "waiting_on_locks", "running"] as const;
const ENDED_BADLY = ["failed", "cancelled", "blocked_by_dependency", "expired"] as const;

/** Brings a new job into a state, by the ways that lead there. */
async function jobIn(t: Stand, state: Status, input: JobInput = {}): Promise<number> {
	switch (state) {
		case "queued":
			return t.add(input);
		case "waiting_on_deps":
			return t.add({ ...input, after: [await t.add()] });
		case "waiting_on_locks": {
			const holder = await t.add({ locks: ["held"] });
			await t.sluice.runNow(holder);
			await t.start(1);
			return t.add({ ...input, locks: ["held"] });
		}
		case "running": {
			const id = await t.add(input);
			await t.sluice.runNow(id);
			await t.start(1);
			return id;
		}
		case "succeeded":
			return t.done(input);
		case "failed":
			return t.done(input, "failed");
		case "cancelled": {
			const id = await t.add(input);
			await t.sluice.cancel(id);
			return id;
		}
		case "blocked_by_dependency":
			return t.add({ ...input, after: [await t.done({}, "failed")] });
		case "expired": {
			const id = await t.add({ ...input, deadline: t.clock.now() + 1 });
			await t.wait(1);
			return id;
		}
	}
}

/** Where a job stands, and in which words. */
async function standing(t: Stand, id: number): Promise<{ status: Status; kind?: string; detail?: string }> {
	const { status, wait_reason } = await t.show(id);
	return { status, ...wait_reason };
}

const waits = (detail: string) => ({ status: "waiting_on_deps", kind: "dependencies", detail });
const blocked = (detail: string) => ({ status: "blocked_by_dependency", kind: "dependencies", detail });
const eligible = { status: "queued" };

describe("after", () => {
	test.each(ACTIVE)("waits for a predecessor that is %s", async (state) => {
		const t = await open();
		const before = await jobIn(t, state);
		expect(await t.status(before)).toBe(state);
		const job = await t.add({ after: [before] });
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${before}`));
		expect(await t.reasons(job)).toMatchObject([{ gate: "after", code: "dependencies", subject: `job:${before}` }]);
	});

	test("is satisfied by one that succeeded, before or after it was added", async () => {
		const t = await open();
		const before = await t.done();
		expect(await standing(t, await t.add({ after: [before] }))).toEqual(eligible);
		const running = await jobIn(t, "running");
		const job = await t.add({ after: [running] });
		await t.succeed(running);
		expect(await standing(t, job)).toEqual(eligible);
	});

	test.each(ENDED_BADLY)("is blocked at once by a predecessor that is %s", async (state) => {
		const t = await open();
		const before = await jobIn(t, state);
		expect(await t.status(before)).toBe(state);
		expect(await standing(t, await t.add({ after: [before] }))).toEqual(blocked(`dependency failed for job ${before} (${state})`));
	});

	test("is blocked in the moment its predecessor ends badly, and so is everything behind it", async () => {
		const t = await open();
		const a = await jobIn(t, "running");
		const b = await t.add({ after: [a] });
		const c = await t.add({ after: [b] });
		const d = await t.add({ after: [c], runnable_at: t.clock.now() + DAY });
		await t.fail(a);
		expect(await standing(t, b)).toEqual(blocked(`dependency failed for job ${a} (failed)`));
		expect(await standing(t, c)).toEqual(blocked(`dependency failed for job ${b} (blocked_by_dependency)`));
		// Whatever earlier gate it waits at: nothing can change the verdict any more.
		expect(await standing(t, d)).toEqual(blocked(`dependency failed for job ${c} (blocked_by_dependency)`));
	});

	test("names the first open predecessor, and `why` names them all", async () => {
		const t = await open();
		const [a, b, c] = [await jobIn(t, "running"), await jobIn(t, "running"), await jobIn(t, "running")];
		const job = await t.add({ after: [a, b, c] });
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${a}`));
		expect((await t.reasons(job)).map((reason) => reason.detail)).toEqual([a, b, c].map((id) => `waiting on job ${id}`));
		await t.succeed(a);
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${b}`));
		await t.succeed(c);
		expect((await t.reasons(job)).map((reason) => reason.detail)).toEqual([`waiting on job ${b}`]);
		await t.succeed(b);
		expect(await standing(t, job)).toEqual(eligible);
	});

	test("a job that does not exist is refused at add", async () => {
		const t = await open();
		await expect(t.add({ after: [77] })).rejects.toMatchObject({ code: "not_found", field: "after[0]" });
	});

	test("a predecessor that is gone blocks: `missing job dependency`", async () => {
		const t = await open();
		const before = await t.done();
		await t.wait(10 * DAY);
		const job = await t.done({ after: [before] }, "failed");
		expect(await t.sluice.gc({ days: 7 })).toMatchObject({ deleted: 1 });
		await t.sluice.retry(job);
		expect(await standing(t, job)).toEqual(blocked(`missing job dependency ${before}`));
	});

	test("a predecessor that cannot be read blocks: `scheduler data error for job dependency`", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ preset: "dag", path });
		const before = await t.done();
		await makeUnreadable(path, before);
		const job = await t.add({ after: [before] });
		const { status, wait_reason } = await t.show(job);
		expect(status).toBe("blocked_by_dependency");
		expect(wait_reason?.detail).toMatch(new RegExp(`^scheduler data error for job dependency ${before}: .`));
	});

	test("a record that cannot be read fails alone, with exit code 1, and never the pass", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ preset: "dag", path });
		const [broken, sound] = [await t.add(), await t.add()];
		await makeUnreadable(path, broken);
		expect(await t.start()).toEqual([sound]);
		expect(await t.show(broken)).toMatchObject({ status: "failed", exit_code: 1 });
	});

	test.each([
		["cannot be read", "{nope", /^unusable record: /],
		["is no document", "[]", /^unusable record: /],
		["has no command", '{"version":1,"enqueued_at":0}', /^there is nothing to run: the job has no command$/],
	])("a job whose spec %s ends failed with exit code 1, and the others start", async (_what, body, reason) => {
		const path = join(makeFolder(), "sluice.db");
		const first = await openStand({ preset: "dag", path, config: { retry: 3 } });
		const [damaged, sound] = [await first.add({ name: "damaged" }), await first.add()];
		const behind = await first.add({ after: [damaged] });
		await writeSpec(path, damaged, body);
		const t = await first.reopen();
		expect((await t.sluice.list()).map(({ id }) => id)).toEqual([damaged, sound, behind]);
		expect((await t.sluice.graph({})).nodes.map(({ id }) => id)).toContain(damaged);
		expect((await t.sluice.why(damaged)).reasons).toHaveLength(1);
		expect(await t.start()).toEqual([sound]);
		expect(await t.show(damaged)).toMatchObject({
			status: "failed",
			exit_code: 1,
			exit_kind: "failed",
			end_reason: expect.stringMatching(reason),
		});
		expect(await t.status(behind)).toBe("blocked_by_dependency");
		expect(await t.start()).toEqual([]);
		expect((await t.sluice.status()).running).toBe(1);
	});

	test("a job whose spec cannot be read can be cancelled", async () => {
		const path = join(makeFolder(), "sluice.db");
		const first = await openStand({ preset: "dag", path });
		const damaged = await first.add();
		await writeSpec(path, damaged, "{nope");
		const t = await first.reopen();
		expect((await t.show(damaged)).spec.broken).toEqual(expect.any(String));
		expect(await t.sluice.cancel(damaged)).toEqual({ cancelled: [damaged], requested: [] });
	});

	test("an event that cannot be read does not stop the readers of later ones", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ preset: "dag", path });
		const [damaged, sound] = [await t.add(), await t.add()];
		await makeEventsUnreadable(path, damaged);
		const events = await t.events();
		expect(events.filter(({ kind }) => kind === "added").map(({ job }) => job)).toEqual([damaged, sound]);
		expect((await t.sluice.history(damaged))[0]?.data).toEqual({ unreadable: expect.any(String) });
	});

	/** Which ends each policy accepts; the others can never be accepted any more. */
	const ACCEPTS: Record<Exclude<Policy, "merged">, readonly Status[]> = {
		success: ["succeeded"],
		failure: ["failed", "expired", "blocked_by_dependency"],
		any: ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"],
	};
	const rows = (Object.keys(ACCEPTS) as (keyof typeof ACCEPTS)[]).flatMap((policy) =>
		(["succeeded", ...ENDED_BADLY] as const).map(
			(state) => [policy, state, ACCEPTS[policy].includes(state) ? "met" : "never met"] as const,
		),
	);
	test.each(rows)("policy %s on a job that is %s: %s", async (policy, state, how) => {
		const t = await open();
		const before = await jobIn(t, state);
		const job = await t.add({ after: [{ job: before, policy }] });
		expect(await standing(t, job)).toEqual(how === "met" ? eligible : blocked(`dependency failed for job ${before} (${state})`));
	});

	test("policy merged waits for the merge, and through a conflict that can be repaired", async () => {
		const t = await open();
		const before = await t.done({ repo: "app" });
		expect((await t.show(before)).merge_status).toBe("pending");
		const job = await t.add({ after: [{ job: before, policy: "merged" }] });
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${before}`));
		await t.sluice.merged(before, "conflict");
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${before}`));
		await t.sluice.merged(before, "merged");
		expect(await standing(t, job)).toEqual(eligible);
	});

	test("policy merged is never met by a branch that is kept", async () => {
		const t = await open();
		const before = await t.done({ repo: "app" });
		const job = await t.add({ after: [{ job: before, policy: "merged" }] });
		await t.sluice.merged(before, "kept");
		expect((await standing(t, job)).status).toBe("blocked_by_dependency");
	});

	test("a merge is tried again, or given up: then policy merged is never met, and only the base itself can say otherwise", async () => {
		const t = await open();
		const before = await t.done({ repo: "app" });
		const job = await t.add({ after: [{ job: before, policy: "merged" }] });
		await t.sluice.merged(before, "conflict", { message: "a.txt" });
		await t.sluice.mergeAgain(before, { by: "ann" });
		expect(await t.show(before)).toMatchObject({ status: "succeeded", merge_status: "pending" });
		expect((await t.show(before)).merge_report).toBeUndefined();
		expect((await t.sluice.history(before)).at(-1)).toMatchObject({ kind: "merge_asked", by: "ann" });
		expect(await standing(t, job)).toEqual(waits(`waiting on job ${before}`));
		await t.sluice.dropMerge(before, { by: "ann" });
		expect(await t.show(before)).toMatchObject({
			status: "succeeded",
			merge_status: "kept",
			merge_report: { given_up: true, message: "given up by ann" },
		});
		expect((await standing(t, job)).status).toBe("blocked_by_dependency");
		// One that was under way has nothing to say any more, unless the base has it.
		await expect(t.sluice.merged(before, "conflict")).rejects.toMatchObject({ code: "illegal_transition" });
		await t.sluice.dropMerge(before);
		await t.sluice.merged(before, "merged");
		for (const act of [t.sluice.mergeAgain, t.sluice.dropMerge])
			await expect(act(before)).rejects.toMatchObject({
				code: "illegal_transition",
				message: expect.stringContaining("is merged already"),
			});
		const running = await t.add({ repo: "app" });
		const kept = await t.done({ repo: "app", no_merge: true });
		for (const id of [running, kept]) {
			await expect(t.sluice.mergeAgain(id)).rejects.toMatchObject({ code: "illegal_transition" });
			await expect(t.sluice.dropMerge(id)).rejects.toMatchObject({ code: "illegal_transition" });
		}
	});

	test("policy merged on a job that will not merge is refused", async () => {
		const t = await open();
		const before = await t.add({ repo: "app", no_merge: true });
		await expect(t.add({ after: [{ job: before, policy: "merged" }] })).rejects.toMatchObject({ code: "impossible", field: "after" });
	});

	test("a parent with its gate is a predecessor like any other, in apply too", async () => {
		const t = await open();
		const parent = await t.add();
		const one = await t.add({ parent, parent_gate: "success" });
		const { names } = await t.sluice.apply({ jobs: [{ name: "two", command: ["true"], parent, parent_gate: "success" }] });
		for (const child of [one, names.two!]) expect(await standing(t, child)).toEqual(waits(`waiting on job ${parent}`));
	});

	test("a cycle is refused, and the error prints its path", async () => {
		const t = await open();
		const jobs = ["a", "b", "c"].map((name, index, names) => ({ name, command: ["true"], after: [names[(index + 1) % 3]!] }));
		const error = await t.sluice.apply({ jobs }).catch((error) => error);
		expect(error).toMatchObject({ code: "cycle" });
		for (const name of ["a", "b", "c"]) expect(error.message).toContain(name);
		expect(await t.sluice.list({ all: true })).toEqual([]);
	});
});

describe("artifacts", () => {
	const DOC = "custom:doc:plan";
	const makes = { produces: [DOC] };
	const needs = { needs: [DOC] };

	test.each([...ACTIVE, "succeeded", ...ENDED_BADLY] as const)("present is satisfied, though its producer is %s", async (state) => {
		const t = await open();
		await t.sluice.mark(DOC);
		await jobIn(t, state, makes);
		expect(await standing(t, await t.add(needs))).toEqual(eligible);
	});

	test.each(ACTIVE)("missing with a producer that is %s waits", async (state) => {
		const t = await open();
		await jobIn(t, state, makes);
		const job = await t.add(needs);
		expect(await standing(t, job)).toEqual(waits(`waiting on ${DOC}`));
		expect(await t.reasons(job)).toMatchObject([{ gate: "artifacts", code: "dependencies", subject: DOC }]);
	});

	test("missing with one producer active and others ended still waits", async () => {
		const t = await open();
		await jobIn(t, "failed", makes);
		await jobIn(t, "succeeded", makes);
		await jobIn(t, "queued", makes);
		expect(await standing(t, await t.add(needs))).toEqual(waits(`waiting on ${DOC}`));
	});

	test("missing with no producer is blocked: `missing`", async () => {
		const t = await open();
		expect(await standing(t, await t.add(needs))).toEqual(blocked(`missing ${DOC}`));
	});

	test("missing though a producer succeeded is blocked: `missing`", async () => {
		const t = await open();
		await jobIn(t, "succeeded", makes);
		await jobIn(t, "failed", makes);
		expect(await standing(t, await t.add(needs))).toEqual(blocked(`missing ${DOC}`));
	});

	test.each(ENDED_BADLY)("missing with all producers ended badly (%s) is blocked: `dependency failed`", async (state) => {
		const t = await open();
		await jobIn(t, state, makes);
		await jobIn(t, "failed", makes);
		expect(await standing(t, await t.add(needs))).toEqual(blocked(`dependency failed for ${DOC}`));
	});

	test("the same verdicts fall when the producer ends while the consumer waits", async () => {
		const t = await open();
		const ends = [
			["completed", blocked("missing custom:doc:a")],
			["failed", blocked("dependency failed for custom:doc:b")],
		] as const;
		for (const [index, [exit, verdict]] of ends.entries()) {
			const doc = `custom:doc:${"ab"[index]}`;
			const producer = await jobIn(t, "running", { produces: [doc] });
			const consumer = await t.add({ needs: [doc] });
			expect(await standing(t, consumer)).toEqual(waits(`waiting on ${doc}`));
			await t.end(producer, exit);
			await t.sluice.tick();
			expect(await standing(t, consumer)).toEqual(verdict);
		}
	});

	test("a marker set while the producer runs lets the consumer go at once", async () => {
		const t = await open();
		await jobIn(t, "running", makes);
		const consumer = await t.add(needs);
		await t.sluice.mark(DOC);
		expect(await t.start()).toEqual([consumer]);
	});

	test("with on_missing: wait nothing but its appearing decides", async () => {
		const t = await open();
		const alone = await t.add({ ...needs, on_missing: "wait" });
		expect(await standing(t, alone)).toEqual(waits(`awaiting producer for ${DOC}`));
		const producer = await jobIn(t, "running", makes);
		await t.sluice.tick();
		expect(await standing(t, alone)).toEqual(waits(`waiting on ${DOC}`));
		await t.fail(producer);
		await t.sluice.tick();
		expect(await standing(t, alone)).toEqual(waits(`awaiting producer for ${DOC}`));
		await t.sluice.mark(DOC);
		expect(await t.start()).toEqual([alone]);
	});

	test("what a host has to look for is decided by a probe that begins after the producer's end", async () => {
		const t = await open();
		t.host.facts.set("artifact:branch:draft@app", false);
		const producer = await jobIn(t, "running", { repo: "app", produces: ["branch:draft"] });
		const consumer = await t.add({ repo: "app", needs: ["branch:draft"] });
		expect(await standing(t, consumer)).toEqual(waits("waiting on branch:draft"));
		await t.succeed(producer);
		await t.show(consumer);
		expect(await standing(t, consumer)).toEqual({ status: "waiting_on_deps", kind: "probing", detail: "probing branch:draft" });
		t.host.facts.set("artifact:branch:draft@app", true);
		await t.sluice.tick();
		expect(await standing(t, consumer)).toEqual(eligible);
	});

	test("and after its merge, where it merges", async () => {
		const t = await open();
		t.host.facts.set("artifact:doc:main:plan.md@app", false);
		const producer = await jobIn(t, "running", { repo: "app", produces: ["doc:main:plan.md"] });
		const consumer = await t.add({ repo: "app", needs: ["doc:main:plan.md"] });
		await t.succeed(producer);
		await t.sluice.tick();
		const probing = { status: "waiting_on_deps", kind: "probing", detail: "probing doc:main:plan.md" };
		expect(await standing(t, consumer)).toEqual(probing);
		await t.sluice.merged(producer, "conflict");
		await t.sluice.tick();
		expect(await standing(t, consumer)).toEqual(probing);
		t.host.facts.set("artifact:doc:main:plan.md@app", true);
		await t.sluice.merged(producer, "merged");
		await t.sluice.tick();
		expect(await standing(t, consumer)).toEqual(eligible);
	});

	test("and blocked when that probe finds nothing", async () => {
		const t = await open();
		t.host.facts.set("artifact:file:out.txt", false);
		const producer = await jobIn(t, "running", { produces: ["file:out.txt"] });
		const consumer = await t.add({ needs: ["file:out.txt"] });
		await t.succeed(producer);
		await t.sluice.tick();
		expect(await standing(t, consumer)).toEqual(blocked("missing file:out.txt"));
	});

	test("a probe that cannot be read concerns that job only", async () => {
		const t = await open();
		t.host.facts.set("artifact:file:a", { error: "permission denied" });
		t.host.facts.set("artifact:file:b", true);
		const [a, b] = [await t.add({ needs: ["file:a"] }), await t.add({ needs: ["file:b"] })];
		expect(await t.start()).toEqual([b]);
		expect((await standing(t, a)).status).toBe("waiting_on_deps");
		expect((await t.reasons(a))[0]?.detail).toContain("permission denied");
	});

	test.each(["job", "patch"])("%s:<id> is there when that job succeeded", async (kind) => {
		const t = await open();
		const before = await jobIn(t, "running");
		const failing = await jobIn(t, "running");
		if (kind === "patch") t.host.facts.set(`artifact:patch:${failing}`, false);
		const good = await t.add({ needs: [`${kind}:${before}`] });
		const bad = await t.add({ needs: [`${kind}:${failing}`] });
		expect(await standing(t, good)).toEqual(waits(`waiting on ${kind}:${before}`));
		await t.succeed(before);
		await t.fail(failing);
		await t.sluice.tick();
		expect(await standing(t, good)).toEqual(eligible);
		expect(await standing(t, bad)).toEqual(blocked(`dependency failed for ${kind}:${failing}`));
	});

	test("patch:<id> of a job that failed is there when its file is", async () => {
		const t = await open();
		const before = await t.done({}, "failed");
		t.host.facts.set(`artifact:patch:${before}`, true);
		expect(await standing(t, await t.add({ needs: [`patch:${before}`] }))).toEqual(eligible);
	});

	test("several are checked in order: the first that is missing is the wait reason", async () => {
		const t = await open();
		const producer = await jobIn(t, "running", { produces: ["custom:doc:a", "custom:doc:b"] });
		const job = await t.add({ needs: ["custom:doc:a", "custom:doc:b"] });
		expect((await t.reasons(job)).map((reason) => reason.detail)).toEqual(["waiting on custom:doc:a", "waiting on custom:doc:b"]);
		await t.sluice.mark("custom:doc:a");
		await t.sluice.tick();
		expect(await standing(t, job)).toEqual(waits("waiting on custom:doc:b"));
		await t.sluice.mark("custom:doc:b");
		await t.succeed(producer);
		expect(await t.start()).toEqual([job]);
	});

	test("artifacts of git mean something else in each repo", async () => {
		const t = await open({ repos: { app: {}, web: {} } });
		t.host.facts.set("artifact:branch:draft@app", true);
		t.host.facts.set("artifact:branch:draft@web", false);
		expect(await standing(t, await t.add({ repo: "app", needs: ["branch:draft"] }))).toEqual(eligible);
		expect(await standing(t, await t.add({ repo: "web", needs: ["branch:draft"] }))).toEqual(blocked("missing branch:draft"));
	});
});

describe("pinned head", () => {
	const pinned = { repo: "app", pinned_head: { branch: "main", commit: "aaaa1111" } };

	test("a head that moves away makes the job wait, and back lets it go", async () => {
		const t = await open();
		t.host.facts.set("head:app:main", "aaaa1111");
		const job = await t.add(pinned);
		expect(await standing(t, job)).toEqual(eligible);
		await t.sluice.observe({ "head:app:main": "bbbb2222" });
		expect(await standing(t, job)).toEqual({
			status: "waiting_on_deps",
			kind: "pinned_head",
			detail: "pinned head mismatch on main",
		});
		expect(await t.start()).toEqual([]);
		await t.sluice.observe({ "head:app:main": "aaaa1111" });
		expect(await t.show(job)).toMatchObject({ status: "queued", waited_on: ["pinned_head"] });
		expect((await t.show(job)).wait_reason).toBeUndefined();
		expect(await t.start()).toEqual([job]);
	});

	test.each([
		["gone", null],
		["unreadable", { error: "not a repository" }],
	] as const)("a branch that is %s is a mismatch of that job only", async (_how, fact) => {
		const t = await open();
		t.host.facts.set("head:app:main", fact);
		const [job, other] = [await t.add(pinned), await t.add()];
		expect(await standing(t, job)).toMatchObject({ status: "waiting_on_deps", kind: "pinned_head" });
		expect(await t.start()).toEqual([other]);
	});

	test("a head that nobody has looked at yet is being probed", async () => {
		const t = await open();
		const job = await t.add(pinned);
		expect(await standing(t, job)).toMatchObject({ status: "waiting_on_deps", kind: "probing" });
	});
});

describe("locks", () => {
	const shared = { locks: [{ key: "db", mode: "shared" as const }] };
	const exclusive = { locks: [{ key: "db", mode: "exclusive" as const }] };

	test("shared ones run together; an exclusive one waits for all of them", async () => {
		const t = await open();
		const [a, b] = [await t.add(shared), await t.add(shared)];
		expect(await t.start()).toEqual([a, b]);
		const alone = await t.add(exclusive);
		expect(await standing(t, alone)).toEqual({ status: "waiting_on_locks", kind: "locks", detail: "waiting on locks" });
		expect(await t.reasons(alone)).toMatchObject([{ gate: "locks", code: "locks", subject: "lock:db", holder: [`job:${a}`, `job:${b}`] }]);
		await t.succeed(a);
		expect(await t.start()).toEqual([]);
		await t.succeed(b);
		expect(await t.start()).toEqual([alone]);
	});

	test("nobody runs beside an exclusive one; its end wakes all shared waiters", async () => {
		const t = await open();
		const alone = await t.add(exclusive);
		await t.start();
		const waiters = [await t.add(shared), await t.add(shared), await t.add(shared)];
		const next = await t.add(exclusive);
		expect(await t.start()).toEqual([]);
		await t.fail(alone);
		expect(await t.start()).toEqual(waiters);
		expect(await standing(t, next)).toMatchObject({ status: "waiting_on_locks" });
	});

	test("all of a job's locks are taken together or none", async () => {
		const t = await open();
		const a = await t.add({ locks: ["a"] });
		await t.start();
		const both = await t.add({ locks: ["a", "b"] });
		const b = await t.add({ locks: ["b"] });
		expect(await t.start()).toEqual([b]);
		await t.succeed(a);
		expect(await t.start()).toEqual([]);
		await t.succeed(b);
		expect(await t.start()).toEqual([both]);
	});

	test("waiters go in their order", async () => {
		const t = await open();
		const jobs = [await t.add(exclusive), await t.add(exclusive), await t.add(exclusive), await t.add(exclusive)];
		for (const job of jobs) {
			expect(await t.start()).toEqual([job]);
			await t.succeed(job);
		}
	});

	test.each(["completed", "failed", "cancelled", "lost", "preempted", "drained", "needs_human", "launch_failed"] as const)(
		"a lock is held for as long as its run lives, and given back when that ends: %s",
		async (exit) => {
			const t = await open();
			const [holder, next] = [await t.add(exclusive), await t.add(exclusive)];
			expect(await t.start()).toEqual([holder]);
			await t.wait(5 * DAY);
			expect(await t.start()).toEqual([]);
			await t.end(holder, exit);
			// Some ends put it back into the queue, where it may be first again: out of the way.
			if (!(await t.show(holder)).ended_at) await t.sluice.cancel(holder);
			expect(await t.start()).toEqual([next]);
		},
	);

	test("an exclusive one is not passed for ever by later shared ones", async () => {
		const t = await open();
		let reading = await t.add(shared);
		await t.start();
		const alone = await t.add(exclusive);
		// Readers overlap: one always comes before the last has gone.
		for (let minute = 0; minute < 60; minute++) {
			const next = await t.add(shared);
			expect(await t.start()).toEqual([next]);
			await t.succeed(reading);
			reading = next;
			await t.wait(MINUTE);
		}
		const late = await t.add(shared);
		await t.wait(MINUTE);
		expect(await t.start()).toEqual([]);
		expect(await t.reasons(late)).toMatchObject([{ gate: "locks", holder: [`job:${alone}`] }]);
		await t.succeed(reading);
		expect(await t.start()).toEqual([alone]);
	});

	test("two jobs never write one branch together", async () => {
		const t = await open();
		const [a, b] = [await t.add({ repo: "app", worktree: "feature" }), await t.add({ repo: "app", worktree: "feature" })];
		expect(await t.start()).toEqual([a]);
		expect(await t.reasons(b)).toMatchObject([{ subject: "lock:branch:app:feature" }]);
	});
});

describe("wait_reason and waited_on", () => {
	test("kinds are collected once each, in the order in which they were met", async () => {
		const t = await open();
		t.host.facts.set("head:app:main", "aaaa1111");
		const holder = await t.add({ locks: ["db"] });
		await t.start();
		const before = await t.add({ runnable_at: t.clock.now() + SECOND });
		const job = await t.add({ after: [before], locks: ["db"], repo: "app", pinned_head: { branch: "main", commit: "aaaa1111" } });
		expect((await t.show(job)).waited_on).toEqual(["dependencies"]);
		await t.wait(SECOND);
		await t.start();
		await t.succeed(before);
		expect((await t.show(job)).waited_on).toEqual(["dependencies", "locks"]);
		await t.sluice.observe({ "head:app:main": "bbbb2222" });
		expect((await t.show(job)).waited_on).toEqual(["dependencies", "locks", "pinned_head"]);
		await t.sluice.observe({ "head:app:main": "aaaa1111" });
		expect(await t.show(job)).toMatchObject({ wait_reason: { kind: "locks" }, waited_on: ["dependencies", "locks", "pinned_head"] });
		await t.succeed(holder);
		const { status, wait_reason, waited_on } = await t.show(job);
		expect({ status, wait_reason, waited_on }).toEqual({
			status: "queued",
			wait_reason: undefined,
			waited_on: ["dependencies", "locks", "pinned_head"],
		});
		expect(await t.start()).toEqual([job]);
		expect((await t.show(job)).wait_reason).toBeUndefined();
	});
});

describe("gate order", () => {
	test("the first gate that refuses is the wait reason; `why` lists every one, in order", async () => {
		const path = join(makeFolder(), "sluice.db");
		const config = { repos: { app: {} }, max_concurrent: 1 };
		const t = await openStand({ preset: "dag", path, config });
		t.host.facts.set("artifact:file:plan.md@app", false);
		t.host.facts.set("item:cards:c1", { open: true, blocked_by: ["c0"] });
		t.host.facts.set("head:app:main", "bbbb2222");
		t.host.facts.set("condition:clean_worktree@app", false);
		const holder = await t.add({ locks: ["db"] });
		await t.start();
		const before = await t.add({ lane: "default", requires_approval: true });
		const job = await t.add(
			{
				runnable_at: t.clock.now() + HOUR,
				after: [before],
				needs: ["file:plan.md"],
				on_missing: "wait",
				source: "cards",
				item: "c1",
				repo: "app",
				pinned_head: { branch: "main", commit: "aaaa1111" },
				conditions: ["clean_worktree"],
				requires_approval: true,
				locks: ["db"],
				owner: "ann",
				host_labels: ["gpu"],
			},
			{ force: true },
		);
		await t.sluice.pause({ repo: "app" });
		await t.sluice.grant("owner:ann", "tokens", { limit: 0 });

		expect(await t.gates(job)).toEqual([
			"time/delayed",
			"after/dependencies",
			"artifacts/dependencies",
			"item/item_blocked",
			"head/pinned_head",
			"conditions/condition",
			"approval/approval",
			"locks/locks",
			"holds/paused",
			"budget/budget",
			"host/no_host",
			"capacity/capacity",
		]);

		const first = async () => {
			const { status, wait_reason } = await t.show(job);
			return [status, wait_reason?.kind];
		};
		expect(await first()).toEqual(["queued", "delayed"]);
		await t.wait(HOUR);
		expect(await first()).toEqual(["waiting_on_deps", "dependencies"]);
		expect((await t.show(job)).wait_reason?.detail).toBe(`waiting on job ${before}`);
		// Its predecessor goes past the one slot, which the holder of the lock has.
		await t.sluice.approve(before);
		await t.sluice.runNow(before, { force: true });
		expect(await t.start()).toEqual([before]);
		await t.succeed(before);
		expect((await t.show(job)).wait_reason?.detail).toBe("awaiting producer for file:plan.md");
		await t.sluice.observe({ "artifact:file:plan.md@app": true });
		expect(await first()).toEqual(["waiting_on_deps", "item_blocked"]);
		await t.sluice.observe({ "item:cards:c1": { open: true, blocked_by: [] } });
		expect(await first()).toEqual(["waiting_on_deps", "pinned_head"]);
		await t.sluice.observe({ "head:app:main": "aaaa1111" });
		expect(await first()).toEqual(["waiting_on_deps", "condition"]);
		await t.sluice.observe({ "condition:clean_worktree@app": true });
		expect(await first()).toEqual(["queued", "approval"]);
		await t.sluice.approve(job);
		expect(await first()).toEqual(["waiting_on_locks", "locks"]);
		await t.succeed(holder);
		// Eligible: what is left is shared with others, and stored nowhere.
		expect(await first()).toEqual(["queued", undefined]);
		expect(await t.gates(job)).toEqual(["holds/paused", "budget/budget", "host/no_host"]);
		await t.sluice.resume({ repo: "app" });
		expect(await t.gates(job)).toEqual(["budget/budget", "host/no_host"]);
		await t.sluice.grant("owner:ann", "tokens", { limit: 1 });
		expect(await t.gates(job)).toEqual(["host/no_host"]);
		const gpu = await openStand({ preset: "dag", path, config, clock: t.clock, host: t.host, join: { name: "big", labels: ["gpu"] } });
		expect(await t.gates(job)).toEqual(["capacity/turn"]);
		expect(await gpu.start(1, { host: "big" })).toEqual([job]);
	});

	test("a verdict that waiting cannot change falls at once, whatever earlier gate the job waits at", async () => {
		const t = await open();
		const before = await jobIn(t, "running");
		const delayed = await t.add({ runnable_at: t.clock.now() + DAY, after: [before] });
		const closed = await t.add({ runnable_at: t.clock.now() + DAY, source: "cards", item: "c1" });
		await t.fail(before);
		await t.sluice.observe({ "item:cards:c1": { open: false } });
		await t.sluice.tick();
		expect(await t.status(delayed)).toBe("blocked_by_dependency");
		expect(await t.show(closed)).toMatchObject({ status: "cancelled", end_reason: "item_closed" });
	});
});

describe("retry (rewind)", () => {
	/** a → b → c, and d that needs what b makes; e has nothing to do with it. b failed, so c and d are blocked. */
	async function segment(): Promise<{ t: Stand; a: number; b: number; c: number; d: number; e: number }> {
		const t = await open();
		const a = await t.done();
		const b = await t.add({ after: [a], produces: ["custom:doc:b"] });
		const c = await t.add({ after: [b] });
		const d = await t.add({ needs: ["custom:doc:b"] });
		const e = await t.add({ requires_approval: true });
		await t.start();
		await t.fail(b, { exit_code: 3, message: "boom", session: "s-1" });
		await t.sluice.tick();
		return { t, a, b, c, d, e };
	}

	test("resets the root and everything downstream over after- and artifact-edges, and nothing else", async () => {
		const { t, a, b, c, d, e } = await segment();
		expect(await Promise.all([a, b, c, d].map((id) => t.status(id)))).toEqual([
			"succeeded",
			"failed",
			"blocked_by_dependency",
			"blocked_by_dependency",
		]);
		const untouched = await Promise.all([t.show(a), t.show(e)]);
		expect(await t.sluice.retry(b)).toEqual({ reset: [b, c, d], restarted: [], last_successful: [a], left_blocked: [] });
		expect(await Promise.all([t.show(a), t.show(e)])).toEqual(untouched);
		expect(await standing(t, b)).toEqual(eligible);
		expect(await standing(t, c)).toEqual(waits(`waiting on job ${b}`));
		expect(await standing(t, d)).toEqual(waits("waiting on custom:doc:b"));
	});

	test("and the segment then runs through", async () => {
		const { t, b, c, d } = await segment();
		await t.sluice.retry(b);
		expect(await t.start()).toEqual([b]);
		await t.sluice.mark("custom:doc:b");
		await t.succeed(b);
		expect(await t.start()).toEqual([c, d]);
	});

	test("clears everything that the runs left on the jobs; attempts go on", async () => {
		const { t, b } = await segment();
		await t.sluice.retry(b);
		const job = await t.show(b);
		for (const field of [
			"started_at",
			"ended_at",
			"exit_code",
			"exit_kind",
			"raw_exit_code",
			"end_reason",
			"session",
			"wait_reason",
			"waited_on",
			"failures",
			"dispatch_failures",
			"last_failure",
			"backoff_until",
			"run",
		] as const)
			expect([field, job[field]]).toEqual([field, undefined]);
		await t.start();
		expect(await t.show(b)).toMatchObject({ attempt: 2, run: { attempt: 2 } });
	});

	test("rewinds waiting jobs inside the set too", async () => {
		const t = await open();
		const a = await t.done({}, "failed");
		const b = await t.add({ after: [{ job: a, policy: "failure" }], requires_approval: true });
		expect((await t.show(b)).waited_on).toEqual(["approval"]);
		expect((await t.sluice.retry(a)).reset).toEqual([a, b]);
		expect(await t.show(b)).toMatchObject({ status: "waiting_on_deps", waited_on: ["dependencies"] });
	});

	test("takes the sentinels of its jobs away", async () => {
		const t = await open();
		const a = await t.add({ produces: ["sentinel:merge-conflict"] });
		await t.start();
		await t.sluice.mark("sentinel:merge-conflict");
		await t.fail(a);
		const consumer = await t.add({ needs: ["sentinel:merge-conflict"] });
		expect(await standing(t, consumer)).toEqual(eligible);
		await t.sluice.retry(a);
		expect(await standing(t, consumer)).toEqual(waits("waiting on sentinel:merge-conflict"));
	});

	test("is refused while any job of the set runs, naming it, and changes nothing", async () => {
		const t = await open();
		const a = await t.done({}, "failed");
		const b = await t.add({ after: [{ job: a, policy: "any" }] });
		const c = await t.add({ after: [{ job: a, policy: "any" }] });
		expect(await t.start()).toEqual([b, c]);
		const error = await t.sluice.retry(a).catch((error) => error);
		expect(error).toMatchObject({ code: "conflict" });
		expect(error.message).toMatch(new RegExp(`\\b${b}\\b.*\\b${c}\\b`));
		expect(await Promise.all([a, b, c].map((id) => t.status(id)))).toEqual(["failed", "running", "running"]);
	});

	test.each(["merge", "cherry-pick"])("is refused while git is in the middle of a %s, saying how to get out of it", async (what) => {
		const t = await open();
		const a = await t.done({ repo: "app" }, "failed");
		await t.sluice.observe({ "busy:app": what });
		const error = await t.sluice.retry(a).catch((error) => error);
		expect(error).toMatchObject({ code: "conflict" });
		expect(error.hint).toContain(`git ${what} --continue`);
		expect(error.hint).toContain(`git ${what} --abort`);
		await t.sluice.observe({ "busy:app": null });
		expect((await t.sluice.retry(a)).reset).toEqual([a]);
	});

	test("takes the item of a job again, or is refused, naming who has it now", async () => {
		const t = await open();
		const first = await t.done({ source: "cards", item: "c1" }, "failed");
		const second = await t.add({ source: "cards", item: "c1" });
		await expect(t.sluice.retry(first)).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(`job ${second}`) });
		await t.sluice.cancel(second);
		await t.sluice.retry(first);
		expect(await t.tryAdd({ source: "cards", item: "c1" })).toEqual({ outcome: "already_running", job: first, holder: first });
	});

	test("rerun takes one job without its dependents", async () => {
		const { t, b, c } = await segment();
		expect((await t.sluice.rerun(b)).reset).toEqual([b]);
		expect(await t.status(c)).toBe("blocked_by_dependency");
	});
});

describe("gc", () => {
	const all = async (t: Stand) => (await t.sluice.list({ all: true })).map((job) => job.id);

	test("keeps a job whose merge is open, and says how many those are", async () => {
		const t = await open();
		const ids: number[] = [];
		for (let n = 0; n < 6; n++) ids.push(await t.done({ repo: "app" }));
		const [merged = 0, dropped = 0, waits = 0, torn = 0, red = 0, dirty = 0] = ids;
		await t.sluice.merged(merged, "merged");
		await t.sluice.dropMerge(dropped);
		await t.sluice.merged(torn, "conflict");
		await t.sluice.merged(red, "verify_failed");
		await t.sluice.merged(dirty, "base_dirty");
		await t.wait(DAY);
		expect(await t.sluice.gc({ days: 0 })).toEqual({ deleted: 2, kept: 4, unmerged: 4 });
		expect(await all(t)).toEqual([waits, torn, red, dirty]);
		for (const job of [waits, torn, red, dirty]) await t.sluice.merged(job, "merged");
		expect(await t.sluice.gc({ days: 0 })).toEqual({ deleted: 4, kept: 0 });
	});

	test("keeps an ended job for as long as an active one comes after it", async () => {
		const t = await open();
		const [kept, gone] = [await t.done(), await t.done()];
		const job = await t.add({ after: [kept], requires_approval: true });
		await t.wait(30 * DAY);
		expect(await t.sluice.gc({ days: 7 })).toEqual({ deleted: 1, kept: 1 });
		expect(await all(t)).toEqual([kept, job]);
		await expect(t.show(gone)).rejects.toMatchObject({ code: "not_found" });

		await t.sluice.cancel(job);
		await t.wait(30 * DAY);
		expect(await t.sluice.gc({ days: 7 })).toEqual({ deleted: 2, kept: 0 });
	});

	test("keeps what an active job still needs to know: producers, named jobs, ancestors", async () => {
		const t = await open();
		const producer = await t.done({ produces: ["custom:doc:x"] });
		const named = await t.done();
		const ancestor = await t.done();
		await t.sluice.mark("custom:doc:x");
		await t.add({ needs: ["custom:doc:x", `job:${named}`], requires_approval: true, parent: ancestor });
		await t.wait(30 * DAY);
		expect(await t.sluice.gc({ days: 7 })).toEqual({ deleted: 0, kept: 3 });
		expect((await all(t)).slice(0, 3)).toEqual([producer, named, ancestor]);
	});

	test("deletes only what ended long enough ago", async () => {
		const t = await open();
		await t.done();
		await t.wait(5 * DAY);
		const young = await t.done();
		await t.wait(5 * DAY);
		expect(await t.sluice.gc({ days: 7 })).toMatchObject({ deleted: 1 });
		expect(await all(t)).toEqual([young]);
	});

	test("never gives a number out twice", async () => {
		const t = await open();
		const last = await t.done();
		await t.wait(30 * DAY);
		await t.sluice.gc({ days: 7 });
		expect(await t.add()).toBeGreaterThan(last);
	});
});

describe("exit codes", () => {
	const codes = async (t: Stand, id: number) => {
		const { status, exit_code, raw_exit_code } = await t.show(id);
		return { status, exit_code: exit_code ?? null, ...(raw_exit_code === undefined ? {} : { raw_exit_code }) };
	};

	test.each(ACTIVE)("none while a job is %s", async (state) => {
		const t = await open();
		expect(await codes(t, await jobIn(t, state))).toEqual({ status: state, exit_code: null });
	});

	test("none for a job that is blocked", async () => {
		const t = await open();
		expect(await codes(t, await jobIn(t, "blocked_by_dependency"))).toEqual({ status: "blocked_by_dependency", exit_code: null });
	});

	test("0 when it succeeded, its own when it failed", async () => {
		const t = await open();
		const [good, bad] = [await t.add(), await t.add()];
		await t.start();
		await t.succeed(good);
		await t.fail(bad, { exit_code: 42 });
		expect(await codes(t, good)).toEqual({ status: "succeeded", exit_code: 0 });
		expect(await codes(t, bad)).toEqual({ status: "failed", exit_code: 42 });
	});

	test("143 for a cancelled job, with the program's own beside it", async () => {
		const t = await open();
		expect(await codes(t, await jobIn(t, "cancelled"))).toEqual({ status: "cancelled", exit_code: 143 });
		const job = await jobIn(t, "running");
		await t.sluice.cancel(job, { reason: "changed my mind" });
		await t.end(job, "failed", { exit_code: 9 });
		expect(await codes(t, job)).toEqual({ status: "cancelled", exit_code: 143, raw_exit_code: 9 });
		expect((await t.show(job)).end_reason).toBe("changed my mind");
	});

	test("an outcome recorded before the cancel wins", async () => {
		const t = await open();
		const job = await t.done();
		await expect(t.sluice.cancel(job)).rejects.toMatchObject({ code: "illegal_transition" });
		expect(await codes(t, job)).toEqual({ status: "succeeded", exit_code: 0 });
	});

	test("a failed job is not run again by itself", async () => {
		const t = await open();
		await t.done({}, "failed");
		await t.wait(30 * DAY);
		expect(await t.start()).toEqual([]);
	});

	test("a job that cannot be spawned stays queued with the reason", async () => {
		const t = await open();
		const job = await t.add();
		for (let n = 0; n < 5; n++) {
			expect(await t.start()).toEqual([job]);
			await t.end(job, "launch_failed", { message: "no such program" });
			expect(await t.status(job)).toBe("queued");
			expect((await t.reasons(job)).some((reason) => reason.detail.includes("no such program"))).toBe(true);
			await t.wait(HOUR);
		}
	});
});
