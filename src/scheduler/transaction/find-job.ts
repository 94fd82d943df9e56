// Finds the job or the run that a caller names, or refuses the call.

import { ask, type Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { hasRun, type Job, type RunningJob } from "../../core/job.ts";
import type { Tx } from "./tx.ts";

export function* mustFind(tx: Tx, id: number): Op<Job> {
	const job = tx.isComing(id) ? undefined : yield* tx.find(id);
	if (job) return job;
	const near = yield* ask({ read: "range", from: Math.max(1, id - 3), to: id + 3, limit: 6 });
	throw new SluiceError("not_found", `there is no job ${id}`, {
		field: "id",
		hint: near.length > 0 ? `near it: ${near.join(", ")}` : "sluice list --all shows the jobs that exist",
	});
}

/** Returns the job of a live run. Throws `fenced` if the job has no live run with this token. */
export function* runningJob(tx: Tx, { job: id, token }: { job: number; token: number }): Op<RunningJob> {
	const job = tx.peek(id) ?? (yield* tx.find(id));
	if (!job) throw new SluiceError("not_found", `there is no job ${id}`, { field: "job" });
	if (!hasRun(job) || job.run.token !== token)
		throw new SluiceError(
			"fenced",
			`job ${id} is ${job.status}${job.run ? ` in attempt ${job.run.attempt}` : ""}: the run with token ${token} has been overtaken`,
			{
				field: "token",
				hint: "stop this run and throw its result away",
			},
		);
	return job;
}
