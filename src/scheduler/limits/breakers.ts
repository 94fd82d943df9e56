// Breakers on environments: launches of different jobs of one agent or repo fail for a reason that they share.
//
//   the launch …                                     counts against    the breaker
//   fails by the job's own fault                     the job           does not change; if the job was the probe, another job may probe
//   fails for a shared reason, breaker closed        the job           opens after `failures` in a row of at least two jobs, which are all refunded
//   fails for a shared reason, breaker open          no job            stays open
//   fails for a shared reason, as the probe          the job           stays open for another cool-down; the next probe is another job
//   works (the process exists), as the probe         –                 closes

import type { Op } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { isTerminal, type Job } from "../../core/job.ts";
import { type Hold, holdKey } from "../../core/limits-view.ts";
import { READY } from "../../core/parked.ts";
import type { Tx } from "../transaction/tx.ts";

/**
 * Consecutive launch failures of one agent or repo: the jobs that failed, and which counter each failure was added to (`dispatch_breaker` may change
 * meanwhile).
 */
/** `jobs`: records of earlier versions have only the job numbers. */
export type Streak = { failed?: Failed[]; reason: string; jobs?: number[] };
type Failed = { job: number; as: "failures" | "dispatch_failures" };
type Breaker = Extract<Hold, { kind: "breaker_open" }>;

const KEPT_STREAK = 100;

const scopesOf = ({ agent, repo }: { agent?: string | undefined; repo?: string | undefined }): string[] => [
	...(agent === undefined ? [] : [`agent:${agent}`]),
	...(repo === undefined ? [] : [`repo:${repo}`]),
];

function openBreaker(tx: Tx, scope: string): Breaker | undefined {
	const hold = tx.memory.holds.get(holdKey("breaker_open", scope));
	return hold?.kind === "breaker_open" ? hold : undefined;
}

/** A process of the job was launched, so its agent and repo work: resets their failures and closes the breaker that the job probed. */
export function launchWorked(tx: Tx, job: Job): void {
	if (job.agent === undefined && job.repo === undefined) return;
	for (const scope of scopesOf(job)) {
		if (tx.memory.recall("breaker", scope) !== null) tx.put("breaker", scope, null);
		if (openBreaker(tx, scope)?.probe !== job.id) continue;
		tx.put("hold", holdKey("breaker_open", scope), null);
		tx.event("breaker_closed", job.id, { scope });
		tx.stirred = true;
	}
}

/** A person says that the environment is repaired: closes the breaker without a probe. Returns whether it was open. */
export function closeBreaker(tx: Tx, scope: string): boolean {
	if (tx.memory.recall("breaker", scope) !== null) tx.put("breaker", scope, null);
	if (!openBreaker(tx, scope)) return false;
	tx.put("hold", holdKey("breaker_open", scope), null);
	tx.event("breaker_closed", null, { scope });
	tx.stirred = true;
	return true;
}

/** The probe ended without saying anything about the environment: another job may probe. */
export function probeUndecided(tx: Tx, job: Job): void {
	for (const scope of scopesOf(job)) {
		const hold = openBreaker(tx, scope);
		if (hold?.probe !== job.id) continue;
		const { probe: _probe, ...rest } = hold;
		tx.put("hold", holdKey("breaker_open", scope), { ...rest, probed: job.id });
		tx.stirred = true;
	}
}

/** Counts a launch failure whose reason other jobs may share. Returns true if the environment is to blame: then the job is not charged for it. */
export function* launchFailed(tx: Tx, job: Job, reason: string): Op<boolean> {
	const { failures, cooldown_ms } = tx.config.environment_breaker;
	if (failures === 0) {
		probeUndecided(tx, job);
		return false;
	}
	let [isShared, wasProbe] = [false, false];
	for (const scope of scopesOf(job)) {
		const key = holdKey("breaker_open", scope);
		const hold = openBreaker(tx, scope);
		const until = tx.now + cooldown_ms;
		if (hold && hold.probe !== job.id) {
			isShared = true;
			continue;
		}
		if (hold) {
			wasProbe = true;
			const { probe: _probe, ...rest } = hold;
			tx.put("hold", key, { ...rest, reason, until, probed: job.id });
			tx.event("breaker_opened", job.id, { scope, reason, until });
			continue;
		}
		const failed = [...failedIn(tx, scope), { job: job.id, as: countedAs(tx) }];
		if (failed.length < failures || new Set(failed.map((one) => one.job)).size < 2) {
			tx.put("breaker", scope, { failed: failed.slice(-KEPT_STREAK), reason });
			continue;
		}
		isShared = true;
		tx.put("hold", key, { kind: "breaker_open", scope, by: tx.by, since: tx.now, reason, until });
		tx.put("breaker", scope, null);
		tx.event("breaker_opened", job.id, { scope, reason, until });
		// The last failure was not counted against its job, so it needs no refund.
		yield* refund(tx, failed.slice(0, -1));
	}
	return isShared && !wasProbe;
}

const countedAs = (tx: Tx): Failed["as"] => (tx.config.dispatch_breaker === "run" ? "failures" : "dispatch_failures");

function failedIn(tx: Tx, scope: string): Failed[] {
	const known = tx.memory.recall("breaker", scope);
	return known?.failed ?? (known?.jobs ?? []).map((job) => ({ job, as: countedAs(tx) }));
}

/** Refunds the failures that opened a breaker, since the jobs were not to blame: takes them off the counters and ends the back-off. */
function* refund(tx: Tx, failed: readonly Failed[]): Op<void> {
	const jobs = new Set(failed.map((one) => one.job));
	yield* tx.load([...jobs]);
	for (const id of jobs) {
		const job = tx.peek(id);
		if (!job || isTerminal(job.status)) continue;
		const own = failed.filter((one) => one.job === id);
		const times = own.length;
		const ready = job.parked_on === READY;
		if (ready) tx.leave(job);
		for (const { as } of own) job[as] = Math.max(0, (job[as] ?? 0) - 1) || undefined;
		tx.touch(job);
		if (ready) tx.enter(job);
		tx.event("refunded", id, { failures: times });
		if (job.backoff_until === undefined || job.parked_on !== "time") continue;
		job.backoff_until = undefined;
		tx.work.reevaluate(job);
	}
}

/** Records the first job that starts while a breaker is open as its probe. */
export function noteProbe(tx: Tx, job: Job): void {
	for (const scope of scopesOf(job)) {
		const hold = openBreaker(tx, scope);
		if (hold && hold.probe === undefined) tx.put("hold", holdKey("breaker_open", scope), { ...hold, probe: job.id });
	}
}

/** Whether this job was the last probe and another job that could start now would probe the same breaker. `buckets`: those that the claim may start from. */
export function isAnothersProbe(tx: Tx, job: Job, buckets: () => readonly Bucket[]): boolean {
	if (tx.memory.holds.size === 0 || tx.config.environment_breaker.failures === 0) return false;
	return scopesOf(job).some((scope) => {
		const hold = openBreaker(tx, scope);
		if (hold?.probed !== job.id || hold.probe !== undefined) return false;
		return buckets().some((one) => scopesOf(one).includes(scope) && one.ready > (one.id === job.bucket ? 1 : 0));
	});
}

/** Lets other jobs probe first: the job that probed last waits for one cool-down. */
export function letOthersProbe(tx: Tx, job: Job): void {
	job.backoff_until = tx.now + Math.max(1, tx.config.environment_breaker.cooldown_ms);
	tx.work.reevaluate(job);
}
