// Hosts that come and go, from docs/fleet.md: joining, leases, drains, leaving, and the loss of one that is silent for too long.

import type { HostView } from "../../src/contracts/fleet.ts";
import { accepted, agreeSame, refused, type Seen, same } from "./agree.ts";
import { endRun } from "./ending.ts";
import { settle } from "./settle.ts";
import { type ModelHost, type ModelJob, note, running, type State } from "./state.ts";

export type HostLook = "live" | "draining" | "stale" | "gone";

/** A host without a lease does not die of silence: away from its machine, it finds everything as it left it. */
export function lookOf(host: ModelHost, now: number): HostLook {
	if (host.gone !== undefined) return "gone";
	if (host.found_stale_at !== undefined || (host.lease_until !== undefined && host.lease_until <= now)) return "stale";
	return host.drained ? "draining" : "live";
}

/** A tenth of the lease, half a minute at most. */
const grace = (state: State) => Math.min(30_000, Math.ceil(state.config.stale_after_ms / 10));

const tell = (state: State, kind: string, host: string, more = "") => state.told.push(`${kind} ${host}${more}`);
export const hostNamed = (state: State, name: string) => state.hosts.find((host) => host.name === name);
export const runsOf = (state: State, name: string): ModelJob[] => running(state).filter((job) => job.run?.host === name);
/** Runs with a lease of their own are an outside worker's: they live and die by that. */
const carriedBy = (state: State, name: string) => runsOf(state, name).filter((job) => job.run?.lease_until === undefined);

function renew(state: State, host: ModelHost): void {
	host.heartbeat_at = state.now;
	if (host.home !== undefined) host.lease_until = state.now + state.config.stale_after_ms;
	if (host.found_stale_at === undefined) return;
	delete host.found_stale_at;
	tell(state, "host_back", host.name);
	note(state, "host-back");
}

export type Joining = Pick<ModelHost, "name" | "labels" | "repos" | "home">;

/** A daemon starts: the same home has its name back at once, with its runs; what a person said of it stays said. */
export function join(state: State, joining: Joining): void {
	const before = hostNamed(state, joining.name);
	// One home has one name: another that it had is given up.
	for (const other of state.hosts) {
		if (joining.home === undefined || other === before || other.home !== joining.home || other.gone !== undefined) continue;
		go(state, other, "left");
		tell(state, "host_left", other.name);
	}
	state.hosts = state.hosts.filter((host) => host !== before);
	const host: ModelHost = { ...joining, heartbeat_at: state.now };
	if (joining.home !== undefined) host.lease_until = state.now + state.config.stale_after_ms;
	if (before?.drained) host.drained = true;
	if (before !== undefined) note(state, before.gone === undefined ? "host-restarted" : `host-joined-after-${before.gone}`);
	state.hosts.push(host);
	tell(state, "host_joined", host.name);
}

export function heartbeat(state: State, name: string, by: string, seen: Seen): void {
	const host = hostNamed(state, name);
	if (host === undefined) {
		const isOwn = name === by && state.fleet;
		if (isOwn) note(state, "host-removed-fenced");
		if (isOwn) refused(seen, ["fenced"], `host ${name} was removed`);
		else accepted(seen);
		return;
	}
	const result = accepted<{ state: HostLook; lost: boolean }>(seen);
	const lost = host.gone !== undefined && name === by;
	if (name === by || host.home === undefined) {
		if (lost) {
			tell(state, "host_joined", name);
			note(state, `host-anew-after-${host.gone}`);
			delete host.gone;
		}
		renew(state, host);
	}
	if (result !== undefined && state.fleet) agreeSame(result, { state: lookOf(host, state.now), lost }, `heartbeat of ${name}`);
}

/** With runs it does not leave: they go on, and are its own for another lease. */
export function leave(state: State, name: string, seen: Seen): void {
	const host = hostNamed(state, name);
	if (host === undefined) {
		refused(seen, ["fenced"], `host ${name} was removed`);
		return;
	}
	const result = accepted<{ left: boolean }>(seen);
	const left = host.gone === undefined && runsOf(state, name).length === 0;
	if (left) {
		go(state, host, "left");
		tell(state, "host_left", name);
	} else if (host.gone === undefined) {
		renew(state, host);
		note(state, "host-stayed");
	}
	if (result !== undefined) agreeSame(result.left, left, `leave of ${name}`);
}

/** It has other repos than before. */
export function offer(state: State, name: string, repos: string[] | null, seen: Seen): void {
	accepted(seen);
	const host = hostNamed(state, name);
	if (host === undefined || same(host.repos, repos)) return;
	host.repos = repos;
	tell(state, "host_offers", name);
	note(state, "host-offers");
}

