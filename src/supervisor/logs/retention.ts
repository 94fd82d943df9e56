// Removes run folders of jobs that ended long ago, and of jobs that the scheduler has forgotten.

import type { JobView } from "../../contracts/scheduler.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { isTerminal } from "../../core/job.ts";
import type { SupervisorContext } from "../context.ts";

/** Number of folders that are checked before the event loop gets a turn. */
const FOLDERS_A_TURN = 50;

/** Returns the number of jobs whose folders were removed. */
export async function dropOldFolders(context: SupervisorContext): Promise<number> {
	const { disk, clock, host, runs, scheduler } = context;
	const { log_retention_ms: keep } = context.settings();
	const before = clock.now() - keep;
	let dropped = 0;
	for (const [index, name] of disk.list(runs).entries()) {
		if (index % FOLDERS_A_TURN === FOLDERS_A_TURN - 1) await host.turn();
		if (context.closed) break;
		if (!/^[1-9]\d*$/.test(name)) continue;
		const dir = `${runs}/${name}`;
		// The folder changes with each new attempt, so a job whose folder is newer cannot have ended before the limit: no need to ask the scheduler.
		const changed = disk.changedAt(dir);
		if (changed === null || changed > before) continue;
		try {
			const job = await jobOf(scheduler, Number(name));
			if (job !== null && !(isTerminal(job.status) && (job.ended_at ?? 0) < before)) continue;
			disk.remove(dir);
			dropped++;
		} catch (error) {
			context.log.warn("an old run folder could not be removed", { job: name, error: messageOf(error) });
		}
	}
	if (dropped > 0) context.log.info("old run folders removed", { jobs: dropped });
	return dropped;
}

/** After a gc: removes folders, last changed before `before`, whose job is gone. Returns the number of jobs whose folders were removed. */
export async function dropForgotten(context: SupervisorContext, before: number): Promise<number> {
	const { disk, host, runs, scheduler } = context;
	let dropped = 0;
	const names = disk.list(runs).filter((name) => /^[1-9]\d{0,14}$/.test(name) && !context.live.ofJob(Number(name)));
	for (let at = 0; at < names.length && !context.closed; at += FOLDERS_A_TURN) {
		const some = names.slice(at, at + FOLDERS_A_TURN).filter((name) => (disk.changedAt(`${runs}/${name}`) ?? before) < before);
		// Calls made in one turn share a transaction.
		const jobs = await Promise.all(some.map((name) => jobOf(scheduler, Number(name))));
		for (const [index, name] of some.entries()) {
			if (jobs[index] !== null) continue;
			try {
				disk.remove(`${runs}/${name}`);
				dropped++;
			} catch (error) {
				context.log.warn("a run folder could not be removed", { job: name, error: messageOf(error) });
			}
		}
		await host.turn();
	}
	if (dropped > 0) context.log.info("run folders of forgotten jobs removed", { jobs: dropped });
	return dropped;
}

/** Null if the scheduler has forgotten the job. */
const jobOf = (scheduler: SupervisorContext["scheduler"], id: number): Promise<JobView | null> =>
	scheduler.show(id).catch((error) => {
		if (codeOf(error) === "not_found") return null;
		throw error;
	});
