// Run folders of jobs that ended long ago are removed.

import { isTerminal } from "../core/job.ts";
import { troubleOf } from "../disk.ts";
import type { Floor } from "./floor.ts";

/** As many folders are looked at before others get their turn. */
const PIECE = 50;

/** How many jobs' folders went. */
export async function dropOldFolders(floor: Floor): Promise<number> {
	const { disk, clock, host, runs, scheduler } = floor;
	const keep = floor.settings().log_retention_ms;
	if (keep === null) return 0;
	const before = clock.now() - keep;
	let dropped = 0;
	for (const [index, name] of disk.list(runs).entries()) {
		if (index % PIECE === PIECE - 1) await host.turn();
		if (floor.closed) break;
		if (!/^[1-9]\d*$/.test(name)) continue;
		const dir = `${runs}/${name}`;
		// Of its last attempt at the latest; a job that has ended has not ended before that.
		const changed = disk.changedAt(dir);
		if (changed === null || changed > before) continue;
		try {
			if (!(await isLongOver(scheduler, Number(name), before))) continue;
			disk.remove(dir);
			dropped++;
		} catch (error) {
			floor.log.warn("an old run folder could not be removed", { job: name, error: troubleOf(error) });
		}
	}
	if (dropped > 0) floor.log.info("old run folders removed", { jobs: dropped });
	return dropped;
}

async function isLongOver(scheduler: Floor["scheduler"], id: number, before: number): Promise<boolean> {
	try {
		const job = await scheduler.show(id);
		return isTerminal(job.status) && (job.ended_at ?? 0) < before;
	} catch (error) {
		// Forgotten altogether.
		if ((error as { code?: unknown }).code === "not_found") return true;
		throw error;
	}
}
