// Merges: report a result, ask for another try, give up. The merging itself is done by the caller.

import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { isMerging, type Job, type MergeReport, type MergeStatus } from "../../core/job.ts";
import { countReview } from "../limits/reviews.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";
import { doubtProducts } from "../waiting/park.ts";

/** Records how the merge of a succeeded job went. Its dependents with policy `merged` are re-evaluated. */
export function* merged(tx: Tx, id: number, status: MergeStatus, report: MergeReport): Op<void> {
	const job = yield* mustMerge(tx, id, "report");
	if (job.merge_status === "merged") {
		// A host that died after its report repeats it. The dependents have counted this predecessor down, and must not do so again.
		if (status === "merged") return;
		throw new SluiceError("illegal_transition", `job ${id} is merged already: it has no merge to report`, { field: "id" });
	}
	// The merge was given up while it was under way. If the base branch has the work all the same, that counts; any other report is refused.
	if (job.merge_report?.given_up && status !== "merged")
		throw new SluiceError("illegal_transition", `the merge of job ${id} was given up: it has no merge to report`, { field: "id" });
	yield* setMerge(tx, job, status, report);
}

/** Asks for another merge without another run. The host that has the worktree reacts to the event. */
export function* mergeAgain(tx: Tx, id: number): Op<void> {
	const job = yield* mustMerge(tx, id, "try");
	if (job.merge_status === "merged") throw new SluiceError("illegal_transition", `job ${id} is merged already`, { field: "id" });
	job.merge_status = "pending";
	job.merge_report = undefined;
	countReview(tx, job);
	tx.touch(job);
	tx.event("merge_asked", id, {});
}

/** Gives up the merge: it no longer needs a human, and dependents that wait for it can no longer be satisfied. */
export function* dropMerge(tx: Tx, id: number, reason: string | undefined): Op<void> {
	const job = yield* mustMerge(tx, id, "give up");
	if (job.merge_status === "merged")
		throw new SluiceError("illegal_transition", `job ${id} is merged already: it has no merge to give up`, { field: "id" });
	if (job.merge_report?.given_up) return;
	yield* setMerge(tx, job, "kept", { given_up: true, message: reason ?? `given up by ${tx.by}` });
}

function* mustMerge(tx: Tx, id: number, what: "report" | "try" | "give up"): Op<Job> {
	const job = yield* mustFind(tx, id);
	if (job.status === "succeeded" && job.will_merge) return job;
	throw new SluiceError(
		"illegal_transition",
		`job ${id} is ${job.status}${job.will_merge ? "" : " and does not merge"}: it has no merge to ${what}`,
		{ field: "id" },
	);
}

function* setMerge(tx: Tx, job: Job, status: MergeStatus, report: MergeReport): Op<void> {
	const wasMerging = isMerging(job);
	job.merge_status = status;
	job.merge_report = Object.keys(report).length > 0 ? report : undefined;
	countReview(tx, job);
	tx.touch(job);
	tx.event("merge", job.id, { merge_status: status, ...report });
	if (job.dependents) continueLater(tx, { do: "merge", of: job.id, after: 0 });
	if (wasMerging && !isMerging(job)) yield* doubtProducts(tx, job);
}
