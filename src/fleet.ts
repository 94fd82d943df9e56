// Contract of the engine, the part about hosts: several of them may share a store, each with a name, a lease and runs of its own.

import type { HostState } from "./core/fleet.ts";

/** A host. The states are in core/fleet.ts; `lease_until` is null for one without a lease. */
export type HostView = {
	name: string;
	state: HostState;
	labels: string[];
	/** null = every repo. */
	repos: string[] | null;
	/** Live runs, and how many there may be. */
	running: number;
	max: number | null;
	heartbeat_at: number;
	joined_at: number | null;
	lease_until: number | null;
	drain: { by: string; at: number; reason: string } | null;
	gone: "left" | "lost" | null;
};

/** Who acts and why, for the record. */
type Act = { by?: string; reason?: string };

export interface Fleet {
	/**
	 * This host is there, and keeps its lease. `lost`: it had been given up, and what ran on it is no longer its own; from now on it is a host again. Refused
	 * (`fenced`) when another one has its name, or when it was removed.
	 */
	heartbeat(host?: string): Promise<{ state: HostState; lost: boolean }>;
	/** The repos that this host can work in; null = any. Jobs of others do not come here. */
	offer(repos: string[] | null): Promise<void>;
	hosts(): Promise<HostView[]>;
	/** It claims nothing from now on; with `stop`, what runs on it is stopped too, and goes back into the queue. */
	drain(host: string, options?: Act & { stop?: boolean }): Promise<{ host: HostView; stopping: number[] }>;
	undrain(host: string, options?: Act): Promise<HostView>;
	/** Forgets a host that is gone. */
	removeHost(host: string, options?: Act): Promise<void>;
	/** This host will not be back soon: gives its name up, if nothing of it runs any more; else it keeps its lease, and is expected back before that ends. */
	leave(): Promise<{ left: boolean }>;
	/** Whether this host does what only one of all hosts has to do. */
	leads(): Promise<boolean>;
	/** The time by the store's clock, as far as it is known: what stored times are to be compared with. */
	now(): number;
	/** What tells this store from others, for ever; the first that asks names it. */
	identify(name: string): Promise<string>;
	/** What else is kept with the settings; empty where they are not shared. */
	more(): Record<string, unknown>;
}
