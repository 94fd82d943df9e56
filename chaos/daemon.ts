// A daemon of a chaos round: started, killed with SIGKILL, started again; always by its own pid.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "../src/api/client.ts";
import { socketOf } from "../src/api/socket-path.ts";

const BIN = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

export type Daemon = { child: ChildProcess; gone: Promise<number | null> };

export type Start = {
	/** Where it shall kill itself, as `name[:nth]`. */
	step?: string | undefined;
	/** What node is to run. */
	argv?: readonly string[] | undefined;
	env?: Record<string, string>;
};

export function startDaemon(home: string, { step, argv = [BIN, "up", "--port", "0"], env = {} }: Start = {}): Daemon {
	const log = openSync(join(home, "chaos.log"), "a");
	const child = spawn(process.execPath, argv, {
		env: {
			PATH: process.env.PATH ?? "/usr/bin:/bin",
			HOME: home,
			SLUICE_HOME: home,
			...(step === undefined ? {} : { SLUICE_CHAOS_STEP: step }),
			...env,
		},
		stdio: ["ignore", log, log],
	});
	closeSync(log);
	const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
	return { child, gone };
}

export const isGone = ({ child }: Daemon): boolean => child.exitCode !== null || child.signalCode !== null;

export async function kill(daemon: Daemon): Promise<void> {
	daemon.child.kill("SIGKILL");
	await daemon.gone;
}

/** Connects as soon as it answers; undefined when it died before it did. */
export async function reach(home: string, daemon: Daemon): Promise<Client | undefined> {
	while (!isGone(daemon)) {
		try {
			return await connect(socketOf(home));
		} catch {
			await sleep(20);
		}
	}
	return undefined;
}
