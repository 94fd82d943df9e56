// Commands that stay: a daemon that dies under them is brought back, or they end with the code that says "try again", never with that of a failed job.

import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { connect } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

const add = async (client: Client, home: TestHome, script: string, more: Record<string, unknown> = {}): Promise<number> => {
	const result = await client.call("job.add", { command: ["/bin/sh", "-c", script], cwd: home.path, ...more });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
/** Runs until the file `go` is there. */
const HELD = "echo first; : > begun; while [ ! -e go ]; do sleep 0.01; done; echo second >&2";

async function withRun() {
	const home = new TestHome();
	const { client, child } = await home.up();
	const held = await add(client, home, HELD);
	await until(() => existsSync(join(home.path, "begun")));
	const go = () => writeFileSync(join(home.path, "go"), "");
	/** Another daemon than the first one answers. */
	const revived = () =>
		until(async () => {
			const other = await connect(home.socket).catch(() => undefined);
			const pid = other && (await other.call("scheduler.version", {}).catch(() => undefined))?.pid;
			other?.close();
			return pid !== undefined && pid !== child.pid;
		});
	return { home, client, child, held, go, revived };
}

/** A command that stays; resolves once it has said this, and is so connected. */
async function begin(home: TestHome, args: string[], words: string) {
	const env = { PATH: process.env.PATH ?? "", HOME: home.path, USER: "ann", SLUICE_HOME: home.path, SLUICE_PORT: "0" };
	const child = spawn(process.execPath, [TestHome.command(), ...args], { env, cwd: tmpdir(), stdio: ["ignore", "pipe", "pipe"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	const said = { code: -1, out: "", err: "" };
	child.stdout.on("data", (chunk) => (said.out += chunk));
	child.stderr.on("data", (chunk) => (said.err += chunk));
	const done = new Promise<typeof said>((resolve) => child.once("close", (code) => resolve({ ...said, code: code ?? -1 })));
	await until(() => (said.out + said.err).includes(words));
	return { done };
}

describe("a daemon that is killed", () => {
	test("is brought back by wait, which goes on to the end of its jobs", async () => {
		const { home, client, child, held, go, revived } = await withRun();
		const later = await add(client, home, "exit 3", { after: [held] });
		const waiting = await begin(home, ["wait", String(held), String(later)], "running");
		await home.kill(child);
		await revived();
		go();
		expect(await waiting.done).toMatchObject({ code: 1, err: expect.stringContaining(`job ${later} failed, exit code 3`) });
	});

	test("is brought back by logs -f, which shows each line once", async () => {
		const { home, child, held, go, revived } = await withRun();
		const following = await begin(home, ["logs", "-f", String(held)], "first");
		await home.kill(child);
		await revived();
		go();
		expect(await following.done).toMatchObject({ code: 0, out: "first\nsecond\n" });
	});

	test("is brought back by status --watch", async () => {
		const { home, child, go, revived } = await withRun();
		await begin(home, ["status", "--watch"], "Running: 1");
		await home.kill(child);
		await revived();
		go();
	});

	test("is not brought back when it was stopped on purpose: wait ends with the code for trying again", async () => {
		const { home, client, child, held, go } = await withRun();
		const waiting = await begin(home, ["wait", String(held)], "running");
		await client.call("scheduler.down", { grace_ms: 0 });
		await home.gone(child);
		expect(await waiting.done).toMatchObject({ code: 75, err: expect.stringContaining("the daemon was stopped") });
		expect(existsSync(home.socket)).toBe(false);
		go();
	});

	test("and cannot be started again: the code for trying again, and why", async () => {
		const { home, child, held, go } = await withRun();
		const waiting = await begin(home, ["wait", String(held)], "running");
		writeFileSync(join(home.path, "config.yml"), "max_concurrent: many\n");
		await home.kill(child);
		expect(await waiting.done).toMatchObject({ code: 75, err: expect.stringContaining("max_concurrent") });
		writeFileSync(join(home.path, "config.yml"), "");
		go();
	});
});

test("a run that waits for everything does not wait for itself", async () => {
	const home = new TestHome();
	const { client } = await home.up();
	const other = await add(client, home, "while [ ! -e go ]; do sleep 0.01; done");
	const waits = await add(client, home, `: > waits; ${process.execPath} ${TestHome.command()} wait --all -q`);
	await until(() => existsSync(join(home.path, "waits")));
	writeFileSync(join(home.path, "go"), "");
	const said = await home.run(["wait", String(waits), String(other)]);
	expect(said.code).toBe(0);
});
