// The end of gate `capacity`: cycles and spawn delays space out all starts. In direct mode nothing is spaced out.
//
//   cycle_interval > 0   a job starts only from a cycle that has starts left: the scheduler opens one every interval, `sluice run` at once
//   spawn_delay > 0      minimum time between two starts, within a cycle or without cycles

import { isDirect } from "../../config.ts";
import type { LimitsView } from "../../limits-view.ts";
import type { Reason } from "../../reason.ts";
import { pass, refuse } from "../gate.ts";

export function askPace(world: LimitsView): Reason[] | null {
	const { cycle_interval_ms, spawn_delay_ms } = world.config;
	if (isDirect(world.config)) return pass;
	const reasons: Reason[] = [];
	if (cycle_interval_ms > 0 && world.cycle_left <= 0)
		reasons.push(
			refuse("capacity", "capacity", "cycle_interval", "waiting for the next cycle", {
				clears_at: world.last_cycle_at + cycle_interval_ms,
			}),
		);
	const spawn = world.last_start_at + spawn_delay_ms;
	if (spawn_delay_ms > 0 && spawn > world.now)
		reasons.push(refuse("capacity", "capacity", "spawn_delay", "starts are spaced by spawn_delay", { clears_at: spawn }));
	return reasons.length > 0 ? reasons : pass;
}
