// tick() says when it is next needed: not later than the first thing that comes due.

import { hostTimes } from "../model/hosts.ts";
import { isWaiting, type State } from "../model/state.ts";
import { must } from "./moment.ts";

export function checkTimer(state: State, next: unknown): void {
	if (next === undefined) return;
	const due: number[] = [];
	for (const job of state.jobs) {
		if (job.kind === "kernel") continue;
		if (job.run?.lease_until !== undefined) due.push(job.run.lease_until);
		if (isWaiting(job) && job.deadline !== undefined) due.push(job.deadline);
		if (job.wait?.gate === "time") due.push(Math.max(job.runnable_at, job.backoff_until ?? 0));
	}
	due.push(...hostTimes(state));
	const first = Math.min(...due.filter((at) => at > state.now));
	if (first === Number.POSITIVE_INFINITY) return;
	must(
		typeof next === "number" && next <= first,
		`tick() asks to be called at ${next}, but something is due at ${first} (now ${state.now})`,
	);
}
