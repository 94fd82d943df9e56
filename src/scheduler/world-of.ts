// The world as the gates see it in a transaction: live views of what is remembered, not copies.

import type { Config } from "../core/config.ts";
import type { HostRecord, World } from "../core/world.ts";
import type { Memory, Pace } from "./memory.ts";

type Parts = { memory: Memory; now: number; config: Config; pace: Readonly<Pace>; host: string | undefined };

export function worldOf(parts: Parts): World {
	const world = new LiveWorld(parts);
	if (parts.host !== undefined) world.host = parts.host;
	return world;
}

/** A class: views that are made for each transaction anew, as getters of an object, would cost more than what they show. */
class LiveWorld implements World {
	readonly now: number;
	readonly config: Config;
	readonly holds: World["holds"];
	readonly ledgers: World["ledgers"];
	readonly usage: World["usage"];
	declare host?: string;
	private readonly memory: Memory;
	private readonly pace: Readonly<Pace>;

	constructor({ memory, now, config, pace }: Parts) {
		this.now = now;
		this.config = config;
		this.holds = memory.holds;
		this.ledgers = memory.ledgers;
		this.usage = memory.usage;
		this.memory = memory;
		this.pace = pace;
	}

	get hosts(): readonly HostRecord[] {
		return [...this.memory.hosts.values()];
	}

	get last_cycle_at(): number {
		return this.pace.last_cycle_at;
	}

	get cycle_left(): number {
		return this.pace.cycle_left ?? 0;
	}

	get last_start_at(): number {
		return this.pace.last_start_at;
	}

	get starts(): number {
		return this.pace.starts;
	}
}
