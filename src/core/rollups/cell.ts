// A cell: what is counted of all runs and jobs that are alike in lane, agent, model, owner, repo and account, in one hour or one day. Counts that are zero are
// absent. Pure: the scheduler says when, and keeps the cells.

import type { Terminal } from "../job.ts";

export const DIMENSIONS = ["lane", "agent", "model", "owner", "repo", "account"] as const;
export type RollupDimension = (typeof DIMENSIONS)[number];
/** One name for each dimension, in the order of DIMENSIONS; an empty text is none. */
export type CellNames = readonly [lane: string, agent: string, model: string, owner: string, repo: string, account: string];

/** The name that a dimension gets where too many names came together. */
export const OTHER = "(other)";
/** Longer names are cut: a caller may write anything as an owner or a model, and each cell carries it. */
const NAME_CHARS = 80;

export type RollupCounts = { [S in Terminal]?: number } & {
	/** Runs that started, and runs that ended. */
	started?: number;
	runs?: number;
	/** Of the runs that ended: those whose job waits again, and of these the ones that used up a retry. */
	requeued?: number;
	retried?: number;
	/** Time for which runs held a slot. */
	slot_ms?: number;
	cost_micro?: number;
	tokens?: number;
	/** How long the jobs that started, or ended without a start, had waited: by code of reason. */
	wait_ms?: Record<string, number>;
	/** Starts by the time since their job was ready: see `binOf`. */
	start_bins?: Record<string, number>;
};

type MapKey = "wait_ms" | "start_bins";
type SumKey = Exclude<keyof RollupCounts, MapKey>;

export type Trait = Record<RollupDimension, string | undefined>;

const cut = (name: string | undefined): string =>
	name === undefined ? "" : name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS - 1)}…` : name;

export const namesOf = ({ lane, agent, model, owner, repo, account }: Trait): CellNames => [
	cut(lane),
	cut(agent),
	cut(model),
	cut(owner),
	cut(repo),
	cut(account),
];

/** Counts that no number can hold stay at the largest whole one. */
const plus = (a: number, b: number): number => Math.min(Number.MAX_SAFE_INTEGER, a + b);

/** Adds `more` to `into`, in place, or takes it off; nothing of `more` becomes part of it. */
export function addCounts(into: RollupCounts, more: RollupCounts, sign: 1 | -1 = 1): RollupCounts {
	for (const name in more) {
		const key = name as keyof RollupCounts;
		const amount = more[key];
		if (!amount) continue;
		if (typeof amount === "number") {
			const sum = key as SumKey;
			into[sum] = plus(into[sum] ?? 0, sign * amount);
			continue;
		}
		const map = key as MapKey;
		into[map] ??= {};
		const sums = into[map];
		for (const one in amount) sums[one] = plus(sums[one] ?? 0, sign * (amount[one] ?? 0));
	}
	return into;
}

/** Bins double in width: 0 is no time at all, bin n ends below 2^n milliseconds. */
export const binOf = (ms: number): number => (ms < 1 ? 0 : Math.floor(Math.log2(ms)) + 1);
const MIDDLE = Math.SQRT1_2;

/** The share's place among the starts, within a factor of 1.5; null if there were none. */
export function quantileOf(bins: Record<string, number> | undefined, share: number): number | null {
	const all = Object.entries(bins ?? {})
		.map(([bin, count]) => [Number(bin), count] as const)
		.sort(([a], [b]) => a - b);
	const total = all.reduce((sum, [, count]) => sum + count, 0);
	let left = share * total;
	for (const [bin, count] of all) {
		left -= count;
		if (left <= 0) return bin === 0 ? 0 : Math.round(2 ** bin * MIDDLE);
	}
	return null;
}

export const HOUR_MS = 3_600_000;
/** Hours are numbered from the epoch, in UTC. */
export const hourOf = (at: number): number => Math.floor(at / HOUR_MS);

/**
 * The time from `from` to `to`, by hour. `held`: how much of it counts; each hour gets its share. Rounding errors go to the last hour, so that the parts add up.
 */
export function byHour(from: number, to: number, held: number): [hour: number, ms: number][] {
	const whole = to - from;
	if (whole <= 0 || held <= 0) return [];
	const parts: [number, number][] = [];
	let left = held;
	for (let hour = hourOf(from); hour < hourOf(to); hour++) {
		const within = Math.min(left, Math.round((held * ((hour + 1) * HOUR_MS - Math.max(from, hour * HOUR_MS))) / whole));
		if (within > 0) parts.push([hour, within]);
		left -= within;
	}
	if (left > 0) parts.push([hourOf(to), left]);
	return parts;
}
