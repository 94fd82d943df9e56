// What the end of a job means for the jobs that come after it: each edge is counted down, and a dependent that can never start ends as blocked.

import { ask, type Op } from "../../contracts/store.ts";
import { fits } from "../../core/gates/after.ts";
import { isWaiting, type Job, type Policy } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "./continuation.ts";
import { endByVerdict } from "./park.ts";

/** Dependents that one piece of a continuation tells. */
const PIECE = 200;

/** Tells the dependents of several ended jobs, at most `limit` of them; the rest is left to the next transactions. Returns how many it told. */
export function* tellDependents(tx: Tx, ended: readonly Job[], limit: number): Op<number> {
	const edges = limit > 0 ? yield* ask({ read: "fan", preds: ended.map((pred) => pred.id), limit }) : [];
	yield* tx.load(edges.map((edge) => edge.job));
	const last = edges[edges.length - 1];
	// From this predecessor on, `limit` cut the answer off.
	const cut = limit > 0 && edges.length < limit ? Number.POSITIVE_INFINITY : (last?.pred ?? 0);
	let next = 0;
	for (const pred of [...ended].sort((a, b) => a.id - b.id)) {
		for (let edge = edges[next]; edge?.pred === pred.id; edge = edges[++next]) yield* tell(tx, pred, edge.job, edge.policy);
		if (pred.id >= cut) continueLater(tx, { do: "edges", of: pred.id, after: pred.id === last?.pred ? last.job : 0 });
		tx.work.untold.delete(pred.id);
	}
	return Math.max(1, edges.length);
}

/** Applies the end of a predecessor to one dependent: counts its edge down and has it re-evaluated, or ends it as blocked. */
function* tell(tx: Tx, pred: Job, id: number, policy: Policy): Op<void> {
	const job = tx.peek(id);
	if (!job || !isWaiting(job.status)) return;
	if (job.broken !== undefined) {
		tx.work.reevaluate(job);
		return;
	}
	const fit = fits(policy, pred.status, pred.merge_status);
	if (fit === "open") return;
	if (fit === "never") {
		yield* endByVerdict(tx, job, { status: "blocked_by_dependency", reason: `dependency failed for job ${pred.id} (${pred.status})` });
		return;
	}
	const subject = `job:${pred.id}`;
	job.deps_left = (job.deps_left ?? 1) - 1;
	tx.touch(job);
	// If the job's time has come as well, it was this predecessor that it waited for last: clear `due_at`, so that the job counts as ready since now, not
	// since then.
	if (job.deps_left === 0 && job.parked_on === "time" && job.due_at !== undefined && job.due_at <= tx.now) job.due_at = undefined;
	const named = job.parked_on === "after" && (job.waits_for_pred ?? subject) === subject;
	if (job.deps_left <= 0 || named) tx.work.reevaluate(job);
}

/** Applies the end or the merge of a predecessor to its next dependents. Returns the last id that was processed, or null when there are no more. */
export function* tellMore(tx: Tx, pred: Job, after: number, news: "edges" | "merge"): Op<number | null> {
	const edges = yield* ask({ read: "edges", pred: pred.id, after, limit: PIECE });
	yield* tx.load(edges.map((edge) => edge.job));
	for (const { job, policy } of edges) if (news === "edges" || policy === "merged") yield* tell(tx, pred, job, policy);
	const last = edges[edges.length - 1];
	return edges.length < PIECE || !last ? null : last.job;
}