function go(state: State, host: ModelHost, how: "left" | "lost"): void {
	host.gone = how;
	delete host.lease_until;
	delete host.found_stale_at;
	note(state, `host-${how}`);
}

/** What time does to hosts, when somebody looks at the clock for them: over, it is stale; a grace later it is lost. */
export function watch(state: State, seen: Seen): void {
	const lost: ModelHost[] = [];
	for (const host of [...state.hosts].sort((a, b) => (a.name < b.name ? -1 : 1))) {
		if (host.lease_until === undefined) continue;
		if (host.found_stale_at !== undefined) {
			if (state.now >= host.found_stale_at + grace(state)) lost.push(host);
		} else if (host.lease_until <= state.now) {
			host.found_stale_at = state.now;
			tell(state, "host_stale", host.name);
			note(state, "host-stale");
		}
	}
	for (const host of lost) {
		go(state, host, "lost");
		tell(state, "host_lost", host.name, ` with ${runsOf(state, host.name).length}`);
	}
	for (const host of lost) for (const job of carriedBy(state, host.name)) giveBack(state, job, host.name, seen);
	if (lost.length > 0) settle(state, seen);
}

/** It was not the job's fault: no retry is burned. A stop that was asked for before decides all the same. */
function giveBack(state: State, job: ModelJob, host: string, seen: Seen): void {
	note(state, job.run?.intent === undefined ? "host-lost-run" : "host-lost-stopped-run");
	if (job.locks.length > 0) note(state, "host-lost-lock");
	endRun(state, job, { exit_kind: "lost", reboot: true }, seen);
	const last = state.past.at(-1);
	if (last !== undefined) last.lost_with = host;
}

/** When time next does something to a host. */
export const hostTimes = (state: State): number[] =>
	state.hosts.flatMap(({ found_stale_at: stale, lease_until: until }) =>
		stale !== undefined ? [stale + grace(state)] : until !== undefined ? [until] : [],
	);

/** The host, or undefined after the refusal was checked. */
function known(state: State, name: string, seen: Seen): ModelHost | undefined {
	const host = hostNamed(state, name);
	if (host === undefined) refused(seen, ["not_found"], `there is no host ${name}`);
	return host;
}

export function drain(state: State, name: string, options: { stop?: boolean }, seen: Seen): void {
	const host = known(state, name, seen);
	if (host === undefined) return;
	const result = accepted<{ host: HostView; stopping: number[] }>(seen);
	if (!host.drained) {
		host.drained = true;
		tell(state, "host_drained", name);
		note(state, "host-drained");
	}
	const stopping = options.stop === true ? carriedBy(state, name) : [];
	for (const job of stopping) {
		if (job.run === undefined) continue;
		job.run.intent ??= "drained";
		note(state, "host-stops-run");
	}
	if (result === undefined) return;
	agreeSame(
		result.stopping,
		stopping.map((job) => job.id),
		`drain of ${name}: stopping`,
	);
	agreeSame(result.host.state, lookOf(host, state.now), `drain of ${name}: state`);
}

export function undrain(state: State, name: string, seen: Seen): void {
	const host = known(state, name, seen);
	if (host === undefined) return;
	const result = accepted<HostView>(seen);
	if (host.drained) {
		delete host.drained;
		tell(state, "host_undrained", name);
		note(state, "host-undrained");
	}
	if (result !== undefined) agreeSame(result.state, lookOf(host, state.now), `undrain of ${name}: state`);
}

export function remove(state: State, name: string, seen: Seen): void {
	const host = known(state, name, seen);
	if (host === undefined) return;
	const runs = runsOf(state, name).length;
	if (host.gone === undefined || runs > 0) {
		note(state, host.gone === undefined ? "host-not-removed" : "host-not-removed-for-runs");
		refused(seen, ["conflict"], `host ${name} is ${lookOf(host, state.now)} and has ${runs} runs`);
		return;
	}
	accepted(seen);
	state.hosts = state.hosts.filter((one) => one !== host);
	tell(state, "host_removed", name);
	note(state, "host-removed");
}

/** A claim in the name of its own host is that host's to make: one that was removed is none. */
export const mayClaim = (state: State, host: string | undefined, by: string): boolean =>
	!state.fleet || host !== by || hostNamed(state, by) !== undefined;

/** What would have started if only its host were live. */
export function noteKept(state: State, name: string | undefined, couldStart: (asIf: State) => boolean): void {
	const host = name === undefined ? undefined : hostNamed(state, name);
	if (!state.fleet || host === undefined) return;
	const look = lookOf(host, state.now);
	if (look === "live") return;
	const { labels, repos, heartbeat_at } = host;
	const asIf = { ...state, hosts: [...state.hosts.filter((one) => one !== host), { name: host.name, labels, repos, heartbeat_at }] };
	if (couldStart(asIf)) note(state, `host-kept-from-${look}`);
}
