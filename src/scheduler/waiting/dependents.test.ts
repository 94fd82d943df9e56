// Dependents of an ended job: each is told once, and until then the predecessor counts as running.

import { expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

test("a job that another change re-evaluates before it is told of a merge waits on until it is told", async () => {
	const t = await openStand({ config: { repos: { app: {} } } });
	const before = await t.done({ repo: "app" });
	const job = await t.add({ after: [{ job: before, policy: "merged" }], needs: ["custom:a:b", "custom:c:d"], on_missing: "wait" });
	// One transaction: the marker's consumers come before the dependents of the merge.
	await Promise.all([t.sluice.mark("custom:a:b"), t.sluice.merged(before, "merged")]);
	expect(await t.show(job)).toMatchObject({ wait_reason: { detail: "awaiting producer for custom:c:d" } });
	await t.sluice.mark("custom:c:d");
	expect(await t.start()).toEqual([job]);
	await t.sluice.close();
});

test("a job that is added while a merge is not told yet counts it down once", async () => {
	const t = await openStand({ config: { repos: { app: {} } } });
	const [before, other] = [await t.done({ repo: "app" }), await t.add()];
	const after = [{ job: before, policy: "merged" as const }, { job: other }];
	const first = await t.add({ after });
	const [, added] = await Promise.all([t.sluice.merged(before, "merged"), t.sluice.add({ command: ["true"], after })]);
	const second = added.outcome === "queued" ? added.job.id : 0;
	expect((await t.show(second)).wait_reason?.detail).toBe(`waiting on job ${other}`);
	await t.start();
	expect(await t.start()).toEqual([]);
	await t.succeed(other);
	expect(await t.start()).toEqual([first, second]);
	await t.sluice.close();
});

test("a merge that is reported twice is counted down once", async () => {
	const t = await openStand({ config: { repos: { app: {} } } });
	const [before, other] = [await t.done({ repo: "app" }), await t.add()];
	const job = await t.add({ after: [{ job: before, policy: "merged" }, { job: other }] });
	await t.start();
	await t.sluice.merged(before, "merged");
	// A host that died between its merge and its own record reports it once more.
	await t.sluice.merged(before, "merged");
	expect(await t.start()).toEqual([]);
	expect((await t.show(job)).wait_reason?.detail).toBe(`waiting on job ${other}`);
	await t.succeed(other);
	expect(await t.start()).toEqual([job]);
	await t.sluice.close();
});

test("several ends in one transaction make a dependent ready once", async () => {
	const t = await openStand({ config: { repos: { app: {} } } });
	const preds = [await t.add(), await t.add(), await t.add()];
	const job = await t.add({ after: preds });
	await t.start();
	await Promise.all(preds.map((id) => t.succeed(id)));
	expect((await t.sluice.history(job)).map(({ kind }) => kind)).toEqual(["added", "ready"]);
	await t.sluice.close();
});
