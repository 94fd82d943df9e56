// Holds on accounts, breakers on environments: what keeps work from starting, and what lets it go on. Money is in budgets.ts.

import { MAX_TIME } from "../core/check.ts";
import { isTerminal, type Job } from "../core/job.ts";
import { limitDelayMs } from "../core/retry.ts";
import { holdKey } from "../core/world.ts";
import type { Op } from "../store.ts";
import { place } from "./place.ts";
import type { Tx } from "./tx.ts";

// ---- accounts -----------------------------------------------------------------------------------------------------------------------

export type LimitReport = { until?: number | undefined; retry_after_ms?: number | undefined; closed?: string | undefined };

export function limitAccount(tx: Tx, account: string, report: LimitReport): void {
	const scope = `account:${account}`;
	if (report.closed !== undefined) {
		tx.put("hold", holdKey("account_closed", scope), { kind: "account_closed", scope, by: tx.by, since: tx.now, reason: report.closed });
		tx.event("account_closed", null, { account, reason: report.closed });
		return;
	}
	const key = holdKey("rate_limited", scope);
	const before = tx.memory.holds.get(key);
	const known = before?.kind === "rate_limited" ? before : undefined;
	const hits = (known?.hits ?? 0) + 1;
	const reset = report.until !== undefined;
	const wanted =
		report.until !== undefined ? report.until + tx.config.rate_limit.margin_ms : tx.now + limitDelayMs(hits, report.retry_after_ms);
	const until = Math.min(MAX_TIME, Math.max(wanted, known?.until ?? 0));
	const isReset = until === Math.min(MAX_TIME, wanted) ? reset : (known?.reset ?? reset);
	tx.put("hold", key, {
		kind: "rate_limited",
		scope,
		by: tx.by,
		since: tx.now,
		reason: isReset ? "usage limit; the provider named the reset" : `rate limit, ${hits} in a row`,
		until,
		hits,
		reset: isReset,
		next_at: until,
	});
	tx.event("limited", null, { account, until, hits });
}

/**
 * A run went well on the account: the count of limits starts anew, a back-off ends; a reset that the provider named stays. One that began before the
 * limit says nothing about what comes after it: starts stay spaced.
 */
export function accountWorks(tx: Tx, account: string, startedAt: number): void {
	const key = holdKey("rate_limited", `account:${account}`);
	const hold = tx.memory.holds.get(key);
	if (hold?.kind !== "rate_limited") return;
	if (hold.until > tx.now ? hold.reset : startedAt < hold.until) {
		tx.put("hold", key, { ...hold, hits: 0 });
		return;
	}
	tx.put("hold", key, null);
	tx.event("limit_over", null, { account });
	tx.stirred = true;
}

// ---- breakers -----------------------------------------------------------------------------------------------------------------------

/** Launch failures in a row for one agent or repo, and whose they were. */
type Streak = { jobs: number[]; reason: string };

const scopesOf = (job: Job): string[] => [
	...(job.agent === undefined ? [] : [`agent:${job.agent}`]),
	...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
];

/** The process was there: the environment works. */
export function launchWorked(tx: Tx, job: Job): void {
	if (job.agent === undefined && job.repo === undefined) return;
	for (const scope of scopesOf(job)) {
		if (tx.memory.recall("breaker", scope) !== null) tx.put("breaker", scope, null);
		const key = holdKey("breaker_open", scope);
		const hold = tx.memory.holds.get(key);
		if (hold?.kind !== "breaker_open" || hold.probe !== job.id) continue;
		tx.put("hold", key, null);
		tx.event("breaker_closed", job.id, { scope });
		tx.stirred = true;
	}
}

/** A person says that the environment is mended: nothing is probed any more. Whether one was open. */
export function* closeBreaker(tx: Tx, scope: string): Op<boolean> {
	if (tx.memory.recall("breaker", scope) !== null) tx.put("breaker", scope, null);
	const key = holdKey("breaker_open", scope);
	if (!tx.memory.holds.has(key)) return false;
	tx.put("hold", key, null);
	tx.event("breaker_closed", null, { scope });
	tx.stirred = true;
	yield* [];
	return true;
}

/** The probe ended without telling anything: another may go. */
export function probeUndecided(tx: Tx, job: Job): void {
	for (const scope of scopesOf(job)) {
		const key = holdKey("breaker_open", scope);
		const hold = tx.memory.holds.get(key);
		if (hold?.kind !== "breaker_open" || hold.probe !== job.id) continue;
		const { probe: _probe, ...rest } = hold;
		tx.put("hold", key, rest);
		tx.stirred = true;
	}
}

/** Counts a launch failure. True when it opened (or reopened) a breaker: then it is the environment's fault, and refunded. */
export function* launchFailed(tx: Tx, job: Job, reason: string): Op<boolean> {
	const { failures, cooldown_ms } = tx.config.environment_breaker;
	if (failures === 0) return false;
	let opened = false;
	for (const scope of scopesOf(job)) {
		const key = holdKey("breaker_open", scope);
		const hold = tx.memory.holds.get(key);
		const streak: Streak = { jobs: [...((tx.memory.recall("breaker", scope) as Streak | null)?.jobs ?? []), job.id], reason };
		const reopens = hold?.kind === "breaker_open" && hold.probe === job.id;
		const opens = !hold && streak.jobs.length >= failures && new Set(streak.jobs).size > 1;
		if (!reopens && !opens) {
			tx.put("breaker", scope, { ...streak, jobs: streak.jobs.slice(-100) });
			continue;
		}
		opened = true;
		tx.put("hold", key, { kind: "breaker_open", scope, by: tx.by, since: hold?.since ?? tx.now, reason, until: tx.now + cooldown_ms });
		tx.put("breaker", scope, null);
		tx.event("breaker_opened", job.id, { scope, reason, until: tx.now + cooldown_ms });
		// This last one is never counted.
		yield* refund(tx, streak.jobs.slice(0, -1));
	}
	return opened;
}

/** The failures that opened a breaker were not the jobs' own: uncounted, and their back-off is over. */
function* refund(tx: Tx, jobs: number[]): Op<void> {
	const field = tx.config.dispatch_breaker === "run" ? "failures" : "dispatch_failures";
	yield* tx.load(jobs);
	for (const id of new Set(jobs)) {
		const job = tx.peek(id);
		if (!job || isTerminal(job.status)) continue;
		const times = jobs.filter((other) => other === id).length;
		const left = Math.max(0, (job[field] ?? 0) - times);
		const ready = job.line === "";
		if (ready) tx.leave(job);
		job[field] = left > 0 ? left : undefined;
		tx.touch(job);
		if (ready) tx.enter(job);
		tx.event("refunded", id, { failures: times });
		if (job.backoff_until === undefined || job.line !== "time") continue;
		job.backoff_until = undefined;
		yield* place(tx, job);
	}
}
