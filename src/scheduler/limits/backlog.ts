// What queue limits count: ready jobs and, if `queue.count_serial` is set, jobs that wait for a serial lock. Both are counters that each transaction updates;
// no limit is checked by counting jobs.

import type { Deferred } from "../../contracts/adding.ts";
import type { ApplyResult } from "../../contracts/scheduler.ts";
import { backlogOf, hardLimit, softLimit } from "../../core/config.ts";
import type { Job } from "../../core/job.ts";
import { isOnSerial, READY } from "../../core/parked.ts";
import type { ManifestNode, PreparedManifest } from "../apply/prepare.ts";
import type { Tx } from "../transaction/tx.ts";

/** Counted whatever the configuration says, since that may change. Jobs of an apply that is still being inserted are counted under its stage. */
const SERIAL = "parked:serial";

function keyFor(tx: Tx, { id }: Job): string {
	for (const [stage, { from, to }] of tx.memory.all("stage")) if (id >= from && id <= to) return `${SERIAL}/${stage}`;
	return SERIAL;
}

/** Called after a job was parked. Jobs that an earlier version parked carry no mark and are not counted. */
export function countSerial(tx: Tx, job: Job): void {
	if (!isOnSerial(job.parked_on)) return;
	job.serial_wait = true;
	tx.count("usage", keyFor(tx, job), 1);
}

/** Called before a parked job is moved. */
export function uncountSerial(tx: Tx, job: Job): void {
	if (!job.serial_wait) return;
	job.serial_wait = undefined;
	tx.count("usage", keyFor(tx, job), -1);
}

/** The jobs of an apply became visible: they count from now on. */
export function countStaged(tx: Tx, stage: number): void {
	tx.memory.countReady();
	const staged = tx.memory.usage.get(`${SERIAL}/${stage}`) ?? 0;
	if (staged === 0) return;
	tx.count("usage", `${SERIAL}/${stage}`, -staged);
	tx.count("usage", SERIAL, staged);
}

export const backlog = (tx: Tx): number => backlogOf(tx.config, tx.memory.ready, tx.memory.usage.get(SERIAL) ?? 0);

/** Whether this job counts in the backlog. */
export const counts = (tx: Tx, job: Job): boolean => job.parked_on === READY || (job.serial_wait === true && tx.config.queue.count_serial);

const depths = (tx: Tx): Record<string, number> => Object.fromEntries([...tx.memory.depth].sort(([a], [b]) => (a < b ? -1 : 1)));

export const deferred = (tx: Tx): Deferred => ({
	limit: hardLimit(tx.config),
	depths: depths(tx),
	hint: "retry later, or raise max_concurrent or the lane's max",
});

/** The warning that the queue is longer than the soft limit; null while it is not. */
export function delayWarning(tx: Tx): string | null {
	if (backlog(tx) <= softLimit(tx.config)) return null;
	const lanes = Object.entries(depths(tx)).map(([lane, count]) => `${lane}: ${count}`);
	return `Queue delayed; respecting caps (${lanes.join(", ")})`;
}

/**
 * Keeps items beyond the hard limit out of an apply; each admitted item counts as one. Called once for each piece of the manifest, in order, after the piece
 * was screened. An item that is kept out is skipped like a job that exists, and nothing of it is stored.
 */
export function deferItems(tx: Tx, prepared: PreparedManifest, nodes: readonly ManifestNode[] = prepared.nodes): ApplyResult["skipped"] {
	const room = hardLimit(tx.config) - backlog(tx);
	const out: ApplyResult["skipped"] = [];
	for (const node of nodes) {
		const item = node.draft.job.item ?? node.field;
		if (node.skip || prepared.admitted.has(item)) continue;
		if (!prepared.full && prepared.admitted.size < room) {
			prepared.admitted.add(item);
			continue;
		}
		prepared.full ??= deferred(tx);
		node.skip = "deferred";
		out.push({ name: node.draft.job.name ?? node.field, job: 0, reason: "deferred" });
	}
	return out;
}
