// Contract of the engine, the part about hosts: several hosts may share a store, each with a name, a lease and runs of its own.

import type { HostState } from "../core/fleet.ts";
import type { People, PeopleChange, PeopleResult } from "../core/trust/people.ts";

/** A host. The states are in core/fleet.ts; `lease_until` is null for a host without a lease. */
export type HostView = {
	name: string;
	state: HostState;
	labels: string[];
	/** null = every repo. */
	repos: string[] | null;
	/** Live runs, and the cap on them. */
	running: number;
	max: number | null;
	heartbeat_at: number;
	joined_at: number | null;
	lease_until: number | null;
	drain: { by: string; at: number; reason: string } | null;
	gone: "left" | "lost" | null;
	/** It does what only one host has to do; in a fleet on PostgreSQL it decides for all. */
	leads: boolean;
};

/** The actor and the reason, for events. */
type Act = { by?: string; reason?: string };

export interface Fleet {
	/**
	 * Renews this host's lease. `lost`: the host had been given up and its runs were taken from it; from now on it is a host again. Refused (`fenced`) if another
	 * host has its name, or if it was removed.
	 */
	heartbeat(host?: string): Promise<{ state: HostState; lost: boolean }>;
	hosts(): Promise<HostView[]>;
	/** The host claims nothing from now on; with `stop`, its runs are stopped too, and their jobs go back into the queue. */
	drain(host: string, options?: Act & { stop?: boolean }): Promise<{ host: HostView; stopping: number[] }>;
	undrain(host: string, options?: Act): Promise<HostView>;
	/** Forgets a host that is gone. */
	removeHost(host: string, options?: Act): Promise<void>;
	/** The host gives up its name if it has no runs. Otherwise it keeps its lease, and is expected back before that ends. */
	leave(): Promise<{ left: boolean }>;
	/** Whether this host is the leader: it does what only one host has to do. */
	leads(): Promise<boolean>;
	/** The time by the store's clock, as far as it is known. Compare stored times with this. */
	now(): number;
	/** The store's permanent id; the first caller sets it to `name`. */
	identify(name: string): Promise<string>;
}

/** The people who share a daemon: kept in the store, so that all hosts of a fleet have the same people. */
export interface PeopleRecord {
	/** All people, with the digests of links and sessions. */
	read(): Promise<People>;
	/** One change in one transaction, with its event: only the first caller with a link is signed in. */
	change(change: PeopleChange, act?: { by?: string }): Promise<PeopleResult>;
}
