// Budgets: integer ledgers per owner, batch, repo and kernel pid, with rolling windows.

import { type Ledger, type ModelJob, note, running, type State } from "../state.ts";
import { isSameWindow } from "./hours.ts";

/** What has been used in the window that now lies in. */
export const usedOf = (state: State, ledger: Ledger, now: number): number =>
	ledger.window === null || isSameWindow(ledger.window, ledger.since, now, state.config.timezone) ? ledger.used : 0;

export function isOverBudget(state: State, ledger: Ledger, now: number): boolean {
	if (ledger.limit === null) return false;
	const used = usedOf(state, ledger, now);
	return ledger.subject.startsWith("pid:") ? used > ledger.limit : used >= ledger.limit;
}

/** What live runs have set aside of it: each as much as was asked for when it started. */
export const reservedOf = (state: State, ledger: Ledger): number =>
	running(state).reduce((sum, job) => sum + (job.run?.reserved[`${ledger.subject}/${ledger.dim}`] ?? 0), 0);

/** Nothing more may start at its expense: used up, counting what is set aside. */
export function isOut(state: State, ledger: Ledger, now: number): boolean {
	if (isOverBudget(state, ledger, now)) return true;
	const reserved = reservedOf(state, ledger);
	return ledger.limit !== null && reserved > 0 && usedOf(state, ledger, now) + reserved >= ledger.limit;
}

/** One run of `runs`, and of the rest what its grant says. */
export const reservedBy = (state: State, job: ModelJob): Record<string, number> =>
	Object.fromEntries(
		state.ledgers
			.filter((ledger) => payers(job).includes(ledger.subject))
			.map((ledger) => [`${ledger.subject}/${ledger.dim}`, ledger.reserve ?? (ledger.dim === "runs" ? 1 : 0)] as const)
			.filter(([, amount]) => amount > 0),
	);

export const ledgerOf = (state: State, subject: string, dim: string) =>
	state.ledgers.find((ledger) => ledger.subject === subject && ledger.dim === dim);

export const payers = (job: ModelJob): string[] => [
	...(job.owner === undefined ? [] : [`owner:${job.owner}`]),
	...(job.batch === undefined ? [] : [`batch:${job.batch}`]),
	...(job.repo === undefined ? [] : [`repo:${job.repo}`]),
];

export function chargeLedger(state: State, ledger: Ledger, amount: number, now: number): { warned: boolean; first_breach: boolean } {
	const before = usedOf(state, ledger, now);
	const wasOver = isOverBudget(state, ledger, now);
	ledger.used = Math.max(0, before + amount);
	ledger.since = now;
	const isOver = isOverBudget(state, ledger, now);
	const warnAt = ledger.limit === null ? Number.POSITIVE_INFINITY : ledger.warn_at * ledger.limit;
	if (isOver && ledger.on_breach === "stop") stopRuns(state, ledger.subject);
	return { warned: before < warnAt && ledger.used >= warnAt, first_breach: !wasOver && isOver };
}

/** on_breach: stop — an intent to cancel on every run in flight. */
export function stopRuns(state: State, subject: string): void {
	for (const job of running(state)) {
		if (job.run !== undefined && payers(job).includes(subject)) {
			note(state, "on-breach-stop");
			job.run.intent ??= "cancelled";
		}
	}
}

/** At a run's end: one run, its whole seconds rounded up, and what its agent reported, where such a ledger exists. */
export function chargeRun(state: State, job: ModelJob, usage: Record<string, number>, now: number): void {
	const seconds = Math.ceil(Math.max(0, now - (job.run?.started_at ?? now)) / 1000);
	for (const subject of payers(job)) {
		for (const [dim, amount] of Object.entries({ ...usage, runs: 1, wall_s: seconds })) {
			const ledger = ledgerOf(state, subject, dim);
			if (ledger !== undefined && amount !== 0) chargeLedger(state, ledger, amount, now);
		}
	}
}
