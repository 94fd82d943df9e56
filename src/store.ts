// Contract of the store: one transaction at a time over the tables below, read by request, written as one set of changes.
//
// A store that answers at once returns values, one behind a network returns promises; the scheduler's operations are generators that yield
// requests and serve both. Promises of every store:
//   - `begin` takes the write lock: nobody else changes anything until `commit` or `rollback`;
//   - `commit` returns when the changes survive power loss; after an error in any call the transaction is gone as a whole;
//   - a read inside a transaction sees what was written in it.

import { SluiceError } from "./core/errors.ts";
import type { ExitKind, Job, JobSpec, Policy, Status } from "./core/job.ts";
import type { Head } from "./core/plan.ts";

/** What a job's document is indexed by. `line` "" means ready; `ready_at` is set only then. */
export type JobRow = {
	id: number;
	line: string;
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
export type RunRow = {
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

export type EventRecord = { seq: number; at: number; kind: string; job: number | null; by: string; data: Record<string, unknown> };
export type EdgeRow = { pred: number; job: number; policy: Policy; seq: number };
/**
 * `needs`: a job that a fact decides about. `makes`: one that produces it. `wants`: one that could take this lock for itself alone, or has it; `shares`: the same,
 * beside others. `named`: one of several jobs that have had the same name.
 */
export type Role = "needs" | "makes" | "wants" | "shares" | "named";
export type LinkRow = { key: string; role: Role; job: number };

/** Small standing things, by kind and key; each kind's value has its type where it is used. */
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
	/** Runs that wait for jobs, by their job. */
	| "wait"
	/** Between hosts: what is kept of runs, what they ask each other, and the answers. `output` and `reply` are large. */
	| "output"
	| "ask"
	| "reply";

/** The record `meta`/`moved`: everything was moved to another store, and nothing may be done with this one any more. */
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

export type Read =
	/** A document that cannot be read comes back as a job with nothing but its number, its place and `broken`. `specs`: they will be asked for next. */
	| { read: "jobs"; ids: readonly number[]; specs?: true }
	| { read: "done"; ids: readonly number[] }
	| { read: "specs"; ids: readonly number[] }
	/** Ready or parked jobs of one bucket in index order (those that run are in no line that can be asked for); `below` skips to the levels under it, `after` goes on within one. */
	| {
			read: "line";
			line: string;
			bucket: number;
			below?: { rank: number; level: number };
			after?: { rank: number; level: number; age_at: number; id: number };
			limit: number;
	  }
	| { read: "ahead"; bucket: number; rank: number; level: number; age_at: number; id: number; limit: number }
	/** Those of the bucket that have been ready longest, first the longest. */
	| { read: "oldest"; bucket: number; limit: number }
	| { read: "buckets"; line: string }
	/** All who stand in several lines, in no order; `limit` of them at most. */
	| { read: "waiters"; lines: readonly string[]; limit: number }
	| { read: "due"; now: number; limit: number }
	| { read: "next_due" }
	| { read: "edges"; pred: number; after: number; limit: number }
	/** The same for several at once, from their first edges on. */
	| { read: "fan"; preds: readonly number[]; limit: number }
	| { read: "preds"; job: number; from: number; limit: number }
	/** All edges into several jobs, each job's in their order. */
	| { read: "preds_of"; jobs: readonly number[] }
	| { read: "links"; key: string; role: Role; after: number; limit: number }
	/**
	 * All about several locks: their records, links of role `wants` under their keys (`limit` at most; `runs`: that job stands in the line `run`), which have
	 * links of role `shares`, and which of their lines somebody stands in.
	 */
	| { read: "locks"; keys: readonly string[]; lines: readonly string[]; limit: number }
	| { read: "records"; kind: RecordKind; keys: readonly string[] }
	| { read: "standing"; kinds: readonly RecordKind[] }
	| { read: "runs"; job: number }
	| { read: "events"; since: number; limit: number }
	| { read: "history"; job: number }
	/** By number; with `before` from there downwards. */
	| { read: "active"; filter: ListFilter; after: number; before?: number; limit: number }
	/** How many active jobs of one lane and kind there are, by status; for people, not on the way of a start. */
	| { read: "tally"; lane: string; kind: string }
	/** Those in the line `run`, by number. */
	| { read: "running"; after: number; limit: number }
	| { read: "ended"; filter: ListFilter; after: number; before?: number; limit: number }
	| { read: "old"; before: number; after: { ended_at: number; id: number }; limit: number }
	/** Ended jobs, the newest first, from before a place on. */
	| { read: "recent"; before: { ended_at: number; id: number }; limit: number }
	| { read: "range"; from: number; to: number; limit: number }
	| { read: "ended_in"; from: number; to: number }
	/** How many jobs ended badly at or after `since`; each is counted up to `limit`. */
	| { read: "failures"; since: number; limit: number };

export type Replies = {
	jobs: Job[];
	done: Job[];
	specs: [number, JobSpec][];
	line: Head[];
	ahead: number;
	oldest: Head[];
	buckets: number[];
	waiters: { line: string; bucket: number; head: Head }[];
	due: number[];
	next_due: number | null;
	edges: { job: number; policy: Policy }[];
	fan: { pred: number; job: number; policy: Policy }[];
	preds: { pred: number; policy: Policy; seq: number }[];
	preds_of: { job: number; pred: number; policy: Policy }[];
	links: number[];
	locks: { records: [string, unknown][]; wants: { key: string; job: number; runs: boolean }[]; shared: string[]; lines: string[] };
	records: [string, unknown][];
	standing: [RecordKind, string, unknown][];
	runs: RunRow[];
	events: EventRecord[];
	history: EventRecord[];
	active: Job[];
	tally: { status: Status; count: number }[];
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
	/** Rows of running jobs: their place in the order is written when they wait again. */
	running: JobRow[];
	remove: number[];
	done: Job[];
	undone: number[];
	/** Written once, or anew where a waiting job is changed. */
	specs: [number, JobSpec][];
	/** Jobs whose edges to what they come after are taken away; new ones are in `edges`. */
	unedges: number[];
	edges: EdgeRow[];
	links: LinkRow[];
	unlinks: LinkRow[];
	runs: RunRow[];
	events: EventRecord[];
	records: [RecordKind, string, unknown | null][];
	/** Records that are certainly not there yet: nobody has to look. */
	fresh: [RecordKind, string, unknown][];
	/** Jobs to be forgotten altogether. */
	forget: number[];
};

/** What was added, by a transaction that did nothing else. */
export type Arrivals = Pick<Changes, "insert" | "specs" | "events" | "records">;
export type Begun = { fresh: boolean; now?: number; arrivals?: readonly Arrivals[] };

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

/**
 * The transaction is gone, with nothing of it done, though nothing was wrong with it: somebody else has committed since what was remembered, or
 * the connection broke. Whoever began it begins again.
 */
export class Outrun extends Error {}

/**
 * Another process holds the write lock. Nothing was done: the caller tries again, for `patienceMs` in all, and reports this error when that is over. Told soon, so
 * that the caller can answer what only reads in the meantime.
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
	 * Takes the write lock, or guesses that nobody else has committed and takes it later: then any later call may throw `Outrun`. `fresh` is false
	 * when somebody else has committed since our last transaction: what was remembered may be wrong. `now` is the store's own clock, which counts
	 * where several machines share it. `arrivals`: what others have added since, where that is all they did.
	 *
	 * `look`: most likely nothing will be written. The store then reads without the lock, as of one moment. If something is written after all, it throws `Outrun` where
	 * another writer has committed since, or `Busy` where one has the lock.
	 */
	begin(intent?: Intent): Maybe<Begun>;
	read<R extends Read>(request: R): Maybe<Replies[R["read"]]>;
	/** What cannot be written may be told as late as by `commit`. */
	write(changes: Changes): Maybe<void>;
	commit(): Maybe<void>;
	rollback(): Maybe<void>;
	close(): Maybe<void>;
	/** Calls back when somebody else may have committed: only a hint, may come late or not at all. Returns how to end it. */
	listen?(call: () => void): () => void;
	/** Whether this one does what only one of several hosts should do. A store of one machine has no such question. */
	lead?(): Maybe<boolean>;
	/** Whether somebody else has committed since our last transaction. Cheap, outside of one. Only a hint. Absent in stores that have other ways to tell. */
	isStale?(): boolean;
}

/** An operation of the scheduler: yields reads, returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: a reply's type depends on the request; `ask` below gives it back
export type Op<T> = Generator<Read, T, any>;

export function* ask<R extends Read>(request: R): Generator<R, Replies[R["read"]], Replies[R["read"]]> {
	return yield request;
}
