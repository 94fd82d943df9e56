// Hosts: joining, heartbeats, draining, leaving, and the loss of a host whose heartbeats stop. The states are in core/fleet.ts.

import type { HostView } from "../../contracts/fleet.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { graceMs, type HostState, hostState } from "../../core/fleet.ts";
import { suggest } from "../../core/input/nearest.ts";
import { isTerminal, type Job } from "../../core/job.ts";
import type { HostRecord } from "../../core/limits-view.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater, progressOf } from "../waiting/continuation.ts";
import { finish, stop } from "./finish.ts";

export type Joining = { name: string; labels: string[]; repos: string[] | null; home?: string | undefined };
/** Token of one life of a host, from joining until it is given up; undefined for a host without a lease. */
export type Life = number | undefined;

/** Takes the host name. A home has one name, and a name belongs to one home at a time; a restarted daemon of the same home gets it back at once. */
export function joinHost(tx: Tx, { home, ...host }: Joining): Life {
	const before = tx.memory.hosts.get(host.name);
	const held = before?.home !== undefined && before.state !== "gone";
	// A library process with the same name as a daemon's host is not a host of its own.
	if (home === undefined && held) return undefined;
	if (home !== undefined && held && before.home !== home) throw taken(before, tx.now);
	if (home !== undefined) dropOtherNames(tx, home, host.name);
	const record: HostRecord = { ...host, heartbeat_at: tx.now, state: "live", joined_at: tx.now };
	if (before?.drain) record.drain = before.drain;
	if (home !== undefined) {
		record.home = home;
		record.token = tx.nextId("token");
		record.lease_until = tx.now + tx.config.stale_after_ms;
	}
	tx.put("host", host.name, record);
	tx.event("host_joined", null, { host: host.name, labels: host.labels });
	tx.stirred = true;
	return record.token;
}

function taken({ name, heartbeat_at, lease_until }: HostRecord, now: number): SluiceError {
	const heard = `last heard of ${Math.max(0, Math.round((now - heartbeat_at) / 1000))} s ago`;
	const free =
		lease_until !== undefined && lease_until > now ? ` and free in ${Math.ceil((lease_until - now) / 1000)} s at the earliest` : "";
	return new SluiceError("conflict", `the host name ${JSON.stringify(name)} is held by the daemon of another home (${heard})`, {
		field: "host.name",
		hint: `give this one another name (host.name, or sluice up --name); it is held while that daemon lives${free}`,
	});
}

/** A home that was renamed gives up its old name. Refused while the old name still has runs, because no host would look after them. */
function dropOtherNames(tx: Tx, home: string, name: string): void {
	for (const other of tx.memory.hosts.values()) {
		if (other.home !== home || other.name === name || other.state === "gone") continue;
		const runs = runsOn(tx, other.name);
		if (runs > 0)
			throw new SluiceError("conflict", `this home is host ${JSON.stringify(other.name)}, which still has ${runs} runs`, {
				field: "host.name",
				hint: `start it as ${other.name} once more, and sluice down --stop-runs; then it can have another name`,
			});
		go(tx, other, "left");
	}
}

export const runsOn = (tx: Tx, name: string): number => tx.memory.usage.get(`host:${name}`) ?? 0;

function go(tx: Tx, host: HostRecord, how: "left" | "lost"): void {
	const { lease_until: _lease, stale_at: _stale, ...rest } = host;
	tx.put("host", host.name, { ...rest, state: "gone", gone: how });
	if (how === "left") tx.event("host_left", null, { host: host.name });
	else tx.event("host_lost", null, { host: host.name, runs: runsOn(tx, host.name) });
	tx.stirred = true;
}

