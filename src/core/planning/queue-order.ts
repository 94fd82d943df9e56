// The order of ready jobs while no gate holds any of them: what `plan` would pick one after the other if every cap had room. For views of the queue; the
// overdue turn (order.overdue_share) is left out, because it depends on the starts in between.

import type { Bucket } from "../bucket.ts";
import type { LimitsView } from "../limits-view.ts";
import { RUN_NOW } from "../order.ts";
import { better, pOf } from "./plan.ts";
import type { ReadyJob } from "./ready-rows.ts";

export type QueuedHead = { bucket: Bucket; head: ReadyJob };
type Candidate = { of: QueuedHead; head: ReadyJob; p: number };
/** Each list is in the order of its starts. */
type LaneQueue = { promoted: Candidate[]; plain: Candidate[]; demoted: Candidate[] };

const byRank = (a: Candidate, b: Candidate): number => b.head.rank - a.head.rank || inOrder(a, b);
const inOrder = (a: Candidate, b: Candidate): number => (better(a, b) ? -1 : 1);

/** The first `most` of these jobs, best first. */
export function dispatchOrder(jobs: readonly QueuedHead[], limits: LimitsView, most: number): QueuedHead[] {
	const urgent: Candidate[] = [];
	const lanes = new Map<string, LaneQueue>();
	for (const of of jobs) {
		const { bucket, head } = of;
		const one = { of, head, p: pOf(bucket, head, limits) };
		let lane = lanes.get(bucket.lane);
		if (!lane) {
			lane = { promoted: [], plain: [], demoted: [] };
			lanes.set(bucket.lane, lane);
		}
		if (head.rank >= RUN_NOW) urgent.push(one);
		else (head.rank > 0 ? lane.promoted : head.rank < 0 ? lane.demoted : lane.plain).push(one);
	}
	const found = urgent.sort(byRank).map(({ of }) => of);
	const merged = [...lanes.values()].map((lane) => {
		lane.promoted.sort(byRank);
		lane.plain.sort(inOrder);
		lane.demoted.sort(byRank);
		return { lane, at: { promoted: 0, plain: 0, demoted: 0 } };
	});
	while (found.length < most) {
		let best: { one: Candidate; take: () => void } | undefined;
		for (const { lane, at } of merged) {
			const next = nextOf(lane, at);
			if (next && (!best || better(next.one, best.one))) best = next;
		}
		if (!best) break;
		best.take();
		found.push(best.one.of);
	}
	return found.slice(0, most);
}

/** A promoted job counts with the best P of its lane; a demoted one comes when its lane has no other. */
function nextOf(lane: LaneQueue, at: Record<keyof LaneQueue, number>): { one: Candidate; take: () => void } | undefined {
	const [top, plain, last] = [lane.promoted[at.promoted], lane.plain[at.plain], lane.demoted[at.demoted]];
	if (top) return { one: { ...top, p: Math.max(top.p, plain?.p ?? top.p) }, take: () => at.promoted++ };
	if (plain) return { one: plain, take: () => at.plain++ };
	return last && { one: last, take: () => at.demoted++ };
}
