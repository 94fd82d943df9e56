// What should start now. Pure: reads come in answer to what it yields, so one planner serves a store that answers at once and one that does not.
//
//   1  the bounds: free slots, batch size, what the caller asked for, the pace
//   2  the head of each level of each bucket that is not shut
//   3  every nth start: the longest startable, if it is overdue
//   4  else the best of the lanes' candidates: run-now, promoted, highest P, oldest
//   5  "try" it: the caller checks the job itself (deadline, locks, batch) and starts it, or parks it
//   6  a bucket is asked again each time one of its jobs comes up: caps fill as jobs start

import type { Bucket } from "./bucket.ts";
import { laneOf } from "./config.ts";
import { shut } from "./gates/index.ts";
import { priorityAt, RUN_NOW } from "./order.ts";
import type { World } from "./world.ts";

/** A ready job as the order sees it. */
export type Head = { id: number; rank: number; level: number; age_at: number; ready_at: number };

export type PlanRequest =
	/** The best ready job of each level of the bucket that can matter: first the one with the highest rank, if any is ranked. */
	| { ask: "heads"; bucket: Bucket }
	/** The job of the bucket that has been ready longest, if it has been so since `by`. */
	| { ask: "oldest"; bucket: Bucket; by: number }
	/** Start this one if its own gates pass; answer whether it started, and whether it took locks. Either way it is no longer a head. */
	| { ask: "try"; bucket: Bucket; head: Head };
export type PlanReply = Head[] | Head | undefined | Went;
type Went = boolean | "with_locks";

export type Bound = "capacity" | "batch" | "ready" | "paused" | "none";

/** 001's count: starts = min(free slots, batch, ready), and which of them it was. A batch of 0 is no bound. */
export function planDispatch<T>(capacity: number, batch: number, ready: readonly T[]): { dispatch: T[]; skipped: T[]; reason: Bound } {
	if (ready.length === 0) return { dispatch: [], skipped: [], reason: "none" };
	if (capacity <= 0) return { dispatch: [], skipped: [...ready], reason: "capacity" };
	const most = batch === 0 ? Number.POSITIVE_INFINITY : batch;
	const count = Math.min(capacity, most, ready.length);
	return { dispatch: ready.slice(0, count), skipped: ready.slice(count), reason: boundOf(capacity, most, ready.length) };
}

export function boundOf(capacity: number, batch: number, ready: number): Bound {
	if (ready === 0) return "none";
	if (capacity <= 0) return "capacity";
	if (capacity < batch && capacity < ready) return "capacity";
	if (ready < batch && ready <= capacity) return "ready";
	return "batch";
}

type Candidate = { bucket: Bucket; head: Head; p: number };

/** Better first: higher P, then older, then lower id. */
const better = (a: Candidate, b: Candidate): boolean =>
	a.p !== b.p ? a.p > b.p : a.head.age_at !== b.head.age_at ? a.head.age_at < b.head.age_at : a.head.id < b.head.id;

/** P of a ready job now. 004's entries do not age. */
const pOf = (bucket: Bucket, head: Head, world: World): number =>
	bucket.kind === "kernel"
		? head.level
		: priorityAt(laneOf(world.config, bucket.lane).priority, head.level, head.age_at, world.now, world.config);

/** The best of a bucket's level heads at this moment. Ranked jobs come alone: `heads` puts the highest rank first. */
function bestHead(bucket: Bucket, heads: Head[], world: World): Candidate | undefined {
	let best: Candidate | undefined;
	for (const head of heads) {
		const candidate = { bucket, head, p: pOf(bucket, head, world) };
		if (!best || better(candidate, best)) best = candidate;
	}
	return best;
}

/** First of a lane: promoted before plain before demoted; a promoted one stands for its lane's best P against other lanes. */
function laneCandidate(plain: Candidate | undefined, ranked: Candidate[]): Candidate | undefined {
	let top: Candidate | undefined;
	for (const one of ranked) if (!top || one.head.rank > top.head.rank) top = one;
	if (!top) return plain;
	if (top.head.rank > 0) return { ...top, p: Math.max(top.p, plain?.p ?? top.p) };
	return plain ?? top;
}

export function* plan(
	world: () => World,
	buckets: readonly Bucket[],
	want: number,
): Generator<PlanRequest, { started: Head[]; tried: number }, PlanReply> {
	const started: Head[] = [];
	let tried = 0;
	const open: Open = new Map();
	const heads: Freshness = { stale: false };
	for (const bucket of buckets)
		if (bucket.ready > 0 && bucket.stage === undefined && !shut(bucket, world()))
			open.set(bucket.id, { bucket, heads: undefined, plain: undefined, isRanked: false, oldest: null });

	while (started.length < want && open.size > 0) {
		const now = world();
		const pick = yield* overdueTurn(now, open) ? pickOldest(now, open, heads) : pickBest(now, open, heads);
		if (!pick) break;
		const slot = open.get(pick.bucket.id);
		if (!slot) break;
		if (shut(pick.bucket, now)) {
			open.delete(pick.bucket.id);
			continue;
		}
		tried++;
		const went = (yield { ask: "try", bucket: pick.bucket, head: pick.head }) as Went;
		if (went) started.push(pick.head);
		heads.stale ||= went !== false;
		// Heads that wanted the same locks are none any more; behind one of them may stand a demoted job that counts for more.
		if (went === "with_locks") for (const other of open.values()) forget(other);
		forget(slot);
		slot.oldest = null;
		if (pick.bucket.ready <= 0) open.delete(pick.bucket.id);
	}
	return { started, tried };
}

