// What a command works with: the connection to the daemon, opened when it is first needed, and the ways to print.

import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { Client } from "../api/client.ts";
import type { DaemonModule, StartRequest } from "../api/daemon-module.ts";
import type { MethodName, Params, Result } from "../api/protocol.ts";
import { codeOf, messageOf } from "../core/errors.ts";
import { writeJson } from "../core/text/json-text.ts";
import type { CommandSpec } from "./command.ts";
import { CliFailure, usage } from "./failure.ts";
import type { Printer, Stream } from "./printing/print.ts";

/** The daemon may be of another version than the command: its document then has keys that are unknown here, or lacks some. */
export type DaemonConnection = Pick<Client, "call" | "close" | "closed">;

/** Parameters may be left out where the method requires none. */
type With<M extends MethodName> = Partial<Params<M>> extends Params<M> ? [params?: Params<M>] : [params: Params<M>];

/** The daemon's own code, and how to start it in the background; `start` resolves when the daemon answers. */
export type DaemonCode = DaemonModule & { start(options: StartRequest): Promise<void> };

/** The environment of the program; tests pass in their own. */
export type CliEnvironment = {
	env: Record<string, string | undefined>;
	/** Throws if that folder no longer exists. */
	readonly cwd: string;
	stdin: AsyncIterable<Uint8Array | string> & { isTTY?: boolean | undefined };
	stdout: Stream;
	stderr: Stream;
	now(): number;
	/** Opens a file in this terminal with an editor's command; resolves with its exit code. */
	openEditor?: ((command: string, file: string) => Promise<number>) | undefined;
	/** Calls back once, unless the returned function is called before. */
	after(ms: number, call: () => void): () => void;
	/** Keys as they are pressed, while there is a listener; absent without a keyboard. */
	keys?: ((call: (key: string) => void) => () => void) | undefined;
	/** Runs a program at this terminal until it ends; its exit code, null if a signal ended it. Absent in a program that has no terminal. */
	atTerminal?: ((argv: readonly string[], at: { cwd: string; env: Record<string, string> }) => Promise<number | null>) | undefined;
	onResize?: ((call: () => void) => () => void) | undefined;
	version(): Promise<string>;
	user(): string;
	/** The home folder: as given, else SLUICE_HOME, else ~/.sluice. */
	homeOf(given: string | undefined): string;
	daemon(): Promise<DaemonCode>;
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
	/** All commands, for completion. */
	commands: readonly CommandSpec[];
	/** Sends a request to the daemon, which is started if it does not run. */
	ask<M extends MethodName>(method: M, ...params: With<M>): Promise<Result<M>>;
	/** Sends a request only to a running daemon; undefined if there is none. */
	askIfRunning<M extends MethodName>(method: M, ...params: With<M>): Promise<Result<M> | undefined>;
	/** Resolves when the daemon of the last request has gone. */
	gone(): Promise<void>;
};

/** Prints the result as one JSON document, or for people. */
export function answer(io: Io, document: unknown, human: () => void): void {
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

/** The part of `Io` that reads settings. */
export type AsksConfig = { ask(method: "config.get", params: { key: string }): Promise<Partial<Result<"config.get">>> };

/** Undefined inside a run, which may add and read jobs, but not settings. */
export async function settingOf(io: AsksConfig, key: string): Promise<unknown> {
	try {
		const { settings } = await io.ask("config.get", { key });
		return settings?.find((one) => one.key === key)?.value;
	} catch (error) {
		if (codeOf(error) !== "unauthorised") throw error;
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

/** The text of a file that the caller has named. */
export function readNamed(world: CliEnvironment, file: string): string {
	try {
		return readFileSync(absolutePath(world, file), "utf8");
	} catch (error) {
		const code = codeOf(error);
		if (code === "ENOENT") throw new CliFailure("not_found", `there is no file ${file}`);
		throw usage(code === "EISDIR" ? `${file} is a folder` : messageOf(error));
	}
}
