// The real world around the program: this process, its terminal, the daemon of its home.

import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { connect, RpcError } from "../api/client.ts";
import { socketPath } from "../api/socket-path.ts";
import { localHost, systemClock } from "../host/local.ts";
import type { Connection, World } from "./io.ts";
import { splitKeys } from "./sequences.ts";

export function systemWorld(): World {
	const { env } = process;
	const homeOf = (given: string | undefined) => resolve(given ?? (env.SLUICE_HOME || join(env.HOME || homedir(), ".sluice")));
	return {
		env,
		cwd: process.cwd(),
		get stdin() {
			return process.stdin;
		},
		stdout: process.stdout,
		stderr: process.stderr,
		now: systemClock.now,
		after: (ms, call) => localHost.after(ms, call, "hold"),
		keys: process.stdout.isTTY ? readKeys : undefined,
		onResize(call) {
			process.stdout.on("resize", call);
			return () => process.stdout.off("resize", call);
		},
		version: readVersion,
		user: () => env.USER || env.LOGNAME || userInfo().username,
		homeOf,
		async daemon() {
			const { loadDaemon, startDaemon } = await import("../api/auto-start.ts");
			return { ...(await loadDaemon()), start: ({ home, port }) => startDaemon(home, { port }) };
		},
		connect: (given, how) => reach(homeOf(given), given === undefined && !env.SLUICE_HOME ? env : {}, how),
	};
}

/** The nearest package.json above this file is ours, bundled or not. */
async function readVersion(): Promise<string> {
	const { existsSync, readFileSync } = await import("node:fs");
	let folder = import.meta.dirname;
	while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
	return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

/** Keys one by one, arrows as their sequences. Ctrl-C comes as a key: the terminal is raw. */
function readKeys(call: (key: string) => void): () => void {
	const { stdin } = process;
	const listen = (chunk: Buffer) => {
		for (const key of splitKeys(chunk.toString("utf8"))) call(key);
	};
	stdin.setRawMode(true);
	stdin.on("data", listen);
	stdin.resume();
	return () => {
		stdin.off("data", listen);
		stdin.setRawMode(false);
		stdin.pause();
		stdin.unref();
	};
}

/** Inside a run, its own daemon is asked, with what its token allows; a home that is named goes before that. */
async function reach(home: string, env: Record<string, string | undefined>, how: "start" | "if_running"): Promise<Connection | undefined> {
	const { SLUICE_SOCKET: own, SLUICE_TOKEN: token } = env;
	const path = own || socketPath(home, { tmp: tmpdir(), uid: process.getuid?.() ?? 0 });
	try {
		const client = await connect(path);
		if (own && token) await client.call("session.auth", { token });
		return client as Connection;
	} catch (error) {
		if (!(error instanceof RpcError) || error.code !== "no_daemon") throw error;
		if (how === "if_running") return undefined;
		if (own)
			throw new RpcError("the daemon of this run does not answer", null, { code: "no_daemon", hint: "it may be restarting: try again" });
	}
	const { startDaemon } = await import("../api/auto-start.ts");
	await startDaemon(home);
	return (await connect(path)) as Connection;
}