/** Renews the lease. `lost`: the host had been given up, and its runs with it; from now on it is a host again. */
export function beat(tx: Tx, name: string, life: Life): { state: HostState; lost: boolean; life: Life } {
	const host = tx.memory.hosts.get(name);
	if (!host) {
		if (life === undefined) return { state: "gone", lost: false, life };
		throw removed(name);
	}
	if (life !== undefined && !isLife(host, life)) throw overtaken(name);
	if (host.home === undefined || life === undefined) {
		// A host with a home gets heartbeats only from its own daemon, which has the token.
		if (host.home === undefined) tx.put("host", name, { ...host, heartbeat_at: tx.now, state: "live" });
		return { state: hostState(host, tx.now), lost: false, life };
	}
	const { token_before: _before, ...known } = host;
	// A heartbeat with the present token: the process knows it, and uses no other any more.
	const record = renew(tx, host.token === life ? known : host);
	return { state: hostState(record, tx.now), lost: host.state === "gone", life: record.token };
}

/** A heartbeat that a host left in the store by itself. */
export type LeftBeat = { host: string; life: number; at: number };

/** Renews the leases of hosts by the heartbeats that they left. `patience`: no host is stale or given up before then. */
export function hearBeats(tx: Tx, beats: readonly LeftBeat[], patience: number): void {
	for (const { host: name, life, at } of beats) {
		const host = tx.memory.hosts.get(name);
		if (host?.token !== life || host.state === "gone" || host.lease_until === undefined) continue;
		const isNew = at > host.heartbeat_at;
		if (isNew && at + tx.config.stale_after_ms > tx.now) renew(tx, host, at);
		const { stale_at, ...record } = tx.memory.hosts.get(name) ?? host;
		const heartbeat_at = Math.max(at, host.heartbeat_at);
		// A heartbeat that was heard before counts for the lease that was in force then, whatever the settings say now.
		const lease_until = Math.max(isNew ? at + tx.config.stale_after_ms : 0, patience);
		const isPatient = stale_at !== undefined && patience > tx.now;
		if (stale_at !== undefined && (isPatient || isNew))
			tx.put("host", name, { ...record, heartbeat_at, stale_at: isPatient ? tx.now : stale_at });
		else if (stale_at === undefined && lease_until > (record.lease_until ?? 0))
			tx.put("host", name, { ...record, heartbeat_at, lease_until });
	}
}

/** Marks the host as live, whatever its state was. A host that had been given up begins another life with a new token. */
function renew(tx: Tx, host: HostRecord, at = tx.now): HostRecord {
	const { stale_at, gone, ...rest } = host;
	const record: HostRecord = { ...rest, state: "live", heartbeat_at: at, lease_until: at + tx.config.stale_after_ms };
	const lost = host.state === "gone";
	if (lost) {
		if (host.token !== undefined) record.token_before = host.token;
		record.token = tx.nextId("token");
	}
	tx.put("host", host.name, record);
	if (lost) tx.event("host_joined", null, { host: host.name, labels: host.labels });
	else if (stale_at !== undefined) tx.event("host_back", null, { host: host.name });
	if (lost || stale_at !== undefined) tx.stirred = true;
	return record;
}

/** A process whose host came back learns of its new token only from the answer to its heartbeat: what it sent meanwhile has the token before. */
const isLife = (host: HostRecord, life: number): boolean => host.token === life || host.token_before === life;

const overtaken = (name: string) =>
	new SluiceError("fenced", `host ${name} has begun anew since: it was lost and is back, or a later daemon of its home has its name`, {
		field: "host",
		hint: "if it stays: a home belongs to one machine; give each copy of it a tag of its own (remove the file `tag`)",
	});
const removed = (name: string) =>
	new SluiceError("fenced", `host ${name} has been removed`, { field: "host", hint: "start its daemon again to make it a host once more" });

/** Throws unless this life of the host still holds the name. Checked before a host claims or reports about its runs. */
export function checkLife(tx: Tx, name: string, life: Life): void {
	if (life === undefined) return;
	const host = tx.memory.hosts.get(name);
	if (!host) throw removed(name);
	if (!isLife(host, life)) throw overtaken(name);
}

