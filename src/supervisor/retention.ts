// Run folders of jobs that ended long ago are removed, and those of jobs that the scheduler has forgotten.

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

/** After a gc: folders that were last changed before then, and whose job is gone. How many jobs' folders went. */
export async function dropForgotten(floor: Floor, before: number): Promise<number> {
	const { disk, host, runs, scheduler } = floor;
	let dropped = 0;
	const names = disk.list(runs).filter((name) => /^[1-9]\d{0,14}$/.test(name) && !floor.byJob.has(Number(name)));
	for (let at = 0; at < names.length && !floor.closed; at += PIECE) {
		const some = names.slice(at, at + PIECE).filter((name) => (disk.changedAt(`${runs}/${name}`) ?? before) < before);
		// Asked together, they are one transaction.
		const gone = await Promise.all(some.map((name) => isForgotten(scheduler, Number(name))));
		for (const [index, name] of some.entries()) {
			if (!gone[index]) continue;
			try {
				disk.remove(`${runs}/${name}`);
				dropped++;
			} catch (error) {
				floor.log.warn("a run folder could not be removed", { job: name, error: troubleOf(error) });
			}
		}
		await host.turn();
	}
	if (dropped > 0) floor.log.info("run folders of forgotten jobs removed", { jobs: dropped });
	return dropped;
}

async function isForgotten(scheduler: Floor["scheduler"], id: number): Promise<boolean> {
	try {
		await scheduler.show(id);
		return false;
	} catch (error) {
		if ((error as { code?: unknown }).code === "not_found") return true;
		throw error;
	}
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
