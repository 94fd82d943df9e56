// How a task ends other than by returning: it failed after it had changed something, or it was a dry run. And what a commit reports.

import type { EventRow } from "../../core/event.ts";
import type { Pending } from "./pending.ts";
import type { RecordMap } from "./record-map.ts";

/** An operation failed after it had changed something: the group is rolled back, and its other operations run again. */
export class FailedAfterChange extends Error {
	constructor(
		readonly one: Pending,
		cause: unknown,
	) {
		super("an operation failed after it had changed something", { cause });
	}
}

/** Ends a dry run: its transaction is rolled back, and its result is kept. */
export class DryRunDone extends Error {
	constructor(readonly result: unknown) {
		super("the end of a dry run");
	}
}

/** What a commit has done, for the parts of its process. `heard`: events of other processes. `compare`: as in `CommitSummary`. */
export type Committed = {
	stirred: boolean;
	probes: ReadonlySet<string>;
	doubted: ReadonlySet<string>;
	events: readonly EventRow[];
	heard: readonly EventRow[];
	asks: ReadonlyMap<string, RecordMap["ask"]>;
	more: boolean;
	due: number | null | undefined;
	compare?: true;
};

/** For a process that has something to report without a commit of its own. */
export const NOTHING_COMMITTED: Committed = {
	stirred: false,
	probes: new Set(),
	doubted: new Set(),
	events: [],
	heard: [],
	asks: new Map(),
	more: false,
	due: undefined,
};
