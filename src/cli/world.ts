// The real environment of the program: this process, its terminal, the daemon of its home.

import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type Client, connect, distrusted, RpcError } from "../api/client.ts";
import { foreignHome, isSocketOf, realPath, recordedSocket, socketOf } from "../api/socket-path.ts";
import { localHost, systemClock } from "../host/local.ts";
import { EXIT, usage } from "./failure.ts";
import type { CliEnvironment, DaemonConnection } from "./io.ts";
import { splitKeys } from "./printing/sequences.ts";

export function systemWorld(): CliEnvironment {
	const { env } = process;
	const homeOf = (given: string | undefined) => {
		const path = given ?? (env.SLUICE_HOME || join(env.HOME || homedir(), ".sluice"));
		return isAbsolute(path) ? resolve(path) : resolve(folder(), path);
	};
	/** The socket of the daemon whose run we are part of; another home that is named takes precedence. */
	const own = (given: string | undefined): string | undefined => {
		const named = given ?? (env.SLUICE_HOME || undefined);
		const socket = env.SLUICE_SOCKET || undefined;
		if (socket === undefined || named === undefined) return socket;
		const home = realPath(homeOf(named));
		// A restarted daemon may have another socket; and a sandbox may hide the home, where its path is recorded.
		return isSocketOf(socket, home) ? (recordedSocket(home) ?? socket) : undefined;
	};
	return {
		env,
		get cwd() {
			return folder();
		},
		get stdin() {
			return process.stdin;
		},
		stdout: process.stdout,
		stderr: process.stderr,
		now: systemClock.now,
		after: (ms, call) => localHost.after(ms, call, "hold"),
		openEditor: async (command, file) => (await import("./caller/editor.ts")).openEditor(command, file),
		keys: process.stdout.isTTY ? readKeys : undefined,
		atTerminal: process.stdin.isTTY && process.stdout.isTTY ? runAtTerminal : undefined,
		onResize(call) {
			process.stdout.on("resize", call);
			return () => process.stdout.off("resize", call);
		},
		version: readVersion,
		user: () => env.USER || env.LOGNAME || userInfo().username,
		homeOf,
		async daemon() {
			const { loadDaemon, startDaemon } = await import("./auto-start.ts");
			return { ...(await loadDaemon()), start: ({ home, ...options }) => startDaemon(home, options) };
		},
		insideOf: (given) => (own(given) && /^[1-9]\d*$/.test(env.SLUICE_JOB_ID ?? "") ? Number(env.SLUICE_JOB_ID) : undefined),
		onSignal(call) {
			const [interrupted, terminated] = [() => call(EXIT.interrupted), () => call(EXIT.terminated)];
			process.on("SIGINT", interrupted).on("SIGTERM", terminated);
			return () => process.off("SIGINT", interrupted).off("SIGTERM", terminated);
		},
		connect: (given, how) => reach(homeOf(given), own(given), env, how),
	};
}

/** Signals of the terminal reach the program itself: this process ignores them until it ends. */
async function runAtTerminal(argv: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }): Promise<number | null> {
	const { spawn } = await import("node:child_process");
	const [program = "", ...words] = argv;
	const ignore = () => {};
	process.on("SIGINT", ignore).on("SIGQUIT", ignore);
	try {
		return await new Promise((resolve, reject) => {
			const child = spawn(program, words, { cwd, env: { ...process.env, ...env }, stdio: "inherit" });
			child.once("error", reject);
			child.once("exit", (code) => resolve(code));
		});
	} finally {
		process.off("SIGINT", ignore).off("SIGQUIT", ignore);
	}
}

/** The caller's folder. It may have been removed meanwhile; most commands work without it. */
function folder(): string {
	try {
		return process.cwd();
	} catch {
		throw usage("the folder that you are in does not exist any more", "go to another one, or name a whole path");
	}
}

/** The nearest package.json above this file is ours, bundled or not. */
async function readVersion(): Promise<string> {
	const { existsSync, readFileSync } = await import("node:fs");
	let folder = import.meta.dirname;
	while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
	return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

/** Reads single keys, arrows as their sequences. Ctrl-C comes as a key, because the terminal is in raw mode. */
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

/** Inside a run, requests go to the run's own daemon, with the rights of its token. */
async function reach(
	home: string,
	own: string | undefined,
	{ SLUICE_TOKEN: token, SLUICE_RUN_ID: run = "" }: Record<string, string | undefined>,
	how: "start" | "if_running" | "revive",
): Promise<DaemonConnection | undefined> {
	const path = own ?? socketOf(home);
	try {
		const client = await connect(path, own ? "run" : "anywhere");
		if (own && token)
			await client.call("session.auth", { token }).catch(async (error) => {
				const isLiving = error.code === "unauthorised" && (await isRunning(client, run));
				client.close();
				throw isLiving ? wrongToken(run) : error;
			});
		return client;
	} catch (error) {
		// A daemon that has just started may not have found its runs yet.
		const isStarting = own !== undefined && error instanceof RpcError && error.code === "closed";
		if (!(error instanceof RpcError) || (error.code !== "no_daemon" && !isStarting)) throw error;
		const foreign = own === undefined ? foreignHome(home) : null;
		if (foreign) throw distrusted(foreign);
		// Only a daemon that died leaves its socket behind. A run may not start its own daemon.
		if (how === "if_running" || (how === "revive" && (own || !existsSync(path)))) return undefined;
		if (own)
			throw new RpcError("the daemon of this run does not answer", null, { code: "no_daemon", hint: "it may be restarting: try again" });
	}
	const { startDaemon } = await import("./auto-start.ts");
	await startDaemon(home);
	return connect(socketOf(home));
}

/** Whether the run with this id (`7.2`) is live. False if the daemon does not say. */
async function isRunning(client: Client, run: string): Promise<boolean> {
	const job = Number(run.split(".")[0]);
	if (!Number.isSafeInteger(job) || job < 1) return false;
	return client.call("job.show", { id: job }).then(
		(shown) => shown.job.run?.id === run,
		() => false,
	);
}

const wrongToken = (run: string): RpcError =>
	new RpcError(`SLUICE_TOKEN is not the token of run ${run}, which is still running`, null, {
		code: "forbidden",
		hint: "keep the environment that the run was started with",
	});
