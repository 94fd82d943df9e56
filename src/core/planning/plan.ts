// What should start now: a pure function of what is ready and of the limits. It counts its picks in a copy of the limits; the caller applies the picks,
// checks each one again when it does, and plans anew if one did not go as planned.
//
//   1  the heads of each bucket that is not shut
//   2  every nth start: the job that has been startable for longest, if it is overdue
//   3  else the best of the lanes' candidates: run-now, promoted, highest P, oldest
//   4  a bucket's gates are asked again each time one of its jobs comes up: caps fill as jobs are picked
//
// Where rows are not known, the plan ends; the caller reads them and plans on. So a plan costs what it picks, not what is queued.

import type { Bucket } from "../bucket.ts";
import { laneOf } from "../config.ts";
import { chooseAccount, footprint } from "../gates/buckets/capacity.ts";
import { shut } from "../gates/index.ts";
import { copyLimits, type LimitsCopy, type LimitsView } from "../limits-view.ts";
import { priorityAt, RUN_NOW } from "../order.ts";
import { queuePolicy } from "../queue-policy.ts";
import { headsOf, isMissing, NONE_TAKEN, oldestOf, type ReadyJob, type ReadyRows, TakenJobs } from "./ready-rows.ts";

/** What a plan looks at and never changes. */
export type PlanView = { readonly limits: LimitsView; readonly buckets: readonly ReadyBucket[] };
export type ReadyBucket = { readonly bucket: Bucket; readonly rows: ReadyRows };

export type PlannedStart = { bucket: Bucket; head: ReadyJob };
export type Plan = {
	/** In the order of their starts. */
	picks: PlannedStart[];
	/** What comes after the picks: nothing; another plan; or another plan once these rows of these buckets were read. */
	next: "done" | "replan" | { read: "heads" | "oldest"; of: Bucket[] };
};

type Candidate = { slot: Slot; head: ReadyJob; p: number };

/** Order of candidates: higher P, then older, then lower id. */
export const better = (a: Omit<Candidate, "slot">, b: Omit<Candidate, "slot">): boolean =>
	a.p !== b.p ? a.p > b.p : a.head.age_at !== b.head.age_at ? a.head.age_at < b.head.age_at : a.head.id < b.head.id;

/** P of a ready job now. */
export const pOf = (bucket: Bucket, head: ReadyJob, limits: LimitsView): number =>
	queuePolicy(bucket.kind).order.ages
		? priorityAt(laneOf(limits.config, bucket.lane).priority, head.level, head.age_at, limits.now, limits.config)
		: head.level;

/** The first job of a lane: promoted before plain before demoted. Compared with other lanes, a promoted job counts with its lane's best P. */
function laneCandidate(plain: Candidate | undefined, ranked: Candidate[]): Candidate | undefined {
	let top: Candidate | undefined;
	for (const one of ranked) if (!top || one.head.rank > top.head.rank) top = one;
	if (!top) return plain;
	if (top.head.rank > 0) return { ...top, p: Math.max(top.p, plain?.p ?? top.p) };
	return plain ?? top;
}

/** How far below its bucket's best level a job can be and still come first, because it is older. */
export const reachOf = ({ kind }: Bucket, { config }: LimitsView): number =>
	queuePolicy(kind).order.ages ? config.order.age_boost_max : 0;

export function plan({ limits, buckets }: PlanView, want: number): Plan {
	const picks: PlannedStart[] = [];
	const open = openSlots(buckets, limits);
	let counted: LimitsCopy | undefined;
	while (picks.length < want && open.size > 0) {
		const now = counted ?? limits;
		const { unknown, isRanked } = findHeads(open, now);
		if (unknown.length > 0) return { picks, next: { read: "heads", of: unknown } };
		// A promoted job counts like the best startable job of its lane, a demoted one after it. What can be started then is certain only for a plan's first pick.
		if (isRanked && picks.length > 0) return { picks, next: "replan" };
		let pick = isRanked ? pickByLanes(open, now) : pickBest(open);
		if (pick && pick.head.rank < RUN_NOW && overdueTurn(now, open)) {
			const unread = findOldest(open, overdueBy(now));
			if (unread.length > 0) return { picks, next: { read: "oldest", of: unread } };
			pick = pickOldest(open) ?? pick;
		}
		if (!pick) break;
		const { slot, head } = pick;
		if (picks.length > 0 && shut(slot.bucket, now)) {
			open.delete(slot.bucket.id);
			continue;
		}
		picks.push({ bucket: slot.bucket, head });
		if (picks.length === want) return { picks, next: "replan" };
		counted ??= copyLimits(limits);
		countStart(counted, slot.bucket);
		take(slot, head.id);
		if (slot.bucket.ready <= slot.taken.count) open.delete(slot.bucket.id);
	}
	return { picks, next: "done" };
}

