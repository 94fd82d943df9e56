// A run that waits for jobs lends its slot: from its first call of job.wait until the last job has ended, or until the run has stopped asking.
//
// A wait consists of many calls, because none may take longer than 25 s. Between two of them the slot stays lent for a moment, so that it is not taken back and
// lent again each time. A caller that was killed is noticed when its call is over.

import type { Scheduler } from "../contracts/scheduler.ts";
import type { Context } from "./context.ts";

/** The longest pause between two calls of the same wait. */
const BETWEEN_MS = 1000;

type RunRef = { job: number; token: number };
type Lent = { wait: Promise<number | null>; calls: number; cancel: () => void };
const lentBy = new WeakMap<Scheduler, Map<string, Lent>>();

/** Refuses a wait that can never end. Returns a function to call when the call is over: `again` if the caller is likely to continue. */
export async function lendSlot(context: Context, run: RunRef, ids: readonly number[]): Promise<(next: "again" | "done") => void> {
	const { scheduler, host } = context;
	const all = lentBy.get(scheduler) ?? new Map<string, Lent>();
	lentBy.set(scheduler, all);
	const key = `${run.job}/${run.token}/${[...ids].sort((a, b) => a - b).join()}`;
	const known = all.get(key);
	const lent: Lent = known ?? { wait: scheduler.beginWait(run, [...new Set(ids)]).then(({ wait }) => wait), calls: 0, cancel: () => {} };
	lent.cancel();
	lent.calls++;
	all.set(key, lent);
	let wait: number | null;
	try {
		wait = await lent.wait;
	} catch (error) {
		if (all.get(key) === lent) all.delete(key);
		throw error;
	}
	const end = () => {
		if (all.get(key) === lent) all.delete(key);
		// The wait may be over already, with the last job or with the run. After a restart, the daemon ends all waits.
		if (wait !== null) scheduler.endWait(run, wait).catch(() => {});
	};
	return (next) => {
		if (--lent.calls > 0) return;
		if (next === "done" || wait === null) end();
		else lent.cancel = host.after(BETWEEN_MS, end);
	};
}