/** `plain`, `isRanked`: the best of its heads that are not ranked, and whether any is; known with the heads. */
type Slot = {
	bucket: Bucket;
	heads: Head[] | undefined;
	plain: Candidate | undefined;
	isRanked: boolean;
	oldest: Head | undefined | null;
};
type Open = Map<number, Slot>;
function forget(slot: Slot): void {
	slot.heads = undefined;
	slot.plain = undefined;
}

/** Something has started since all heads were asked for. */
type Freshness = { stale: boolean };

const overdueTurn = (world: World, open: Open): boolean => {
	const { overdue_share, overdue_after_ms } = world.config.order;
	if (overdue_share <= 0 || overdue_after_ms <= 0) return false;
	for (const { bucket } of open.values()) if (bucket.kind === "kernel") return false;
	return world.starts % overdue_share === overdue_share - 1;
};

function* pickBest(world: World, open: Open, heads: Freshness): Generator<PlanRequest, Candidate | undefined, PlanReply> {
	if (open.size === 1) {
		const [slot] = open.values();
		if (slot) {
			slot.heads ??= (yield { ask: "heads", bucket: slot.bucket }) as Head[];
			const [head] = slot.heads;
			if (head && slot.heads.length === 1) return { bucket: slot.bucket, head, p: 0 };
		}
	}
	let first: Candidate | undefined;
	let isRanked = false;
	for (const slot of open.values()) {
		if (slot.heads === undefined || slot.plain === undefined) {
			slot.heads ??= (yield { ask: "heads", bucket: slot.bucket }) as Head[];
			slot.isRanked = slot.heads.some((head) => head.rank !== 0);
			const plain = slot.isRanked ? slot.heads.filter((head) => head.rank === 0) : slot.heads;
			slot.plain = bestHead(slot.bucket, plain, world);
		}
		isRanked ||= slot.isRanked;
		if (slot.plain && (!first || better(slot.plain, first))) first = slot.plain;
	}
	// Lanes matter only to those that were moved up or down in theirs.
	if (!isRanked) return first;
	const lanes = new Map<string, { plain: Candidate | undefined; ranked: Candidate[] }>();
	for (const slot of open.values()) {
		const { plain, heads: found = [] } = slot;
		let lane = lanes.get(slot.bucket.lane);
		if (!lane) {
			lane = { plain: undefined, ranked: [] };
			lanes.set(slot.bucket.lane, lane);
		}
		if (plain && (!lane.plain || better(plain, lane.plain))) lane.plain = plain;
		for (const head of found) {
			if (head.rank === 0) continue;
			lane.ranked.push({ bucket: slot.bucket, head, p: pOf(slot.bucket, head, world) });
		}
	}
	// A promoted job stands for the best of those that could start, a demoted one behind them: buckets that have filled up since they were
	// asked, and jobs whose locks were taken since, must not count.
	if (heads.stale && [...lanes.values()].some(({ plain, ranked }) => plain && ranked.length > 0)) {
		heads.stale = false;
		for (const slot of [...open.values()]) {
			if (shut(slot.bucket, world)) open.delete(slot.bucket.id);
			else forget(slot);
		}
		return yield* pickBest(world, open, heads);
	}
	let best: Candidate | undefined;
	let urgent: Candidate | undefined;
	for (const { plain, ranked } of lanes.values()) {
		for (const one of ranked) if (one.head.rank >= RUN_NOW && (!urgent || one.head.rank > urgent.head.rank)) urgent = one;
		const candidate = laneCandidate(plain, ranked);
		if (candidate && (!best || better(candidate, best))) best = candidate;
	}
	return urgent ?? best;
}

/** Who has been ready since then is overdue. */
export const overdueBy = ({ now, config }: World): number =>
	config.order.overdue_after_ms > 0 ? now - config.order.overdue_after_ms : Number.NEGATIVE_INFINITY;

/** The longest startable, if overdue; else the best as always. run-now still goes first. */
function* pickOldest(world: World, open: Open, heads: Freshness): Generator<PlanRequest, Candidate | undefined, PlanReply> {
	const best = yield* pickBest(world, open, heads);
	if (!best || best.head.rank >= RUN_NOW) return best;
	const by = overdueBy(world);
	let oldest: Candidate | undefined;
	for (const slot of open.values()) {
		if (slot.oldest === null) slot.oldest = (yield { ask: "oldest", bucket: slot.bucket, by }) as Head | undefined;
		const head = slot.oldest;
		if (!head) continue;
		const first = !oldest || head.ready_at < oldest.head.ready_at || (head.ready_at === oldest.head.ready_at && head.id < oldest.head.id);
		if (first) oldest = { bucket: slot.bucket, head, p: 0 };
	}
	return oldest && oldest.head.ready_at <= by ? oldest : best;
}
