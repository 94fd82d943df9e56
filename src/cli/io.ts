// What a command works with: the connection to the daemon, opened when it is first needed, and the ways to print.

import { isAbsolute, resolve } from "node:path";
import type { MoveWish } from "../api/auto-start.ts";
import { writeJson } from "../core/text/json-text.ts";
import { CliFailure, usage } from "./failure.ts";
import type { Printer, Stream } from "./printing/print.ts";

export type AnswerDocument = Record<string, unknown>;

export type DaemonConnection = {
	/** Returns the result. Rejects with an error that has `code`, `message` and perhaps `hint`. */
	call(method: string, params: AnswerDocument): Promise<AnswerDocument>;
	close(): void;
	/** Resolves when the connection is closed, for any reason. */
	readonly closed: Promise<void>;
};

/** `port` null: no HTTP; undefined: as configured. */
type DaemonOptions = {
	home: string;
	port: number | null | undefined;
	store: string | undefined;
	name: string | undefined;
	labels: readonly string[];
	/** `off`: the daemon finds live runs, but starts no new ones. */
	claims?: "off";
	/** `accept`: the daemon starts even if acknowledged work is missing from its store. */
	loss?: "accept";
};

/** The daemon in this process, once it serves. */
type ServingDaemon = {
	port: number | null;
	/** Why there is no HTTP, or why it has another port than configured. */
	httpProblem: string | null;
	/** As RPC method `session.code`. */
	signInCode(role: "operator" | "viewer"): string;
};

/** Functions that need the daemon's own code: loaded only by commands that use them. */
export type DaemonModule = {
	/** Runs a daemon in this process; resolves with its exit code when it has ended. */
	serve(options: DaemonOptions & { ready?: (daemon: ServingDaemon) => void }): Promise<number>;
	/** Starts a daemon in the background; resolves when it answers. */
	start(options: DaemonOptions): Promise<void>;
	/** Installs the daemon as a service of the user; returns what was done. */
	install(options: DaemonOptions): Promise<string[]>;
	/** The answers of `config.check` and `doctor.run`, without a daemon. */
	checkConfig(home: string): Promise<AnswerDocument>;
	/** The answer of `config.set`, or of `config.unset` without a value. */
	changeConfig(home: string, key: string, value?: string): Promise<AnswerDocument>;
	doctor(home: string, store?: string | null): Promise<AnswerDocument>;
	/** Writes a snapshot of the home's queue to a file. */
	backup(request: { home: string; file: string }): Promise<AnswerDocument>;
	/** Moves everything from one store to another. */
	migrateStore(wish: MoveWish): Promise<AnswerDocument>;
};

/** The environment of the program; tests pass in their own. */
export type CliEnvironment = {
	env: Record<string, string | undefined>;
	/** Throws if that folder no longer exists. */
	readonly cwd: string;
	stdin: AsyncIterable<Uint8Array | string> & { isTTY?: boolean | undefined };
	stdout: Stream;
	stderr: Stream;
	now(): number;
	/** Calls back once, unless the returned function is called before. */
	after(ms: number, call: () => void): () => void;
	/** Keys as they are pressed, while there is a listener; absent without a keyboard. */
	keys?: ((call: (key: string) => void) => () => void) | undefined;
	onResize?: ((call: () => void) => () => void) | undefined;
	version(): Promise<string>;
	user(): string;
	/** The home folder: as given, else SLUICE_HOME, else ~/.sluice. */
	homeOf(given: string | undefined): string;
	daemon(): Promise<DaemonModule>;
	/** The job of the run that we are called from, if the request goes to its daemon. */
	insideOf(home: string | undefined): number | undefined;
	/** Called before a signal ends the program, with the exit code for it. */
	onSignal?: ((call: (code: number) => void) => () => void) | undefined;
	/**
	 * `start`: starts a daemon if none runs. `if_running`: undefined if none runs. `revive`: restarts a daemon that died; undefined if it was stopped on
	 * purpose.
	 */
	connect(home: string | undefined, how: "start" | "if_running" | "revive"): Promise<DaemonConnection | undefined>;
};

export type Io = {
	world: CliEnvironment;
	print: Printer;
	json: boolean;
	quiet: boolean;
	home: string | undefined;
	/** Sends a request to the daemon, which is started if it does not run. */
	ask(method: string, params?: AnswerDocument): Promise<AnswerDocument>;
	/** Sends a request only to a running daemon; undefined if there is none. */
	askIfRunning(method: string, params?: AnswerDocument): Promise<AnswerDocument | undefined>;
	/** Resolves when the daemon of the last request has gone. */
	gone(): Promise<void>;
};

/** Prints the result as one JSON document, or for people. */
export function answer(io: Io, document: AnswerDocument, human: () => void): void {
	if (io.json) io.print.out(writeJson(document));
	else human();
}

/** A path as its caller means it: relative to the caller's folder, unless it is absolute. */
export const absolutePath = (world: CliEnvironment, path: string): string => (isAbsolute(path) ? resolve(path) : resolve(world.cwd, path));

/** An id as it is sent: a number, or a job's name. */
export function idOf(text: string): number | string {
	if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
	if (/^\d+(?:,\d+)+,?$/.test(text)) throw usage(`${text} is not one job`, `put spaces between them: ${text.split(",").join(" ").trim()}`);
	// Names are never numbers, so there is no such job.
	if (/^\d+$/.test(text)) throw new CliFailure("not_found", `there is no job ${text}`, "jobs are numbered from 1; sluice list shows them");
	return text;
}

export async function readAll(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
	const parts: Uint8Array[] = [];
	for await (const part of stream) parts.push(typeof part === "string" ? Buffer.from(part) : part);
	return Buffer.concat(parts).toString("utf8");
}

/** Undefined inside a run, which may add and read jobs, but not settings. */
export async function settingOf(io: Io, key: string): Promise<unknown> {
	try {
		const { settings } = (await io.ask("config.get", { key })) as { settings?: { key: string; value: unknown }[] };
		return settings?.find((one) => one.key === key)?.value;
	} catch (error) {
		if ((error as { code?: unknown }).code !== "unauthorised") throw error;
		return undefined;
	}
}

/** What a person types, up to the end of the line. */
export async function firstLine(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
	let text = "";
	for await (const part of stream) {
		text += typeof part === "string" ? part : Buffer.from(part).toString("utf8");
		if (text.includes("\n")) break;
	}
	return text.split("\n")[0] ?? "";
}
