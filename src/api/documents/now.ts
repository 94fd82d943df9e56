// The home of the page in one answer: what needs a person, what runs, what comes next, what has just ended, what it costs, when it is done.

import type { BudgetView, JobView, QueueReport, StatusReport } from "../../contracts/scheduler.ts";
import type { Forecast } from "../../core/forecast/forecast.ts";
import type { Status } from "../../core/job.ts";
import { windowStart } from "../../core/time/window.ts";
import { shownAll } from "../call.ts";
import type { Context } from "../context.ts";
import { type JobDocument, maybeTime, rfc3339, type Timed, type Timestamp } from "../documents.ts";
import { lastForecast } from "./eta.ts";
import { type RangeDocument, rangeDocument } from "./forecast.ts";
import { type CauseDocument, causeDocument, countsOf, Reused } from "./queue.ts";
import { type StatusDocument, unmerged } from "./status.ts";

const FIELDS = [
	...(["id", "name", "status", "title", "prompt", "command", "agent", "model", "lane", "repo", "batch", "account", "owner"] as const),
	...(["attempt", "created_at", "started_at", "ended_at", "exit_kind", "exit_code", "end_reason", "last_failure"] as const),
	...(["merge_status", "merge_report", "merge_commit", "question", "denied", "permission", "granted", "approval"] as const),
	...(["waits_for", "usage", "run"] as const),
] as const;
export type NowJob = Pick<JobDocument, (typeof FIELDS)[number]>;

/** `approval`: of the job's command or prompt. `answer`: to a question, or a permission. `merge`: it is stuck. */
export type NeedsYou = {
	job: NowJob;
	asks: "approval" | "answer" | "merge";
	text: string | null;
	since: Timestamp;
	/** Jobs that come after it, directly or through others; counted up to 200. */
	waiting: number;
};
export type RunningNow = {
	job: NowJob;
	usual: { p50_ms: number; p90_ms: number } | null;
	end: RangeDocument | null;
};
type BudgetNow = Timed<BudgetView, "refills_at">;

export type NowDocument = {
	now: Timestamp;
	counts: Record<Status, number>;
	needs_you: NeedsYou[];
	/** Longest first. */
	running: RunningNow[];
	/** `cause` is an index in `causes`. */
	next: { job: NowJob; cause: number | null; start: RangeDocument | null }[];
	causes: CauseDocument[];
	/** Failures of the last 24 hours that were not retried, newest first. */
	failed: NowJob[];
	ended: NowJob[];
	/** Of runs that ended since midnight in the daemon's time zone, and of those that go on; `hour_micro`: of jobs that ended in the last hour, and of runs that go on. */
	money: { today_micro: number; hour_micro: number; since: Timestamp; complete: boolean; budgets: BudgetNow[] };
	/** `stuck`: jobs for which no time can be told. */
	done: { end: RangeDocument | null; stuck: number; note: string | null };
};

const SHOWN = { people: 50, running: 60, next: 12, failed: 8, ended: 10 };
/** Fewer runs say nothing about what is usual. */
const ENOUGH_RUNS = 5;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BAD: Status[] = ["failed", "blocked_by_dependency", "expired"];

const part = (job: JobDocument): NowJob => Object.fromEntries(FIELDS.map((field) => [field, job[field]])) as NowJob;
const newest = (a: JobView, b: JobView): number => (b.ended_at ?? 0) - (a.ended_at ?? 0) || b.id - a.id;

