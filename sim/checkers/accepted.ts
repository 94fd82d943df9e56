// Nothing accepted is lost: every acknowledged job is there, whatever died since, until gc takes it.

import { type Checker, must } from "./moment.ts";

export const accepted: Checker = {
	name: "accepted",
	check({ state, view, memory }) {
		for (const id of memory.accepted) {
			if (view.has(id)) continue;
			must(!state.jobs.some((job) => job.id === id), `job ${id} was acknowledged and is gone`);
			memory.accepted.delete(id);
		}
		for (const job of state.jobs) memory.accepted.add(job.id);
	},
};
