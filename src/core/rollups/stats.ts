// Figures over time, from the periods that are kept: for all work, and by one dimension or by cause of waiting. The page and the command line show them as they are.

import { dayStart, localDay } from "../time/window.ts";
import { addCounts, DIMENSIONS, HOUR_MS, hourOf, OTHER, quantileOf, type RollupCounts, type RollupDimension } from "./cell.ts";
import type { RollupCaps, RollupPeriod } from "./period.ts";

export const STATS_BY = [...DIMENSIONS, "cause"] as const;
export type StatsBy = RollupDimension | "cause";
export const STATS_BUCKETS = ["hour", "day"] as const;
export type StatsBucket = (typeof STATS_BUCKETS)[number];

export type StatsOptions = {
	/** Epoch milliseconds; by default seven days before `until`, which is now by default. The first bucket begins at or before it. */
	since?: number | undefined;
	until?: number | undefined;
	/** By default `lane`. */
	by?: StatsBy | undefined;
	/** By default hours for three days or less, else days. Hours are kept for 31 days. */
	bucket?: StatsBucket | undefined;
};

export type StatsFigures = {
	started: number;
	/** Jobs that ended, and how. */
	ended: number;
	succeeded: number;
	failed: number;
	cancelled: number;
	blocked_by_dependency: number;
	expired: number;
	/** Runs that ended; of these, runs whose job waits again, and runs that used up a retry. */
	runs: number;
	requeued: number;
	retried: number;
	/** `retried` as a share of `runs`; null if no run ended. */
	retry_rate: number | null;
	/** How long the jobs that started, or ended without a start, had waited in all. */
	wait_ms: number;
	/** From ready to started, within a factor of 1.5; null if nothing started. */
	start_p50_ms: number | null;
	start_p90_ms: number | null;
	/** Time for which runs held a slot, those that still run included. */
	slot_ms: number;
	/** Slots in use on average, and the cap on them; null: there was none. */
	slots_used: number;
	slots: number | null;
	utilisation: number | null;
	cost_micro: number;
	tokens: number;
};
type StatsSeries = { [K in keyof StatsFigures]: StatsFigures[K][] };
/** What a group's series has: the figures that are drawn beside those of other groups. */
const GROUP_SERIES = ["ended", "failed", "wait_ms", "slots_used", "cost_micro"] as const satisfies readonly (keyof StatsFigures)[];
type StatsGroup = {
	/** null: jobs without one. "(other)": the rest, added up. */
	name: string | null;
	total: StatsFigures;
	series: Pick<StatsSeries, (typeof GROUP_SERIES)[number]>;
};
export type Stats = {
	since: number;
	until: number;
	by: StatsBy;
	bucket: StatsBucket;
	timezone: string;
	/** The time from which anything is known; null: nothing is known yet. */
	known_since: number | null;
	/** When each bucket of the series begins. */
	times: number[];
	total: StatsFigures;
	/** Waiting time by code of reason, the longest first. */
	waits: Record<string, number>;
	series: StatsSeries & { waits: Record<string, number[]> };
	groups: StatsGroup[];
};

/** A period, and when it began. Several may have the same time. */
export type RollupSlice = { at: number; period: RollupPeriod };
export type StatsAsked = {
	since: number;
	until: number;
	by: StatsBy;
	bucket: StatsBucket;
	timezone: string;
	known_since: number | null;
	/** The caps of now, for a time that has none of its own. */
	caps: RollupCaps;
};

/** Most groups that are told apart. */
export const MOST_GROUPS = 12;

/** Buckets of time that cover the span: its first one may begin before `since`. */
export function bucketsIn(since: number, until: number, bucket: StatsBucket, timezone: string): number[] {
	const times: number[] = [];
	const first = bucket === "hour" ? hourOf(since) : localDay(since, timezone);
	for (let number = first; ; number++) {
		const at = bucket === "hour" ? number * HOUR_MS : dayStart(number, timezone);
		if (at >= until) return times;
		times.push(at);
	}
}

/** Counts of one group: in all, and by bucket. */
type Tally = { total: RollupCounts; parts: RollupCounts[] };