/** The host leaves for good if it has no runs. Otherwise it keeps its lease, so that the next daemon of its home finds them. */
export function leave(tx: Tx, name: string, life: Life): { left: boolean } {
	checkLife(tx, name, life);
	const host = tx.memory.hosts.get(name);
	if (!host || life === undefined || host.state === "gone") return { left: false };
	if (runsOn(tx, name) > 0) {
		renew(tx, host);
		return { left: false };
	}
	go(tx, host, "left");
	return { left: true };
}

/** Marks hosts whose lease ended as stale, and stale hosts as lost after a grace period. */
export function watchHosts(tx: Tx): void {
	for (const host of tx.memory.hosts.values()) {
		if (host.lease_until === undefined || host.state === "gone") continue;
		if (host.state === "live" && host.lease_until <= tx.now) {
			tx.put("host", host.name, { ...host, state: "stale", stale_at: tx.now });
			tx.event("host_stale", null, { host: host.name, heartbeat_at: host.heartbeat_at });
		} else if (host.state === "stale" && lostAt(tx, host) <= tx.now) {
			go(tx, host, "lost");
			continueLater(tx, { do: "host", of: host.name, after: 0, before: tx.nextId("token") });
		}
	}
}

const lostAt = (tx: Tx, { stale_at }: HostRecord): number => (stale_at ?? tx.now) + graceMs(tx.config.stale_after_ms);

/** When the next host becomes stale or lost. */
export function nextHostAt(tx: Tx): number {
	let next = Number.POSITIVE_INFINITY;
	for (const host of tx.memory.hosts.values()) {
		if (host.lease_until === undefined || host.state === "gone") continue;
		next = Math.min(next, host.state === "stale" ? lostAt(tx, host) : host.lease_until);
	}
	return next;
}

const PIECE = 200;

function* runningAfter(host: string, after: number): Op<Job[]> {
	return yield* ask({ read: "running", host, after, limit: PIECE });
}
const isOf = (job: Job | null | undefined, host: string): job is Job & { run: NonNullable<Job["run"]> } =>
	job?.run?.host === host && job.run.lease_until === undefined && !isTerminal(job.status);

/** Ends the next runs of a lost host, only those it had when it was given up. Returns where to continue, or null. */
export function* loseRuns(tx: Tx, host: string, note: { after: number; before: number }): Op<number | null> {
	const stored = yield* runningAfter(host, note.after);
	for (const { id } of stored) {
		const job = yield* tx.find(id);
		if (isOf(job, host) && job.run.token < note.before)
			yield* finish(tx, {
				job: id,
				token: job.run.token,
				exit_kind: "lost",
				message: `scheduler recovery: host ${host} was lost`,
				reboot: true,
			});
	}
	return stored.length < PIECE ? null : nth(stored, PIECE - 1).id;
}

/** Requests a stop of the next runs of a host. */
export function* stopSome(tx: Tx, host: string, after: number): Op<{ stopping: number[]; next: number | null }> {
	const stored = yield* runningAfter(host, after);
	const stopping: number[] = [];
	for (const { id } of stored) {
		const job = yield* tx.find(id);
		if (!isOf(job, host)) continue;
		yield* stop(tx, { job: id, token: job.run.token }, { kind: "drained", reason: `host ${host} is drained` });
		stopping.push(id);
	}
	return { stopping, next: stored.length < PIECE ? null : nth(stored, PIECE - 1).id };
}

// ---- what people ask for ------------------------------------------------------------------------------------------------------------

function known(tx: Tx, name: string): HostRecord {
	const host = tx.memory.hosts.get(name);
	if (host) return host;
	throw new SluiceError("not_found", `there is no host ${JSON.stringify(name)}`, {
		field: "name",
		hint: suggest(name, [...tx.memory.hosts.keys()], "sluice host list shows those that there are"),
	});
}

