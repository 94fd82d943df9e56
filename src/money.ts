// Contract: accounts and budgets, as the scheduler shows them.

import type { Reason } from "./core/reason.ts";

/** `returning`: a limit is over, and starts are spaced until one has succeeded. `outage`: the provider is down; one run at a time tries it. */
export type AccountView = {
	name: string;
	max: number | null;
	max_api_calls: number;
	/** Live runs, and call slots that are taken. */
	running: number;
	calls: number;
	/** Lanes that list it. */
	lanes: string[];
	state: "open" | "returning" | "paused" | "rate_limited" | "outage" | "closed";
	since: number | null;
	until: number | null;
	/** The earliest next start. */
	next_at: number | null;
	/** Limits in a row, or tries in a row that met the outage; whether the limit ends at a reset, named or assumed. */
	hits: number;
	reset: boolean;
	by: string | null;
	reason: string | null;
	/** All that keeps work from starting on it now. */
	reasons: Reason[];
};

export type LedgerView = {
	subject: string;
	dim: string;
	used: number;
	limit: number | null;
	warn_at: number;
	window: "hour" | "day" | null;
	over_limit: boolean;
};
/** A ledger of an owner, a batch or a repo. */
export type BudgetView = LedgerView & {
	/** What live runs have set aside of it, and what each run that starts does. */
	reserved: number;
	reserve: number;
	on_breach: "finish" | "stop";
	/** When its window begins anew; null without one. */
	refills_at: number | null;
};
