// Contract with the outside world: clocks, timers, and facts that only a machine can find out. Implementations in host/; fakes in the simulator.

export type Clock = {
	/** Wall clock, whole milliseconds, UTC. May jump. */
	now(): number;
	/** Milliseconds that never go back. A growing gap between the two clocks is a jump. */
	monotonic(): number;
};

/**
 * What a probe found, by key:
 *   `artifact:<artifact>`                        true / false        (repo-bound ones: `artifact:<artifact>@<repo>`)
 *   `head:<repo or folder>:<branch>`             commit, or null when the branch is gone
 *   `condition:<canonical condition>[@<repo>]`   true / false
 *   `item:<source>:<id>`                         { open: true, blocked_by: string[] … } or { open: false }
 *   `busy:<repo>`                                "merge", "cherry-pick" … while git is in the middle of one; null else
 */
export type FactValue = boolean | string | null | ItemFact;
export type ItemFact = {
	open: boolean;
	blocked_by?: string[];
	/** A new job for this item is refused unless it is forced. */
	in_progress?: boolean;
	/** Another worker has the item, in the source's words: a job for it waits unless its chain has begun or it was added with force. */
	taken?: string;
	/** The item's own state keeps it from being ready, in the source's words. */
	held?: string;
};
export type Facts = Record<string, FactValue | { error: string }>;

export interface Host {
	/**
	 * Probes the facts now. Never throws for a single key: a fact that could not be read comes back as `{ error }`. A key that this host knows nothing about is
	 * left out.
	 */
	probe(keys: string[]): Promise<Facts>;
	/** Calls back once after `ms`, unless cancelled. Only a hint: may come late. With "hold" the process stays alive for it. */
	after(ms: number, call: () => void, grip?: "hold"): () => void;
	/** Lets other work of this process run first: resolves in a later turn of the event loop. */
	turn(): Promise<void>;
}

/**
 * Parses a cron expression. The returned function gives the first slot after a moment, in epoch milliseconds. Throws a SluiceError if the expression is
 * invalid.
 */
export type ReadSchedule = (schedule: string, timezone: string) => (after: number) => number | null;

/**
 * Calls back when something at or below one of the paths has changed; several changes may be reported as one. The paths need not exist. Returns a function that
 * ends the watch.
 */
export type WatchPaths = (paths: readonly string[], call: () => void) => () => void;
