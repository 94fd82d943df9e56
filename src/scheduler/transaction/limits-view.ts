// The world as the gates see it in a transaction: live views of the cache, not copies.

import type { Config } from "../../core/config.ts";
import type { HostRecord, LimitsView } from "../../core/limits-view.ts";
import type { Memory } from "./cache.ts";
import type { Pace } from "./record-map.ts";

type Parts = { memory: Memory; now: number; config: Config; pace: Readonly<Pace>; host: string | undefined };

export function worldOf(parts: Parts): LimitsView {
	const world = new LiveWorld(parts);
	if (parts.host !== undefined) world.host = parts.host;
	return world;
}

/** A class, because creating an object with getters for each transaction would cost more than reading what they show. */
class LiveWorld implements LimitsView {
	readonly now: number;
	readonly config: Config;
	readonly holds: LimitsView["holds"];
	readonly ledgers: LimitsView["ledgers"];
	readonly usage: LimitsView["usage"];
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
