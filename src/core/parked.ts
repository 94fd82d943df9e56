// What a job is parked on: one text, because it is a column that the store finds waiting jobs by. Only this file makes and reads its forms.
//
//   parked_on            parked by gate                   woken by
//   ""                   ready: the job gates pass        claim
//   "time"               time                             its due_at
//   "held"               held                             release
//   "after"              after                            the end of the predecessor it names
//   "fact"               artifacts item head conditions   a fact that it is linked to
//   "human"              approval                         approve, answer
//   "lock:<mode>:<key>"  locks                            a release of that key, best first
//   "batch:<b>"          a held or spent batch            resume, grant, window
//   "late"               deadline of a kernel entry       gc_expired
//   "run"                –                                the end of its run
//   "end"                –                                nothing
//   "new"                – it is being added              –

import type { Lock, LockMode } from "./job.ts";

type OnLock = `lock:${LockMode}:${string}`;
type OnBatch = `batch:${string}`;
export type Parked = "" | "time" | "held" | "after" | "fact" | "human" | OnLock | OnBatch | "late" | "run" | "end" | "new";

/** Parked on nothing. */
export const READY = "";

/** Shared and exclusive waiters of a key have separate wait queues: a free key wakes all shared waiters, but only one exclusive waiter. */
export const onLock = (key: string, mode: LockMode): OnLock => `lock:${mode}:${key}`;

export const isOnLock = (parked: Parked): parked is OnLock => parked.startsWith("lock:");
export const isOnBatch = (parked: Parked): parked is OnBatch => parked.startsWith("batch:");

/** The lock that the job waits for; undefined if it does not wait for one. */
export function lockOf(parked: Parked): Lock | undefined {
	if (!isOnLock(parked)) return undefined;
	const mode = parked.startsWith("lock:shared:") ? "shared" : "exclusive";
	return { mode, key: parked.slice(`lock:${mode}:`.length) };
}

/** The job waits for a serial lock: those that name one run one at a time. */
export const isOnSerial = (parked: Parked): boolean => lockOf(parked)?.key.startsWith("serial:") === true;
