// Starts a daemon in the background and waits until it answers; and the way from the command line to the daemon's own code, which it must not import.

import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeFolder } from "../host/folder.ts";
import { localHost } from "../host/local.ts";
import { connect, RpcError } from "./client.ts";
import { socketPath } from "./socket-path.ts";

/** Of the run that a command may have been called from: a daemon belongs to none. */
export const RUN_VARIABLES = ["SLUICE_JOB_ID", "SLUICE_RUN_ID", "SLUICE_ATTEMPT", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_MARK"] as const;

export function scrubbed(env: Record<string, string | undefined>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).flatMap(([name, value]) =>
			value === undefined || (RUN_VARIABLES as readonly string[]).includes(name) ? [] : [[name, value]],
		),
	);
}

export type StartOptions = {
	port?: number | null | undefined;
	/** Handed over in the environment: it may hold a password, and everybody can see arguments. */
	store?: string | undefined;
	name?: string | undefined;
	labels?: readonly string[] | undefined;
	/** `off`: it finds what runs, but starts nothing new. */
	claims?: "off" | undefined;
	/** The daemon's program; the built one when not given. */
	program?: string;
	env?: Record<string, string | undefined>;
};

/** Young objects get 4 MB instead of 16: once it has been busy, Node does not give that back, and a daemon is idle most of the time. */
export const NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];

const PATIENCE_MS = 20_000;
const LOOK_MS = 15;
const AGAIN_MS = 1500;
/** Exit codes of daemon/main.ts: a setting is wrong; another daemon has the home, or the host's name. */
const WRONG = 2;
const TAKEN = 4;
/** How the lock's refusal begins: of all that is taken, only a home may be another one's start, or be free in a moment. */
export const HOME_TAKEN = "a daemon is running in this home already";

/** Resolves when a daemon of this home answers, be it another's. Rejects with what the daemon said when it could not start. */
export async function startDaemon(home: string, options: StartOptions = {}): Promise<void> {
	const socket = socketPath(home, { tmp: tmpdir(), uid: process.getuid?.() ?? 0 });
	if (await answers(socket)) return;
	const program = options.program ?? built("daemon-main.js");
	const path = join(home, "daemon.log");
	const before = sizeOf(openLog(home, path));
	const port = options.port === undefined ? [] : ["--port", String(options.port ?? "none")];
	const name = options.name === undefined ? [] : ["--name", options.name];
	const labels = (options.labels ?? []).flatMap((label) => ["--label", label]);
	const claims = options.claims === "off" ? ["--no-claims"] : [];
	let over: { why: string; code: number | null } | undefined;
	const start = () => {
		over = undefined;
		const log = openLog(home, path);
		const child = spawn(process.execPath, [...NODE_FLAGS, program, "--home", home, ...port, ...name, ...labels, ...claims], {
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
		if (await answers(socket)) return;
		const { why, code } = over ?? { why: "", code: 0 };
		// Another one was quicker, and is just not ready yet; or it goes away, or two were in each other's way: then it is our turn again.
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
		return openSync(path, "a", 0o600);
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
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

async function answers(socket: string): Promise<boolean> {
	try {
		(await connect(socket)).close();
		return true;
	} catch (error) {
		if (error instanceof RpcError && error.code === "no_daemon") return false;
		throw error;
	}
}

/** With what it said last: it may have been started more than once. */
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
		const told = lines.findLastIndex((line) => line.startsWith("sluice: "));
		return (told < 0 ? lines.slice(-5) : lines.slice(told, told + 5))
			.join("\n")
			.replace(/^sluice: /, "")
			.trim();
	} finally {
		closeSync(file);
	}
}

/** What needs the daemon's own code. It is a program of its own, beside ours; nothing of it is loaded before. */
export type DaemonModule = {
	serve(options: {
		home: string;
		port: number | null | undefined;
		store?: string | undefined;
		name?: string | undefined;
		labels?: readonly string[] | undefined;
		echo?: (line: string) => void;
	}): Promise<number>;
	install(options: { home: string; port: number | null | undefined }): Promise<string[]>;
	checkConfig(home: string): Promise<Record<string, unknown>>;
	doctor(home: string, store?: string | null): Promise<Record<string, unknown>>;
	backup(request: { home: string; file: string }): Promise<Record<string, unknown>>;
	migrateStore(request: MoveWish): Promise<Record<string, unknown>>;
};

/** What `sluice migrate-store` asks for: see src/daemon/move-store.ts. */
export type MoveWish = {
	from: string;
	to: string;
	check: boolean;
	replace: boolean;
	again: boolean;
	progress?: (at: { table: string; step: "copy" | "compare"; done: number; total: number }) => void;
};

export async function loadDaemon(program = built("daemon.js")): Promise<DaemonModule> {
	return (await import(pathToFileURL(program).href)) as DaemonModule;
}

/** The server for agents, likewise; what it is handed is `Door` of mcp/door.ts. */
export type McpModule = {
	serve(
		door: {
			call(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>>;
			job: number | undefined;
			folder(given: string | undefined): string;
			environment(): Promise<Record<string, string>>;
			rendered(output: string, text: string): string;
			readJson(text: string): unknown;
			writeJson(value: unknown): string;
			version: string;
		},
		offered: "all" | "run",
	): Promise<void>;
};

export async function loadMcp(program = built("mcp.js")): Promise<McpModule> {
	return (await import(pathToFileURL(program).href)) as McpModule;
}

/** A built file of this package, wherever we ourselves were built to. */
function built(name: string): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
	const path = join(folder, "dist", name);
	if (!existsSync(path)) throw new RpcError(`${path} is not there`, null, { code: "no_daemon", hint: "npm run build makes it" });
	return path;
}
