// When the rest of the queue will be done: simulates it many times with durations drawn from past runs, and summarises the results. Pure.
//
// Each answer is a range: half of the simulations were done by p50, nine of ten by p90. What cannot be known is not guessed: without any run that ended
// well there are no times, and a job that waits for a person, or for a fact that no job is going to change, has none either.

import { nth } from "../errors.ts";
import type { Lock, Status } from "../job.ts";
import { type Basis, draw, poolsOf, type Sample, sequence } from "./durations.ts";
import { type ForecastJob, type ForecastView, type Played, play } from "./play.ts";

export type QueuedJob = {
	id: number;
	name: string | null;
	status: Status;
	lane: string;
	batch: string | null;
	recipe: string | null;
	/** Active jobs that must end first; for a running job: those that its run waits for. */
	after: number[];
	/** Earliest start, epoch ms. */
	earliest: number;
	started_at: number | null;
	locks: Lock[];
	/** What it uses of each cap while it runs: `all`, `lane:code`, `resource:build` … */
	takes: Record<string, number>;
	/** Why no time can be given; null if one can. */
	stuck: string | null;
};
export type Queue = {
	now: number;
	/** Active jobs, best first. */
	jobs: QueuedJob[];
	/** Caps by name; a cap without a limit is left out. */
	caps: Record<string, number>;
	cycle: { every: number; next_at: number; most: number };
	spacing: number;
	samples: Sample[];
};

/** Epoch ms. */
export type Percentiles = { p50: number; p90: number };
type JobForecast = Pick<QueuedJob, "id" | "name" | "status" | "lane" | "batch"> & {
	start: Percentiles | null;
	end: Percentiles | null;
	basis: Basis | null;
	/** Why there are no times. */
	stuck: string | null;
};
type BatchForecast = { name: string; jobs: number; stuck: number; end: Percentiles | null };
type Step = { job: number; because: string; start: number; end: number };
type CapForecast = { cap: string; limit: number; waiting_ms: number };
export type Forecast = {
	now: number;
	/** Number of past runs that it is based on. */
	runs: number;
	/** How many times the queue was simulated. */
	plays: number;
	jobs: JobForecast[];
	batches: BatchForecast[];
	end: Percentiles | null;
	/** The chain of jobs that determines the last end, first to last, in the median simulation. */
	critical_path: Step[];
	/** Caps that jobs wait for, most waited for first: the median of the total waiting time. */
	caps: CapForecast[];
	/** The first of `caps`; null if no cap makes a job wait. */
	binding: CapForecast | null;
	/** Notes on what the forecast leaves out. */
	notes: string[];
};

const PLAYS = { least: 40, most: 400, work: 3_000_000 };
const SEED = 20_260_105;

/** Yields after each simulation, so that the caller can let other work run in between. */
export function* forecast(queue: Queue): Generator<void, Forecast, void> {
	const { now, jobs } = queue;
	const poolOf = poolsOf(queue.samples);
	const stuck = stuckOf(jobs);
	const pools = jobs.map(poolOf);
	const empty = (notes: string[]): Forecast => ({
		now,
		runs: queue.samples.length,
		plays: 0,
		jobs: jobs.map((job) => timeless(job, stuck.get(job.id) ?? null)),
		batches: batchesOf(jobs, stuck, () => null),
		end: null,
		critical_path: [],
		caps: [],
		binding: null,
		notes,
	});
	if (jobs.length === 0) return empty([]);
	if (queue.samples.length === 0) return empty(["no finished run to estimate from"]);

	const played = jobs.flatMap((job, index) => (stuck.has(job.id) ? [] : [index]));
	const board = boardOf(queue, played);
	const count = played.length;
	const plays = Math.max(PLAYS.least, Math.min(PLAYS.most, Math.floor(PLAYS.work / Math.max(1, count * board.classes.length))));
	const once = (seed: number): Played => {
		const dice = sequence(seed);
		return play(board, (job) =>
			draw(pools[nth(played, job)] as NonNullable<(typeof pools)[0]>, Math.max(0, -(board.pieces[job]?.since ?? 0)), dice),
		);
	};
	const { starts, ends, lasts, waits, middle } = yield* playMany(count, plays, once);
	const range = (values: Float64Array) => percentiles(values, now);
	const column = (table: Float64Array, job: number) =>
		Float64Array.from({ length: plays }, (_, number) => table[number * count + job] as number);
	const places = new Map(played.map((index, place) => [index, place]));
	const all = jobs.map((job, index) => {
		const place = places.get(index);
		if (place === undefined) return timeless(job, stuck.get(job.id) ?? null);
		const [start, end] = [range(column(starts, place)), range(column(ends, place))];
		if (!end) return timeless(job, "no cap would ever have room for it");
		const began = job.started_at === null ? start : { p50: job.started_at, p90: job.started_at };
		return { ...shown(job), start: began, end, basis: pools[index]?.basis ?? null, stuck: null };
	});
	const never = new Map(all.flatMap(({ id, stuck: why }) => (why === null ? [] : [[id, why]])));
	const batchEnd = (members: readonly number[]): Percentiles | null => {
		const own = members.flatMap((index) => places.get(index) ?? []);
		if (own.length === 0) return null;
		return range(
			Float64Array.from({ length: plays }, (_, number) => Math.max(...own.map((place) => ends[number * count + place] as number))),
		);
	};
	const caps = capsOf(queue, waits);
	return {
		now,
		runs: queue.samples.length,
		plays,
		jobs: all,
		batches: batchesOf(jobs, never, batchEnd),
		end: count === 0 ? null : range(lasts),
		critical_path: pathOf(once(middle), played, queue),
		caps,
		binding: caps[0] ?? null,
		notes: notesOf(all),
	};
}

