// Budgets: integer ledgers by subject and dimension, with windows that roll over.

import { windowEnd, windowStart } from "./window.ts";
import type { Ledger } from "./world.ts";

export const ledgerKey = (subject: string, dim: string) => `${subject}/${dim}`;

/** What is used in the window that `now` lies in. */
export const usedNow = (ledger: Ledger, now: number, timezone: string): number =>
	ledger.window !== null && windowStart(ledger.window, now, timezone) > ledger.window_at ? 0 : ledger.used;

/** Used up: nothing more may start. Kernel subjects (004) stop only past the limit. */
export function isSpent(ledger: Ledger, now: number, timezone: string): boolean {
	if (ledger.limit === null) return false;
	const used = usedNow(ledger, now, timezone);
	return ledger.subject.startsWith("pid:") ? used > ledger.limit : used >= ledger.limit;
}

/** What a run that starts now reserves of it. */
export const reserveOf = (ledger: Ledger): number =>
	ledger.reserve ?? (ledger.dim === "runs" && !ledger.subject.startsWith("pid:") ? 1 : 0);

/** Under which the counts of live runs have what is reserved of a ledger. */
export const reservedKey = (ledger: Pick<Ledger, "subject" | "dim">) => `budget:${ledgerKey(ledger.subject, ledger.dim)}`;

/** Nothing more may start: it is used up, or would be if all that runs used what it has reserved. */
export function isTaken(ledger: Ledger, reserved: number, now: number, timezone: string): boolean {
	if (isSpent(ledger, now, timezone)) return true;
	return ledger.limit !== null && reserved > 0 && usedNow(ledger, now, timezone) + reserved >= ledger.limit;
}

/** When a spent ledger with a window is good again. */
export const refillsAt = (ledger: Ledger, now: number, timezone: string): number | undefined =>
	ledger.window === null ? undefined : windowEnd(ledger.window, now, timezone);

/** The ledger after a charge, or a refund; a new window begins with nothing announced. */
export function charged(ledger: Ledger, amount: number, now: number, timezone: string): Ledger {
	const before = usedNow(ledger, now, timezone);
	const next: Ledger = { ...ledger, used: Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, before + amount)) };
	if (ledger.window === null) return next;
	const start = windowStart(ledger.window, now, timezone);
	if (start > ledger.window_at) {
		next.window_at = start;
		delete next.warned;
		delete next.breached;
		// A limit of nothing is used up before the first charge: that is no news in each new window.
		const { warned, breached } = announce({ ...next, used: 0 }, now, timezone).ledger;
		if (warned) next.warned = true;
		if (breached) next.breached = true;
	}
	return next;
}

/** Sets the marks that say what has been announced, and tells what is new. */
export function announce(ledger: Ledger, now: number, timezone: string): { ledger: Ledger; warned: boolean; first_breach: boolean } {
	const next = { ...ledger };
	const spent = isSpent(next, now, timezone);
	const warm = next.limit !== null && usedNow(next, now, timezone) >= next.limit * next.warn_at;
	const first_breach = spent && !next.breached;
	const warned = warm && !next.warned;
	if (spent) next.breached = true;
	else delete next.breached;
	if (warm) next.warned = true;
	else delete next.warned;
	return { ledger: next, warned, first_breach };
}

/** Money is kept in millionths of a dollar. */
export const dollars = (micro: number): string => `$${(micro / 1e6).toFixed(micro % 10_000 === 0 ? 2 : 4)}`;

/** `4 of 4 runs`, `$1.00 of $5.00` */
export const usedWords = (used: number, limit: number | null, dim: string): string =>
	dim === "cost_micro"
		? `${dollars(used)} of ${limit === null ? "unlimited" : dollars(limit)}`
		: `${used} of ${limit === null ? "unlimited" : limit} ${dim}`;
