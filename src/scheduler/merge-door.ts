// The library's methods of merges: what became of one, once more, given up. The merging itself is its caller's.

import * as check from "../core/check.ts";
import { SluiceError } from "../core/errors.ts";
import { isMerging, type Job, MERGE_STATUSES, type MergeReport, type MergeStatus } from "../core/job.ts";
import type { Act, Scheduler } from "../scheduler.ts";
import type { Op } from "../store.ts";
import type { Engine, Task } from "./engine.ts";
import { mustFind } from "./look.ts";
import { doubtProducts } from "./place.ts";
import type { Tx } from "./tx.ts";

type Parts = { engine: Engine; run: <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T> };
const id = (value: unknown) => check.integer(value, "id", 1);

export const mergeMethods = ({ engine, run }: Parts): Pick<Scheduler, "merged" | "mergeAgain" | "dropMerge"> => ({
	merged: async (at, status, report) => {
		const merge = check.oneOf(status, MERGE_STATUSES, "status");
		return engine.run((tx) => merged(tx, id(at), merge, report), { jobs: [id(at)] });
	},
	mergeAgain: async (at, act) => run((tx) => mergeAgain(tx, id(at)), act, [id(at)]),
	dropMerge: async (at, act) => run((tx) => dropMerge(tx, id(at), act?.reason), act, [id(at)]),
});

/** How the merge of a job that ended well went. Those that wait for it hear of it. */
function* merged(tx: Tx, id: number, status: MergeStatus, report: MergeReport = {}): Op<void> {
	const job = yield* mustMerge(tx, id, "report");
	// It was under way when somebody gave it up. If the base has it all the same, that is what counts.
	if (job.merge_report?.given_up && status !== "merged")
		throw new SluiceError("illegal_transition", `the merge of job ${id} was given up: it has no merge to report`, { field: "id" });
	yield* setMerge(tx, job, status, report);
}

/** Once more, without a run: whoever has its worktree hears of it. */
function* mergeAgain(tx: Tx, id: number): Op<void> {
	const job = yield* mustMerge(tx, id, "try");
	if (job.merge_status === "merged") throw new SluiceError("illegal_transition", `job ${id} is merged already`, { field: "id" });
	job.merge_status = "pending";
	job.merge_report = undefined;
	tx.touch(job);
	tx.event("merge_asked", id, {});
}

/** It is not to be merged any more: nobody is needed for it, and what waits for it cannot be met. */
function* dropMerge(tx: Tx, id: number, reason: string | undefined): Op<void> {
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
	tx.touch(job);
	tx.event("merge", job.id, { merge_status: status, ...report });
	if (job.dependents) tx.put("settle", `merge/${job.id}`, { after: 0 });
	if (wasMerging && !isMerging(job)) yield* doubtProducts(tx, job);
}
