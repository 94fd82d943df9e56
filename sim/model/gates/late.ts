// The bucket gates: holds, review, budget, host, capacity. They never park a job; they are asked anew each time.

import { laneOf } from "../../../src/core/config.ts";
import { lookOf } from "../hosts.ts";
import { breakerOf, type ModelHost, type ModelJob, running, type State } from "../state.ts";
import { counting } from "../waits.ts";
import { chooseAccount } from "./accounts.ts";
import { isInside } from "./hours.ts";
import { isOut } from "./ledgers.ts";
import type { Refusal } from "./refusal.ts";

export const isHeld = (state: State, scope: string, now: number) =>
	state.holds.some((hold) => hold.scope === scope && (hold.until === null || hold.until > now));

function holds(state: State, job: ModelJob, now: number): Refusal[] {
	const list: Refusal[] = [];
	const scopes = ["all", `lane:${job.lane}`];
	if (job.repo !== undefined) scopes.push(`repo:${job.repo}`);
	if (job.batch !== undefined) scopes.push(`batch:${job.batch}`);
	for (const scope of scopes) {
		if (isHeld(state, scope, now)) list.push({ gate: "holds", codes: ["paused"], subject: scope });
	}
	const hours = laneOf(state.config, job.lane).active_hours;
	if (hours.length > 0 && !isInside(hours, now, state.config.timezone))
		list.push({ gate: "holds", codes: ["quiet_hours"], subject: `lane:${job.lane}` });
	for (const name of breakersOf(job)) {
		if (isBroken(state, name, now)) list.push({ gate: "holds", codes: ["breaker_open"], subject: name });
	}
	return list;
}

export const breakersOf = (job: ModelJob): string[] => [
	...(job.agent === undefined ? [] : [`agent:${job.agent}`]),
	...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
];

/** Open, or half-open with its one probe under way. */
export function isBroken(state: State, name: string, now: number): boolean {
	const breaker = breakerOf(state, name);
	if (breaker.open_until === null || state.config.environment_breaker.failures <= 0) return false;
	return breaker.open_until > now || breaker.probe !== null;
}

/** Ended, and a person has to look at what it left. */
export const isUnreviewed = (job: ModelJob) =>
	job.status === "succeeded" && job.will_merge && ["requested", "conflict", "verify_failed", "base_dirty"].includes(job.merge_status ?? "");

function review(state: State, job: ModelJob): Refusal[] {
	const { repo } = job;
	if (repo === undefined || !job.will_merge) return [];
	const own = state.config.repos[repo]?.max_open;
	const most = own === undefined ? state.config.review.max_open : own;
	const open = state.jobs.filter((other) => other.repo === repo && isUnreviewed(other)).length;
	return most === null || open < most ? [] : [{ gate: "review", codes: ["review"], subject: `repo:${repo}` }];
}

function budget(state: State, job: ModelJob, now: number): Refusal[] {
	const subjects = [
		...(job.owner === undefined ? [] : [`owner:${job.owner}`]),
		...(job.batch === undefined ? [] : [`batch:${job.batch}`]),
		...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
	];
	return state.ledgers
		.filter((ledger) => subjects.includes(ledger.subject) && isOut(state, ledger, now))
		.map((ledger) => ({ gate: "budget", codes: ["budget"], subject: `${ledger.subject}/${ledger.dim}` }));
}

export const fits = (host: ModelHost, job: ModelJob) =>
	(job.repo === undefined || host.repos === null || host.repos.includes(job.repo)) &&
	job.host_labels.every((label) => host.labels.includes(label));

/** Those that it may go to now: the one that has its worktree or session, as long as that one may; else whoever may. */
function hostsFor(state: State, job: ModelJob, now: number): ModelHost[] {
	const able = state.hosts.filter((host) => lookOf(host, now) === "live" && fits(host, job));
	const home = able.filter((host) => host.name === job.stays);
	return home.length > 0 ? home : able;
}

