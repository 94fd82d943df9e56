// The world as the gates see it in a transaction: live views of what is remembered, not copies.

import type { Config } from "../core/config.ts";
import type { World } from "../core/world.ts";
import type { Memory, Pace } from "./memory.ts";

type Parts = { memory: Memory; now: number; config: Config; pace: Readonly<Pace>; host: string | undefined };

export function worldOf({ memory, now, config, pace, host }: Parts): World {
	const world: World = {
		now,
		config,
		holds: memory.holds,
		ledgers: memory.ledgers,
		usage: memory.usage,
		get hosts() {
			return [...memory.hosts.values()];
		},
		get last_cycle_at() {
			return pace.last_cycle_at;
		},
		get last_start_at() {
			return pace.last_start_at;
		},
		get starts() {
			return pace.starts;
		},
	};
	if (host !== undefined) world.host = host;
	return world;
}
