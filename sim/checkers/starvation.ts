// The bound against starvation: a job that is startable and overdue starts within (its place among the overdue × overdue_share) starts.

import { type Checker, must } from "./moment.ts";

export const starvation: Checker = {
	name: "starvation",
	check({ state }) {
		const share = state.config.order.overdue_share;
		for (const job of state.jobs) {
			if (job.passed === undefined || share === 0) continue;
			const { place, times } = job.passed;
			must(
				times < (place + 1) * share,
				`job ${job.id} was number ${place} of the overdue and ${times} others started since (share ${share})`,
			);
		}
	},
};
