// How a task ends other than by returning: it failed after it had changed something, or it was a dry run.

import type { Pending } from "./pending.ts";

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
