// Starts a daemon in the background and waits until it answers; also loads the daemon's own code for the command line, which must not import it.

import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connect, distrusted, RpcError } from "../api/client.ts";
import type { DaemonModule, StartRequest } from "../api/daemon-module.ts";
import { HOME_TAKEN, NODE_FLAGS, RUN_VARIABLES } from "../api/daemon-process.ts";
import type { McpModule } from "../api/mcp-client.ts";
import { foreignHome, socketOf } from "../api/socket-path.ts";
import { messageOf } from "../core/errors.ts";
import { makeFolder } from "../host/folder.ts";
import { kindOf } from "../host/kind.ts";
import { localHost } from "../host/local.ts";

function scrubbed(env: Record<string, string | undefined>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).flatMap(([name, value]) =>
			value === undefined || (RUN_VARIABLES as readonly string[]).includes(name) ? [] : [[name, value]],
		),
	);
}

type StartOptions = Partial<Omit<StartRequest, "home">> & {
	/** The daemon's program; by default the built one. */
	program?: string;
	env?: Record<string, string | undefined>;
};

const PATIENCE_MS = 20_000;
const LOOK_MS = 15;
const AGAIN_MS = 1500;
/** Exit codes of daemon/main.ts: a setting is wrong; another daemon has the home or the host's name. */
const WRONG = 2;
const TAKEN = 4;
/** Resolves when a daemon of this home answers, even if another command started it. Rejects with the daemon's last message if it could not start. */
export async function startDaemon(home: string, options: StartOptions = {}): Promise<void> {
	const foreign = foreignHome(home);
	if (foreign) throw distrusted(foreign);
	if (await answers(home)) return;
	const program = options.program ?? built("daemon-main.js");
	const path = join(home, "daemon.log");
	const before = sizeOf(openLog(home, path));
	// The store is passed in the environment: it may hold a password, and every user can see arguments.
	const port = options.port === undefined ? [] : ["--port", String(options.port ?? "none")];
	const name = options.name === undefined ? [] : ["--name", options.name];
	const labels = (options.labels ?? []).flatMap((label) => ["--label", label]);
	const claims = options.claims === "off" ? ["--no-claims"] : [];
	const loss = options.loss === "accept" ? ["--accept-loss"] : [];
	let over: { why: string; code: number | null } | undefined;
	const start = () => {
		over = undefined;
		const log = openLog(home, path);
		const child = spawn(process.execPath, [...NODE_FLAGS, program, "--home", home, ...port, ...name, ...labels, ...claims, ...loss], {
			cwd: home,
			env: { ...scrubbed(options.env ?? process.env), ...(options.store === undefined ? {} : { SLUICE_STORE: options.store }) },
			detached: true,
			stdio: ["ignore", log, log],
		});
		closeSync(log);
		child.on("error", (error) => {
			over = { why: error.message, code: null };
		});
		child.on("exit", (code, signal) => {
			over ??= { why: `it ended with ${signal ?? `code ${code}`}`, code };
		});
		child.unref();
	};
	start();
	for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
		if (await answers(home)) return;
		const { why, code } = over ?? { why: "", code: 0 };
		// Another daemon was faster and is not ready yet, or it is about to exit, or two starts got in each other's way: try again.
		if (code === TAKEN && waited < PATIENCE_MS / 2 && tail(path, before).startsWith(HOME_TAKEN)) {
			if (waited % AGAIN_MS < LOOK_MS) start();
		} else if (why !== "") throw failed(why, path, before, code === WRONG ? "invalid" : code === TAKEN ? "conflict" : "no_daemon");
		await new Promise<void>((resolve) => localHost.after(LOOK_MS, resolve, "hold"));
	}
	throw failed(`it has not answered within ${PATIENCE_MS / 1000} s`, path, before);
}

function openLog(home: string, path: string): number {
	try {
		makeFolder(home);
		// Opening a pipe for writing would block forever.
		if ((kindOf(path) ?? "file") === "pipe") throw new Error(`${path} is a pipe, and should be a file`);
		return openSync(path, "a", 0o600);
	} catch (error) {
		const why = messageOf(error);
		throw new RpcError(`the home ${home} cannot be written: ${why}`, null, {
			code: "store",
			hint: "set SLUICE_HOME to a folder of your own",
		});
	}
}

function sizeOf(file: number): number {
	try {
		return fstatSync(file).size;
	} finally {
		closeSync(file);
	}
}

/** The daemon writes the path of its socket into the home, so read it again each time. */
async function answers(home: string): Promise<boolean> {
	try {
		(await connect(socketOf(home))).close();
		return true;
	} catch (error) {
		if (error instanceof RpcError && error.code === "no_daemon") return false;
		throw error;
	}
}

/** With the last thing the daemon logged; it may have been started more than once. */
function failed(why: string, log: string, before: number, code: "no_daemon" | "invalid" | "conflict" = "no_daemon"): RpcError {
	const said = tail(log, before);
	return new RpcError(`the daemon could not be started: ${said || why}`, null, { code, hint: `see ${log}` });
}

function tail(path: string, from: number): string {
	const file = openSync(path, "r");
	try {
		const size = fstatSync(file).size;
		const start = Math.max(from, size - 4000);
		const bytes = Buffer.alloc(Math.max(0, size - start));
		readSync(file, bytes, 0, bytes.length, start);
		const lines = bytes.toString("utf8").trim().split("\n");
		const at = lines.findLastIndex((line) => line.startsWith("sluice: "));
		return (at < 0 ? lines.slice(-5) : lines.slice(at, at + 5))
			.join("\n")
			.replace(/^sluice: /, "")
			.trim();
	} finally {
		closeSync(file);
	}
}

export async function loadDaemon(program = built("daemon.js")): Promise<DaemonModule> {
	const { cliModule }: { cliModule: DaemonModule } = await import(pathToFileURL(program).href);
	return cliModule;
}

/** The MCP server for agents, also a separate program. */
export async function loadMcp(program = built("mcp.js")): Promise<McpModule> {
	return (await import(pathToFileURL(program).href)) as McpModule;
}

/** A built file of this package, wherever this file was built to. */
function built(name: string): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
	const path = join(folder, "dist", name);
	if (!existsSync(path)) throw new RpcError(`${path} is not there`, null, { code: "no_daemon", hint: "npm run build makes it" });
	return path;
}