export async function nowDocument(context: Context): Promise<NowDocument> {
	const { scheduler, clock } = context;
	const status = await scheduler.status();
	const merges = await unmerged(context);
	const people = [...status.needs_human, ...merges].slice(0, SHOWN.people).map(({ job }) => job);
	const { jobs, causes, behind } = await scheduler.queue({ limit: SHOWN.next, behind: people });
	const running = await scheduler.list({ status: ["running"], limit: SHOWN.running });
	const named = await scheduler.list({ ids: [...people, ...jobs.map(({ id }) => id)] });
	const ended = (await scheduler.list({ recent: SHOWN.ended })).sort(newest);
	const bad = await scheduler.list({ status: BAD, before: Number.MAX_SAFE_INTEGER, limit: 4 * SHOWN.failed });
	const failed = bad
		.filter(({ ended_at = 0 }) => ended_at >= clock.now() - DAY_MS)
		.sort(newest)
		.slice(0, SHOWN.failed);
	const forecast = await lastForecast(context, status.queued_total + status.running);
	const all = new Map(shownAll(context, [...running, ...named, ...ended, ...failed]).map((job) => [job.id, part(job)]));
	const shown = (views: readonly JobView[]) => views.flatMap(({ id }) => all.get(id) ?? []);
	const live = shown(running);
	return {
		now: rfc3339(clock.now()),
		counts: await countsOf(context),
		needs_you: needsOf({ status, merges, all, behind }),
		running: live.sort((a, b) => Date.parse(a.started_at ?? "") - Date.parse(b.started_at ?? "")).map((job) => runningNow(job, forecast)),
		next: jobs.flatMap(({ id, cause }) => {
			const job = all.get(id);
			return job ? [{ job, cause, start: rangeDocument(forecast?.jobs.find((one) => one.id === id)?.start ?? null) }] : [];
		}),
		causes: causes.map(causeDocument),
		failed: shown(failed),
		ended: shown(ended.filter(({ status }) => !BAD.includes(status))),
		money: await moneyOf(context, live),
		done: doneOf(forecast),
	};
}

type People = {
	status: StatusReport;
	merges: NonNullable<StatusDocument["unmerged"]>;
	all: ReadonlyMap<number, NowJob>;
	behind: QueueReport["behind"];
};

function needsOf({ status, merges, all, behind }: People): NeedsYou[] {
	const need = (id: number, asks: NeedsYou["asks"], text: string | null, since: Timestamp): NeedsYou[] => {
		const job = all.get(id);
		return job ? [{ job, asks, text, since, waiting: behind[id] ?? 0 }] : [];
	};
	return [
		...status.needs_human.flatMap(({ job, question, since }) =>
			need(job, question === null ? "approval" : "answer", question, rfc3339(since)),
		),
		...merges.flatMap(({ job, message, since }) => need(job, "merge", message, since)),
	].sort((a, b) => (a.since < b.since ? -1 : 1));
}

function runningNow(job: NowJob, forecast: Forecast | null): RunningNow {
	const known = forecast?.jobs.find((one) => one.id === job.id);
	return {
		job,
		usual: known?.basis?.like === "same" && known.basis.runs >= ENOUGH_RUNS ? known.basis.usual : null,
		end: rangeDocument(known?.end ?? null),
	};
}

/** Runs that ended since midnight, by the rollups, and jobs that ended in the last hour. */
const spent = new Reused(async ({ scheduler, clock }: Context) => {
	const now = clock.now();
	const midnight = windowStart("day", now, scheduler.config().timezone);
	const { total, known_since } = await scheduler.stats({ since: midnight, bucket: "hour" });
	const day = { cost_micro: total.cost_micro, complete: known_since === null || known_since <= midnight };
	return { midnight, hour: await scheduler.spent(now - HOUR_MS), day };
}, 20);

async function moneyOf(context: Context, live: readonly NowJob[]): Promise<NowDocument["money"]> {
	const { midnight, hour, day } = await spent.get(context);
	const now = live.reduce((sum, { run }) => sum + (run?.progress?.cost_micro ?? 0), 0);
	const budgets = (await context.scheduler.ledgers())
		.filter(({ dim, limit, subject }) => dim === "cost_micro" && limit !== null && !subject.startsWith("pid:"))
		.sort((a, b) => share(b) - share(a));
	return {
		today_micro: day.cost_micro + now,
		hour_micro: hour.cost_micro + now,
		since: rfc3339(midnight),
		complete: day.complete,
		budgets: budgets.slice(0, 5).map((one) => ({ ...one, refills_at: maybeTime(one.refills_at) })),
	};
}

const share = ({ used, reserved, limit }: BudgetView): number => (used + reserved) / Math.max(1, limit ?? 1);

function doneOf(forecast: Forecast | null): NowDocument["done"] {
	if (forecast === null) return { end: null, stuck: 0, note: null };
	const stuck = forecast.jobs.filter((job) => job.end === null).length;
	return { end: rangeDocument(forecast.end), stuck, note: forecast.notes[0] ?? null };
}
