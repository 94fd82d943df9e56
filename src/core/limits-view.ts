// The state that the bucket gates look at: holds, ledgers, hosts and the counts of live runs. Plain data; the store keeps it, the scheduler loads it.

import type { Config } from "./config.ts";
import type { Outage } from "./outage.ts";

/** What every hold has. Scopes: `all`, `lane:x`, `repo:x`, `batch:x`, `account:x`, `agent:x`. */
type HoldOf<Kind extends string> = { kind: Kind; scope: string; by: string; since: number; reason: string };

/** A standing reason not to start work. */
export type Hold =
	| (HoldOf<"paused"> & { until?: number })
	| (HoldOf<"rate_limited"> & {
			/** In force until then; afterwards starts are staggered until a run succeeds. */
			until: number;
			hits: number;
			/** It ends at a reset time that the provider named, or that is assumed: a success does not end it earlier. */
			reset: boolean;
			/** After `until`: the earliest next start. */
			next_at: number;
	  })
	| HoldOf<"account_closed">
	| Outage
	| (HoldOf<"breaker_open"> & {
			until: number;
			/** The job whose run probes after the cool-down. */
			probe?: number;
			/** The job that probed last: another job probes next, if there is one. */
			probed?: number;
	  });
export type HoldKind = Hold["kind"];
export const HOLD_KINDS = ["paused", "rate_limited", "account_closed", "outage", "breaker_open"] as const satisfies readonly HoldKind[];
export const holdKey = (kind: HoldKind, scope: string) => `${kind}/${scope}`;

/** One dimension of one subject's budget. Subjects: `owner:x`, `batch:x`, `repo:x`, `pid:7`. */
export type Ledger = {
	subject: string;
	dim: string;
	used: number;
	limit: number | null;
	warn_at: number;
	window: "hour" | "day" | null;
	/** When the current window began; earlier usage does not count. */
	window_at: number;
	warned?: true;
	breached?: true;
	on_breach?: "finish" | "stop";
	/** What each run is expected to use, counted as used while it runs. Absent: 1 of `runs`, nothing of other dimensions. */
	reserve?: number;
};

export type HostRecord = {
	name: string;
	labels: string[];
	/** null = every repo. */
	repos: string[] | null;
	heartbeat_at: number;
	/** As last stored; core/fleet.ts derives the present state from it. */
	state: "live" | "stale" | "gone";
	joined_at?: number;
	/**
	 * The home that owns the host's name, and until when; only if several hosts share a store. The token distinguishes this incarnation of the host from
	 * earlier ones.
	 */
	home?: string;
	token?: number;
	/** The token before this one, if the host was given up and came back: until its next heartbeat, its process may still use that token. */
	token_before?: number;
	lease_until?: number;
	/** When it was found stale. */
	stale_at?: number;
	/** A person told it to claim nothing. */
	drain?: { by: string; at: number; reason: string };
	/** `lost`: its runs were released to other hosts. */
	gone?: "left" | "lost";
};

/**
 * Counts of live runs by cap: `all`, `lane:x`, `repo:x`, `account:x`, `host:x`, `resource:x`; and their reservations of `budget:<ledger>`. `lent:<cap>`:
 * how many of them wait for other jobs and lend their slot. `review:<repo>`: ended jobs whose work waits for a person.
 */
type Usage = ReadonlyMap<string, number>;

export type LimitsView = {
	now: number;
	config: Config;
	holds: ReadonlyMap<string, Hold>;
	ledgers: ReadonlyMap<string, readonly Ledger[]>;
	hosts: readonly HostRecord[];
	usage: Usage;
	/** The host that asks; undefined if no particular host does. */
	host?: string;
	/** When the last cycle began, how many starts it has left, and when the last start was. For cycle_interval and spawn_delay. */
	last_cycle_at: number;
	cycle_left: number;
	last_start_at: number;
	/** Number of starts so far: every nth is an overdue turn. */
	starts: number;
};

/** Limits whose counts a plan changes as it picks. */
export type LimitsCopy = LimitsView & { usage: Map<string, number> };

export function copyLimits({
	now,
	config,
	holds,
	ledgers,
	hosts,
	usage,
	host,
	last_cycle_at,
	cycle_left,
	last_start_at,
	starts,
}: LimitsView): LimitsCopy {
	const copy = { now, config, holds, ledgers, hosts, usage: new Map(usage), last_cycle_at, cycle_left, last_start_at, starts };
	return host === undefined ? copy : { ...copy, host };
}
