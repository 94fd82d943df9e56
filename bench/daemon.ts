// A real daemon process on a home of its own, for the rows that measure the program and not the library: started, asked, stopped by its own pid.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "../src/api/client.ts";
import { NODE_FLAGS } from "../src/api/daemon-process.ts";
import { socketOf } from "../src/api/socket-path.ts";
import type { Bench } from "./row.ts";

const PROGRAM = fileURLToPath(new URL("../daemon-main.js", import.meta.url));
export const COMMAND = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

/** What a program needs to run, and nothing of the surroundings of the bench: their size would count. */
export const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: tmpdir(), USER: "bench", LANG: "C" };

export type BenchDaemon = { home: string; pid: number; client: Client; stop(): Promise<void> };

/** `settings`: lines of its config.yml. It has no HTTP port, so that any number of them get along. */
export async function startDaemon(bench: Bench, name: string, settings: Record<string, number | string>): Promise<BenchDaemon> {
	const home = bench.freshFile(name).replace(/\.db$/, "");
	mkdirSync(home, { mode: 0o700 });
	const lines = Object.entries({ port: "null", ...settings }).map(([key, value]) => `${key}: ${value}\n`);
	writeFileSync(join(home, "config.yml"), lines.join(""), { mode: 0o600 });
	const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM, "--home", home], {
		cwd: home,
		env: ENV,
		stdio: ["ignore", "ignore", "pipe"],
	});
	let said = "";
	child.stderr.on("data", (chunk) => {
		said += chunk;
	});
	// A bench that is broken off leaves nobody behind.
	const end = () => child.kill("SIGKILL");
	process.once("exit", end);
	const client = await reach(home, child, () => said);
	return {
		home,
		pid: child.pid as number,
		client,
		async stop() {
			const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
			await client.call("scheduler.down", { stop_runs: true, grace_ms: 0 }).catch(() => child.kill("SIGTERM"));
			client.close();
			await gone;
			process.off("exit", end);
		},
	};
}

async function reach(home: string, child: ChildProcess, said: () => string): Promise<Client> {
	while (child.exitCode === null && child.signalCode === null) {
		try {
			return await connect(socketOf(home));
		} catch {
			await pause(10);
		}
	}
	throw new Error(`the daemon did not start: ${said() || readFileSync(join(home, "daemon.log"), "utf8")}`);
}

/** Until all of them have ended; each must have succeeded. */
export async function waitFor(client: Client, ids: readonly number[]): Promise<void> {
	for (let done = false; !done; ) {
		const answer = await client.call("job.wait", { ids: [...ids] });
		done = answer.done;
		const bad = done ? answer.jobs.find((job) => job.status !== "succeeded") : undefined;
		if (bad) throw new Error(`job ${bad.id} ended ${bad.status}`);
	}
}
