// Work that does not fit into one transaction: a durable note of what is left to do, which the next transactions go on with piece by piece (wakeups.ts). Here
// are the kinds of such work, and how it is stored: a record `settle`, whose key says what to do, and whose value how far it has got.
//
//   do            of               each piece does this to the next jobs
//   edges         a predecessor    re-evaluates dependents of an ended job
//   merge         a predecessor    re-evaluates dependents of a job whose merge ended
//   fact          a fact's key     re-evaluates jobs linked to a fact
//   evict         a lock's key     parks ready jobs that want a lock exclusively and can no longer take it
//   evict_shared  a lock's key     parks ready jobs that want a lock shared and can no longer take it
//   pump          a lock's key     wakes shared waiters of a lock
//   batch         its name         re-evaluates jobs of a batch that was held or released
//   rekey         –                recomputes the level, after the order's settings changed
//   host          its name         ends runs of a lost host
//   cancel        its number       ends jobs of one cancel
//   stage         its first job    removes jobs of an apply that was cut off

import { isKeyOf } from "../../core/text/one-of.ts";
import type { Tx } from "../transaction/tx.ts";

/** `after`: the last job that is done, or the number of jobs that are. */
type Progress = { after: number };
/** `before`: only runs with a lower token. */
type LostHost = Progress & { before: number };
/** Jobs that are still to be ended, from index `after` of the list on, in the name of `by`. */
export type Cancelling = Progress & { ids: number[]; reason: string; by: string; piece: number };
type StageRange = Progress & { from: number; to: number };

export type Continuation =
	| ({ do: "edges" | "merge"; of: number } & Progress)
	| ({ do: "fact" | "evict" | "evict_shared" | "pump" | "batch"; of: string } & Progress)
	| ({ do: "rekey"; of: null } & Progress)
	| ({ do: "host"; of: string } & LostHost)
	| ({ do: "cancel"; of: string } & Cancelling)
	| ({ do: "stage"; of: number } & StageRange);

/** The value of the record. */
export type ContinuationState = Progress | LostHost | Cancelling | StageRange;
/** What a continuation is about. There is one of each at most: a second one replaces the first. */
type About = Pick<Continuation, "do" | "of">;

export const continuationKey = ({ do: what, of }: About): string => (of === null ? what : `${what}/${of}`);

/** How the part of the key after the slash is read. */
const SUBJECTS: Record<Continuation["do"], "number" | "text" | "none"> = {
	edges: "number",
	merge: "number",
	fact: "text",
	evict: "text",
	evict_shared: "text",
	pump: "text",
	batch: "text",
	rekey: "none",
	host: "text",
	cancel: "text",
	stage: "number",
};

/** The continuation in a record; null for work of another version, unknown here. */
export function continuationOf(key: string, state: ContinuationState): Continuation | null {
	const slash = key.indexOf("/");
	const what = slash < 0 ? key : key.slice(0, slash);
	if (!isKeyOf(what, SUBJECTS)) return null;
	const subject = key.slice(slash + 1);
	const of = { number: Number(subject), text: subject, none: null }[SUBJECTS[what]];
	return { do: what, of, ...state } as Continuation;
}

/** Leaves this to the next transactions. */
export function continueLater(tx: Tx, continuation: Continuation): void {
	const { do: _what, of: _of, ...state } = continuation;
	tx.put("settle", continuationKey(continuation), state);
}

export function dropContinuation(tx: Tx, about: About): void {
	tx.put("settle", continuationKey(about), null);
}

/** How far it has got; null if there is none. */
export const progressOf = (tx: Tx, about: About): ContinuationState | null => tx.memory.recall("settle", continuationKey(about));

/** The cancel under way that has this job still before it, if there is one. */
export function cancelNaming(tx: Tx, job: number): Cancelling | undefined {
	for (const [key, state] of tx.memory.all("settle")) {
		const one = key.startsWith("cancel/") ? continuationOf(key, state) : null;
		if (one?.do === "cancel" && one.ids.indexOf(job, one.after) >= 0) return one;
	}
	return undefined;
}

export const hasContinuations = (tx: Tx): boolean => tx.memory.all("settle").size > 0;

/** Re-evaluates the jobs that are linked to a fact, from the next transaction on. */
export const wakeByFact = (tx: Tx, key: string): void => continueLater(tx, { do: "fact", of: key, after: 0 });
