// Counts the ended jobs of each repo whose work waits for a person. Every change of a job's end or merge calls `countReview`; the job remembers whether it is
// counted, so that jobs which an earlier version ended are never subtracted.

import { reviewKey } from "../../core/gates/buckets/review.ts";
import { isUnreviewed, type Job } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";

/** A job that is no longer counted may let others of its repo start: their claims are woken. */
export function countReview(tx: Tx, job: Job): void {
	setReview(tx, job, isUnreviewed(job) ? "open" : "over");
}

/** Before the job is deleted. */
export const forgetReview = (tx: Tx, job: Job): void => setReview(tx, job, "over");

function setReview(tx: Tx, job: Job, is: "open" | "over"): void {
	if (job.repo === undefined || (is === "open") === (job.unreviewed === true)) return;
	job.unreviewed = is === "open" ? true : undefined;
	tx.count("usage", reviewKey(job.repo), is === "open" ? 1 : -1);
	if (is === "over") tx.stirred = true;
}
