// Cycles, where `cycle_interval` is set: a regular beat, and how many starts each of them may make.

import { startable } from "./order.ts";
import { note, type State } from "./state.ts";

const hasCycles = ({ config }: State) => config.cycle_interval_ms > 0 && config.max_concurrent > 0;

/** The engine may have lined up jobs that want the same locks: of them no more than one is sure to count. */
function count(state: State): { least: number; most: number } {
	const jobs = startable(state, state.now);
	return { least: jobs.filter((job) => job.locks.length === 0).length, most: jobs.length };
}

export function openCycle(state: State): void {
	if (!hasCycles(state)) return;
	const batch = state.config.batch_size > 0 ? state.config.batch_size : Number.POSITIVE_INFINITY;
	const { least, most } = count(state);
	state.cycle_left = { least: Math.min(batch, least), most: Math.min(batch, most) };
	if (most > 0) note(state, "cycle");
}

/** The beat: at whole multiples of `cycle_interval`, also while nothing waits. */
export function beginDueCycle(state: State): void {
	if (!hasCycles(state)) return;
	const begun = state.now - (state.now % state.config.cycle_interval_ms);
	if (state.last_cycle_at === begun) return;
	state.last_cycle_at = begun;
	openCycle(state);
}

/** After a pass: no more than what could still start. */
export function drawOnCycle(state: State, starts: number): void {
	if (!hasCycles(state)) return;
	const { least, most } = count(state);
	const left = state.cycle_left;
	state.cycle_left = { least: Math.max(0, Math.min(left.least - starts, least)), most: Math.max(0, Math.min(left.most - starts, most)) };
}
