// Budgets: integer ledgers by subject and dimension, with windows that roll over.

import type { Ledger } from "./limits-view.ts";
import { windowEnd, windowStart } from "./time/window.ts";

export const ledgerKey = (subject: string, dim: string) => `${subject}/${dim}`;

/** The usage in the current window. */
export const usedNow = (ledger: Ledger, now: number, timezone: string): number =>
	ledger.window !== null && windowStart(ledger.window, now, timezone) > ledger.window_at ? 0 : ledger.used;

/** Used up: no run may start. Subjects of preset kernel stop only above the limit. */
export function isSpent(ledger: Ledger, now: number, timezone: string): boolean {
	if (ledger.limit === null) return false;
	const used = usedNow(ledger, now, timezone);
	return ledger.subject.startsWith("pid:") ? used > ledger.limit : used >= ledger.limit;
}

/** What a run that starts now reserves. */
export const reserveOf = (ledger: Ledger): number =>
	ledger.reserve ?? (ledger.dim === "runs" && !ledger.subject.startsWith("pid:") ? 1 : 0);

/** The key in the counts of live runs under which a ledger's reservations are kept. */
export const reservedKey = (ledger: Pick<Ledger, "subject" | "dim">) => `budget:${ledgerKey(ledger.subject, ledger.dim)}`;

/** No run may start: the ledger is used up, or would be once all live runs have used what they reserved. */
export function isTaken(ledger: Ledger, reserved: number, now: number, timezone: string): boolean {
	if (isSpent(ledger, now, timezone)) return true;
	return ledger.limit !== null && reserved > 0 && usedNow(ledger, now, timezone) + reserved >= ledger.limit;
}

/** When a used-up ledger with a window becomes available again. */
export const refillsAt = (ledger: Ledger, now: number, timezone: string): number | undefined =>
	ledger.window === null ? undefined : windowEnd(ledger.window, now, timezone);

/** The ledger after a charge or a refund; a new window resets the announcements. */
export function charged(ledger: Ledger, amount: number, now: number, timezone: string): Ledger {
	const before = usedNow(ledger, now, timezone);
	const next: Ledger = { ...ledger, used: Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, before + amount)) };
	if (ledger.window === null) return next;
	const start = windowStart(ledger.window, now, timezone);
	if (start > ledger.window_at) {
		next.window_at = start;
		delete next.warned;
		delete next.breached;
		// A limit of zero is used up before the first charge: do not announce that again in each new window.
		const { warned, breached } = announce({ ...next, used: 0 }, now, timezone).ledger;
		if (warned) next.warned = true;
		if (breached) next.breached = true;
	}
	return next;
}

/** Sets the marks for what has been announced, and returns what is new. */
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

/** Micro-dollars → text. */
export const dollars = (micro: number): string => `$${(micro / 1e6).toFixed(micro % 10_000 === 0 ? 2 : 4)}`;

/** `4 of 4 runs`, `$1.00 of $5.00` */
export const usedWords = (used: number, limit: number | null, dim: string): string =>
	dim === "cost_micro"
		? `${dollars(used)} of ${limit === null ? "unlimited" : dollars(limit)}`
		: `${used} of ${limit === null ? "unlimited" : limit} ${dim}`;
