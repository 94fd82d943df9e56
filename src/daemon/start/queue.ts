// Third stage: the queue of this host is opened, joined under a name with a lease, bound to this home, and given this host's settings.

import type { Clock, Facts, Host } from "../../contracts/host.ts";
import { AGENT_NAMES } from "../../core/agents/profile.ts";
import { DEFAULTS } from "../../core/config.ts";
import { localHost } from "../../host/local.ts";
import { secret } from "../../host/secret.ts";
import { openScheduler } from "../../open.ts";
import { openSources } from "../../sources/index.ts";
import { guardStore } from "../../stores/sqlite/mark.ts";
import { completeInput } from "../config/layers.ts";
import { remember } from "../config/options.ts";
import { openSchedulerSettings } from "../config/scheduler-settings.ts";
import { shareConfig } from "../config/shared.ts";
import { guardOf, keepLease } from "../fleet/lease.ts";
import { bindHome } from "../fleet/store.ts";
import { offeredRepos } from "../repos/by-url.ts";
import { pick } from "../repos/environment.ts";
import { engineOf } from "../repos/repos.ts";
import type { ConfigStage } from "./config.ts";
import type { HomeStage } from "./home.ts";
import type { Undo } from "./undo.ts";

export type QueueStage = Awaited<ReturnType<typeof openQueue>>;

/** How often to check whether other hosts have written into a shared file. */
const OTHERS_MS = 100;

export async function openQueue(base: HomeStage, stage: ConfigStage, undo: Undo) {
	const { options, env, clock, home, log } = base;
	const { file, store } = stage;
	const sources = openSources({ host: localHost, clock, env: () => pick(env, ["*"]) });
	undo.push(() => sources.close());
	const probes = createProbes();
	const { scheduler, lease } = await joinQueue(base, stage, { ...localHost, probe: probes.probe }, undo);
	// Otherwise the scheduler would not close when the start fails before the work stage: it waits for its probes.
	undo.push(() => probes.answer(async () => ({})));
	await bindHome(home, store, () => scheduler.identify(`${home.tag}-${secret(9)}`)).catch(async (error) => {
		await lease.leave();
		throw error;
	});
	// The settings in force: this host's file, and in a shared store the scheduler's settings from there.
	const config = store.shared ? shareConfig(file, scheduler) : file;
	const settings = await openSchedulerSettings({ scheduler, store, file, config, log });
	undo.push(() => settings.close());
	remember(home.path, options);
	/** The store's clock, which counts for all of its hosts. */
	const storeClock: Clock = { ...clock, now: () => scheduler.now() };
	return { sources, scheduler, lease, config, settings, clock: storeClock, answerProbes: probes.answer };
}

async function joinQueue({ options, clock, home, log }: HomeStage, { file, store, hostName }: ConfigStage, host: Host, undo: Undo) {
	const guard = store.shared ? guardOf(home, log) : null;
	const askedAt = guard?.now() ?? 0;
	const kept = "path" in store.at ? guardStore(store.at.path, { loss: options.loss ?? "refuse", warn: (line) => log.error(line) }) : {};
	const scheduler = await openScheduler(
		{
			...store.at,
			config: completeInput(engineOf(file), DEFAULTS),
			settings: store.shared ? "shared" : "own",
			// The clock of a database counts for all of its hosts.
			...("url" in store.at ? { lead: file.settings().host.lead } : { clock }),
			host,
			log,
			agents: () => [...AGENT_NAMES, ...Object.keys(file.settings().agents)],
			by: store.shared ? `daemon:${hostName}` : "daemon",
			join: {
				name: hostName,
				labels: file.settings().host.labels,
				...(store.shared ? { home: home.tag, repos: offeredRepos(file) } : {}),
			},
			...(store.shared && "path" in store.at ? { poll_others_ms: OTHERS_MS } : {}),
		},
		kept,
	);
	undo.push(() => scheduler.close());
	const lease = keepLease({ scheduler, host: localHost, log, guard });
	undo.push(() => lease.stop());
	lease.granted(askedAt);
	return { scheduler, lease };
}

/**
 * The scheduler probes facts through its host, and what answers these probes needs the scheduler and the workspaces. Probes wait until the work stage has
 * put it together.
 */
function createProbes() {
	let answer: (by: Host["probe"]) => void = () => {};
	const answered = new Promise<Host["probe"]>((resolve) => {
		answer = resolve;
	});
	return { probe: async (keys: string[]): Promise<Facts> => (await answered)(keys), answer };
}
