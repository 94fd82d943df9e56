// Providers that are down: what a run that met one does to its account and its job, and who may try next.

import type { RunEnd } from "../../../src/contracts/scheduler.ts";
import { agree, type Seen } from "../agree.ts";
import { accountOf, type ModelJob, type ModelRun, note, type Outage, type State } from "../state.ts";

const CAP_MS = 300_000;

const nameOf = (agent: string | undefined) => agent ?? "";

export const outageOf = (state: State, account: string, agent: string | undefined): Outage | undefined =>
	accountOf(state, account).outages[nameOf(agent)];

/** Nothing but the next try may start on it. */
export function isDown(state: State, account: string, agent: string | undefined, now: number): boolean {
	const outage = outageOf(state, account, agent);
	return outage !== undefined && state.config.rate_limit.outage_max_ms > 0 && outage.until > now;
}

/** It has been down for longer than a session is waited for. */
export function isLongDown(state: State, account: string, agent: string | undefined, now: number): boolean {
	const outage = outageOf(state, account, agent);
	const { outage_max_ms, failover_after_ms } = state.config.rate_limit;
	return outage !== undefined && outage_max_ms > 0 && now - outage.since > failover_after_ms;
}

/** A start on an account that is down is its one try. */
export function noteTry(state: State, account: string, job: ModelJob): void {
	const outage = outageOf(state, account, job.agent);
	if (outage === undefined || state.config.rate_limit.outage_max_ms === 0) return;
	outage.probe = job.id;
	outage.until = state.now + CAP_MS;
	note(state, "outage-tried");
}

/** Whether this job tried last, so that another one should try next. */
export function triedLast(state: State, account: string | undefined, job: ModelJob): boolean {
	const outage = account === undefined ? undefined : outageOf(state, account, job.agent);
	return outage !== undefined && state.config.rate_limit.outage_max_ms > 0 && outage.probe === undefined && outage.probed === job.id;
}

/** The provider answered a run that began after the outage. */
export function answeredOn(state: State, account: string, job: ModelJob, run: ModelRun): void {
	const outage = outageOf(state, account, job.agent);
	if (outage === undefined || run.started_at <= outage.since) return;
	delete accountOf(state, account).outages[nameOf(job.agent)];
	note(state, "outage-over");
}

/** The run is over. Whether the outage excuses its job. */
export function afterOutage(
	state: State,
	account: string,
	job: ModelJob,
	run: ModelRun,
	{ exit_kind, outage: isOutage }: Pick<RunEnd, "exit_kind" | "outage">,
	seen: Seen,
): boolean {
	const { now, config } = state;
	const outage = outageOf(state, account, job.agent);
	if (!isOutage || exit_kind !== "crashed" || config.rate_limit.outage_max_ms === 0) {
		if (["completed", "rate_limited", "needs_human"].includes(exit_kind)) answeredOn(state, account, job, run);
		else if (outage?.probe === job.id) {
			delete outage.probe;
			outage.until = now;
			outage.probed = job.id;
		}
		return false;
	}
	const since = outage?.since ?? now;
	const isAnother = job.outage !== undefined && job.outage !== since;
	const isTooLong = now - since > config.rate_limit.outage_max_ms;
	job.outage = since;
	// A run from before the outage tells nothing new.
	if (outage === undefined || run.started_at > since) {
		const hits = (outage?.hits ?? 0) + 1;
		const until = nextTry(state, account, job.agent, { since, hits }, seen);
		accountOf(state, account).outages[nameOf(job.agent)] = { since, until, hits, probed: job.id };
		note(state, hits > 1 ? "outage-lasts" : "outage");
	}
	if (isAnother) note(state, "outage-counted");
	if (isTooLong) note(state, "outage-too-long");
	return !isAnother && !isTooLong;
}

/** Within its jitter, as the engine tells; the middle when there is none to tell. */
function nextTry(
	state: State,
	account: string,
	agent: string | undefined,
	{ since, hits }: { since: number; hits: number },
	seen: Seen,
): number {
	const wait = Math.min(CAP_MS, 5000 * 2 ** (hits - 1));
	if (seen.outages === undefined) return state.now + wait;
	const told = seen.outages.find(
		(one) => one.account === account && nameOf(one.agent ?? undefined) === nameOf(agent) && one.since === since && one.hits === hits,
	);
	agree(told !== undefined, `account ${account} met an outage (${hits} in a row since ${since}), and no event tells of it`);
	const ms = told.until - state.now;
	agree(
		ms >= Math.floor(wait * 0.9) && ms <= Math.ceil(wait * 1.1),
		`account ${account}: the next try comes after ${ms} ms, expected ${wait} ± 10 %`,
	);
	return told.until;
}