export function statsOf(slices: readonly RollupSlice[], asked: StatsAsked): Stats {
	const { since, until, by, bucket, timezone, known_since } = asked;
	const times = bucketsIn(since, until, bucket, timezone);
	const spans = spansOf(times, asked);
	const all = newTally(times.length);
	const caps: RollupCaps[] = times.map(() => ({}));
	const placed: Placed[] = [];
	const weights = new Map<string, Weight>();
	for (const { at, period } of [...slices].sort((a, b) => a.at - b.at)) {
		const index = lastAtOrBefore(times, at);
		const part = all.parts[index];
		if (!part || at >= until) continue;
		if (Object.keys(period.caps).length > 0) caps[index] = period.caps;
		for (const { of, counts } of period.cells) {
			addCounts(part, counts);
			if (by === "cause") continue;
			const name = of[DIMENSIONS.indexOf(by)] ?? "";
			weigh(weights, name, counts);
			placed.push({ name, index, counts });
		}
	}
	addUp(all);
	const groups = by === "cause" ? byCause(all) : largest(weights, placed, all);
	const known = carriedOn(caps, asked.caps);
	const total = figuresOf(
		all,
		spans,
		known.map(({ all: most }) => most),
	);
	return {
		since: times[0] ?? since,
		until,
		by,
		bucket,
		timezone,
		known_since,
		times,
		total: total.total,
		waits: waitsOf(all.total),
		series: { ...columns(total.parts), waits: waitSeries(all) },
		groups: [...groups].map(([name, tally]) => {
			const { total: sum, parts } = figuresOf(
				tally,
				spans,
				known.map((one) => capOf(one, by, name)),
			);
			const { ended, failed, wait_ms, slots_used, cost_micro } = columns(parts);
			return { name: name === "" ? null : name, total: sum, series: { ended, failed, wait_ms, slots_used, cost_micro } };
		}),
	};
}

const newTally = (length: number): Tally => ({ total: {}, parts: Array.from({ length }, () => ({})) });

function addUp({ total, parts }: Tally): void {
	for (const part of parts) addCounts(total, part);
}

/** A cell in its bucket of time. */
type Placed = { name: string; index: number; counts: RollupCounts };
/** By what groups are ordered: what cost most, held slots longest, waited longest. */
type Weight = { cost: number; slot: number; wait: number };

function weigh(weights: Map<string, Weight>, name: string, { cost_micro = 0, slot_ms = 0, wait_ms }: RollupCounts): void {
	let weight = weights.get(name);
	if (!weight) {
		weight = { cost: 0, slot: 0, wait: 0 };
		weights.set(name, weight);
	}
	weight.cost += cost_micro;
	weight.slot += slot_ms;
	for (const code in wait_ms) weight.wait += wait_ms[code] ?? 0;
}

function byCause(all: Tally): Map<string, Tally> {
	const groups = new Map<string, Tally>();
	for (const code of Object.keys(waitsOf(all.total))) {
		const tally = newTally(all.parts.length);
		for (const [index, { wait_ms }] of all.parts.entries()) {
			const part = tally.parts[index];
			if (part && wait_ms?.[code]) addCounts(part, { wait_ms: { [code]: wait_ms[code] } });
		}
		addUp(tally);
		groups.set(code, tally);
	}
	return groups;
}

/**
 * The groups that matter most. The rest is what is left of all: a year has tens of thousands of cells of hundreds of owners, and adding up each owner would take
 * three times as long.
 */
function largest(weights: ReadonlyMap<string, Weight>, placed: readonly Placed[], all: Tally): Map<string, Tally> {
	const order = (a: Weight, b: Weight) => b.cost - a.cost || b.slot - a.slot || b.wait - a.wait;
	const sorted = [...weights].sort(([one, a], [two, b]) => order(a, b) || (one < two ? -1 : 1)).map(([name]) => name);
	const isCut = sorted.length > MOST_GROUPS;
	const groups = new Map(
		sorted.slice(0, MOST_GROUPS).flatMap((name) => (isCut && name === OTHER ? [] : [[name, newTally(all.parts.length)]])),
	);
	for (const { name, index, counts } of placed) {
		const part = groups.get(name)?.parts[index];
		if (part) addCounts(part, counts);
	}
	if (isCut) groups.set(OTHER, without(all, [...groups.values()]));
	for (const tally of groups.values()) addUp(tally);
	return groups;
}

/** Not added up yet. */
function without(all: Tally, groups: readonly Tally[]): Tally {
	const rest = newTally(all.parts.length);
	for (const [index, part] of rest.parts.entries()) {
		addCounts(part, all.parts[index] ?? {});
		for (const { parts } of groups) addCounts(part, parts[index] ?? {}, -1);
	}
	return rest;
}

