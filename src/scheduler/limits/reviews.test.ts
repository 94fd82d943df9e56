// The cap on unreviewed work, through the engine: what counts, what waits for it, and what frees it at once.

import { expect, onTestFinished, test } from "vitest";
import { openStand, type Stand } from "../../../test/make/stand.ts";
import type { RunEnd } from "../../core/schema/run.ts";

const config = {
	max_concurrent: 10,
	review: { max_open: 1 },
	repos: { app: { merge: "mr" }, web: { max_open: 2 }, free: { max_open: null } },
};

/** A job of the repo that has ended with its merge in this state. */
async function ended(t: Stand, repo: string, merge_status: NonNullable<RunEnd["merge_status"]> = "requested"): Promise<number> {
	const id = await t.add({ repo });
	expect(await t.start()).toEqual([id]);
	await t.end(id, "completed", { exit_code: 0, merge_status });
	return id;
}

/** Counts commits that may have made a job startable. */
function stirs(t: Stand): () => number {
	let count = 0;
	onTestFinished(
		t.sluice.watch(({ stirred }) => {
			if (stirred) count++;
		}),
	);
	return () => count;
}

test("holds the jobs of that repo whose work would be merged, and no others", async () => {
	const t = await openStand({ config });
	await ended(t, "app");
	const held = await t.add({ repo: "app" });
	const others = [
		await t.add({ repo: "app", no_merge: true }),
		await t.add({ repo: "app", merge: "local" }),
		await t.add({ repo: "web" }),
		await t.add(),
	];
	expect(await t.start()).toEqual(others);
	expect((await t.sluice.why(held)).reasons.map(({ code, subject }) => [code, subject])).toEqual([["review", "repo:app"]]);
	const { queued_held, held: causes } = await t.sluice.status();
	expect([queued_held, causes]).toMatchObject([1, [{ kind: "review", subject: "repo:app", jobs: 1 }]]);
	expect((await t.sluice.show(held)).held).toMatchObject({ kind: "review" });
	const { jobs } = await t.sluice.forecast();
	expect(jobs.find(({ id }) => id === held)).toMatchObject({ stuck: expect.stringContaining("1 unreviewed of at most 1") });
	expect(await t.start()).toEqual([]);
});

test("a repo may have a cap of its own, or none", async () => {
	const t = await openStand({ config });
	await ended(t, "web");
	await ended(t, "web", "conflict");
	for (let count = 0; count < 3; count++) await ended(t, "free");
	const [web, free] = [await t.add({ repo: "web" }), await t.add({ repo: "free" })];
	expect(await t.start()).toEqual([free]);
	await t.sluice.configure({ repos: { web: { max_open: 3 } } });
	expect(await t.start()).toEqual([web]);
});

test.each([
	["merged", (t: Stand, id: number) => t.sluice.merged(id, "merged")],
	["given up", (t: Stand, id: number) => t.sluice.dropMerge(id)],
	["tried again", (t: Stand, id: number) => t.sluice.mergeAgain(id)],
	["deleted", (t: Stand) => t.sluice.gc({ days: 0 })],
] as [string, (t: Stand, id: number) => Promise<unknown>][])("work that is %s lets the next job start at once", async (_how, act) => {
	const t = await openStand({ config });
	const first = await ended(t, "app");
	const next = await t.add({ repo: "app" });
	expect(await t.start()).toEqual([]);
	await t.wait(1000);
	const count = stirs(t);
	await act(t, first);
	expect(count()).toBe(1);
	expect(await t.start()).toEqual([next]);
});

test("a job that is run again no longer counts: it can repair its own work", async () => {
	const t = await openStand({ config });
	const first = await ended(t, "app", "conflict");
	expect((await t.sluice.retry(first)).reset).toEqual([first]);
	expect(await t.start()).toEqual([first]);
	await t.end(first, "completed", { exit_code: 0, merge_status: "pending" });
	const second = await t.add({ repo: "app" });
	expect(await t.start()).toEqual([second]);
});

test("pending merges do not count until they are stuck; a merge that is reported twice counts once", async () => {
	const t = await openStand({ config });
	const first = await ended(t, "app", "pending");
	const second = await ended(t, "app", "pending");
	await t.sluice.merged(first, "pending", { uncommitted: true });
	await t.sluice.merged(first, "pending", { uncommitted: true });
	const third = await t.add({ repo: "app" });
	expect(await t.start()).toEqual([]);
	await t.sluice.merged(first, "merged");
	await t.sluice.merged(first, "merged");
	await t.sluice.merged(second, "verify_failed");
	expect(await t.start()).toEqual([]);
	await t.sluice.merged(second, "merged");
	expect(await t.start()).toEqual([third]);
});
