// What is done to the hosts of a fleet, and for how long, drawn from a seed. Each returns when the host is whole again.

import { setTimeout as sleep } from "node:timers/promises";
import type { FleetHost } from "./host.ts";
import type { Harm } from "./replay.ts";
import { LONG_COMMAND } from "./work.ts";

export type Lease = { staleMs: number; graceMs: number };

/** `long`: its lease and the grace are over by then, and others have its runs. */
export const DISTURBANCES = [
	"kill",
	"kill-long",
	"kill-guard",
	"kill-guard-long",
	"die",
	"die-long",
	"stop",
	"stop-long",
	"suspend",
	"cut",
	"cut-long",
	"freeze",
	"freeze-long",
	"slow",
] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

export type Plan = { host: number; what: Disturbance; ms: number };

/** Every kind comes by before any comes again; or `only` these, once. */
export function* drawPlans(random: () => number, hosts: number, lease: Lease, only?: readonly Disturbance[]): Generator<Plan> {
	for (let rounds = 0; only === undefined || rounds === 0; rounds++) {
		const kinds = [...(only ?? DISTURBANCES)];
		while (kinds.length > 0) {
			const [what] = kinds.splice(Math.floor(random() * kinds.length), 1) as [Disturbance];
			yield { host: Math.floor(random() * hosts), what, ms: lengthOf(what, random(), lease) };
		}
	}
}

function lengthOf(what: Disturbance, chance: number, { staleMs, graceMs }: Lease): number {
	if (what.endsWith("-long") || what === "suspend") return staleMs + graceMs + 1500 + chance * 1500;
	return what === "slow" ? 1000 + chance * 2000 : chance ** 2 * (staleMs / 3);
}

/** Only a run that would outlive the lease shows whether a watcher ends it, and is lost for certain when its daemon is stopped. */
const NEEDS_LONG_RUN: readonly Disturbance[] = ["kill-guard-long", "stop-long"];

/** The first of these hosts that is busy, because what is done to an idle host shows little. */
export async function chooseHost(hosts: readonly FleetHost[], what: Disturbance): Promise<FleetHost> {
	const wanted = NEEDS_LONG_RUN.includes(what) ? LONG_COMMAND : /./;
	const isBusy = (host: FleetHost) => host.runProcesses().some(({ command }) => wanted.test(command));
	for (let tries = 0; tries < 100; tries++) {
		const found = hosts.find(isBusy);
		if (found) return found;
		await sleep(100);
	}
	return hosts[0] as FleetHost;
}

export async function disturb(host: FleetHost, { what, ms }: Plan, harms: Harm[]): Promise<void> {
	const harm: Harm = { host: host.name, what, from: Date.now(), to: Number.POSITIVE_INFINITY, kills: false };
	harms.push(harm);
	switch (what) {
		case "kill":
		case "kill-long":
			await host.killDaemon();
			await sleep(ms);
			host.up();
			break;
		case "kill-guard":
		case "kill-guard-long":
			await host.killDaemon();
			host.killGuard();
			await sleep(ms);
			host.up();
			break;
		case "die":
		case "die-long":
			harm.kills = true;
			await host.killAll();
			await sleep(ms);
			host.up();
			break;
		case "stop":
		case "stop-long":
			host.signalDaemon("SIGSTOP");
			await sleep(ms);
			host.signalDaemon("SIGCONT");
			break;
		case "suspend":
			host.signalAll("SIGSTOP");
			await sleep(ms);
			harm.to = Date.now();
			host.signalAll("SIGCONT");
			break;
		case "cut":
		case "cut-long":
			host.network.cut();
			await sleep(ms);
			host.network.mend();
			break;
		case "freeze":
		case "freeze-long":
			host.network.freeze();
			await sleep(ms);
			host.network.mend();
			break;
		case "slow":
			host.network.slow(20);
			await sleep(ms);
			host.network.slow(0);
			break;
	}
	(await host.client())?.close();
	harm.to = Date.now();
}
