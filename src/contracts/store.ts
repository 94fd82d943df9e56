// Contract of the store: one transaction at a time over the tables below, read by request, written as one set of changes.
//
// A synchronous store returns values, an asynchronous one returns promises; the scheduler's operations are generators that yield requests and work with both. Every
// store promises:
//   - `begin` takes the write lock: no other process changes anything until `commit` or `rollback`;
//   - `commit` returns when the changes survive power loss; after an error in any call nothing of the transaction is left;
//   - a read inside a transaction sees what was written in it.

import { SluiceError } from "../core/errors.ts";
import type { EventRow } from "../core/event.ts";
import type { ExitKind, Job, JobSpec, Policy, Status } from "../core/job.ts";
import type { Parked } from "../core/parked.ts";
import type { ReadyJob } from "../core/planning/ready-rows.ts";

/** A job's document and the columns it is indexed by. `line`: what the job is parked on (core/parked.ts); `ready_at` is set only if it is ready. */
export type JobRow = {
	id: number;
	line: Parked;
	bucket: number;
	rank: number;
	level: number;
	age_at: number;
	ready_at: number | null;
	due_at: number | null;
	status: Status;
	lane: string;
	batch: string | null;
	job: Job;
};

/** An attempt that ended while its job went on; a job's last run stays in its document. */
type RunRow = {
	job: number;
	attempt: number;
	host: string;
	worker: string;
	account: string | null;
	started_at: number;
	ended_at: number;
	exit_kind: ExitKind;
	exit_code: number | null;
	message: string | null;
};

type EdgeRow = { pred: number; job: number; policy: Policy; seq: number };
/**
 * Links from a key to jobs. `needs`: the job depends on this fact. `makes`: it produces this artifact. `wants`: the job is ready and could take this lock
 * exclusively, or it runs; `shares`: the same in shared mode. `named`: one of several jobs that have had this name.
 */
export type LinkRole = "needs" | "makes" | "wants" | "shares" | "named";
export type LinkRow = { key: string; role: LinkRole; job: number };

/** Small records by kind and key; each kind's type of value is declared where it is used. */
export type RecordKind =
	| "meta"
	| "bucket"
	| "hold"
	| "host"
	| "usage"
	| "depth"
	| "ledger"
	| "reserve"
	| "settle"
	| "stage"
	| "breaker"
	| "batch"
	| "lock"
	| "chain"
	| "unique"
	| "name"
	| "fact"
	| "family"
	| "calls"
	| "agent"
	| "trigger"
	/** How far the events of a webhook are sent, by its name. */
	| "webhook"
	/** Runs that wait for jobs, by their job. */
	| "wait"
	/** Between hosts: kept outputs of runs, questions, and answers. `output` and `reply` are large. */
	| "output"
	| "ask"
	| "reply"
	/** What was counted of starts and ends: cells of the open hour; whole hours and days, which are large. */
	| "rollup_open"
	| "rollup";

/** The record `meta`/`moved`: everything was moved to another store, and this one must not be used any more. */
export type Moved = { to: string; at: number };

export type ListFilter = {
	status?: readonly Status[];
	lane?: string;
	batch?: string;
	repo?: string;
	kind?: string;
	owner?: string;
	item?: string;
};

