// What a store on PostgreSQL is opened with.

import type { Host } from "../../contracts/host.ts";

export type PostgresOptions = {
	/** Tells this writer from all others. */
	writer: string;
	monotonic(): number;
	after: Host["after"];
	/** How long a lost connection is tried again, and an answer waited for, before an operation fails. */
	patienceMs?: number;
	/** How long a transaction may be silent with the lock: one whose host is stopped in the middle must not hold up the others for longer. */
	idleMs?: number;
	/** `never`: every transaction takes the lock first. `always`: also where a notice says that it will be in vain (for tests). */
	guess?: "alone" | "never" | "always";
	/** How often a shape of changes has to come before it gets a statement of its own (for tests). */
	usual?: number;
	/** How many events of one kind make a page (for tests). */
	page?: number;
	/** Whose `now` transactions get: the database's, which is the same for all hosts, or the caller's own. */
	clock?: "database" | "caller";
	/** Called at `begin`, `flush`, `commit`, `committed` and `listen`; may throw, as a network would. For the simulator. */
	fault?: (point: string) => void;
};

export const PATIENCE_MS = 20_000;
export const IDLE_MS = 5_000;
export const USUAL = 3;
