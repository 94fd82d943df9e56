// Holds the engine's hosts, and what it told of them, against the model's: the first difference, in words.

import type { HostView } from "../src/contracts/fleet.ts";
import type { EventRow } from "../src/contracts/scheduler.ts";
import { same } from "./model/agree.ts";
import { hostNamed, lookOf, runsOf } from "./model/hosts.ts";
import type { ModelHost, State } from "./model/state.ts";

/** How the engine's list of hosts differs from the model's, or null. */
export function hostDifference(state: State, views: HostView[]): string | null {
	const names = [...state.hosts.map(({ name }) => name)].sort();
	const shown = views.map(({ name }) => name);
	if (shown.join() !== names.join()) return `hosts are ${shown.join(", ")}, the model says ${names.join(", ")}`;
	for (const view of views) {
		const host = hostNamed(state, view.name) as ModelHost;
		const mine = {
			state: lookOf(host, state.now),
			labels: host.labels,
			repos: host.repos,
			running: runsOf(state, host.name).length,
			max: state.config.hosts[host.name]?.max ?? null,
			heartbeat_at: host.heartbeat_at,
			lease_until: host.lease_until ?? null,
			gone: host.gone ?? null,
		};
		for (const field of Object.keys(mine) as (keyof typeof mine)[]) {
			if (!same(view[field], mine[field]))
				return `host ${host.name}: ${field} is ${JSON.stringify(view[field])}, the model says ${JSON.stringify(mine[field])}`;
		}
		if ((view.drain !== null) !== (host.drained === true)) return `host ${host.name}: ${view.drain === null ? "not " : ""}drained`;
	}
	return null;
}

/** The same for what was told of them since the last look; in which order does not matter. */
export function toldDifference(state: State, events: EventRow[]): string | null {
	const said = events.flatMap(({ kind, data }) =>
		"host" in data ? [`${kind} ${data.host}${kind === "host_lost" ? ` with ${data.runs}` : ""}`] : [],
	);
	const list = (lines: string[]) => [...lines].sort().join(", ") || "none";
	return list(said) === list(state.told) ? null : `events of hosts: ${list(said)}; the model says ${list(state.told)}`;
}
