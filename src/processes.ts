// Contract of the process layer: starting programs that outlive us, finding them again, and stopping all of what they started. Implementation in host/processes/.

/** One attempt to start. Nothing in it goes through a shell's interpretation. */
export type Launch = {
	/** "7.1": job and attempt. */
	run: string;
	/** The run's own folder: absolute, exists. Holds stdout.log, stderr.log, start and exit afterwards. */
	dir: string;
	/** Unique over all homes of this machine; goes into the environment as SLUICE_MARK. Letters, digits, `.`, `_` and `-`. */
	mark: string;
	argv: string[];
	cwd: string;
	/** The whole environment, but for SLUICE_MARK. Nothing of our own is passed on. */
	env: Record<string, string>;
	/** A file; else /dev/null. */
	stdin?: string;
};

/**
 * What can be seen of a run, from its folder and the process table:
 *
 * | state     | `start` | process | complete line in `exit` |
 * |-----------|---------|---------|-------------------------|
 * | unstarted | no      | –       | –                       |
 * | alive     | yes     | yes     | no                      |
 * | exited    | yes     | –       | yes                     |
 * | gone      | yes     | no      | no                      |
 */
export type Sighting =
	| { state: "unstarted" }
	/** `started` is opaque: together with `pid` it names one process for ever. */
	| { state: "alive"; pid: number; started: string }
	/** `launch_failed`: why the program could not even be started. `code` is what a shell would say: 128 + n for a signal, 126 or 127 for no program. */
	| {
			state: "exited";
			code: number;
			signal: string | null;
			launch_failed: string | null;
			/** What is not there, or cannot be executed, where that is why it could not be started. */
			missing?: "program" | "folder";
	  }
	/** `reboot`: the machine was restarted since. */
	| { state: "gone"; reboot: boolean };

export interface Processes {
	/**
	 * Hands it to the launcher; resolves as soon as it is handed over, long before anything runs. Rejects when the launcher cannot be had or the run's
	 * folder cannot be written. Starting an attempt twice is impossible: whoever starts it makes the marker `start`, and only one can.
	 */
	launch(launch: Launch): Promise<void>;
	/**
	 * This run has exited, or is worth a look. Only a hint: may come late, twice or never, then a look finds it. One listener; the last one given counts.
	 * Must not throw.
	 */
	onNews(call: (run: string) => void): void;
	/** Synchronous, cheap: a few small files. Depends on nothing but the folder and the process table, so that any later process may ask. */
	look(run: string, dir: string): Sighting;
	/** Makes the marker itself, so that this attempt can never start, not even by a launcher that still has it in its pipe. False when it has started. */
	forbid(run: string, dir: string): boolean;
	/** Signals the run's program and what is below it in its session, after checking pid and start time. False when there is nobody. */
	signal(run: string, dir: string, signal: NodeJS.Signals): boolean;
	/** All live processes that carry one of these marks in their environment (or descend from such, where environments cannot be read). One pass for all marks. */
	sweep(marks: readonly string[]): Map<string, number[]>;
	/** The same for every mark that begins like this: what is left of an earlier life of this home. */
	marked(prefix: string): Map<string, number[]>;
	/** Whether a live process that carries this mark began at this moment or later, epoch milliseconds; to a tenth of a second, or to a second where ps(1) is asked. */
	begunSince(mark: string, at: number): boolean;
	/** Signals single processes found by `sweep`, each checked again to carry the mark. How many were signalled. */
	signalAll(mark: string, pids: readonly number[], signal: NodeJS.Signals): number;
	/** The launcher goes, runs stay. */
	close(): Promise<void>;
}
