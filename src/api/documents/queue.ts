// What ready jobs wait for, with what a person can do about it; and how many jobs there are of each status.

import type { QueueReport } from "../../contracts/scheduler.ts";
import type { Status } from "../../core/job.ts";
import type { ReasonCode } from "../../core/reason.ts";
import type { Context } from "../context.ts";
import { maybeTime, type Timed } from "../documents.ts";

/** What ends a cause, and for which subject: `lane:code`, `account:work`, `repo:app/cost_micro`. */
export type Remedy = { act: "resume" | "raise" | "open" | "close_breaker" | "grant" | "hosts"; subject: string };
type Cause = QueueReport["causes"][number];
export type CauseDocument = Timed<Cause, "clears_at"> & { remedy: Remedy | null };

const ACTS: Partial<Record<ReasonCode, Remedy["act"]>> = {
	paused: "resume",
	rate_limited: "open",
	outage: "open",
	account_closed: "open",
	breaker_open: "close_breaker",
	budget: "grant",
	no_host: "hosts",
	capacity: "raise",
};

/** Only these caps can be raised while the daemon runs; the others are in the configuration file. */
const RAISED = /^(?:all$|lane:)/;

function remedyOf({ kind, subject }: Cause): Remedy | null {
	const act = ACTS[kind];
	return act === undefined || (act === "raise" && !RAISED.test(subject)) ? null : { act, subject };
}

export const causeDocument = (cause: Cause): CauseDocument => ({
	...cause,
	clears_at: maybeTime(cause.clears_at),
	remedy: remedyOf(cause),
});

/** A value that is made again only after some times as long as it took: many callers cost little more than one. */
export class Reused<T> {
	private readonly made = new WeakMap<Context, { value: Promise<T>; until: number }>();

	constructor(
		private readonly make: (context: Context) => Promise<T>,
		private readonly times: number,
	) {}

	get(context: Context): Promise<T> {
		const { clock } = context;
		const began = clock.monotonic();
		const known = this.made.get(context);
		if (known && known.until > began) return known.value;
		const entry = { value: this.make(context), until: Number.POSITIVE_INFINITY };
		this.made.set(context, entry);
		const over = () => {
			entry.until = clock.monotonic() + this.times * (clock.monotonic() - began);
		};
		entry.value.then(over, () => this.made.delete(context));
		return entry.value;
	}
}

const counts = new Reused(({ scheduler }) => scheduler.counts(), 20);
export const countsOf = (context: Context): Promise<Record<Status, number>> => counts.get(context);
