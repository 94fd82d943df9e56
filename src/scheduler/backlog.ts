// What queue limits count: ready jobs and, where the configuration says so, those that wait for a serial lock. Both are counters that each transaction
// keeps: no limit is looked up by counting jobs.

import type { Deferred } from "../adding.ts";
import { backlogOf, hardLimit, softLimit } from "../core/config.ts";
import { isSerialLine } from "../core/gates/locks.ts";
import type { Job } from "../core/job.ts";
import type { ApplyResult } from "../scheduler.ts";
import type { Node, Prepared } from "./apply-prepare.ts";
import type { Stage } from "./place.ts";
import type { Tx } from "./tx.ts";

/** Kept whatever the configuration says, since that may change. Jobs of an apply that is still coming in are counted under its stage. */
const SERIAL = "parked:serial";

function keyFor(tx: Tx, { id }: Job): string {
	for (const [stage, value] of tx.memory.all("stage")) {
		const { from, to } = value as Stage;
		if (id >= from && id <= to) return `${SERIAL}/${stage}`;
	}
	return SERIAL;
}

/** Called when a job has come into a line. Jobs that were parked by an earlier version carry no mark and are not counted. */
export function countSerial(tx: Tx, job: Job): void {
	if (!isSerialLine(job.line) || job.kind === "kernel") return;
	job.serial_wait = true;
	tx.count("usage", keyFor(tx, job), 1);
}

/** Called before a job leaves its line. */
export function uncountSerial(tx: Tx, job: Job): void {
	if (!job.serial_wait) return;
	job.serial_wait = undefined;
	tx.count("usage", keyFor(tx, job), -1);
}

/** An apply has come in: what it brought counts from now on. */
export function countStaged(tx: Tx, stage: number): void {
	tx.memory.countReady();
	const staged = tx.memory.usage.get(`${SERIAL}/${stage}`) ?? 0;
	if (staged === 0) return;
	tx.count("usage", `${SERIAL}/${stage}`, -staged);
	tx.count("usage", SERIAL, staged);
}

export const backlog = (tx: Tx): number => backlogOf(tx.config, tx.memory.ready, tx.memory.usage.get(SERIAL) ?? 0);

/** Whether this job is one of the backlog. */
export const counts = (tx: Tx, job: Job): boolean => job.line === "" || (job.serial_wait === true && tx.config.queue.count_serial);

export const depths = (tx: Tx): Record<string, number> => Object.fromEntries([...tx.memory.depth].sort(([a], [b]) => (a < b ? -1 : 1)));

export const deferred = (tx: Tx): Deferred => ({
	limit: hardLimit(tx.config),
	depths: depths(tx),
	hint: "retry later, or raise max_concurrent or the lane's max",
});

/** Null while the soft limit is kept. */
export function delayWarning(tx: Tx): string | null {
	if (backlog(tx) <= softLimit(tx.config)) return null;
	const lanes = Object.entries(depths(tx)).map(([lane, count]) => `${lane}: ${count}`);
	return `Queue delayed; respecting caps (${lanes.join(", ")})`;
}

/**
 * Items beyond the hard limit stay out of an apply: each item that goes in counts as one. Called once for each piece of the manifest, in order, after
 * the piece was screened; what it keeps out is skipped like a job that exists, and nothing of it is stored.
 */
export function deferItems(tx: Tx, prepared: Prepared, nodes: readonly Node[] = prepared.nodes): ApplyResult["skipped"] {
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
