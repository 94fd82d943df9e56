// What should start now. Pure: it yields requests and receives the results, so one planner works with a store that answers at once and with one that does not.
//
//   1  the limits: free slots, batch size, the caller's maximum, the pace
//   2  the head of each level of each bucket that is not shut
//   3  every nth start: the job that has been startable for longest, if it is overdue
//   4  else the best of the lanes' candidates: run-now, promoted, highest P, oldest
//   5  "try" it: the caller checks the job itself (deadline, locks, batch) and starts or parks it
//   6  a bucket's gates are checked again each time one of its jobs comes up: caps fill as jobs start

import type { Bucket } from "./bucket.ts";
import { laneOf } from "./config.ts";
import { shut } from "./gates/index.ts";
import type { LimitsView } from "./limits-view.ts";
import { priorityAt, RUN_NOW } from "./order.ts";
import { queuePolicy } from "./queue-policy.ts";

/** A ready job as the order sees it. */
export type ReadyJob = { id: number; rank: number; level: number; age_at: number; ready_at: number };

export type PlanRequest =
	/** The best ready job of each level of the bucket that can matter; the job with the highest rank comes first if any is ranked. */
	| { ask: "heads"; bucket: Bucket }
	/** The job of the bucket that has been ready for longest, if since `by` or before. */
	| { ask: "oldest"; bucket: Bucket; by: number }
	/** Start this job if its own gates pass; the reply says whether it started and whether it took locks. Either way it is no longer a head. */
	| { ask: "try"; bucket: Bucket; head: ReadyJob };
export type PlanReply = ReadyJob[] | ReadyJob | undefined | Went;
type Went = boolean | "with_locks";

export type Bound = "capacity" | "batch" | "ready" | "paused" | "none";

/** The count of preset town: starts = min(free slots, batch, ready), and which of these was the limit. A batch of 0 is no limit. */
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

type Candidate = { bucket: Bucket; head: ReadyJob; p: number };

/** Order of candidates: higher P, then older, then lower id. */
const better = (a: Candidate, b: Candidate): boolean =>
	a.p !== b.p ? a.p > b.p : a.head.age_at !== b.head.age_at ? a.head.age_at < b.head.age_at : a.head.id < b.head.id;

/** P of a ready job now. */
const pOf = (bucket: Bucket, head: ReadyJob, world: LimitsView): number =>
	queuePolicy(bucket.kind).order.ages
		? priorityAt(laneOf(world.config, bucket.lane).priority, head.level, head.age_at, world.now, world.config)
		: head.level;

/** The best of a bucket's level heads now. Ranked jobs are handled separately: `heads` puts the highest rank first. */
function bestHead(bucket: Bucket, heads: ReadyJob[], world: LimitsView): Candidate | undefined {
	let best: Candidate | undefined;
	for (const head of heads) {
		const candidate = { bucket, head, p: pOf(bucket, head, world) };
		if (!best || better(candidate, best)) best = candidate;
	}
	return best;
}

/** The first job of a lane: promoted before plain before demoted. Compared with other lanes, a promoted job counts with its lane's best P. */
function laneCandidate(plain: Candidate | undefined, ranked: Candidate[]): Candidate | undefined {
	let top: Candidate | undefined;
	for (const one of ranked) if (!top || one.head.rank > top.head.rank) top = one;
	if (!top) return plain;
	if (top.head.rank > 0) return { ...top, p: Math.max(top.p, plain?.p ?? top.p) };
	return plain ?? top;
}

export function* plan(
	world: () => LimitsView,
	buckets: readonly Bucket[],
	want: number,
): Generator<PlanRequest, { started: ReadyJob[]; tried: number }, PlanReply> {
	const started: ReadyJob[] = [];
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
		// Heads that need the same locks are no longer startable; behind such a head there may be a demoted job that now counts for more.
		if (went === "with_locks") for (const other of open.values()) forget(other);
		forget(slot);
		slot.oldest = null;
		if (pick.bucket.ready <= 0) open.delete(pick.bucket.id);
	}
	return { started, tried };
}

/** `plain`: the best of the heads without a rank; `isRanked`: whether any head has one. Both are set together with the heads. */
type Slot = {
	bucket: Bucket;
	heads: ReadyJob[] | undefined;
	plain: Candidate | undefined;
	isRanked: boolean;
	oldest: ReadyJob | undefined | null;
};
type Open = Map<number, Slot>;
function forget(slot: Slot): void {
	slot.heads = undefined;
	slot.plain = undefined;
}

/** `stale`: a job has started since all heads were read. */
type Freshness = { stale: boolean };

const overdueTurn = (world: LimitsView, open: Open): boolean => {
	const { overdue_share, overdue_after_ms } = world.config.order;
	if (overdue_share <= 0 || overdue_after_ms <= 0) return false;
	for (const { bucket } of open.values()) if (!queuePolicy(bucket.kind).isCounted) return false;
	return world.starts % overdue_share === overdue_share - 1;
};

function* pickBest(world: LimitsView, open: Open, heads: Freshness): Generator<PlanRequest, Candidate | undefined, PlanReply> {
	if (open.size === 1) {
		const [slot] = open.values();
		if (slot) {
			slot.heads ??= (yield { ask: "heads", bucket: slot.bucket }) as ReadyJob[];
			const [head] = slot.heads;
			if (head && slot.heads.length === 1) return { bucket: slot.bucket, head, p: 0 };
		}
	}
	let first: Candidate | undefined;
	let isRanked = false;
	for (const slot of open.values()) {
		if (slot.heads === undefined || slot.plain === undefined) {
			slot.heads ??= (yield { ask: "heads", bucket: slot.bucket }) as ReadyJob[];
			slot.isRanked = slot.heads.some((head) => head.rank !== 0);
			const plain = slot.isRanked ? slot.heads.filter((head) => head.rank === 0) : slot.heads;
			slot.plain = bestHead(slot.bucket, plain, world);
		}
		isRanked ||= slot.isRanked;
		if (slot.plain && (!first || better(slot.plain, first))) first = slot.plain;
	}
	// Lanes matter only if a job was promoted or demoted within its lane.
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
	// A promoted job counts like the best startable job of its lane, a demoted one after it. So buckets that have filled up since they were read, and jobs
	// whose locks were taken since, must not count: read the heads again.
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

/** A job that has been ready since this time or before is overdue. */
export const overdueBy = ({ now, config }: LimitsView): number =>
	config.order.overdue_after_ms > 0 ? now - config.order.overdue_after_ms : Number.NEGATIVE_INFINITY;

/** The job that has been startable for longest, if it is overdue; else the best as usual. run-now still goes first. */
function* pickOldest(world: LimitsView, open: Open, heads: Freshness): Generator<PlanRequest, Candidate | undefined, PlanReply> {
	const best = yield* pickBest(world, open, heads);
	if (!best || best.head.rank >= RUN_NOW) return best;
	const by = overdueBy(world);
	let oldest: Candidate | undefined;
	for (const slot of open.values()) {
		if (slot.oldest === null) slot.oldest = (yield { ask: "oldest", bucket: slot.bucket, by }) as ReadyJob | undefined;
		const head = slot.oldest;
		if (!head) continue;
		const first = !oldest || head.ready_at < oldest.head.ready_at || (head.ready_at === oldest.head.ready_at && head.id < oldest.head.id);
		if (first) oldest = { bucket: slot.bucket, head, p: 0 };
	}
	return oldest && oldest.head.ready_at <= by ? oldest : best;
}
