// A daemon whose home is deleted or moved, or whose socket is gone: it ends by itself, and what becomes of its runs depends on whether anything can find them again.

import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

async function running(client: Client): Promise<number> {
	await client.call("job.add", { command: ["/bin/sh", "-c", "trap '' TERM; echo started; while :; do sleep 0.1; done"], cwd: "/" });
	// A home that goes while the shim still opens its files there would end the run: the command has to run first. A caller that waits gets no error while there is
	// no log yet.
	await until(async () => (await client.call("job.logs", { id: 1, wait_ms: 1000 })).text.includes("started"));
	return until(async () => (await client.call("job.show", { id: 1 })).job.run?.pid ?? undefined);
}
const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

test("a home that is deleted ends its daemon, and its runs with it; a new daemon in the same place is left alone", async () => {
	const home = new TestHome();
	const { child, client } = await home.up();
	const pid = await running(client);
	expect(isAlive(pid)).toBe(true);
	// The daemon may write a file while its folder is emptied.
	rmSync(home.path, { recursive: true, maxRetries: 10 });
	const next = await home.up();
	await home.gone(child);
	expect(child.exitCode).toBe(0);
	await until(() => !isAlive(pid));
	expect(await next.client.call("job.list", {})).toMatchObject({ jobs: [] });
	expect([existsSync(home.socket), existsSync(join(home.path, "daemon.json"))]).toEqual([true, true]);
	expect((await home.run(["list"])).code).toBe(0);
});

test("a home that is moved ends its daemon; its runs go on, and the next daemon finds them", async () => {
	const home = new TestHome();
	const { child, client } = await home.up();
	const pid = await running(client);
	const other = new TestHome(`${home.path}-moved`);
	renameSync(home.path, other.path);
	await home.gone(child);
	expect(other.log()).toContain("the home is no longer where it was");
	expect(isAlive(pid)).toBe(true);
	const next = await other.up();
	await until(async () => (await next.client.call("job.show", { id: 1 })).job.run?.pid === pid);
});

test("a daemon whose socket is gone ends; the next command starts one that finds its runs", async () => {
	const home = new TestHome();
	const { child, client } = await home.up();
	const pid = await running(client);
	rmSync(home.socket);
	await home.gone(child);
	expect(child.exitCode).toBe(1);
	expect(isAlive(pid)).toBe(true);
	const said = await home.run(["show", "1", "--json"]);
	expect(JSON.parse(said.out).job.run.pid).toBe(pid);
});