function lastAtOrBefore(times: readonly number[], at: number): number {
	let [low, high] = [0, times.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((times[middle] ?? 0) <= at) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

/** How much of each bucket lies in the time that is known. */
function spansOf(times: readonly number[], { until, known_since }: StatsAsked): number[] {
	return times.map((at, index) => Math.max(0, Math.min(until, times[index + 1] ?? until) - Math.max(at, known_since ?? until)));
}

/** Caps change rarely, and a bucket without work has none of its own: it takes those before it, the first ones those after them. */
function carriedOn(caps: readonly RollupCaps[], last: RollupCaps): RollupCaps[] {
	const isKnown = (one: RollupCaps) => Object.keys(one).length > 0;
	let before = caps.find(isKnown) ?? last;
	return caps.map((one) => {
		if (isKnown(one)) before = one;
		return before;
	});
}

function capOf({ lanes, accounts }: RollupCaps, by: StatsBy, name: string): number | undefined {
	const from = by === "lane" ? lanes : by === "account" ? accounts : undefined;
	return from && Object.hasOwn(from, name) ? from[name] : undefined;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

function figuresOf({ total, parts }: Tally, spans: readonly number[], caps: readonly (number | undefined)[]) {
	const elapsed = spans.reduce((sum, ms) => sum + ms, 0);
	const isCapped = caps.length > 0 && caps.every((cap) => cap !== undefined);
	const available = isCapped ? spans.reduce((sum, ms, index) => sum + ms * (caps[index] ?? 0), 0) : null;
	return {
		total: figures(total, elapsed, available),
		parts: parts.map((part, index) => {
			const [ms, cap] = [spans[index] ?? 0, caps[index]];
			return figures(part, ms, cap === undefined ? null : ms * cap);
		}),
	};
}

function figures(counts: RollupCounts, elapsed: number, available: number | null): StatsFigures {
	const { started = 0, runs = 0, requeued = 0, retried = 0, slot_ms = 0, cost_micro = 0, tokens = 0 } = counts;
	const { succeeded = 0, failed = 0, cancelled = 0, blocked_by_dependency = 0, expired = 0 } = counts;
	return {
		started,
		ended: succeeded + failed + cancelled + blocked_by_dependency + expired,
		...{ succeeded, failed, cancelled, blocked_by_dependency, expired },
		...{ runs, requeued, retried },
		retry_rate: runs === 0 ? null : rounded(retried / runs),
		wait_ms: Object.values(counts.wait_ms ?? {}).reduce((sum, ms) => sum + ms, 0),
		start_p50_ms: quantileOf(counts.start_bins, 0.5),
		start_p90_ms: quantileOf(counts.start_bins, 0.9),
		slot_ms,
		slots_used: elapsed === 0 ? 0 : rounded(slot_ms / elapsed),
		slots: available === null || elapsed === 0 ? null : rounded(available / elapsed),
		utilisation: available === null || available === 0 ? null : rounded(slot_ms / available),
		cost_micro,
		tokens,
	};
}

function columns(parts: readonly StatsFigures[]): StatsSeries {
	const column = <K extends keyof StatsFigures>(key: K): StatsFigures[K][] => parts.map((part) => part[key]);
	return {
		started: column("started"),
		ended: column("ended"),
		succeeded: column("succeeded"),
		failed: column("failed"),
		cancelled: column("cancelled"),
		blocked_by_dependency: column("blocked_by_dependency"),
		expired: column("expired"),
		runs: column("runs"),
		requeued: column("requeued"),
		retried: column("retried"),
		retry_rate: column("retry_rate"),
		wait_ms: column("wait_ms"),
		start_p50_ms: column("start_p50_ms"),
		start_p90_ms: column("start_p90_ms"),
		slot_ms: column("slot_ms"),
		slots_used: column("slots_used"),
		slots: column("slots"),
		utilisation: column("utilisation"),
		cost_micro: column("cost_micro"),
		tokens: column("tokens"),
	};
}

const waitsOf = ({ wait_ms = {} }: RollupCounts): Record<string, number> =>
	Object.fromEntries(
		Object.entries(wait_ms)
			.filter(([, ms]) => ms > 0)
			.sort(([, a], [, b]) => b - a),
	);

const waitSeries = ({ total, parts }: Tally): Record<string, number[]> =>
	Object.fromEntries(Object.keys(waitsOf(total)).map((code) => [code, parts.map(({ wait_ms }) => wait_ms?.[code] ?? 0)]));
