// The queue of this host: opened, joined under a name with a lease, and bound to this home.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { OpenOptions, Scheduler } from "../../contracts/scheduler.ts";
import { AGENT_NAMES } from "../../core/agents/profile.ts";
import { DEFAULTS } from "../../core/config.ts";
import { localHost } from "../../host/local.ts";
import { secret } from "../../host/secret.ts";
import { openScheduler } from "../../open.ts";
import { guardStore } from "../../stores/sqlite/mark.ts";
import type { ConfigFile } from "../config/file.ts";
import { completeInput } from "../config/layers.ts";
import { offeredRepos } from "../repos/by-url.ts";
import { engineOf } from "../repos/repos.ts";
import type { Home } from "../service/home.ts";
import { guardOf, keepLease, type LeaseKeeper } from "./lease.ts";
import { bindHome, type StorePlace } from "./store.ts";

/** How often to check whether other hosts have written, for a store without notifications. */
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
	/** Called when this host's lease had expired: its runs were given up, and other hosts may have them. */
	lost(): void;
	/** Called when another daemon has taken this host's name. */
	overtaken(): void;
	/** Called with each heartbeat. */
	also(): Promise<void>;
	/** What to do when acknowledged work is missing from the store. */
	loss: "refuse" | "accept";
};

export async function openQueue(parts: QueueParts): Promise<{ scheduler: Scheduler; lease: LeaseKeeper }> {
	const { store, home, config, hostName, host, clock, log, undo } = parts;
	const guard = store.shared ? guardOf(home, log) : null;
	const askedAt = guard?.now() ?? 0;
	const kept = "path" in store.at ? guardStore(store.at.path, { loss: parts.loss, warn: (line) => log.error(line) }) : {};
	const opened: OpenOptions = {
		...store.at,
		config: completeInput(engineOf(config), DEFAULTS),
		settings: store.shared ? "shared" : "own",
		// The clock of a database counts for all of its hosts.
		...("url" in store.at ? {} : { clock }),
		host,
		log,
		agents: () => [...AGENT_NAMES, ...Object.keys(config.settings().agents)],
		by: store.shared ? `daemon:${hostName}` : "daemon",
		join: {
			name: hostName,
			labels: config.settings().host.labels,
			...(store.shared ? { home: home.tag, repos: offeredRepos(config) } : {}),
		},
		...(store.shared ? { poll_others_ms: OTHERS_MS } : {}),
	};
	const scheduler = await openScheduler(opened, kept);
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
