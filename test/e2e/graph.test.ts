// `sluice graph` against a real daemon: what is shown by default, with --all, around one job, in each form.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const CONFIG = "max_concurrent: 8\nlanes: {default: {}, code: {}}\n";

async function pipeline() {
	const home = new TestHome();
	home.make(CONFIG);
	const { client } = await home.up();
	const folder = makeFolder();
	const gate = join(folder, "go");
	const wait = ["/bin/sh", "-c", `while [ ! -e ${gate} ]; do sleep 0.02; done`];
	const add = async (input: Record<string, unknown>) => {
		const result = await client.call("job.add", { command: ["true"], cwd: folder, ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		return result.job.id;
	};
	const plan = await add({ name: "plan" });
	await client.call("job.wait", { ids: [plan] });
	const build = await add({ name: "build", lane: "code", command: wait, after: [plan], produces: ["custom:build:x"], base_branch: "main" });
	const check = await add({ name: "check", after: ["build"], locks: ["db", "docs:shared"], needs: ["custom:build:x"] });
	const stuck = await add({ name: "stuck", needs: ["custom:plan:nobody"] });
	const open = () => writeFileSync(gate, "");
	return { home, client, ids: { plan, build, check, stuck }, open, gate };
}

describe("graph", () => {
	test("active and blocked jobs, with what they wait for, ended predecessors included", async () => {
		const { home, ids, client } = await pipeline();
		await until(async () => (await client.call("job.show", { id: ids.build })).job.status === "running");
		const { code, out } = await home.run(["graph"]);
		expect(code).toBe(0);
		expect(out).toBe(`2 running [code/build/main]
\`-- after:success -> 1 succeeded
3 waiting_on_deps [default/check] [wait: waiting on job 2] [locks: db:exclusive, docs:shared]
|-- after:success -> 2 running
|   \`-- after:success -> 1 succeeded
\`-- custom:build:x -> 2 running
4 blocked_by_dependency [default/stuck] [wait: missing custom:plan:nobody]
\`-- custom:plan:nobody -> [missing]
`);
		expect((await home.run(["graph", "--max-depth", "0"])).out.split("\n").length).toBe(4);
		expect((await home.run(["graph", "--all"])).out.split("\n")[0]).toBe("1 succeeded [default/plan]");
	});

	test("one job, with what waits for it", async () => {
		const { home } = await pipeline();
		const { out } = await home.run(["graph", "--job", "plan", "--json"]);
		const { nodes, edges } = JSON.parse(out);
		expect(nodes.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
		expect(edges).toEqual([
			{ from: 2, to: 1, after: { policy: "success" } },
			{ from: 3, to: 2, after: { policy: "success" } },
			{ from: 3, to: 2, artifact: "custom:build:x" },
		]);
		const near = JSON.parse((await home.run(["graph", "--job", "1", "--max-depth", "1", "--format", "json"])).out);
		expect(near.nodes.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
		expect((await home.run(["graph", "--job", "99"])).code).toBe(3);
	});

	test("json: exactly these fields", async () => {
		const { home } = await pipeline();
		const document = JSON.parse((await home.run(["graph", "--format", "json"])).out);
		expect(Object.keys(document).sort()).toEqual(["edges", "nodes", "schema_version"]);
		expect(document.nodes.at(-1)).toEqual({ id: 4, status: "blocked_by_dependency", command: "true", wait: "missing custom:plan:nobody" });
		expect(document.edges.at(-1)).toEqual({
			from: 4,
			to: "artifact:custom:plan:nobody",
			artifact: "custom:plan:nobody",
			state: "missing",
		});
	});

	test("drawings; nothing to show; wrong words", async () => {
		const { home, client, ids, open, gate } = await pipeline();
		expect((await home.run(["graph", "--format", "mermaid"])).out).toMatch(/^flowchart LR\n/);
		expect((await home.run(["graph", "--format", "dot"])).out).toMatch(/^digraph sluice \{\n/);
		expect((await home.run(["graph", "--format", "svg"])).code).toBe(2);
		expect((await home.run(["graph", "--all", "--job", "1"])).code).toBe(2);
		open();
		expect(existsSync(gate)).toBe(true);
		await client.call("job.wait", { ids: [ids.build, ids.check] });
		await client.call("scheduler.gc", { days: 0 });
		await until(
			async () =>
				(await home.run(["graph"])).out === "Outcome: No scheduled jobs\n" || (await client.call("scheduler.gc", { days: 0 })) === null,
		);
		expect(JSON.parse((await home.run(["graph", "--json"])).out)).toEqual({ schema_version: 1, nodes: [], edges: [] });
	});
});
