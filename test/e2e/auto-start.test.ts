// A daemon that starts by itself: detached, without the variables of a run, and with its own words when it cannot.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Client, connect } from "../../src/api/client.ts";
import { startDaemon } from "../../src/cli/auto-start.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeProgram } from "../make/daemons/program.ts";

const env = (more: Record<string, string> = {}) => ({ PATH: process.env.PATH ?? "", SLUICE_PORT: "0", ...more });
let program: string | undefined;
const start = (home: TestHome, more: Record<string, string> = {}) => {
	program ??= makeProgram("src/daemon/main.ts");
	return startDaemon(home.path, { program, env: env(more) });
};

/** It is nobody's child: it is ended over its socket, and by its pid if that fails. */
async function reach(home: TestHome): Promise<{ client: Client; pid: number }> {
	const client = await connect(home.socket);
	const { pid } = await client.call("scheduler.version", {});
	onTestFinished(async () => {
		client.close();
		try {
			process.kill(pid, "SIGKILL");
		} catch {
			// It has gone.
		}
		await until(() => !existsSync(`/proc/${pid}`));
	});
	return { client, pid };
}

test("starts one, in a session of its own, without the variables of the run that asked for it", async () => {
	const home = new TestHome();
	await start(home, { SLUICE_JOB_ID: "7", SLUICE_MARK: "other-7.1", SLUICE_TOKEN: "t" });
	const { pid } = await reach(home);
	const environ = readFileSync(`/proc/${pid}/environ`, "utf8");
	expect(environ).toContain("SLUICE_PORT=0");
	expect(environ).not.toMatch(/SLUICE_(JOB_ID|MARK|TOKEN)/);
	const session = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[3];
	expect(Number(session)).toBe(pid);
});

test("several that start one at the same time get the same", async () => {
	const home = new TestHome();
	await Promise.all([1, 2, 3].map(() => start(home)));
	const { pid } = await reach(home);
	await until(() => existsSync(join(home.path, "daemon.json")));
	expect(JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")).pid).toBe(pid);
});

test("where one answers, none is started", async () => {
	const home = new TestHome();
	await start(home);
	await reach(home);
	await startDaemon(home.path, {
		get program(): string {
			throw new Error("another one was wanted");
		},
		env: env(),
	});
});

test("one that cannot start says why", async () => {
	const home = new TestHome();
	mkdirSync(home.path, { mode: 0o700 });
	writeFileSync(join(home.path, "daemon.log"), "an old line\n");
	writeFileSync(join(home.path, "config.yml"), "lanse: {}\n");
	await expect(start(home)).rejects.toMatchObject({
		code: "invalid",
		message: expect.stringMatching(
			/^the daemon could not be started: config\.yml:1:1: lanse: there is no such key\n +did you mean "lanes"\?$/,
		),
		hint: `see ${join(home.path, "daemon.log")}`,
	});
});

test("a host name that is taken: said once, and as what it is", async () => {
	program ??= makeProgram("src/daemon/main.ts");
	const [first, second] = [new TestHome(), new TestHome()];
	mkdirSync(first.path, { mode: 0o700 });
	const shared = { program, name: "mill", store: join(first.path, "fleet.db"), env: env() };
	await startDaemon(first.path, shared);
	await reach(first);
	const refusal: { code?: string; message?: string } = await startDaemon(second.path, shared).then(
		() => ({}),
		(error) => error,
	);
	expect(refusal.code).toBe("conflict");
	expect(refusal.message?.match(/the host name "mill" is held by the daemon of another home/g)).toHaveLength(1);
	// Nothing will change it: it is not tried again and again.
	expect(second.log().match(/is held by the daemon/g)).toHaveLength(1);
});

test("a home that cannot be made is refused at once", async () => {
	program ??= makeProgram("src/daemon/main.ts");
	await expect(startDaemon("/proc/nowhere/home", { program })).rejects.toMatchObject({ code: "store" });
});