/** `plain`: the best of the heads without a rank; `isRanked`: whether any head has one. Both are set together with the heads. */
type Slot = ReadyBucket & {
	taken: TakenJobs;
	heads: ReadyJob[] | undefined;
	plain: Candidate | undefined;
	isRanked: boolean;
	/** null: not looked for yet. */
	oldest: ReadyJob | undefined | null;
};
type Open = Map<number, Slot>;

function openSlots(buckets: readonly ReadyBucket[], limits: LimitsView): Open {
	const open: Open = new Map();
	for (const { bucket, rows } of buckets)
		if (bucket.ready > 0 && bucket.stage === undefined && !shut(bucket, limits))
			open.set(bucket.id, { bucket, rows, taken: NONE_TAKEN, heads: undefined, plain: undefined, isRanked: false, oldest: null });
	return open;
}

function take(slot: Slot, id: number): void {
	if (slot.taken === NONE_TAKEN) slot.taken = new TakenJobs();
	slot.taken.add(id);
	slot.heads = undefined;
	slot.oldest = null;
}

/** Counts a start in the plan's copy of the limits, as the start itself will. */
function countStart(limits: LimitsCopy, bucket: Bucket): void {
	if (!queuePolicy(bucket.kind).isCounted) return;
	const account = chooseAccount(bucket, limits) ?? undefined;
	for (const [key, amount] of footprint(bucket, account, limits.host)) limits.usage.set(key, (limits.usage.get(key) ?? 0) + amount);
	limits.starts++;
}

/** Sets the heads of each bucket, and the best of those without a rank. `unknown`: buckets whose rows must be read for that. */
function findHeads(open: Open, limits: LimitsView): { unknown: Bucket[]; isRanked: boolean } {
	const unknown: Bucket[] = [];
	let isRanked = false;
	for (const slot of open.values()) {
		if (slot.heads !== undefined) {
			isRanked ||= slot.isRanked;
			continue;
		}
		const { bucket, rows, taken } = slot;
		const heads = headsOf(rows, reachOf(bucket, limits), bucket.ready - taken.count, taken);
		if (isMissing(heads)) {
			unknown.push(bucket);
			continue;
		}
		slot.heads = heads;
		slot.plain = undefined;
		slot.isRanked = false;
		for (const head of heads) {
			if (head.rank !== 0) {
				slot.isRanked = true;
				continue;
			}
			const candidate = { slot, head, p: pOf(bucket, head, limits) };
			if (!slot.plain || better(candidate, slot.plain)) slot.plain = candidate;
		}
		isRanked ||= slot.isRanked;
	}
	return { unknown, isRanked };
}

/** Sets the job of each bucket that has been ready for longest. Returns the buckets whose rows must be read for that. */
function findOldest(open: Open, by: number): Bucket[] {
	const unknown: Bucket[] = [];
	for (const slot of open.values()) {
		if (slot.oldest !== null) continue;
		const oldest = oldestOf(slot.rows, by, slot.taken);
		if (isMissing(oldest)) unknown.push(slot.bucket);
		else slot.oldest = oldest;
	}
	return unknown;
}

const overdueTurn = (limits: LimitsView, open: Open): boolean => {
	const { overdue_share, overdue_after_ms } = limits.config.order;
	if (overdue_share <= 0 || overdue_after_ms <= 0 || limits.starts % overdue_share !== overdue_share - 1) return false;
	for (const { bucket } of open.values()) if (!queuePolicy(bucket.kind).isCounted) return false;
	return true;
};

/** The best head where none has a rank. */
function pickBest(open: Open): Candidate | undefined {
	let best: Candidate | undefined;
	for (const { plain } of open.values()) if (plain && (!best || better(plain, best))) best = plain;
	return best;
}

/** Lanes matter only if a job was promoted or demoted within its lane. */
function pickByLanes(open: Open, limits: LimitsView): Candidate | undefined {
	const lanes = new Map<string, { plain: Candidate | undefined; ranked: Candidate[] }>();
	for (const slot of open.values()) {
		const { bucket, plain, heads = [] } = slot;
		let lane = lanes.get(bucket.lane);
		if (!lane) {
			lane = { plain: undefined, ranked: [] };
			lanes.set(bucket.lane, lane);
		}
		if (plain && (!lane.plain || better(plain, lane.plain))) lane.plain = plain;
		for (const head of heads) if (head.rank !== 0) lane.ranked.push({ slot, head, p: pOf(bucket, head, limits) });
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

/** The overdue job that has been startable for longest. */
function pickOldest(open: Open): Candidate | undefined {
	let oldest: Candidate | undefined;
	for (const slot of open.values()) {
		const head = slot.oldest;
		if (!head) continue;
		const isFirst = !oldest || head.ready_at < oldest.head.ready_at || (head.ready_at === oldest.head.ready_at && head.id < oldest.head.id);
		if (isFirst) oldest = { slot, head, p: 0 };
	}
	return oldest;
}
