// The gates of preset kernel's entries: its time, its deadline, the ledger of its agent. The clock may be the claim's.

import type { Job } from "../job.ts";
import { budgetReasons } from "./buckets/budget.ts";
import { lateReason } from "./deadline.ts";
import { type BucketGate, type ClockGate, pass, refuse } from "./gate.ts";
import { stamp } from "./time.ts";

const isPast = (job: Job, now: number): boolean => job.deadline !== undefined && job.deadline <= now;

/** The deadline may lie before the entry's time: from then on only gc_expired acts on it. */
export const entryTime: ClockGate = {
	name: "time",
	ask(job, { now }) {
		if (job.runnable_at <= now || isPast(job, now)) return pass;
		const reason = refuse("time", "delayed", "time", `not before ${stamp(job.runnable_at)}`, { clears_at: job.runnable_at });
		return { reasons: [reason], parked_on: "time", until: job.runnable_at };
	},
};

/** Past its deadline the entry is only out of sight; gc_expired ends it. */
export const entryDeadline: ClockGate = {
	name: "deadline",
	ask: (job, { now }) => (isPast(job, now) ? { reasons: [lateReason(job.deadline as number)], parked_on: "late" } : pass),
};

/** The owner of an entry is `pid:<n>`, which is also the subject of its agent's ledgers. */
export const entryLedger: BucketGate = {
	name: "budget",
	ask({ owner }, world) {
		const reasons = owner === undefined ? [] : budgetReasons(owner, world);
		return reasons.length > 0 ? reasons : pass;
	},
};
