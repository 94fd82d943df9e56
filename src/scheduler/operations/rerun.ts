// Which jobs `rerun` of a job runs again besides that job: its children that its end had blocked, and in turn their children. Other jobs that it blocked
// stay blocked.

import type { Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { deadEnd, fits } from "../../core/gates/after.ts";
import { isTerminal, type Job } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";
import { allPredecessors, edgesFrom } from "../waiting/gate-facts.ts";

type Jobs = Map<number, Job>;
/** Throws if a job cannot be open again because its item or its name now belongs to another job. */
type Refuse = (tx: Tx, set: ReadonlyMap<number, Job>) => Op<void>;

/** Dependents that are blocked because of how this job ended. */
function* blockedBy(tx: Tx, job: Job): Op<Job[]> {
	if (!isTerminal(job.status)) return [];
	const { status, merge_status } = job;
	return (yield* edgesFrom(tx, job)).flatMap((edge) => {
		const one = tx.peek(edge.job);
		return one?.status === "blocked_by_dependency" && fits(edge.policy, status, merge_status) === "never" ? [one] : [];
	});
}

/** The job, and those of its descendants that it blocked and that nothing else blocks. */
export function* withChildren(tx: Tx, root: Job, refuse: Refuse): Op<Jobs> {
	const set: Jobs = new Map([[root.id, root]]);
	const open = [root];
	for (let at = 0; at < open.length; at++) {
		const job = nth(open, at);
		for (const child of yield* blockedBy(tx, job)) {
			if (set.has(child.id) || child.path?.[child.path.length - 1] !== job.id) continue;
			set.set(child.id, child);
			open.push(child);
		}
	}
	for (let gone = true; gone; ) {
		gone = false;
		for (const job of open) {
			if (job === root || !set.has(job.id) || (yield* mayComeBack(tx, job, set, refuse))) continue;
			set.delete(job.id);
			gone = true;
		}
	}
	return set;
}

function* mayComeBack(tx: Tx, job: Job, set: Jobs, refuse: Refuse): Op<boolean> {
	const preds = yield* allPredecessors(tx, job);
	if (preds.some((pred) => !set.has(pred.job) && deadEnd(pred) !== undefined)) return false;
	try {
		yield* refuse(tx, new Map([[job.id, job]]));
		return true;
	} catch (error) {
		if (!(error instanceof SluiceError) || error.code === "store") throw error;
		return false;
	}
}

const NAMED = 1000;

/** Ids of jobs that stay blocked although the job that blocked them runs again. */
export function* leftBlocked(tx: Tx, set: ReadonlyMap<number, Job>): Op<number[]> {
	const left = new Set<number>();
	for (const job of set.values()) for (const one of yield* blockedBy(tx, job)) if (!set.has(one.id)) left.add(one.id);
	return [...left].sort((a, b) => a - b).slice(0, NAMED);
}
