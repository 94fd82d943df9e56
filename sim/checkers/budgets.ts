// Budgets: nothing starts on a ledger that is used up, so it is overshot at most by what was already running. Ledgers are the model's.

import { ledgerDifference } from "../compare.ts";
import { payers } from "../model/ledgers.ts";
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
		if (!thorough && step % 9 !== 0) return;
		const different = ledgerDifference(state, await scheduler.ledgers());
		must(different === null, different ?? "");
	},
};
