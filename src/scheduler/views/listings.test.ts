// Names, locks, batches, artifacts and the newest event, as the scheduler shows them.

import { describe, expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

describe("registers", () => {
	test("a job is found by its name, active or ended; a near one is suggested", async () => {
		const t = await openStand();
		const id = await t.add({ name: "build" });
		expect(await t.sluice.find("build")).toBe(id);
		await expect(t.sluice.find("biuld")).rejects.toMatchObject({ code: "not_found", hint: 'did you mean "build"?' });
		await t.start();
		await t.succeed(id);
		expect(await t.sluice.find("build")).toBe(id);
		await expect(t.sluice.find("zzzzzzzzzz")).rejects.toMatchObject({
			code: "not_found",
			hint: "sluice list --all shows the jobs that exist",
		});
	});

	test("locks with their holders", async () => {
		const t = await openStand();
		const one = await t.add({ locks: ["db", "docs:shared"] });
		expect(await t.sluice.locks()).toEqual([]);
		await t.start();
		expect(await t.sluice.locks()).toEqual([
			{ key: "db", holders: [{ job: one, mode: "exclusive" }], reserved_for: null },
			{ key: "docs", holders: [{ job: one, mode: "shared" }], reserved_for: null },
		]);
	});

	test("batches, open and closed", async () => {
		const t = await openStand();
		const id = await t.add({ batch: "docs" });
		await t.add({ batch: "docs" });
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 2, total: 2, owned: false }]);
		await t.start(1);
		await t.succeed(id);
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 1, total: 2, owned: false }]);
		// A job that is run again does not count twice.
		await t.sluice.retry(id);
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 2, total: 2, owned: false }]);
	});

	test("a job that is run again is counted once in its batch", async () => {
		const t = await openStand();
		const [one, two] = [await t.add({ batch: "docs" }), await t.add({ batch: "docs" })];
		await t.sluice.cancel(one);
		await t.sluice.cancel(two);
		for (const id of [one, two]) await t.sluice.retry(id);
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 2, total: 2, owned: false }]);
		await t.start();
		await t.succeed(one);
		await t.sluice.rerun(one);
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 2, total: 2, owned: false }]);
		await t.start();
		for (const id of [one, two]) await t.succeed(id);
		expect(await t.sluice.batches()).toEqual([{ name: "docs", open: 0, total: 2, owned: false }]);
		expect((await t.events()).filter((event) => event.kind === "batch_closed").map(({ data }) => data.total)).toEqual([2, 2]);
	});

	test("an owned batch closes when its owner says so: at once, or with its last job", async () => {
		const t = await openStand();
		const [one, two] = [await t.add({ batch: "mine", owned: true }), await t.add({ batch: "later", owned: true })];
		await t.start();
		await t.succeed(one);
		const closed = async () => (await t.events()).flatMap(({ kind, data }) => (kind === "batch_closed" ? [data.batch] : []));
		expect(await closed()).toEqual([]);
		expect(await t.sluice.closeBatch("mine")).toEqual({ name: "mine", open: 0, total: 1, owned: false });
		expect(await t.sluice.closeBatch("mine")).toMatchObject({ owned: false });
		expect(await t.sluice.closeBatch("later")).toMatchObject({ open: 1, owned: false });
		expect(await closed()).toEqual(["mine"]);
		await t.succeed(two);
		expect(await closed()).toEqual(["mine", "later"]);
		await expect(t.sluice.closeBatch("mien")).rejects.toMatchObject({ code: "not_found", hint: 'did you mean "mine"?' });
	});

	test("artifacts as they were last seen, markers among them", async () => {
		const t = await openStand({ config: { repos: { app: {} } } });
		t.host.facts.set("artifact:file:out/a@b.md@app", true);
		await t.sluice.mark("custom:review:A-1");
		await t.add({ repo: "app", needs: ["file:out/a@b.md"] });
		expect((await t.sluice.artifacts()).map(({ artifact, repo, present }) => [artifact, repo, present])).toEqual([
			["custom:review:A-1", null, true],
			["file:out/a@b.md", "app", true],
		]);
	});

	test("the newest event's number grows by one with each event", async () => {
		const t = await openStand();
		const before = await t.sluice.lastEvent();
		await t.sluice.mark("custom:review:A-1");
		expect(await t.sluice.lastEvent()).toBe(before + 1);
		expect((await t.events()).map(({ seq }) => seq)).toEqual([...Array(before + 1).keys()].map((n) => n + 1));
	});

	test("a job of a manifest with its own command or agent takes the other defaults", async () => {
		const t = await openStand();
		await t.sluice.apply({
			defaults: { agent: "claude", prompt: "Tidy", model: "small", priority: 3 },
			jobs: [{ name: "tidy" }, { name: "log", command: ["git", "log"] }],
		});
		await t.sluice.apply({ defaults: { command: ["make"] }, jobs: [{ name: "make" }, { name: "ask", agent: "claude", prompt: "Why?" }] });
		const kinds = (await t.sluice.list()).map(({ name, kind, agent, priority, spec }) => [name, kind, agent, spec.model, priority]);
		expect(kinds).toEqual([
			["tidy", "agent", "claude", "small", 3],
			["log", "command", undefined, undefined, 3],
			["make", "command", undefined, undefined, 0],
			["ask", "agent", "claude", undefined, 0],
		]);
	});

	test("checking a manifest adds nothing and reports what is wrong with it", async () => {
		const t = await openStand();
		await t.add({ name: "a" });
		const jobs = [
			{ name: "a", command: ["true"] },
			{ name: "b", command: ["true"], after: ["a"] },
		];
		expect(await t.sluice.apply({ jobs }, { check: true })).toMatchObject({
			jobs: [],
			refusal: { message: expect.stringContaining("changed: a (job 1, queued); new: b"), hint: expect.stringContaining("--update") },
		});
		expect(await t.sluice.list()).toHaveLength(1);
		await expect(t.sluice.apply({ jobs: [{ name: "c", command: ["x"], after: ["c"] }] }, { check: true })).rejects.toMatchObject({
			code: "cycle",
		});
	});
});
