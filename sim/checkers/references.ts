// Whatever an active job refers to is still there, unless it never was.

import { isActive } from "../model/state.ts";
import { type Checker, must } from "./moment.ts";

export const references: Checker = {
	name: "references",
	check({ state, view }) {
		for (const job of state.jobs.filter(isActive)) {
			for (const edge of job.after) must(view.has(edge.job), `active job ${job.id} comes after ${edge.job}, which is gone`);
		}
	},
};
