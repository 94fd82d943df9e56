// The parts of the daemon's code that the command line needs. They are a separate built program, loaded only by commands that use them:
// src/daemon/cli-module.ts exports them, src/cli/auto-start.ts loads them.

import type { Result } from "./protocol.ts";

/** `port` null: no HTTP; undefined: as configured. */
export type StartRequest = {
	home: string;
	port: number | null | undefined;
	/** A store that several hosts share; undefined: as configured. */
	store?: string | undefined;
	name?: string | undefined;
	labels?: readonly string[] | undefined;
	/** `off`: the daemon finds live runs, but starts no new ones. */
	claims?: "off" | undefined;
	/** `accept`: the daemon starts even if acknowledged work is missing from its store. */
	loss?: "accept" | undefined;
};

/** The daemon in this process, once it serves. */
type ServingDaemon = {
	readonly port: number | null;
	/** Why there is no HTTP, or why it has another port than configured. */
	readonly httpProblem: string | null;
	/** As RPC method `session.code`. */
	signInCode(role: "admin" | "operator" | "viewer"): string;
};

export type BackupDocument = { schema_version: 1; store: string; file: string; bytes: number };

export type MoveRequest = {
	/** A home, a SQLite file, or a postgres:// URL. */
	from: string;
	to: string;
	/** Only report what would be done. */
	check: boolean;
	replace: boolean;
	again: boolean;
	progress?: (at: { table: string; step: "copy" | "compare"; done: number; total: number }) => void;
};

export type MoveDocument = {
	schema_version: 1;
	moved: boolean;
	from: string;
	to: string;
	jobs: { waiting: number; running: number; ended: number };
	/** Number of rows of each table. */
	rows: Record<string, number>;
	/** The target held something, which was deleted. */
	replaced: boolean;
	/** The source was marked as moved and refuses work from now on. */
	marked: boolean;
	/** With `check`: the reasons against the move. */
	objections: { code: "conflict"; what: string; message: string; hint: string }[];
};

export type DaemonModule = {
	/** Runs a daemon in this process; resolves with its exit code when it has ended. */
	serve(options: StartRequest & { echo?: (line: string) => void; ready?: (daemon: ServingDaemon) => void }): Promise<number>;
	/** Installs the daemon as a service of the user; returns what was done. */
	install(options: StartRequest): Promise<string[]>;
	/** The answers of `config.check` and `doctor.run`, without a daemon. */
	checkConfig(home: string): Promise<Result<"config.check">>;
	doctor(home: string, store?: string | null): Promise<Result<"doctor.run">>;
	/** The answer of `config.set`, or of `config.unset` without a value. */
	changeConfig(home: string, key: string, value?: string): Promise<Result<"config.set">>;
	/** Writes a snapshot of the home's queue to a file. */
	backup(request: { home: string; file: string }): Promise<BackupDocument>;
	/** Moves everything from one store to another. */
	migrateStore(request: MoveRequest): Promise<MoveDocument>;
};
