// Cycles. With `cycle_interval` > 0 jobs start only in a cycle. One begins every interval, at whole multiples of it on the clock (3 min: 09:00, 09:03 …),
// whether or not any job waits; `sluice run` opens one at once. All hosts, and a daemon after a restart, thus have the same cycles without storing a phase.
//
// A cycle may start as many jobs as could start when it begins, at most `batch_size`. What is left after a pass that finds no more jobs to start expires: a job
// that is added later waits for the next cycle.

import { isDirect } from "../../core/config.ts";
import { shut } from "../../core/gates/index.ts";
import type { StartedBy } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import type { Tx } from "../transaction/tx.ts";

export const hasCycles = ({ config }: Tx): boolean => config.cycle_interval_ms > 0 && !isDirect(config);

/** Begins the cycle that is due, however late. Runs in each transaction, before its operations. */
export function beginDueCycle(tx: Tx): void {
	if (!hasCycles(tx)) return;
	const every = tx.config.cycle_interval_ms;
	const { last_cycle_at: last } = tx.getPace();
	const begun = Math.floor(tx.now / every) * every;
	// Compares for equality, not order: if the clock was set back, another cycle is due.
	if (last === begun) return;
	tx.setPace({ last_cycle_at: begun });
	openCycle(tx, "daemon");
}

/** Opens a cycle: the next pass may start what can start now. The times of regular cycles stay as they are. */
export function openCycle(tx: Tx, by: StartedBy): void {
	if (!hasCycles(tx)) return;
	const { batch_size } = tx.config;
	const ready = startable(tx);
	tx.setPace({ cycle_left: batch_size > 0 ? Math.min(batch_size, ready) : ready, cycle_by: by });
	if (ready > 0) tx.stirred = true;
}

/** After a pass, counts its starts off the cycle; the rest is left for another host, or for after `spawn_delay`. */
export function drawOnCycle(tx: Tx, starts: number): void {
	if (!hasCycles(tx)) return;
	const before = tx.getPace().cycle_left ?? 0;
	const left = Math.min(Math.max(0, before - starts), startable(tx));
	if (left !== before) tx.setPace({ cycle_left: left });
}

/** Number of jobs that pass every gate but the pace. */
function startable(tx: Tx): number {
	const world = tx.world();
	let count = 0;
	for (const bucket of tx.memory.buckets.values())
		if (bucket.ready > 0 && queuePolicy(bucket.kind).isCounted && bucket.stage === undefined && !shut(bucket, world)) count += bucket.ready;
	return count;
}
