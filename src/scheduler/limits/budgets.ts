// Ledgers (money, tokens, run time): charging them, reserving for live runs, and what happens when one is used up.

import type { BudgetView, LedgerView } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import type { Job, Run, RunningJob } from "../../core/job.ts";
import { announce, charged, isSpent, isTaken, ledgerKey, refillsAt, reservedKey, reserveOf, usedNow } from "../../core/ledger.ts";
import type { Ledger } from "../../core/limits-view.ts";
import { windowStart } from "../../core/time/window.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";

export function viewLedger(tx: Tx, ledger: Ledger): LedgerView {
	const { subject, dim, limit, warn_at, window } = ledger;
	const { timezone } = tx.config;
	const used = usedNow(ledger, tx.now, timezone);
	return { subject, dim, used, limit, warn_at, window, over_limit: isSpent(ledger, tx.now, timezone) };
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
	if (news.first_breach)
		tx.event("budget_breached", null, { subject: ledger.subject, dim: ledger.dim, used: ledger.used, limit: ledger.limit });
	// A grant may say only now that runs are to be stopped.
	if (news.ledger.breached && ledger.on_breach === "stop" && (news.first_breach || before?.on_breach !== "stop"))
		yield* stopRuns(tx, ledger);
	if (taken !== takenBefore) turned(tx, ledger, taken ? "taken" : "free");
	return news;
}

const isTakenNow = (tx: Tx, ledger: Ledger): boolean =>
	isTaken(ledger, tx.memory.usage.get(reservedKey(ledger)) ?? 0, tx.now, tx.config.timezone);

/** Jobs of a batch are parked on its budget, so they are decided again; other budgets are checked at each start. */
function turned(tx: Tx, { subject }: Ledger, to: "taken" | "free"): void {
	if (to === "free") tx.stirred = true;
	if (subject.startsWith("batch:")) continueLater(tx, { do: "batch", of: subject.slice(6), after: 0 });
}

/** Reserves what the run is expected to use, so that many runs that start together do not all count on the same remainder. */
export function reserveBudgets(tx: Tx, job: RunningJob): void {
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

/**
 * At the end of a run, releases its reservation; what it used is charged separately. The caller must call the returned function after that charge: it wakes the
 * jobs of batches whose budget has room again.
 */
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

/** `on_breach: stop`: requests a stop of all runs that this ledger pays for. */
function* stopRuns(tx: Tx, ledger: Ledger): Op<void> {
	const [kind, name] = [ledger.subject.slice(0, ledger.subject.indexOf(":")), ledger.subject.slice(ledger.subject.indexOf(":") + 1)];
	const filter = {
		status: ["running" as const],
		...(kind === "owner" ? { owner: name } : kind === "batch" ? { batch: name } : { repo: name }),
	};
	for (const { id } of yield* ask({ read: "active", filter, after: 0, limit: 10_000 })) {
		const job = yield* tx.find(id);
		if (!job?.run || (job.run.intent && !job.run.intent.resumes)) continue;
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

export type Grant = {
	limit: number | null;
	warn_at?: number;
	window?: "hour" | "day" | null;
	on_breach?: "finish" | "stop";
	reserve?: number;
};

export function* grantBudget(tx: Tx, subject: string, dim: string, grant: Grant): Op<BudgetView> {
	const before = ledgerOf(tx, subject, dim) ?? freshLedger(subject, dim);
	yield* putLedger(tx, alignWindow(tx, { ...before, ...grant, used: viewBudget(tx, before).used }));
	tx.event("granted", null, { subject, dim, limit: grant.limit });
	tx.stirred = true;
	return viewBudget(tx, ledgerOf(tx, subject, dim) ?? before);
}

export function* chargeBudget(
	tx: Tx,
	subject: string,
	dim: string,
	amount: number,
): Op<BudgetView & { warned: boolean; first_breach: boolean }> {
	if (!ledgerOf(tx, subject, dim)) yield* putLedger(tx, freshLedger(subject, dim));
	const news = yield* chargeLedger(tx, subject, dim, amount);
	const ledger = news?.ledger ?? freshLedger(subject, dim);
	return { ...viewBudget(tx, ledger), warned: news?.warned ?? false, first_breach: news?.first_breach ?? false };
}

const UNUSED = { used: 0, limit: null, warn_at: 0.8, window: null, window_at: 0 } as const;
export const freshLedger = (subject: string, dim: string): Ledger => ({ subject, dim, ...UNUSED });

export const alignWindow = (tx: Tx, ledger: Ledger): Ledger => ({
	...ledger,
	window_at: ledger.window === null ? 0 : windowStart(ledger.window, tx.now, tx.config.timezone),
});

const payers = (job: Job): string[] => [
	...(job.owner === undefined ? [] : [`owner:${job.owner}`]),
	...(job.batch === undefined ? [] : [`batch:${job.batch}`]),
	...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
];

/** Charges a run's usage to its owner, batch and repo, where they have a ledger for it. */
export function* chargeRun(tx: Tx, job: Job, usage: Record<string, number>): Op<void> {
	for (const subject of payers(job))
		for (const [dim, amount] of Object.entries(usage)) if (amount !== 0) yield* chargeLedger(tx, subject, dim, amount);
}
