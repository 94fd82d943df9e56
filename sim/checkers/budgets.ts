// Budgets: nothing starts on a ledger that is used up, or would be with what runs have set aside, so it is overshot at most by what was already running.
// Ledgers are the model's.

import { ledgerDifference } from "../compare.ts";
import { payers, reservedOf, usedOf } from "../model/gates/ledgers.ts";
import { type Checker, must } from "./moment.ts";

export const budgets: Checker = {
	name: "budgets",
	async check({ state, scheduler, memory, thorough, step }) {
		const over = state.over_before;
		for (const job of state.jobs) {
			if (job.run === undefined || memory.ran.has(job.id)) continue;
			const broke = payers(job).find((subject) => over.includes(subject));
			must(broke === undefined, `job ${job.id} started although the budget of ${broke} was used up`);
		}
		for (const ledger of state.ledgers) {
			const key = `${ledger.subject}/${ledger.dim}`;
			const fresh = state.jobs.flatMap((job) => (job.run === undefined || memory.ran.has(job.id) ? [] : [job.run.reserved[key] ?? 0]));
			const most = Math.max(0, ...fresh);
			if (ledger.limit === null || most === 0) continue;
			const before = usedOf(state, ledger, state.now) + reservedOf(state, ledger) - most;
			must(before < ledger.limit, `${key}: a run started at ${before} of ${ledger.limit}, used and set aside`);
		}
		if (!thorough && step % 9 !== 0) return;
		const different = ledgerDifference(state, await scheduler.ledgers());
		must(different === null, different ?? "");
	},
};