/** Tables with a row for each simulation and a column for each job; `middle`: the seed of the simulation with the median last end. */
type ManyPlayed = { starts: Float64Array; ends: Float64Array; lasts: Float64Array; waits: Float64Array[]; middle: number };

function* playMany(count: number, plays: number, once: (seed: number) => Played): Generator<void, ManyPlayed, void> {
	const starts = new Float64Array(count * plays);
	const ends = new Float64Array(count * plays);
	const lasts = new Float64Array(plays);
	const waits: Float64Array[] = [];
	const chance = sequence(SEED);
	const results: { last: number; seed: number }[] = [];
	for (let number = 0; number < plays; number++) {
		const seed = Math.floor(chance() * 2 ** 32);
		const { start, end, waited } = once(seed);
		starts.set(start, number * count);
		ends.set(end, number * count);
		const last = end.reduce((latest, one) => (one < Number.POSITIVE_INFINITY ? Math.max(latest, one) : latest), 0);
		lasts[number] = last;
		waits.push(waited);
		results.push({ last, seed });
		yield;
	}
	const { seed: middle } = results.sort((a, b) => a.last - b.last)[Math.floor((plays - 1) / 2)] as { seed: number };
	return { starts, ends, lasts, waits, middle };
}

/** `values`: in ms from now. Null if one of them is never. */
function percentiles(values: Float64Array, now: number): Percentiles | null {
	const sorted = values.slice().sort();
	if (sorted[sorted.length - 1] === Number.POSITIVE_INFINITY) return null;
	const at = (share: number) => now + Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] as number);
	return { p50: at(0.5), p90: at(0.9) };
}

const shown = ({ id, name, status, lane, batch }: QueuedJob) => ({ id, name, status, lane, batch });
const timeless = (job: QueuedJob, stuck: string | null): JobForecast => ({ ...shown(job), start: null, end: null, basis: null, stuck });

/** A job that waits for a stuck job is stuck, too. */
function stuckOf(jobs: readonly QueuedJob[]): Map<number, string> {
	const found = new Map(jobs.flatMap(({ id, stuck }) => (stuck === null ? [] : [[id, stuck] as const])));
	const waiting = new Map<number, number[]>();
	for (const { id, after } of jobs) for (const one of after) waiting.set(one, [...(waiting.get(one) ?? []), id]);
	const open = [...found.keys()];
	for (let id = open.pop(); id !== undefined; id = open.pop())
		for (const one of waiting.get(id) ?? []) {
			if (found.has(one)) continue;
			found.set(one, `waits for job ${id}, for which no time can be told`);
			open.push(one);
		}
	return found;
}

