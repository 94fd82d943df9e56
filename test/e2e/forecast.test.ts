// `sluice forecast` against a real daemon: with no past, with one, and what if.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome } from "../make/daemon.ts";
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
	expect(blind.out).toContain("no run has ended well here yet: there is nothing to forecast from");
	expect(JSON.parse((await home.run(["forecast", "--json"])).out)).toMatchObject({
		schema_version: 1,
		runs: 0,
		end: null,
		jobs: [{ end: null }, { end: null }],
	});

	writeFileSync(gate, "");
	const quick = [await add(), await add(), await add(), await add()];
	await client.call("job.wait", { ids: [first, ...quick] });
	const slow = await add({ command: ["/bin/sh", "-c", "sleep 600"], name: "slow" });
	const [left, right] = [await add({ batch: "docs" }), await add({ batch: "docs", after: [slow] })];
	const found = JSON.parse((await home.run(["forecast", "--json"])).out);
	expect(found.runs).toBe(6);
	expect(found.jobs.map(({ id }: { id: number }) => id)).toEqual([slow, left, right]);
	for (const { start, end, basis } of found.jobs) {
		expect(basis).toEqual({ of: "lane default", runs: 6, like: "same" });
		expect(Date.parse(start.p50)).toBeLessThanOrEqual(Date.parse(end.p50));
		expect(Date.parse(end.p50)).toBeLessThanOrEqual(Date.parse(end.p90));
	}
	expect(found.batches).toMatchObject([{ name: "docs", jobs: 2, stuck: 0 }]);
	expect(found.binding).toMatchObject({ cap: "all", limit: 1 });
	expect(found.critical_path[0]).toMatchObject({ job: slow, because: "runs" });

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
