// What ready jobs wait for, with what a person can do about it; and how many jobs there are of each status.

import type { JobView, LockView, QueueReport } from "../../contracts/scheduler.ts";
import type { Status } from "../../core/job.ts";
import type { Reason, ReasonCode } from "../../core/reason.ts";
import type { Context } from "../context.ts";
import { maybeTime, type Timed } from "../documents.ts";

/** What ends a cause, and for which subject: `lane:code`, `account:work`, `repo:app/cost_micro`. `release`: `job.release` with the cause's `ids`. */
export type Remedy = { act: "resume" | "release" | "raise" | "open" | "close_breaker" | "grant" | "hosts"; subject: string };
type Cause = QueueReport["causes"][number];
export type CauseDocument = Timed<Cause, "clears_at"> & { remedy: Remedy | null };

const ACTS: Partial<Record<ReasonCode, Remedy["act"]>> = {
	paused: "resume",
	held: "release",
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

function remedyOf(kind: ReasonCode, subject: string): Remedy | null {
	const act = ACTS[kind];
	return act === undefined || (act === "raise" && !RAISED.test(subject)) ? null : { act, subject };
}

/** What ends a reason of one job: what ends the cause for all jobs, or an act on this one. `run_now`: before all others, without its delay. */
export type ReasonRemedy = Remedy | { act: "run_now" | "approve" | "answer"; subject: string };

const JOB_ACTS: Partial<Record<ReasonCode, "run_now" | "approve" | "answer">> = {
	delayed: "run_now",
	backoff: "run_now",
	turn: "run_now",
	approval: "approve",
	needs_human: "answer",
};

export function reasonRemedy({ code, subject }: Pick<Reason, "code" | "subject">): ReasonRemedy | null {
	const act = JOB_ACTS[code];
	return act === undefined ? remedyOf(code, subject) : { act, subject };
}

export const causeDocument = (cause: Cause): CauseDocument => ({
	...cause,
	clears_at: maybeTime(cause.clears_at),
	remedy: remedyOf(cause.kind, cause.subject),
});

/** Jobs that wait for a lock are explained up to this number. */
const MOST_LOCKED = 500;

/** Which job has the lock that each waiting job needs. */
export async function lockedJobs({ scheduler }: Context): Promise<{ id: number; detail: string }[]> {
	const waiting = await scheduler.list({ status: ["waiting_on_locks"], limit: MOST_LOCKED });
	if (waiting.length === 0) return [];
	const locks = new Map((await scheduler.locks()).map((lock) => [lock.key, lock]));
	return waiting.flatMap((job) => {
		const detail = lockWords(job, locks);
		return detail === null ? [] : [{ id: job.id, detail }];
	});
}

/** The first of its locks that it cannot take. */
function lockWords({ id, locks = [] }: JobView, known: ReadonlyMap<string, LockView>): string | null {
	for (const { key, mode } of locks) {
		const { holders = [], reserved_for = null } = known.get(key) ?? {};
		const [first, ...others] = holders.filter(({ job, mode: held }) => job !== id && (mode === "exclusive" || held === "exclusive"));
		if (first) return `lock ${key}, held by job ${first.job}${others.length > 0 ? ` and ${others.length} more` : ""}`;
		if (reserved_for !== null && reserved_for !== id) return `lock ${key}, kept for job ${reserved_for}`;
	}
	return null;
}

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
