// Cycles: with `cycle_interval` > 0 jobs start only out of a cycle. One begins every interval, at whole multiples of it on the clock (3 min: 09:00, 09:03 …),
// whether or not anything waits; `sluice run` opens one at once. So every host, and a daemon after a restart, has the same beat without storing its phase.
//
// A cycle may make as many starts as there are jobs that could start when it begins, `batch_size` at most. What it has left after a pass that finds
// nothing more to start is void: a job that is added later waits for the next cycle.

import { isDirect } from "../core/config.ts";
import { shut } from "../core/gates/index.ts";
import type { StartedBy } from "../core/job.ts";
import type { Tx } from "./tx.ts";

export const hasCycles = ({ config }: Tx): boolean => config.cycle_interval_ms > 0 && !isDirect(config);

/** In each transaction, before its operations: begins the cycle that is due, however late that is noticed. */
export function beginDueCycle(tx: Tx): void {
	if (!hasCycles(tx)) return;
	const every = tx.config.cycle_interval_ms;
	const { last_cycle_at: last } = tx.getPace();
	const begun = Math.floor(tx.now / every) * every;
	// Also when the clock was set back: the cycle of then is not the one of now.
	if (last === begun) return;
	tx.setPace({ last_cycle_at: begun });
	openCycle(tx, "daemon");
}

/** The next pass may start what can start now. The beat of the cycles stays as it is. */
export function openCycle(tx: Tx, by: StartedBy): void {
	if (!hasCycles(tx)) return;
	const { batch_size } = tx.config;
	const ready = startable(tx);
	tx.setPace({ cycle_left: batch_size > 0 ? Math.min(batch_size, ready) : ready, cycle_by: by });
	if (ready > 0) tx.stirred = true;
}

/** After a pass: what is left for another host, or for after spawn_delay. */
export function drawOnCycle(tx: Tx, starts: number): void {
	if (!hasCycles(tx)) return;
	const left = Math.max(0, (tx.getPace().cycle_left ?? 0) - starts);
	tx.setPace({ cycle_left: Math.min(left, startable(tx)) });
}

/** Jobs that pass every gate but the pace. */
function startable(tx: Tx): number {
	const world = tx.world();
	let count = 0;
	for (const bucket of tx.memory.buckets.values())
		if (bucket.ready > 0 && bucket.kind !== "kernel" && bucket.stage === undefined && !shut(bucket, world)) count += bucket.ready;
	return count;
}