function hostGate(state: State, job: ModelJob, now: number, by: string | undefined): Refusal[] {
	// An outside worker needs no host; it has no labels either.
	if (job.kind === "payload" && job.host_labels.length === 0 && by === undefined) return [];
	const able = hostsFor(state, job, now);
	if (by === undefined ? able.length > 0 : able.some((host) => host.name === by)) return [];
	return [{ gate: "host", codes: ["no_host"] }];
}

function capacity(state: State, job: ModelJob, now: number, by: string | undefined): Refusal[] {
	const { config } = state;
	const live = running(state);
	// A run that waits lends its slot, but neither what it uses nor its place under the safety cap.
	const counted = counting(state);
	const list: Refusal[] = [];
	const full = (subject: string): Refusal => ({ gate: "capacity", codes: ["capacity"], subject });
	if (config.max_concurrent > 0 && !job.forced && counted.length >= config.max_concurrent) list.push(full("all"));
	if (config.safety_cap > 0 && live.length >= config.safety_cap)
		list.push({ gate: "capacity", codes: ["safety_cap"], subject: "safety_cap" });
	const lane = laneOf(config, job.lane).max;
	if (lane !== null && !job.forced && counted.filter((other) => other.lane === job.lane).length >= lane)
		list.push(full(`lane:${job.lane}`));
	const repo = job.repo === undefined ? null : (config.repos[job.repo]?.max ?? null);
	if (repo !== null && counted.filter((other) => other.repo === job.repo).length >= repo) list.push(full(`repo:${job.repo}`));
	for (const [name, amount] of Object.entries(job.uses)) {
		const limit = config.resources[name];
		const used = live.reduce((sum, other) => sum + (other.uses[name] ?? 0), 0);
		if (limit !== undefined && used + amount > limit) list.push(full(`resource:${name}`));
	}
	// Where an outside worker may take it, no host's cap is in its way.
	const isForHosts = by !== undefined || job.kind !== "payload" || job.host_labels.length > 0;
	const hosts = by === undefined ? hostsFor(state, job, now) : state.hosts.filter((host) => host.name === by);
	const isFull = (name: string) => {
		const max = config.hosts[name]?.max ?? null;
		return max !== null && counted.filter((other) => other.run?.host === name).length >= max;
	};
	if (isForHosts && hosts.length > 0 && hosts.every((host) => isFull(host.name)))
		for (const host of hosts) list.push(full(`host:${host.name}`));
	return list;
}

/** All refusals of the bucket gates; `by`: for a claim of this host, else for any host. */
export function late(state: State, job: ModelJob, now: number, by?: string): Refusal[] {
	return [
		...holds(state, job, now),
		...chooseAccount(state, job, now).refusals,
		...review(state, job),
		...budget(state, job, now),
		...hostGate(state, job, now, by),
		...capacity(state, job, now, by),
	];
}

/** A paused or over-budget batch parks its jobs, unlike the other late gates. */
export const batchRefusals = (state: State, job: ModelJob, now: number): Refusal[] =>
	job.batch === undefined
		? []
		: [...holds(state, job, now), ...budget(state, job, now)].filter(
				(refusal) => refusal.subject === `batch:${job.batch}` || refusal.subject?.startsWith(`batch:${job.batch}/`),
			);

/** Starts are spaced or bundled: nothing starts now. `perhaps`: also where the engine may have counted fewer starts into its cycle. */
export function pace(state: State, now: number, how: "surely" | "perhaps" = "surely"): Refusal[] {
	const { config } = state;
	const list: Refusal[] = [];
	// Direct mode knows no cycles: a job starts the moment its gates pass.
	if (config.max_concurrent <= 0) return list;
	if (config.cycle_interval_ms > 0 && (how === "surely" ? state.cycle_left.most : state.cycle_left.least) <= 0)
		list.push({ gate: "capacity", codes: ["capacity"], subject: "cycle_interval", optional: true });
	if (config.spawn_delay_ms > 0 && state.last_start_at !== null && now < state.last_start_at + config.spawn_delay_ms)
		list.push({ gate: "capacity", codes: ["capacity"], subject: "spawn_delay", optional: true });
	return list;
}
