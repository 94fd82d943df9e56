// `sluice forecast` against a real daemon: with no past, with one, and what if.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

test("no past runs: it says so; then ranges, the basis, the path, the cap that binds, and what if", async () => {
	const home = new TestHome();
	home.make("max_concurrent: 1\n");
	const { client } = await home.up();
	const gate = join(makeFolder(), "go");
	const add = async (input: Record<string, unknown> = {}) => {
		const result = await client.call("job.add", { command: ["true"], cwd: "/", ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		return result.job.id;
	};
	const first = await add({ command: ["/bin/sh", "-c", `while [ ! -e ${gate} ]; do sleep 0.02; done`] });
	await add({ name: "next", batch: "docs" });
	const blind = await home.run(["forecast"]);
	expect(blind.code).toBe(0);
	expect(blind.out).toContain("no finished run to estimate from");
	expect(JSON.parse((await home.run(["forecast", "--json"])).out)).toMatchObject({
		schema_version: 1,
		runs: 0,
		end: null,
		jobs: [{ end: null }, { end: null }],
	});

	expect(await until(async () => (await client.call("job.why", { id: "next" })).eta)).toEqual({
		start: null,
		end: null,
		basis: null,
		stuck: expect.stringContaining("no finished run to estimate from"),
	});
	await until(async () => (await home.run(["why", "next"])).out.includes("eta       unknown: no finished run to estimate from"));
	expect((await client.call("batch.list", {})).batches).toMatchObject([{ name: "docs", eta: null }]);

	writeFileSync(gate, "");
	const quick = [await add(), await add(), await add(), await add()];
	await client.call("job.wait", { ids: [first, ...quick] });
	const slow = await add({ command: ["/bin/sh", "-c", "sleep 600"], name: "slow" });
	const [left, right] = [await add({ batch: "docs" }), await add({ batch: "docs", after: [slow] })];
	const found = JSON.parse((await home.run(["forecast", "--json"])).out);
	expect(found.runs).toBe(6);
	expect(found.jobs.map(({ id }: { id: number }) => id)).toEqual([slow, left, right]);
	for (const { start, end, basis } of found.jobs) {
		expect(basis).toMatchObject({ of: "lane default", runs: 6, like: "same" });
		expect(Date.parse(start.p50)).toBeLessThanOrEqual(Date.parse(end.p50));
		expect(Date.parse(end.p50)).toBeLessThanOrEqual(Date.parse(end.p90));
	}
	expect(found.batches).toMatchObject([{ name: "docs", jobs: 2, stuck: 0 }]);
	expect(found.binding).toMatchObject({ cap: "all", limit: 1 });
	expect(found.critical_path[0]).toMatchObject({ job: slow, because: "runs" });

	// The same, where one asks about a job or a batch. A forecast that was made a moment ago may have been without them.
	const { eta } = await until(async () => {
		const why = await client.call("job.why", { id: left });
		return why.eta?.end ? (why as typeof why & { eta: NonNullable<typeof why.eta> }) : undefined;
	});
	expect(eta.basis).toMatchObject({ of: "lane default", runs: 6, like: "same" });
	expect(Date.parse(eta.start?.p50 ?? "")).toBeLessThanOrEqual(Date.parse(eta.end?.p90 ?? ""));
	const line = /eta {7}starts \S+.*, ends \S+.* \(based on 6 runs in lane default\)/;
	await until(async () => line.test((await home.run(["why", String(left)])).out));
	const batch = await until(async () => (await client.call("batch.show", { name: "docs" })).batch.eta);
	expect(Date.parse(batch.p50)).toBeLessThanOrEqual(Date.parse(batch.p90));
	expect((await client.call("job.why", { id: first })).eta).toBeUndefined();
	// What waits for a person has no time, and neither has its batch.
	const asked = await add({ requires_approval: true, batch: "asked" });
	expect((await until(async () => (await client.call("job.why", { id: asked })).eta)).stuck).toContain("approval");
	expect((await client.call("batch.show", { name: "asked" })).batch.eta).toBeNull();
	await client.call("job.cancel", { id: asked });

	const said = (await home.run(["forecast"])).out;
	expect(said).toMatch(/Batch docs: 2 jobs, done /);
	expect(said).toMatch(new RegExp(`Critical path: ${slow} → `));
	expect(said).toContain("Binding: max_concurrent (1)");
	const wide = JSON.parse(
		(await home.run(["forecast", "--max-concurrent", "8", "--lane", "default:none", "--batch", "docs", "--json"])).out,
	);
	expect([wide.binding, wide.jobs.length]).toEqual([null, 2]);
	expect((await home.run(["forecast", "--lane", "default"])).code).toBe(2);
	expect((await home.run(["forecast", "--lane", "none:3"])).code).toBe(3);
	await client.call("job.cancel", { id: slow, subtree: true });
});