export type StoreRead =
	/** A document that cannot be parsed comes back as a job with only its number, its place and `broken`. */
	| { read: "jobs"; ids: readonly number[] }
	| { read: "done"; ids: readonly number[] }
	| { read: "specs"; ids: readonly number[] }
	/**
	 * Ready or parked jobs of one bucket in index order (running jobs cannot be read this way); `below` skips to the levels under it, `after` continues within
	 * one.
	 */
	| {
			read: "line";
			line: Parked;
			bucket: number;
			below?: { rank: number; level: number };
			after?: { rank: number; level: number; age_at: number; id: number };
			limit: number;
	  }
	| { read: "ahead"; bucket: number; rank: number; level: number; age_at: number; id: number; limit: number }
	/** Jobs of the bucket that have been ready longest, the longest first. */
	| { read: "oldest"; bucket: number; limit: number }
	| { read: "buckets"; line: Parked }
	/** All jobs parked on one of several lines, in no order; at most `limit`. */
	| { read: "waiters"; lines: readonly Parked[]; limit: number }
	| { read: "due"; now: number; limit: number }
	| { read: "next_due" }
	| { read: "edges"; pred: number; after: number; limit: number }
	/** The same for several predecessors, each from its first edge on. */
	| { read: "fan"; preds: readonly number[]; limit: number }
	| { read: "preds"; job: number; from: number; limit: number }
	/** All edges into several jobs; the edges of each job are in their order. */
	| { read: "preds_of"; jobs: readonly number[] }
	| { read: "links"; key: string; role: LinkRole; after: number; limit: number }
	/**
	 * Everything about several locks: all their records, at most `limit` of the `wants` links under their keys, which keys have `shares` links, and which of
	 * `lines` have waiting jobs.
	 */
	| { read: "locks"; keys: readonly string[]; lines: readonly Parked[]; limit: number }
	| { read: "records"; kind: RecordKind; keys: readonly string[] }
	| { read: "standing"; kinds: readonly RecordKind[] }
	| { read: "runs"; job: number }
	| { read: "events"; since: number; limit: number }
	| { read: "history"; job: number }
	/** By number; with `before`, downwards from there. */
	| { read: "active"; filter: ListFilter; after: number; before?: number; limit: number }
	/** The number of active jobs of one lane and kind, by status; for views, never needed to start a job. */
	| { read: "tally"; lane: string; kind: string }
	/** The number of jobs with numbers from `from` to `to` by status, active and ended, without entries of the kernel's queue; for views. */
	| { read: "statuses"; from: number; to: number }
	/** Running jobs, by number; with `host`, those whose run is on that host. */
	| { read: "running"; host?: string; after: number; limit: number }
	| { read: "ended"; filter: ListFilter; after: number; before?: number; limit: number }
	| { read: "old"; before: number; after: { ended_at: number; id: number }; limit: number }
	/** Ended jobs, newest first, before a given one. */
	| { read: "recent"; before: { ended_at: number; id: number }; limit: number }
	| { read: "range"; from: number; to: number; limit: number }
	| { read: "ended_in"; from: number; to: number }
	/** The number of jobs that failed or were blocked at or after `since`; each is counted up to `limit`. */
	| { read: "failures"; since: number; limit: number };

export type Replies = {
	jobs: Job[];
	done: Job[];
	specs: [number, JobSpec][];
	line: ReadyJob[];
	ahead: number;
	oldest: ReadyJob[];
	buckets: number[];
	waiters: { line: Parked; bucket: number; head: ReadyJob }[];
	due: number[];
	next_due: number | null;
	edges: { job: number; policy: Policy }[];
	fan: { pred: number; job: number; policy: Policy }[];
	preds: { pred: number; policy: Policy; seq: number }[];
	preds_of: { job: number; pred: number; policy: Policy }[];
	links: number[];
	locks: { records: [string, unknown][]; wants: { key: string; job: number }[]; shared: string[]; lines: Parked[] };
	records: [string, unknown][];
	standing: [RecordKind, string, unknown][];
	runs: RunRow[];
	events: EventRow[];
	history: EventRow[];
	active: Job[];
	tally: { status: Status; count: number }[];
	statuses: { status: Status; count: number }[];
	running: Job[];
	ended: Job[];
	old: Job[];
	recent: Job[];
	range: number[];
	ended_in: number[];
	failures: { failed: number; blocked_by_dependency: number };
};

