// The two queues that share one store, and everything in which they differ: jobs, and the entries of preset kernel. Code asks the policy of a job's kind
// instead of comparing the kind, so that this table is the whole difference (docs/decisions/0010).
//
//                  jobs                                       kernel entries
//   order          the priority sum, which grows with age     priority, then runnable_at
//   job gates      all of job-gates.ts                        time, deadline: by the clock that the caller may bring
//   bucket gates   all of job-gates.ts                        the ledger of the entry's agent
//   counted        lane depth, caps, queue limits, pace,      nothing
//                  cycles, the share of overdue jobs
//   listed         list, status, graph, forecast, clear, …    kernel.list alone
//   end of a run   retry by policy, verdicts count            the entry ends, whatever the result

import type { BucketGate, JobGate } from "./gates/gate.ts";
import { BUCKET_GATES, JOB_GATES } from "./gates/job-gates.ts";
import { entryDeadline, entryLedger, entryTime } from "./gates/kernel.ts";
import type { JobKind } from "./job.ts";
import { PRIORITY_SUM, type QueueOrder, STRICT_ORDER } from "./order.ts";
import { afterEntry, afterRun, spokenEnd } from "./outcome.ts";

export type QueuePolicy = {
	order: QueueOrder;
	jobGates: readonly JobGate[];
	bucketGates: readonly BucketGate[];
	/** Its jobs count in lane depths, caps, queue limits, pace, cycles and the share of overdue jobs. */
	isCounted: boolean;
	/** The general commands (list, status, graph, forecast, clear, cancel all) cover its jobs. */
	isListed: boolean;
	/** By which clock times and deadlines are judged. A claim may bring a clock of its own, so that what has come by one clock lies ahead by the next. */
	clock: "scheduler" | "claim";
	/** The end of a run after its own verdict. */
	spokenEnd: typeof spokenEnd;
	/** What becomes of the job. */
	afterRun: typeof afterRun;
};

const JOBS: QueuePolicy = {
	order: PRIORITY_SUM,
	jobGates: JOB_GATES,
	bucketGates: BUCKET_GATES,
	isCounted: true,
	isListed: true,
	clock: "scheduler",
	spokenEnd,
	afterRun,
};

export const KERNEL_ENTRIES: QueuePolicy = {
	order: STRICT_ORDER,
	jobGates: [entryTime, entryDeadline],
	bucketGates: [entryLedger],
	isCounted: false,
	isListed: false,
	clock: "claim",
	spokenEnd: (_job, ended) => ended,
	afterRun: afterEntry,
};

export const queuePolicy = (kind: JobKind): QueuePolicy => (kind === "kernel" ? KERNEL_ENTRIES : JOBS);
