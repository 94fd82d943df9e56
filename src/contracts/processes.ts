// Contract of the process layer: starting programs that outlive us, finding them again, and stopping them with everything they started. Implementation in
// host/processes/.

import type { Sighting } from "../core/runs/sighting.ts";

/** One attempt to start a program. No shell interprets any of it. */
export type Launch = {
	/** "7.1": job and attempt. */
	run: string;
	/** The run's own folder: absolute, exists. Later holds stdout.log, stderr.log, start and exit. */
	dir: string;
	/** Unique over all homes of this machine; the program gets it as SLUICE_MARK. Letters, digits, `.`, `_` and `-`. */
	mark: string;
	argv: string[];
	cwd: string;
	/** The whole environment but SLUICE_MARK. No variable of our own process is passed on. */
	env: Record<string, string>;
	/** A file to read from; /dev/null if absent. */
	stdin?: string;
};

/** What a client says about its own process. `start`: as Linux counts it (field 22 of /proc/self/stat); null where there is no /proc. */
export type CallerProcess = { pid: number; start: string | null };
export type Ancestor = { pid: number; mark: string | null };

export interface Processes {
	/**
	 * Hands the run to the launcher; resolves once it is handed over, long before the program runs. Rejects if the launcher cannot be started or the run's folder
	 * cannot be written. An attempt cannot start twice: the shim that starts it creates the marker `start` exclusively.
	 */
	launch(launch: Launch): Promise<void>;
	/**
	 * Calls back with a run that may have exited. Only a hint: may come late, twice or never; then `look` finds it. One listener: the last one given counts.
	 * `call` must not throw.
	 */
	onExit(call: (run: string) => void): void;
	/**
	 * The state of a run. Synchronous and cheap: reads a few small files. Depends on nothing but the folder and the process table, so that any later process may
	 * call it. `gone` is final: the implementation reads `exit` again after it has found no process, because the program may end in between.
	 */
	look(run: string, dir: string): Sighting;
	/**
	 * Creates the marker `start` itself, so that this attempt can never start, not even from a launcher that still has it in its pipe. False if it has started.
	 */
	forbid(run: string, dir: string): boolean;
	/** Signals the run's program and its descendants in its session, after checking pid and start time. False if there is no such process. */
	signal(run: string, dir: string, signal: NodeJS.Signals): boolean;
	/**
	 * All live processes that carry one of these marks in their environment (or descend from one that does, where environments cannot be read). One pass for all
	 * marks.
	 */
	sweep(marks: readonly string[]): Map<string, number[]>;
	/** The same for every mark with this prefix: processes left over from an earlier life of this home. */
	marked(prefix: string): Map<string, number[]>;
	/** Whether a live process with this mark began at or after `at`, epoch milliseconds; exact to a tenth of a second, or to a second where ps(1) is used. */
	begunSince(mark: string, at: number): boolean;
	/**
	 * The process and its ancestors, nearest first, each with the mark in its environment. Ends before this process, because a run may have started the daemon,
	 * and at the first that cannot be seen. Empty if the process that has this pid now began at another time than the caller says: the pid was reused, or
	 * belongs to another namespace.
	 */
	lineage(caller: CallerProcess): Promise<Ancestor[]>;
	/** Signals single processes found by `sweep`, after checking again that each carries the mark. Returns how many were signalled. */
	signalAll(mark: string, pids: readonly number[], signal: NodeJS.Signals): number;
	/** Ends the launcher; runs go on. */
	close(): Promise<void>;
}
