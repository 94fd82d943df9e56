// The timeline's bars: each job's wait and run, by lane, packed without overlap; expected ones in outline. Pure.

import type { ForecastDocument } from "../../src/api/documents/forecast.ts";
import type { PageRow } from "./row.ts";

export type Bar = {
	id: number;
	label: string;
	status: PageRow["status"];
	/** Epoch ms: when the wait began, when the run began, when it ended. */
	waits: number;
	starts: number;
	ends: number;
	/** Which run of its job, if it is not the last one. */
	attempt: number | null;
	/** Forecast, not observed: with the later of the two ends. */
	expected: { late: number } | null;
	/** The line within its lane. */
	line: number;
};
/** `max`: the cap of the lane. Its lines are slots: as many as runs were or will be side by side, at most the cap where one is set. */
export type LaneBars = { lane: string; bars: Bar[]; lines: number; max: number | null };
type Attempt = { job: number; attempt: number; started_at: string; ended_at: string | null; end: string | null };
export type BarsAsked = {
	forecast: ForecastDocument | null;
	/** Runs of jobs that had several. */
	attempts: readonly Attempt[];
	caps: Readonly<Record<string, number | null>>;
	now: number;
	window: { from: number; to: number };
};

/** Maximum wait that is drawn; otherwise a job from yesterday would take a whole line. */
const WAIT_SHOWN_MS = 10 * 60_000;

/** Jobs that had a run before the one that their rows tell of. */
export const retried = (rows: Iterable<PageRow>): PageRow[] =>
	[...rows].filter(({ attempt, startedAt }) => attempt > 1 || (attempt === 1 && startedAt === null));

export function barsOf(rows: Iterable<PageRow>, { forecast, attempts, caps, now, window }: BarsAsked): LaneBars[] {
	const lanes = new Map<string, Bar[]>();
	const put = (lane: string, bar: Bar) => {
		if (bar.waits > window.to || (bar.expected?.late ?? bar.ends) < window.from) return;
		const bars = lanes.get(lane);
		if (bars) bars.push(bar);
		else lanes.set(lane, [bar]);
	};
	const known = new Map<number, PageRow>();
	for (const row of rows) {
		known.set(row.id, row);
		if (row.startedAt === null) continue;
		const waits = Math.max(row.readyAt ?? row.createdAt, row.startedAt - WAIT_SHOWN_MS);
		const ends = row.endedAt ?? now;
		const { id, label, status } = row;
		put(row.lane, {
			id,
			label,
			status,
			waits: Math.min(waits, row.startedAt),
			starts: row.startedAt,
			ends,
			attempt: null,
			expected: null,
			line: 0,
		});
	}
	for (const run of attempts) {
		const row = known.get(run.job);
		const [starts, ends] = [Date.parse(run.started_at), Date.parse(run.ended_at ?? "")];
		// The last run is the row's own.
		if (!row || Number.isNaN(ends) || (row.startedAt !== null && run.attempt >= row.attempt)) continue;
		const status = run.end === "completed" ? "succeeded" : run.end === "cancelled" ? "cancelled" : "failed";
		put(row.lane, { id: row.id, label: row.label, status, waits: starts, starts, ends, attempt: run.attempt, expected: null, line: 0 });
	}
	for (const job of forecast?.jobs ?? []) {
		if (job.end === null || job.start === null) continue;
		const row = known.get(job.id);
		const [starts, ends, late] = [Date.parse(job.start.p50), Date.parse(job.end.p50), Date.parse(job.end.p90)];
		// For a running job only the rest is forecast.
		const from = row?.startedAt ? now : starts;
		if (late <= now || (row?.endedAt ?? null) !== null) continue;
		const label = row?.label ?? job.name ?? `job ${job.id}`;
		put(job.lane, {
			id: job.id,
			label,
			status: job.status,
			waits: from,
			starts: from,
			ends: Math.max(from, ends),
			attempt: null,
			expected: { late },
			line: 0,
		});
	}
	const all = [...lanes].sort(([a], [b]) => (a < b ? -1 : 1));
	return all.map(([lane, bars]) => ({ lane, bars, lines: pack(bars, caps[lane] ?? MOST_LINES), max: caps[lane] ?? null }));
}

/** Lines of a lane without a cap; more runs than that share lines. */
const MOST_LINES = 24;

/**
 * Gives each run the first slot that is free when it starts; the expected rest of a job continues on the line of its run. Forecasts that overlap more than the
 * cap allows, because each is a median of its own, share the slot that is free first.
 */
function pack(bars: Bar[], most: number): number {
	bars.sort((a, b) => a.starts - b.starts || a.id - b.id);
	const free: number[] = [];
	const own = new Map<number, number>();
	for (const bar of bars) {
		const mine = bar.expected === null ? undefined : own.get(bar.id);
		let line = mine ?? free.findIndex((until) => until <= bar.starts);
		if (line < 0) line = free.length < most || (bar.expected === null && free.length < MOST_LINES) ? free.length : earliest(free);
		// A wait is drawn where its line is free.
		bar.waits = Math.min(bar.starts, Math.max(bar.waits, free[line] ?? 0));
		bar.line = line;
		own.set(bar.id, line);
		free[line] = Math.max(free[line] ?? 0, bar.ends + 1);
	}
	return Math.max(1, free.length);
}

const earliest = (free: readonly number[]): number => free.indexOf(Math.min(...free));

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((s) => s * 1000);

/** Round times for the axis, about `most` at most. */
export function ticks(from: number, to: number, most: number): number[] {
	const step = STEPS.find((one) => (to - from) / one <= most) ?? 86_400_000;
	const zone = new Date(from).getTimezoneOffset() * 60_000;
	const first = Math.ceil((from - zone) / step) * step + zone;
	const found: number[] = [];
	for (let at = first; at <= to; at += step) found.push(at);
	return found;
}
