// `within`: what a run may add: which parent, which job it may replace, which job it may update.

import { describe, expect, test } from "vitest";
import { openStand, type Stand } from "../../../test/make/stand.ts";
import type { JobInput } from "../../core/job.ts";
import type { RunBounds } from "../../core/trust/run-bounds.ts";

const REACH: RunBounds["reach"] = {
	...{ folders: ["/w"], env: {}, usual_env: [], allow: [], accounts: [], branches: [], produces: [], host_labels: [] },
	merge: "direct",
};
const within = (job: number, more: Partial<RunBounds> = {}): RunBounds => ({ job, level: "full", priority: 0, reach: REACH, ...more });
const refusal = (call: Promise<unknown>): Promise<unknown> =>
	call.then(
		() => "accepted",
		({ code, field }) => [code, field],
	);

/** A family of three generations, and a job that does not belong to it. */
async function family(): Promise<{ t: Stand; root: number; child: number; below: number; other: number }> {
	const t = await openStand({ config: { max_concurrent: 10, parents: { max_descendants: 5000 } } });
	const root = await t.add({ name: "root" });
	const child = await t.add({ name: "child", parent: root });
	const below = await t.add({ name: "below", parent: child });
	const other = await t.add({ name: "other", unique: { key: "nightly" } });
	return { t, root, child, below, other };
}
const command = ["true"];

describe("a parent", () => {
	test("must be the run's own job (the default) or one of its descendants", async () => {
		const { t, root, child, below, other } = await family();
		const add = (input: JobInput) => t.sluice.add({ command, ...input }, { within: within(child) });
		expect(await add({})).toMatchObject({ job: { parent: child } });
		expect(await add({ parent: below })).toMatchObject({ job: { parent: below } });
		expect(await add({ parent: "below" })).toMatchObject({ job: { parent: below } });
		for (const parent of [root, other, "root", "other"]) expect(await refusal(add({ parent }))).toEqual(["forbidden", "parent"]);
		expect(await refusal(add({ parent: 4711 }))).toEqual(["not_found", "parent"]);
	});

	test("must be so in a manifest too; otherwise none of its jobs is added", async () => {
		const { t, child, other } = await family();
		const apply = (jobs: JobInput[]) => t.sluice.apply({ jobs: jobs.map((job) => ({ command, ...job })) }, { within: within(child) });
		const before = (await t.sluice.list({ all: true })).length;
		expect(await refusal(apply([{}, { parent: other }]))).toEqual(["forbidden", "jobs[1].parent"]);
		expect((await t.sluice.list({ all: true })).length).toBe(before);
		const { jobs } = await apply([{}, { parent: child }]);
		for (const id of jobs) expect(await t.show(id)).toMatchObject({ parent: child });
	});

	test("must be so in a manifest that goes in by stages", async () => {
		const { t, child, other } = await family();
		const many = Array.from({ length: 700 }, (_, index): JobInput => ({ command, ...(index === 699 ? { parent: other } : {}) }));
		expect(await refusal(t.sluice.apply({ jobs: many }, { within: within(child) }))).toEqual(["forbidden", "jobs[699].parent"]);
		expect((await t.sluice.list({ all: true })).length).toBe(4);
	});
});

describe("a job that is not a descendant of the run's own", () => {
	test("is not replaced by its unique key", async () => {
		const { t, child, other } = await family();
		const unique = { key: "nightly", policy: "replace" as const };
		const options = { within: within(child) };
		expect(await refusal(t.sluice.add({ command, unique }, options))).toEqual(["forbidden", "unique"]);
		expect(await refusal(t.sluice.apply({ jobs: [{ command, unique }] }, options))).toEqual(["forbidden", "jobs[0].unique"]);
		expect(await t.status(other)).toBe("queued");
		expect(await t.sluice.add({ command, unique: { key: "nightly" } }, options)).toEqual({ outcome: "duplicate", job: other });
		const own = await t.add({ parent: child, unique: { key: "own" } });
		expect(await t.sluice.add({ command, unique: { ...unique, key: "own" } }, options)).toMatchObject({ outcome: "queued" });
		expect(await t.status(own)).toBe("cancelled");
	});

	test("is not updated by a manifest that has its name", async () => {
		const { t, child, other } = await family();
		await t.sluice.apply({ jobs: [{ name: "foreign", command }] });
		await t.sluice.apply({ jobs: [{ name: "own", command }] }, { within: within(child) });
		const update = (name: string, more: JobInput = {}) =>
			t.sluice.apply({ jobs: [{ name, command: ["false"], ...more }] }, { within: within(child), update: true });
		expect(await refusal(update("foreign"))).toEqual(["forbidden", "jobs[0]"]);
		expect(await refusal(update("foreign", { parent: other }))).toEqual(["forbidden", "jobs[0]"]);
		expect((await update("own")).updated).toHaveLength(1);
	});
});

test("force is refused, and a priority is lowered, for one and for many", async () => {
	const { t, child } = await family();
	const options = { within: within(child, { priority: 2 }) };
	expect(await refusal(t.sluice.add({ command }, { ...options, force: true }))).toEqual(["forbidden", "force"]);
	expect(await refusal(t.sluice.apply({ jobs: [{ command }] }, { ...options, force: true }))).toEqual(["forbidden", "force"]);
	expect(await t.sluice.add({ command, priority: 7 }, options)).toMatchObject({
		job: { priority: 2 },
		warning: expect.stringContaining("lowered to 2"),
	});
	const { jobs, warnings } = await t.sluice.apply(
		{
			jobs: [
				{ command, priority: 7 },
				{ command, priority: 7 },
			],
		},
		options,
	);
	expect(warnings).toHaveLength(1);
	for (const id of jobs) expect((await t.show(id)).priority).toBe(2);
});
