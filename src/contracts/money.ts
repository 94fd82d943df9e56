// Contract of accounts and budgets, as the scheduler shows them.

import type { Ledger } from "../core/limits-view.ts";
import type { Reason } from "../core/reason.ts";

/** `returning`: a limit is over, and starts are spaced until one has succeeded. `outage`: the provider is down; one run at a time probes it. */
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
	/** Consecutive limits, or consecutive probes that met the outage; `reset`: the limit ends at a reset time, named or assumed. */
	hits: number;
	reset: boolean;
	by: string | null;
	reason: string | null;
	/** All reasons that keep work from starting on it now. */
	reasons: Reason[];
};

export type LedgerView = Pick<Ledger, "subject" | "dim" | "used" | "limit" | "warn_at" | "window"> & { over_limit: boolean };
/** A ledger of an owner, a batch or a repo. */
export type BudgetView = LedgerView & {
	/** What live runs have reserved of it, and what each new run reserves. */
	reserved: number;
	reserve: number;
	on_breach: "finish" | "stop";
	/** When its next window begins; null without a window. */
	refills_at: number | null;
};