export function drain(tx: Tx, name: string, reason: string): HostView {
	const host = known(tx, name);
	if (!host.drain) {
		tx.put("host", name, { ...host, drain: { by: tx.by, at: tx.now, reason } });
		tx.event("host_drained", null, { host: name, ...(reason === "" ? {} : { reason }) });
	}
	return viewHost(tx, known(tx, name));
}

export function undrain(tx: Tx, name: string): HostView {
	const { drain: drained, ...host } = known(tx, name);
	if (drained) {
		tx.put("host", name, host);
		tx.event("host_undrained", null, { host: name });
		tx.stirred = true;
	}
	return viewHost(tx, host);
}

/** Forgets a host that is gone. */
export function remove(tx: Tx, name: string): void {
	const host = known(tx, name);
	const runs = runsOn(tx, name);
	const silent = host.home === undefined && host.heartbeat_at + tx.config.stale_after_ms <= tx.now;
	if (host.state !== "gone" && !silent)
		throw new SluiceError("conflict", `host ${name} is ${hostState(host, tx.now)}: only one that is gone can be removed`, {
			field: "name",
			hint:
				hostState(host, tx.now) === "stale"
					? "it is given up by itself, and its runs with it, when its lease and a grace are over"
					: "sluice host drain keeps work from it; sluice down, on that machine, makes it leave",
		});
	if (runs > 0 || progressOf(tx, { do: "host", of: name }) !== null)
		throw new SluiceError("conflict", `host ${name} still has ${runs} runs`, {
			field: "name",
			hint: "try again when they have been taken over",
		});
	tx.put("host", name, null);
	tx.event("host_removed", null, { host: name });
}

function viewHost(tx: Tx, host: HostRecord): HostView {
	return {
		name: host.name,
		state: hostState(host, tx.now),
		labels: host.labels,
		repos: host.repos,
		running: runsOn(tx, host.name),
		max: tx.config.hosts[host.name]?.max ?? null,
		heartbeat_at: host.heartbeat_at,
		joined_at: host.joined_at ?? null,
		lease_until: host.lease_until ?? null,
		drain: host.drain ?? null,
		gone: host.gone ?? null,
		leads: isLeader(tx, host),
	};
}

/** In a fleet the leader says so. Hosts that share a file have none of their own: the oldest of them does what only one has to do. */
function isLeader(tx: Tx, { name, token }: HostRecord): boolean {
	const leader = tx.memory.meta("leader");
	return leader ? leader.host === name : token !== undefined && isFirst(tx, name, token);
}

/** This host leads from now on. */
export function takeLead(tx: Tx, host: string): void {
	if (tx.memory.meta("leader")?.host !== host) tx.putMeta("leader", { host });
}

export const viewHosts = (tx: Tx): HostView[] =>
	[...tx.memory.hosts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((host) => viewHost(tx, host));

/** Leader election for a store that has none of its own: true if this life is the oldest of the live and draining hosts. */
export function isFirst(tx: Tx, name: string, life: Life): boolean {
	if (life === undefined) return true;
	const held = [...tx.memory.hosts.values()].filter(
		(host) => host.token !== undefined && ["live", "draining"].includes(hostState(host, tx.now)),
	);
	const first = held.reduce<HostRecord | undefined>(
		(best, host) => (best && (best.token ?? 0) < (host.token ?? 0) ? best : host),
		undefined,
	);
	return first?.name === name && first.token === life;
}

/** Updates the repos of a host. Jobs that waited for such a host may start now. */
export function offer(tx: Tx, name: string, repos: string[] | null): void {
	const host = tx.memory.hosts.get(name);
	if (!host || JSON.stringify(host.repos) === JSON.stringify(repos)) return;
	tx.put("host", name, { ...host, repos });
	tx.event("host_offers", null, { host: name, repos });
	tx.stirred = true;
}
