// What Sluice knows of one agent program. Each file in adapters/ makes one of these, and only they know which program it is: all other code asks the adapter.
// An optional part is absent if the program needs nothing special there.

import type { Reveal, Revealed } from "../input/env-reference.ts";
import type { McpEquipment, McpServer } from "./mcp.ts";
import type { Known, Permission, Profile } from "./profile.ts";
import type { Cause, Interpret, Json, Trouble, Used } from "./stream/happening.ts";
import type { Reading } from "./stream/reading.ts";

export type Adapter = {
	profile: Profile;
	/** Null if only the output format is built in, and no program. */
	known: Known | null;
	interpret: Interpret;
	/** Whether this is one of the program's events, including events without a meaning for Sluice. */
	knows(event: Json): boolean;
	/** Names of its tools: those that run a shell line, that work on a file, and that reach an address. */
	tools: { shell: readonly string[]; file: readonly string[]; web: readonly string[] };
	/** How a run gets Sluice's own MCP server, and how it may use the server's tools. */
	mcp(server: McpServer): McpEquipment;
	/** The program runs read-only git commands at `edit` without a rule, and checks their options. */
	readsGit?: true;
	/** Variables that depend on the run: login of its account, rules for permissions. They override `env`. */
	environment?(start: StartEnvironment): Revealed;
	/** The cause of a failure by the exit code alone. */
	exitCause?(code: number): Cause;
	/** Adds to the reading what the program reports on stderr alone. `now`: epoch milliseconds. */
	withStderr?(reading: Reading, stderr: string, now: number): Reading;
	/** The program reports on stderr alone that it retries a model call. */
	stderrRetries?: StderrRetries;
	record?: SessionRecord;
};

type StartEnvironment = {
	/** The run's variables so far. */
	env: Readonly<Record<string, string>>;
	/** The variables among them that belong to the run's account: nothing may override these. */
	accountEnv: Readonly<Record<string, string>>;
	/** The account's own folder, if it has one. */
	accountHome: string | undefined;
	reveal: Reveal;
	permission: Permission;
	/** What is allowed beyond the permission mode. */
	commands: readonly string[];
	tools: readonly string[];
	/** A name for an agent of this run alone, made so that no file of a project can name it; null if the configuration sets the permission mode. */
	agent: string | null;
	mcp: McpEquipment;
};

type StderrRetries = {
	/** The message in one line of stderr. */
	words(line: string): string;
	/**
	 * The failure that the program keeps retrying against, once it has used up the attempts that Sluice allows. `stderr`: its end. `since`: when the program
	 * last wrote to stdout, epoch milliseconds.
	 */
	inVain(stderr: string, since: number): Trouble | null;
};

/** The files in which the program keeps its own record of a session. They complete what an interrupted run printed. */
export type SessionRecord = {
	/** The path of the folder with the session's files, below the program's home. A pattern stands for any folder that it matches; the last by name is tried first. */
	folders: readonly (string | RegExp)[];
	/** Maximum number of folders that are tried. */
	folders_max: number;
	/** The session's file in that folder: its name, or a test of names. */
	file(session: string): string | ((name: string) => boolean);
	/** Bytes that are read of a file's end. */
	bytes: number;
	/** A folder below that one with a `.jsonl` file for each subagent. */
	subagents?(session: string): string;
	/** Whether the record can add something. */
	isWanted(reading: Reading): boolean;
	/**
	 * `texts`: the ends of the files. `since`: when the run began, epoch milliseconds. `before`: what the session had used before. `reset`: when the limit
	 * that was reached ends, if the record says so.
	 */
	complete(reading: Reading, texts: readonly string[], since: number, before: Used | null): { reading: Reading; reset?: number | null };
};
