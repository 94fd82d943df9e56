// What status() counts is what a naive count over all jobs gives.

import type { JobView, StatusReport } from "../../src/contracts/scheduler.ts";
import { type Config, softLimit } from "../../src/core/config.ts";
import { accountDifference } from "../compare.ts";
import { isWaiting, running, waiting } from "../model/state.ts";
import { isLending } from "../model/waits.ts";
import { type Checker, must } from "./moment.ts";

export const counters: Checker = {
	name: "counters",
	async check({ state, scheduler, view, thorough, step }) {
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
		checkBacklog(state.config, view, status);
		must(status.max_concurrent === state.config.max_concurrent, `status: max_concurrent ${status.max_concurrent}`);
	},
};

/** The warning comes when the jobs that count, counted one by one, are over the soft limit, and only then. */
function checkBacklog(config: Config, view: ReadonlyMap<number, JobView>, status: StatusReport): void {
	const jobs = [...view.values()].filter(({ kind }) => kind !== "kernel");
	const ready = jobs.filter(({ status, blocked }) => status === "queued" && !blocked).length;
	must(status.queued_ready === ready, `status: ${status.queued_ready} ready, counted ${ready}`);
	const locks = (job: JobView) => job.locks ?? [];
	const isSerial = ({ key }: { key: string }) => key.startsWith("serial:");
	// Of one that also has other locks it is not shown which of them it waits for.
	const parked = config.queue.count_serial ? jobs.filter((job) => job.status === "waiting_on_locks" && locks(job).some(isSerial)) : [];
	const least = ready + parked.filter((job) => locks(job).every(isSerial)).length;
	const most = ready + parked.length;
	const soft = softLimit(config);
	if (least > soft) must(status.backpressure !== null, `status: no warning at ${least} in the queue, soft limit ${soft}`);
	if (most <= soft) must(status.backpressure === null, `status: a warning at ${most} in the queue, soft limit ${soft}`);
}
