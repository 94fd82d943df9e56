// Contract with the database that a fleet shares: requests and replies, heartbeats, the leadership. Implemented on PostgreSQL (postgres/), and in memory for the
// simulator. Each method is one short statement that waits for no other host. Hints may come late, twice or never.

import type { Clock, Host } from "../contracts/host.ts";
import type { Store } from "../contracts/store.ts";

/** A request is known by its member and its number. */
export type RequestId = { member: string; n: number };
/**
 * `messages`: the version of the messages that its member speaks. `until`: a claim that can start nothing yet stands until then. `withdrawn`: only its number
 * counts. `tries`: how many leaders have found it when their term began.
 */
export type Request = RequestId & {
	messages: number;
	name: string;
	args: string;
	by: string | null;
	until: number | null;
	withdrawn: boolean;
	tries: number;
};
/** What a member appends to the leader's inbox. */
export type Outgoing = Omit<Request, "member" | "tries">;
/** `failed`: the body is an error. */
export type Reply = { n: number; failed: boolean; body: string };
/** What the leader has consumed of a member: every number up to `floor`, and those in `above`. */
export type ConsumedOf = { member: string; floor: number; above: number[] };
/** `life`: the token of the host's current life. `open` is false once the host has left or was given up. */
export type Heartbeat = { host: string; life: number; at: number; open: boolean };

/** What one transaction of the leader does to messages. */
export type Mail = {
	/** Requests that it has decided. If one of them was withdrawn, the transaction is rolled back, and `commit` throws `StaleTransaction`. */
	taken: RequestId[];
	/** Rows that have no effect: withdrawn requests, repeated inserts. */
	dropped: RequestId[];
	/** Requests that stay for `doctor`, and are not read again. */
	aside: RequestId[];
	replies: (RequestId & Reply)[];
	consumed: ConsumedOf[];
	/** Hosts that a wish to stop a run, a question or an answer concerns. */
	assigned: string[];
	/** An open heartbeat begins a life. A closed one ends it, unless the host has beaten after `at`: then `commit` throws `StaleTransaction`. */
	heartbeats: Heartbeat[];
};

/** The store of one term. A commit that fails or is in doubt ends the term: the store throws `TermOver` from then on. */
export interface LeaderStore extends Store {
	/** `mail` is committed in the same transaction. */
	commit(mail?: Mail): void | Promise<void>;
	heartbeats(): Promise<Heartbeat[]>;
	/** `new`: requests that were not read before, and repeatedly some that were. `all`: none is left out. `withdrawn`: only these. */
	requests(which: "new" | "all" | "withdrawn"): Promise<Request[]>;
	consumed(): Promise<ConsumedOf[]>;
	/** A leader that has just begun is about to carry out a request that it found. */
	countTry(request: RequestId): Promise<void>;
	/** Deletes replies that were not collected for long, and what was consumed of members that are gone. */
	sweepMail(): Promise<void>;
	/** Whether a candidate that speaks later messages waits for this leader to hand over. */
	isOutdated(): Promise<boolean>;
}

export type Polled = {
	replies: Reply[];
	/** Grows when there is something for the host: a wish to stop a run, a question, an answer. */
	assigned: number;
	/** The number of the last transaction of any leader. */
	txn: number;
};

/** A member's side of the database. */
export interface Post {
	/**
	 * Appends requests. A request that is there already, or was withdrawn, stays as it is: repeating this is harmless. `collected`: replies that are no longer
	 * needed are deleted with it, so that a poll writes nothing.
	 */
	send(requests: readonly Outgoing[], collected: readonly number[]): Promise<void>;
	/** Withdraws a request, also one that may not have arrived. Afterwards either its reply is there, or it is never carried out. */
	withdraw(request: Outgoing): Promise<void>;
	/** `collected`: replies that are left out. */
	poll(collected: readonly number[]): Promise<Polled>;
	/** False: the life is over. */
	beat(host: string, life: number): Promise<boolean>;
}

/** The database cannot be reached: the statement has not left this process. */
export class Unreachable extends Error {}

export type Leadership = { epoch: number; store: LeaderStore };

/** Time and timers of polls: real ones, whatever the scheduler's clock says. */
export type FleetTime = Pick<Clock, "monotonic"> & Pick<Host, "after">;

export interface FleetDatabase {
	readonly member: string;
	readonly post: Post;
	/** What this member reads: snapshots without a lock. */
	readonly snapshots: Store;
	/** The database's clock, as far as it is known; never goes back. */
	now(): number;
	/** Whether a process leads. */
	isLed(): Promise<boolean>;
	/** Becomes the leader if no other process is. */
	lead(): Promise<Leadership | undefined>;
	/** Whether the transaction `txn` of a term that is over was committed. */
	wasCommitted(epoch: number, txn: number): Promise<boolean>;
	/** Calls back when there may be requests for the leader, or replies for this member. Only a hint. Returns a function that ends it. */
	hear(call: (to: "leader" | "member") => void): () => void;
	close(): Promise<void>;
}
