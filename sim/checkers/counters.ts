// What status() counts is what a naive count over all jobs gives.

import { accountDifference } from "../compare.ts";
import { isWaiting, running, waiting } from "../model/state.ts";
import { isLending } from "../model/waits.ts";
import { type Checker, must } from "./moment.ts";

export const counters: Checker = {
	name: "counters",
	async check({ state, scheduler, thorough, step }) {
		if (!(thorough || step % 7 === 0)) return;
		const status = await scheduler.status();
		const queued = waiting(state);
		const live = running(state);
		must(status.queued_total === queued.length, `status: ${status.queued_total} queued, counted ${queued.length}`);
		must(status.running === live.length, `status: ${status.running} running, counted ${live.length}`);
		const lending = live.filter(isLending);
		must(status.lending === lending.length, `status: ${status.lending} lend their slot, counted ${lending.length}`);
		for (const [name, lane] of Object.entries(status.lanes)) {
			const inLane = state.jobs.filter((job) => job.lane === name && job.kind !== "kernel");
			must(
				lane.queued === inLane.filter(isWaiting).length,
				`status: lane ${name} has ${lane.queued} queued, counted ${inLane.filter(isWaiting).length}`,
			);
			must(lane.running === inLane.filter((job) => job.status === "running").length, `status: lane ${name} has ${lane.running} running`);
		}
		for (const job of queued) must(status.lanes[job.lane] !== undefined, `status: lane ${job.lane} is missing`);
		const paused = state.holds.some((hold) => hold.scope === "all" && (hold.until === null || hold.until > state.now));
		must(status.paused === paused, `status: paused ${status.paused}, the model says ${paused}`);
		const different = accountDifference(state, status.holds);
		must(different === null, `status: ${different}`);
		must(status.max_concurrent === state.config.max_concurrent, `status: max_concurrent ${status.max_concurrent}`);
	},
};
