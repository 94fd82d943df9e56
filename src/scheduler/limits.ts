// Holds on accounts, breakers on environments, ledgers of money: what keeps work from starting, and what lets it go on.

import { isTerminal, type Job, type Run } from "../core/job.ts";
import { announce, charged, isSpent, isTaken, ledgerKey, refillsAt, reservedKey, reserveOf, usedNow } from "../core/ledger.ts";
import { limitDelayMs } from "../core/retry.ts";
import { windowStart } from "../core/window.ts";
import { holdKey, type Ledger } from "../core/world.ts";
import type { BudgetView, LedgerView } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
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
	const until = Math.max(wanted, known?.until ?? 0);
	const isReset = until === wanted ? reset : (known?.reset ?? reset);
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

// ---- ledgers ------------------------------------------------------------------------------------------------------------------------

export function viewLedger(tx: Tx, ledger: Ledger): LedgerView {
	const { timezone } = tx.config;
	return {
		subject: ledger.subject,
		dim: ledger.dim,
		used: usedNow(ledger, tx.now, timezone),
		limit: ledger.limit,
		warn_at: ledger.warn_at,
		window: ledger.window,
		over_limit: isSpent(ledger, tx.now, timezone),
	};
}

export function viewBudget(tx: Tx, ledger: Ledger): BudgetView {
	return {
		...viewLedger(tx, ledger),
		reserved: tx.memory.usage.get(reservedKey(ledger)) ?? 0,
		reserve: reserveOf(ledger),
		on_breach: ledger.on_breach ?? "finish",
		refills_at: refillsAt(ledger, tx.now, tx.config.timezone) ?? null,
	};
}

export function ledgerOf(tx: Tx, subject: string, dim: string): Ledger | undefined {
	return tx.memory.ledgers.get(subject)?.find((ledger) => ledger.dim === dim);
}

export function* putLedger(tx: Tx, ledger: Ledger): Op<{ warned: boolean; first_breach: boolean }> {
	const before = ledgerOf(tx, ledger.subject, ledger.dim);
	const takenBefore = before !== undefined && isTakenNow(tx, before);
	const taken = isTakenNow(tx, ledger);
	const news = announce(ledger, tx.now, tx.config.timezone);
	tx.put("ledger", ledgerKey(ledger.subject, ledger.dim), news.ledger);
	if (news.warned) tx.event("budget_warned", null, { subject: ledger.subject, dim: ledger.dim, used: ledger.used, limit: ledger.limit });
	if (news.first_breach) {
		tx.event("budget_breached", null, { subject: ledger.subject, dim: ledger.dim, used: ledger.used, limit: ledger.limit });
		if (ledger.on_breach === "stop") yield* stopRuns(tx, ledger);
	}
	if (taken !== takenBefore) turned(tx, ledger, taken ? "taken" : "free");
	return news;
}

const isTakenNow = (tx: Tx, ledger: Ledger): boolean =>
	isTaken(ledger, tx.memory.usage.get(reservedKey(ledger)) ?? 0, tx.now, tx.config.timezone);

/** Jobs of a batch are parked on its budget, so they are told; the rest is asked anew at each start. */
function turned(tx: Tx, { subject }: Ledger, to: "taken" | "free"): void {
	if (to === "free") tx.stirred = true;
	if (subject.startsWith("batch:")) tx.put("settle", `batch/${subject.slice(6)}`, { after: 0 });
}

/** A run that starts sets aside what it is expected to use, so that many at once do not each count on the same rest. */
export function reserveBudgets(tx: Tx, job: Job & { run: Run }): void {
	for (const subject of payers(job))
		for (const ledger of tx.memory.ledgers.get(subject) ?? []) {
			const amount = reserveOf(ledger);
			if (amount === 0) continue;
			const before = isTakenNow(tx, ledger);
			job.run.reserved = { ...job.run.reserved, [reservedKey(ledger)]: amount };
			tx.count("usage", reservedKey(ledger), amount);
			if (!before && isTakenNow(tx, ledger)) turned(tx, ledger, "taken");
		}
}

/** Its end: what it set aside is free again; what it used is charged apart. Returns what has to be looked at after that charge. */
export function releaseBudgets(tx: Tx, { reserved }: Run): () => void {
	if (reserved === undefined) return () => {};
	const held = Object.keys(reserved).filter((key) => key.startsWith("budget:batch:"));
	const ledgers = held.flatMap(
		(key) => ledgerOf(tx, key.slice("budget:".length, key.lastIndexOf("/")), key.slice(key.lastIndexOf("/") + 1)) ?? [],
	);
	const taken = ledgers.filter((ledger) => isTakenNow(tx, ledger));
	for (const [key, amount] of Object.entries(reserved)) tx.count("usage", key, -amount);
	return () => {
		for (const { subject, dim } of taken) {
			const now = ledgerOf(tx, subject, dim);
			if (now && !isTakenNow(tx, now)) turned(tx, now, "free");
		}
	};
}

/** `on_breach: stop`: what runs at their expense is asked to stop. */
function* stopRuns(tx: Tx, ledger: Ledger): Op<void> {
	const [kind, name] = [ledger.subject.slice(0, ledger.subject.indexOf(":")), ledger.subject.slice(ledger.subject.indexOf(":") + 1)];
	const filter = {
		status: ["running" as const],
		...(kind === "owner" ? { owner: name } : kind === "batch" ? { batch: name } : { repo: name }),
	};
	for (const { id } of yield* ask({ read: "active", filter, after: 0, limit: 10_000 })) {
		const job = yield* tx.find(id);
		if (!job?.run || job.run.intent) continue;
		job.run.intent = { kind: "cancelled", reason: `budget: ${ledger.dim} of ${ledger.subject} is used up`, by: tx.by, at: tx.now };
		tx.touch(job);
		tx.event("stop_asked", id, { reason: job.run.intent.reason });
	}
}

export function* chargeLedger(
	tx: Tx,
	subject: string,
	dim: string,
	amount: number,
): Op<{ ledger: Ledger; warned: boolean; first_breach: boolean } | undefined> {
	const ledger = ledgerOf(tx, subject, dim);
	if (!ledger) return undefined;
	const news = yield* putLedger(tx, charged(ledger, amount, tx.now, tx.config.timezone));
	return { ledger: ledgerOf(tx, subject, dim) as Ledger, ...news };
}

export const freshLedger = (subject: string, dim: string): Ledger => ({
	subject,
	dim,
	used: 0,
	limit: null,
	warn_at: 0.8,
	window: null,
	window_at: 0,
});

export const alignWindow = (tx: Tx, ledger: Ledger): Ledger => ({
	...ledger,
	window_at: ledger.window === null ? 0 : windowStart(ledger.window, tx.now, tx.config.timezone),
});

const payers = (job: Job): string[] => [
	...(job.owner === undefined ? [] : [`owner:${job.owner}`]),
	...(job.batch === undefined ? [] : [`batch:${job.batch}`]),
	...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
];

/** What a run cost goes to its owner, its batch and its repo, where they keep a ledger for it. */
export function* chargeRun(tx: Tx, job: Job, usage: Record<string, number>): Op<void> {
	for (const subject of payers(job))
		for (const [dim, amount] of Object.entries(usage)) if (amount !== 0) yield* chargeLedger(tx, subject, dim, amount);
}