export type Changes = {
	/** New rows, and rows whose index columns or document changed. */
	insert: JobRow[];
	update: JobRow[];
	/** Rows of running jobs: their position in the order is written when they wait again. */
	running: JobRow[];
	remove: number[];
	done: Job[];
	undone: number[];
	/** Written once, and again if a waiting job is changed. */
	specs: [number, JobSpec][];
	/** Jobs whose edges to predecessors are removed; new ones are in `edges`. */
	unedges: number[];
	edges: EdgeRow[];
	links: LinkRow[];
	unlinks: LinkRow[];
	runs: RunRow[];
	events: EventRow[];
	records: [RecordKind, string, unknown | null][];
	/** Records that certainly do not exist yet: the store may insert them without a check. */
	fresh: [RecordKind, string, unknown][];
	/** Jobs to be deleted with everything about them. */
	forget: number[];
};

export type Begun = { fresh: boolean; now?: number };

export const noChanges = (): Changes => ({
	insert: [],
	update: [],
	running: [],
	remove: [],
	done: [],
	undone: [],
	specs: [],
	unedges: [],
	edges: [],
	links: [],
	unlinks: [],
	runs: [],
	events: [],
	records: [],
	fresh: [],
	forget: [],
});

type Maybe<T> = T | Promise<T>;

/** Another writer committed first, or the connection broke before the commit. Nothing was written. Retry from `begin()`. */
export class StaleTransaction extends Error {}

/** The store refuses a value of this transaction. Nothing was written: each operation is retried alone, so that only the one with that value fails. */
export class RefusedValue extends SluiceError {}

/** This process must not write any more: another process leads, or the outcome of a commit is not known. The store of the term refuses everything from then on. */
export class TermOver extends SluiceError {
	/** The commit of transaction `txn` was sent, and its answer was lost: the next leader knows whether it was carried out. */
	readonly doubt: boolean;
	readonly txn: number;

	constructor(why: string, { doubt, txn, cause }: { doubt: boolean; txn: number; cause?: unknown }) {
		super("store", `this process does not lead the queue any more: ${why}`, { hint: "the next leader goes on; try again", cause });
		this.doubt = doubt;
		this.txn = txn;
	}
}

/**
 * Another process holds the write lock. Nothing was done: the caller retries for `patienceMs` in all, and reports this error after that. Thrown early, so that
 * the caller can answer reads in the meantime.
 */
export class Busy extends SluiceError {
	readonly patienceMs: number;

	constructor(message: string, options: { hint: string; cause: unknown }, patienceMs: number) {
		super("store", message, options);
		this.patienceMs = patienceMs;
	}
}

export type Intent = "change" | "look";

export interface Store {
	/**
	 * Takes the write lock, or assumes that no other process has committed and takes it later: then any later call may throw `StaleTransaction`. `fresh` is false
	 * if another process has committed since our last transaction: cached data may be wrong. `now` is the store's own clock, which counts where several machines
	 * share it.
	 *
	 * `look`: most likely nothing will be written. The store then reads a snapshot without the lock. If something is written after all, it throws
	 * `StaleTransaction` if another writer has committed since, or `Busy` if one holds the lock.
	 */
	begin(intent?: Intent): Maybe<Begun>;
	read<R extends StoreRead>(request: R): Maybe<Replies[R["read"]]>;
	/** An error may be reported as late as by `commit`. */
	write(changes: Changes): Maybe<void>;
	commit(): Maybe<void>;
	rollback(): Maybe<void>;
	close(): Maybe<void>;
	/** Whether another process has committed since our last transaction. Cheap, called outside of a transaction. Only a hint. Absent: there is one writer. */
	isStale?(): boolean;
}

/** An operation of the scheduler: yields reads, returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: a reply's type depends on the request; `ask` below gives it back
export type Op<T> = Generator<StoreRead, T, any>;

export function* ask<R extends StoreRead>(request: R): Generator<R, Replies[R["read"]], Replies[R["read"]]> {
	return yield request;
}