function boardOf(queue: Queue, played: readonly number[]): ForecastView {
	const names = Object.keys(queue.caps);
	const numbers = new Map(names.map((name, index) => [name, index]));
	const classes = new Map<string, number>();
	const takings: ForecastView["classes"] = [];
	const places = new Map(played.map((index, place) => [nth(queue.jobs, index).id, place]));
	const pieces = played.map((index): ForecastJob => {
		const job = nth(queue.jobs, index);
		const takes = Object.entries(job.takes).flatMap(([name, amount]) => {
			const cap = numbers.get(name);
			return cap === undefined ? [] : [{ cap, amount }];
		});
		const key = JSON.stringify(takes);
		let kind = classes.get(key);
		if (kind === undefined) {
			kind = takings.push(takes) - 1;
			classes.set(key, kind);
		}
		return {
			after: [...new Set(job.after.flatMap((id) => places.get(id) ?? []))],
			earliest: Math.max(0, job.earliest - queue.now),
			since: job.started_at === null ? null : Math.min(0, job.started_at - queue.now),
			locks: job.locks,
			class: kind,
		};
	});
	// A stuck run, for which no time can be given, still uses its slots.
	const kept = new Map<string, number>();
	for (const job of queue.jobs)
		if (job.started_at !== null && job.after.length === 0 && !places.has(job.id))
			for (const [name, amount] of Object.entries(job.takes)) kept.set(name, (kept.get(name) ?? 0) + amount);
	const { every, next_at, most } = queue.cycle;
	return {
		pieces,
		classes: takings,
		caps: names.map((name) => Math.max(0, (queue.caps[name] ?? 0) - (kept.get(name) ?? 0))),
		cycle: { every, first: Math.max(0, next_at - queue.now), most: most === 0 ? Number.POSITIVE_INFINITY : most },
		spacing: queue.spacing,
	};
}

function batchesOf(
	jobs: readonly QueuedJob[],
	stuck: ReadonlyMap<number, string>,
	end: (members: readonly number[]) => Percentiles | null,
): BatchForecast[] {
	const members = new Map<string, number[]>();
	for (const [index, { batch }] of jobs.entries()) if (batch !== null) members.set(batch, [...(members.get(batch) ?? []), index]);
	return [...members].map(([name, own]) => {
		const free = own.filter((index) => !stuck.has(nth(jobs, index).id));
		return { name, jobs: own.length, stuck: own.length - free.length, end: free.length === own.length ? end(free) : null };
	});
}

function capsOf(queue: Queue, waits: readonly Float64Array[]): CapForecast[] {
	return Object.keys(queue.caps)
		.map((cap, index) => {
			const sorted = waits.map((one) => nth(one, index)).sort((a, b) => a - b);
			return { cap, limit: queue.caps[cap] ?? 0, waiting_ms: Math.round(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) };
		})
		.filter(({ waiting_ms }) => waiting_ms > 0)
		.sort((a, b) => b.waiting_ms - a.waiting_ms);
}

/** Walks from the last end back to what each start waited for. */
function pathOf({ start, end, cause }: Played, played: readonly number[], { jobs, now }: Queue): Step[] {
	let last = -1;
	end.forEach((one, place) => {
		if (one < Number.POSITIVE_INFINITY && (last < 0 || one > nth(end, last))) last = place;
	});
	const idOf = (place: number) => nth(jobs, nth(played, place)).id;
	const steps: Step[] = [];
	for (let place = last; place >= 0 && steps.length < 10_000; ) {
		const why = cause[place] ?? null;
		const job = nth(jobs, nth(played, place));
		const words = { after: "after job", lock: "a lock of job", cap: "the slot of job" };
		const because =
			job.started_at !== null
				? why
					? `waits for job ${idOf(why.job)}`
					: "runs"
				: why
					? `${words[why.kind]} ${idOf(why.job)}`
					: nth(start, place) > 0
						? "its time"
						: "starts now";
		steps.unshift({ job: job.id, because, start: now + Math.round(nth(start, place)), end: now + Math.round(nth(end, place)) });
		place = why ? why.job : -1;
	}
	return steps;
}

function notesOf(jobs: readonly JobForecast[]): string[] {
	const notes: string[] = [];
	const stuck = jobs.filter((job) => job.stuck !== null).length;
	if (stuck > 0) notes.push(`no time can be told for ${stuck} of ${jobs.length} jobs`);
	const strange = new Set(jobs.flatMap((job) => (job.basis?.like === "any" ? [job.lane] : [])));
	for (const lane of strange) notes.push(`no run of lane ${lane} has ended well yet: its jobs are taken to last as long as others`);
	const few = Math.min(...jobs.flatMap((job) => (job.basis ? [job.basis.runs] : [])));
	if (few < 5) notes.push(`some estimates rest on ${few} run${few === 1 ? "" : "s"} only`);
	return notes;
}
