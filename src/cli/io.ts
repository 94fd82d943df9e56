// What a command works with: the connection to the daemon, opened when it is first needed, and the ways to print.

import { isAbsolute, resolve } from "node:path";
import type { MoveWish } from "../api/auto-start.ts";
import { writeJson } from "../core/json-text.ts";
import { CliFailure, usage } from "./failure.ts";
import type { Printer, Stream } from "./print.ts";

export type Document = Record<string, unknown>;

export type Connection = {
	/** The answer's result. Rejects with an error that has `code`, `message` and perhaps `hint`. */
	call(method: string, params: Document): Promise<Document>;
	close(): void;
	/** Resolves when the connection is over, for whatever reason. */
	readonly closed: Promise<void>;
};

/** `port` null: no HTTP side; undefined: as the settings say. */
export type DaemonOptions = {
	home: string;
	port: number | null | undefined;
	store: string | undefined;
	name: string | undefined;
	labels: readonly string[];
	/** `off`: it finds what runs, but starts nothing new. */
	claims?: "off";
};

/** What needs the daemon's own code: loaded only for the commands that do it. */
export type DaemonDoor = {
	/** Runs it here; resolves with its exit code when it has ended. */
	serve(
		options: DaemonOptions & { ready?: (daemon: { home: string; port: number | null; httpProblem: string | null }) => void },
	): Promise<number>;
	/** Starts one in the background; resolves when it answers. */
	start(options: DaemonOptions): Promise<void>;
	/** Makes it a service of the user's; says what was done. */
	install(options: DaemonOptions): Promise<string[]>;
	/** As `config.check` and `doctor.run` answer, without a daemon. */
	checkConfig(home: string): Promise<Document>;
	doctor(home: string, store?: string | null): Promise<Document>;
	/** One moment of the home's queue, as a file. */
	backup(request: { home: string; file: string }): Promise<Document>;
	/** Moves everything from one store to another. */
	migrateStore(wish: MoveWish): Promise<Document>;
};

/** The world around the program; tests hand in their own. */
export type World = {
	env: Record<string, string | undefined>;
	/** Throws where that folder is gone. */
	readonly cwd: string;
	stdin: AsyncIterable<Uint8Array | string> & { isTTY?: boolean | undefined };
	stdout: Stream;
	stderr: Stream;
	now(): number;
	/** Calls back once, unless the returned function is called before. */
	after(ms: number, call: () => void): () => void;
	/** Keys as they are pressed, while somebody listens; absent where there is no keyboard. */
	keys?: ((call: (key: string) => void) => () => void) | undefined;
	onResize?: ((call: () => void) => () => void) | undefined;
	version(): Promise<string>;
	user(): string;
	/** The home folder: as given, else SLUICE_HOME, else ~/.sluice. */
	homeOf(given: string | undefined): string;
	daemon(): Promise<DaemonDoor>;
	/** The job whose run we are called from, if it is its daemon that is asked. */
	insideOf(home: string | undefined): number | undefined;
	/** Told before a signal ends the program, with the exit code that says so. */
	onSignal?: ((call: (code: number) => void) => () => void) | undefined;
	/**
	 * `start`: a daemon that does not run is started. `if_running`: undefined when none runs. `revive`: one that died is started again; undefined when it was
	 * stopped on purpose.
	 */
	connect(home: string | undefined, how: "start" | "if_running" | "revive"): Promise<Connection | undefined>;
};

export type Io = {
	world: World;
	print: Printer;
	json: boolean;
	quiet: boolean;
	home: string | undefined;
	/** Asks the daemon, which is started if it does not run. */
	ask(method: string, params?: Document): Promise<Document>;
	/** Asks only a daemon that runs; undefined when there is none. */
	askIfRunning(method: string, params?: Document): Promise<Document | undefined>;
	/** Resolves when the daemon that was asked has gone. */
	gone(): Promise<void>;
};

/** The result as one JSON document, or as people read it. */
export function answer(io: Io, document: Document, human: () => void): void {
	if (io.json) io.print.out(writeJson(document));
	else human();
}

/** A path as its caller means it: from the folder they are in, unless it is a whole one. */
export const placeOf = (world: World, path: string): string => (isAbsolute(path) ? resolve(path) : resolve(world.cwd, path));

/** An id as it is sent: a number, or a job's name. */
export function idOf(text: string): number | string {
	if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
	if (/^\d+(?:,\d+)+,?$/.test(text)) throw usage(`${text} is not one job`, `put spaces between them: ${text.split(",").join(" ").trim()}`);
	// No name is a number: this one is not even looked for.
	if (/^\d+$/.test(text)) throw new CliFailure("not_found", `there is no job ${text}`, "jobs are numbered from 1; sluice list shows them");
	return text;
}

export async function readAll(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
	const parts: Uint8Array[] = [];
	for await (const part of stream) parts.push(typeof part === "string" ? Buffer.from(part) : part);
	return Buffer.concat(parts).toString("utf8");
}

/** Undefined for a run, which may add and read jobs, but not settings. */
export async function settingOf(io: Io, key: string): Promise<unknown> {
	try {
		const { settings } = (await io.ask("config.get", { key })) as { settings?: { key: string; value: unknown }[] };
		return settings?.find((one) => one.key === key)?.value;
	} catch (error) {
		if ((error as { code?: unknown }).code !== "unauthorised") throw error;
		return undefined;
	}
}
