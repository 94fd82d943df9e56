// The queue as this host has it: opened, joined under a name with a lease, and bound to this home.

import { DEFAULTS } from "../core/config.ts";
import { localHost } from "../host/local.ts";
import { secret } from "../host/secret.ts";
import type { Clock, Host } from "../host.ts";
import type { Log } from "../log.ts";
import { openScheduler } from "../open.ts";
import type { Scheduler } from "../scheduler.ts";
import { AGENTS } from "./agents.ts";
import type { ConfigFile } from "./config-file.ts";
import { completeInput } from "./config-layers.ts";
import type { Home } from "./home.ts";
import { guardOf, keepLease, type LeaseKeeper } from "./lease.ts";
import { engineOf } from "./repos.ts";
import { bindHome, type StorePlace } from "./store.ts";
import { offeredRepos } from "./url-repos.ts";

/** How often we look whether other hosts have written, where the store does not tell. */
const OTHERS_MS = 100;

export type QueueParts = {
	store: StorePlace;
	home: Home;
	config: Pick<ConfigFile, "engine" | "settings">;
	hostName: string;
	host: Host;
	clock: Clock;
	log: Log;
	undo: (() => unknown)[];
	/** The runs that we had are somebody else's by now. */
	lost(): void;
	/** Another one has this host's name. */
	overtaken(): void;
	/** With each heartbeat. */
	also(): Promise<void>;
};

export async function openQueue(parts: QueueParts): Promise<{ scheduler: Scheduler; lease: LeaseKeeper }> {
	const { store, home, config, hostName, host, clock, log, undo } = parts;
	const guard = store.shared ? guardOf(home, log) : null;
	const askedAt = guard?.now() ?? 0;
	const scheduler = await openScheduler({
		...store.at,
		config: completeInput(engineOf(config), DEFAULTS),
		settings: store.shared ? "shared" : "own",
		// A database's clock counts for all of its hosts.
		...("url" in store.at ? {} : { clock }),
		host,
		log,
		agents: () => [...AGENTS, ...Object.keys(config.settings().agents)],
		by: store.shared ? `daemon:${hostName}` : "daemon",
		join: {
			name: hostName,
			labels: config.settings().host.labels,
			...(store.shared ? { home: home.tag, repos: offeredRepos(config) } : {}),
		},
		...(store.shared ? { poll_others_ms: OTHERS_MS } : {}),
	});
	undo.push(() => scheduler.close());
	const lease = keepLease({
		scheduler,
		host: localHost,
		log,
		guard,
		lost: parts.lost,
		also: parts.also,
		overtaken: (why) => {
			log.error(`the daemon stops: ${why}`);
			parts.overtaken();
		},
	});
	undo.push(() => lease.stop());
	lease.granted(askedAt);
	await bindHome(home, store, () => scheduler.identify(`${home.tag}-${secret(9)}`)).catch(async (error) => {
		await lease.leave();
		throw error;
	});
	return { scheduler, lease };
}
