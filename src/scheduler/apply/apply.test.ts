// Applying a manifest whose names are taken: while its jobs are open, when it was changed, when its jobs have ended.

import { describe, expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

const make = (name: string, more = {}) => ({ name, command: ["make", name], ...more });
const NIGHT = { batch: "night", jobs: [make("build"), make("test", { after: ["build"] })] };

describe("the same manifest again", () => {
	test("changes nothing while its jobs are open, whatever variables the caller has, and names the existing jobs", async () => {
		const t = await openStand();
		const first = await t.sluice.apply(NIGHT, { env: { PATH: "/bin" } });
		const second = await t.sluice.apply(NIGHT, { env: { PATH: "/usr/bin" } });
		expect(second.jobs).toEqual([]);
		expect(second.skipped).toEqual([
			{ name: "build", job: first.names.build, reason: "exists" },
			{ name: "test", job: first.names.test, reason: "exists" },
		]);
		expect(second.names).toEqual(first.names);
		expect((await t.show(first.names.build as number)).spec.env).toEqual({ PATH: "/bin" });
		// A person has changed the job since: that must not count as a change of the manifest.
		await t.sluice.priority(first.names.build as number, 5);
		expect((await t.sluice.apply(NIGHT)).skipped).toHaveLength(2);
	});

	test("is refused when all its jobs have ended; with `again` they run anew", async () => {
		const t = await openStand();
		const first = await t.sluice.apply(NIGHT);
		await t.start();
		await t.succeed(first.names.build as number);
		expect((await t.sluice.apply(NIGHT)).skipped.map(({ reason }) => reason)).toEqual(["ended", "exists"]);
		await expect(t.sluice.apply(NIGHT, { again: true })).rejects.toMatchObject({
			code: "conflict",
			message: expect.stringContaining("test (job "),
		});
		await t.start();
		await t.succeed(first.names.test as number);
		await expect(t.sluice.apply(NIGHT)).rejects.toMatchObject({ code: "conflict", hint: "sluice apply FILE --again runs it anew" });
		const again = await t.sluice.apply(NIGHT, { again: true });
		expect(again.jobs).toHaveLength(2);
		expect((await t.show(again.names.test as number)).after).toEqual([{ job: again.names.build, policy: "success" }]);
		expect(await t.sluice.find("build")).toBe(again.names.build);
	});

	test("with `again`: a name in `needs` means the job of the manifest, also where `parent` has the same name, of an earlier job", async () => {
		const t = await openStand();
		const old = await t.done({ name: "build" });
		const manifest = { jobs: [make("build"), make("test", { parent: "build", needs: ["job:build"] })] };
		const { names } = await t.sluice.apply(manifest, { again: true });
		expect(await t.show(names.test as number)).toMatchObject({ parent: old, needs: [`job:${names.build}`], status: "waiting_on_deps" });
	});

	test("jobs without a name are not added a second time while the manifest is open", async () => {
		const t = await openStand();
		const manifest = { jobs: [make("build"), { command: ["x"] }] };
		await t.sluice.apply(manifest);
		expect((await t.sluice.apply(manifest)).jobs).toEqual([]);
		expect(await t.sluice.list()).toHaveLength(2);
	});
});

describe("a changed manifest", () => {
	const CHANGED = {
		batch: "night",
		jobs: [
			make("build", { command: ["ninja"] }),
			make("test", { after: ["build:any"], lane: "default", timeout: "5m" }),
			make("ship", { after: ["test"] }),
		],
	};

	test("is refused without `update`, and nothing of it is added", async () => {
		const t = await openStand();
		await t.sluice.apply(NIGHT);
		await expect(t.sluice.apply(CHANGED)).rejects.toMatchObject({
			code: "conflict",
			message: expect.stringMatching(/changed: build \(job \d+, queued\), test \(job \d+, waiting_on_deps\); new: ship/),
		});
		expect(await t.sluice.list()).toHaveLength(2);
	});

	test("with `update` changes waiting jobs, adds new ones and leaves running ones", async () => {
		const t = await openStand();
		const { names } = await t.sluice.apply({ ...NIGHT, jobs: [...NIGHT.jobs, make("old")] });
		const [build, test, old] = [names.build, names.test, names.old] as [number, number, number];
		await t.sluice.runNow(build);
		await t.start(1);
		const result = await t.sluice.apply(CHANGED, { update: true });
		expect(result.updated).toEqual([{ name: "test", job: test }]);
		expect(result.skipped).toEqual([{ name: "build", job: build, reason: "running" }]);
		expect(result.not_named).toEqual([{ name: "old", job: old }]);
		expect(result.jobs).toEqual([result.names.ship]);
		const changed = await t.show(test);
		expect([changed.spec.timeout_ms, changed.after]).toEqual([300_000, [{ job: build, policy: "any" }]]);
		expect((await t.show(build)).spec.command).toEqual(["make", "build"]);
		expect((await t.sluice.history(test)).map(({ kind }) => kind)).toContain("updated");
		// The jobs are now as the manifest says: applying it once more changes nothing.
		expect((await t.sluice.apply(CHANGED, { update: true })).updated).toEqual([]);
		await t.fail(build);
		expect(await t.status(test)).toBe("queued");
	});

	test("needs, produces and locks of a waiting job become what the manifest says now", async () => {
		const t = await openStand();
		const before = {
			jobs: [
				make("a", { produces: ["custom:x:1"], locks: ["l1"] }),
				make("b", { needs: ["custom:x:1"], on_missing: "wait" }),
				make("c", { batch: "p" }),
			],
		};
		const { names } = await t.sluice.apply(before);
		const after = {
			jobs: [
				make("a", { produces: ["custom:y:1"], locks: ["l2"], requires_approval: true }),
				make("b", { needs: ["custom:y:1"], on_missing: "wait" }),
				make("c", { batch: "q", after: ["a", "b"] }),
			],
		};
		expect((await t.sluice.apply(after, { update: true })).updated?.map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
		expect(await t.gates(names.a as number)).toContain("approval/approval");
		expect((await t.reasons(names.b as number))[0]?.detail).toContain("custom:y:1");
		expect(await t.sluice.batches()).toEqual([{ name: "q", open: 1, total: 1, owned: false }]);
		await t.sluice.approve(names.a as number);
		expect(await t.start()).toEqual([names.a]);
		expect((await t.sluice.locks()).map(({ key }) => key)).toEqual(["l2"]);
		await t.sluice.mark("custom:y:1");
		await t.succeed(names.a as number);
		expect(await t.start()).toEqual([names.b]);
		await t.succeed(names.b as number);
		expect(await t.start()).toEqual([names.c]);
	});

	test("a job keeps its item and parent; jobs that would wait for each other are refused", async () => {
		const t = await openStand();
		const { names } = await t.sluice.apply({ jobs: [make("a", { item: "i1" }), make("b")] });
		const outside = await t.add({ after: [names.b as number] });
		await expect(t.sluice.apply({ jobs: [make("a", { item: "i2" }), make("b")] }, { update: true })).rejects.toMatchObject({
			code: "conflict",
			field: "jobs[0].item",
		});
		await expect(
			t.sluice.apply({ jobs: [make("a", { item: "i1" }), make("b", { after: [outside] })] }, { update: true }),
		).rejects.toMatchObject({
			code: "cycle",
		});
		expect((await t.show(names.b as number)).after).toEqual([]);
	});

	test("in pieces, with many jobs", async () => {
		const t = await openStand({ piece: 10 });
		const jobs = Array.from({ length: 40 }, (_, n) => make(`n${n}`, n > 0 ? { after: [`n${n - 1}`] } : {}));
		await t.sluice.apply({ jobs });
		const changed = [
			...jobs.map((job) => ({ ...job, timeout: "1m" })),
			...Array.from({ length: 30 }, (_, n) => make(`m${n}`, { after: [`n${n}`] })),
		];
		const result = await t.sluice.apply({ jobs: changed }, { update: true });
		expect([result.jobs.length, result.updated?.length]).toEqual([30, 40]);
		expect((await t.show(result.names.n7 as number)).spec.timeout_ms).toBe(60_000);
		expect((await t.show(result.names.m7 as number)).after).toEqual([{ job: result.names.n7, policy: "success" }]);
	});
});

describe("all mistakes at once", () => {
	test("of every job, of the defaults, and of names that no job has", async () => {
		const t = await openStand();
		const bad = { jobs: [{ command: "make test", lane: "nope" }, { comand: ["x"] }, { command: ["x"], priority: "high", timeout: -1 }] };
		const error = await t.sluice.apply(bad as never, { check: true }).catch((caught) => caught);
		expect([error.field, ...error.also.map(({ field }: { field: string }) => field)]).toEqual([
			"jobs[0].command",
			"jobs[0].lane",
			"jobs[1].comand",
			"jobs[2].priority",
			"jobs[2].timeout",
		]);
		expect(error.hint).toBe('write [make, test], or [sh, -c, "make test"] for a shell line');
		const missing = await t.sluice.apply({ jobs: [make("a", { after: ["x"] }), make("b", { after: ["y"] })] }).catch((caught) => caught);
		expect([missing.field, missing.also[0].field]).toEqual(["jobs[0].after[0]", "jobs[1].after[0]"]);
		const keys = { lanes: {}, job: [], jobs: [make("a", { lane: "nope" })] };
		const wrong = await t.sluice.apply(keys as never).catch((caught) => caught);
		expect([wrong.field, ...wrong.also.map(({ field }: { field: string }) => field)]).toEqual(["lanes", "job", "jobs[0].lane"]);
		await expect(t.sluice.apply({ jbos: [] } as never)).rejects.toMatchObject({ field: "jbos", hint: 'did you mean "jobs"?' });
		await expect(t.sluice.apply({ lanes: {}, jobs: [] } as never)).rejects.toMatchObject({
			message: "lanes: a manifest has no lanes",
			hint: "lanes belong to the configuration: sluice lane set NAME --max N makes one",
		});
	});

	test("a wrong field does not hide a duplicate name, a circle or a missing job", async () => {
		const t = await openStand();
		await t.add({ name: "there" });
		const jobs = [
			make("a", { lane: "nope" }),
			make("a"),
			make("b", { after: ["c"] }),
			make("c", { after: ["b"] }),
			make("d", { after: ["nix", "there", "a"] }),
		];
		const error = await t.sluice.apply({ jobs }, { check: true }).catch((caught) => caught);
		expect([error.field, ...error.also.map(({ field }: { field: string }) => field)]).toEqual([
			"jobs[0].lane",
			"jobs[1].name",
			"jobs[4].after[0]",
			"jobs[2].after",
		]);
	});
});

describe("jobs by name where numbers are stored", () => {
	test("parent, job: and patch:, of other jobs and of the same manifest", async () => {
		const t = await openStand();
		const parent = await t.add({ name: "plan" });
		const child = await t.add({ parent: "plan", needs: ["patch:plan"], on_missing: "wait" });
		expect([(await t.show(child)).parent, (await t.show(child)).needs]).toEqual([parent, [`patch:${parent}`]]);
		await expect(t.add({ parent: "paln" })).rejects.toMatchObject({ code: "not_found", field: "parent", hint: 'did you mean "plan"?' });
		await expect(t.add({ needs: ["patch:paln"] })).rejects.toMatchObject({ code: "not_found", field: "needs" });
		const { names } = await t.sluice.apply({
			jobs: [make("use", { needs: ["job:make", "job:plan"] }), make("make"), make("kid", { parent: "plan" })],
		});
		expect((await t.show(names.use as number)).needs).toEqual([`job:${names.make}`, `job:${parent}`]);
		expect((await t.show(names.kid as number)).parent).toBe(parent);
		await expect(t.sluice.apply({ jobs: [make("z", { needs: ["patch:nobody"] })] })).rejects.toMatchObject({
			code: "not_found",
			field: "jobs[0].needs",
		});
	});
});
