// Slips of the pen and odd moments at the command line: a home that is not there, runs without a daemon, nothing to resume.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

test("a look into a home that is not there makes none; a job does, and so does the usual home", async () => {
	const folder = makeFolder();
	const typo = join(folder, "typo");
	const home = new TestHome();
	for (const args of [["list"], ["show", "1"], ["cancel", "1"], ["lane", "list"], ["config", "get", "port"]]) {
		for (const said of [await home.run(["--home", typo, ...args]), await home.run(args, { env: { SLUICE_HOME: typo } })])
			expect([said.code, said.err]).toEqual([
				3,
				`sluice: there is no home at ${typo}\n        to make one there: sluice --home ${typo} up --detach\n`,
			]);
	}
	expect(existsSync(typo)).toBe(false);
	const other = new TestHome(join(folder, "other"));
	expect((await other.run(["add", "--", "true"])).code).toBe(0);
	const usual = new TestHome(join(folder, ".sluice"));
	expect((await usual.run(["list"], { env: { HOME: folder, SLUICE_HOME: "" } })).code).toBe(0);
	expect(existsSync(join(usual.path, "tag"))).toBe(true);
});

test("down --stop-runs without a daemon stops what an earlier one left, starts nothing, and says so", async () => {
	const home = new TestHome();
	home.make("max_concurrent: 1\n");
	const { child, client } = await home.up();
	for (const script of ["while :; do sleep 0.1; done", "touch started"])
		await client.call("job.add", { command: ["/bin/sh", "-c", script], cwd: home.path });
	const pid = await until(async () => (await client.call("job.show", { id: 1 })).job.run?.pid ?? undefined);
	await home.kill(child);
	const said = await home.run(["down", "--stop-runs"]);
	expect([said.code, said.err]).toEqual([0, "stopped 1 run that an earlier daemon had left\n"]);
	await until(() => !existsSync(`/proc/${pid}`));
	expect(existsSync(join(home.path, "started"))).toBe(false);
	expect((await home.run(["down", "--stop-runs"])).err).toBe("no daemon is running, and no run is left\n");
	expect((await home.run(["down"])).err).toBe("no daemon is running\n");
});

test("resume --agent of an agent without an open breaker has nothing to do; an unknown one is named", async () => {
	const home = new TestHome();
	await home.up();
	const said = await home.run(["resume", "--agent", "claude"]);
	expect([said.code, said.err]).toEqual([0, "nothing to resume: agent claude has no open breaker\n"]);
	expect((await home.run(["resume", "--agent", "cluade"])).err).toContain('did you mean "claude"?');
});
