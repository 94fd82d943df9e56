// Planted bugs in what jobs wait for: other jobs, artifacts, items, names, stages; and in runs that wait for jobs.

import type { Op } from "../../src/contracts/store.ts";
import { fits } from "../../src/core/gates/after.ts";
import { lentBy } from "../../src/core/gates/buckets/capacity.ts";
import { held } from "../../src/core/gates/held.ts";
import { allReasons } from "../../src/core/gates/index.ts";
import { item } from "../../src/core/gates/item.ts";
import { obstacles } from "../../src/core/gates/locks.ts";
import { askSpawn } from "../../src/core/gates/spawn.ts";
import { isTerminal, isWaiting, type Job, type Policy } from "../../src/core/job.ts";
import { RUN_NOW } from "../../src/core/order.ts";
import { editJob } from "../../src/scheduler/apply/edit.ts";
import { dropStaleStages } from "../../src/scheduler/apply/stages.ts";
import { change, refuseCircle } from "../../src/scheduler/apply/update.ts";
import { openChain } from "../../src/scheduler/operations/add.ts";
import { hold, release } from "../../src/scheduler/operations/control.ts";
import { finish } from "../../src/scheduler/operations/finish.ts";
import { merged } from "../../src/scheduler/operations/merges.ts";
import { openHolder, refuseNames } from "../../src/scheduler/operations/names.ts";
import { withChildren } from "../../src/scheduler/operations/rerun.ts";
import { rewind } from "../../src/scheduler/operations/rewind.ts";
import { gcSome } from "../../src/scheduler/operations/upkeep.ts";
import { beginWait, endWaits, takeBack, tellWaiters } from "../../src/scheduler/operations/waits.ts";
import { Tx } from "../../src/scheduler/transaction/tx.ts";
import { tellDependents } from "../../src/scheduler/waiting/dependents.ts";
import { endByVerdict } from "../../src/scheduler/waiting/park.ts";
import { always, alwaysOp, type Bug, bugsOf, everywhere, hidden, method, skipped, skippedOp, within } from "./bug.ts";

/** Tells a job of the end of one that it comes after. */
const tell = hidden<(tx: Tx, pred: Job, id: number, policy: Policy) => Op<void>>("tell", { beside: tellDependents });

export const WAITS: Bug[] = [
	...bugsOf("a job starts when all that it comes after have ended as it asks", {
		"a dependency counts twice": everywhere(
			tell,
			(right) =>
				function* (tx, pred, id, policy) {
					const job = tx.peek(id);
					const isMet = job && isWaiting(job.status) && fits(policy, pred.status, pred.merge_status) === "met";
					if (isMet && (job.deps_left ?? 1) > 1) job.deps_left = (job.deps_left ?? 1) - 1;
					yield* right(tx, pred, id, policy);
				},
		),
		"a merge that is reported twice counts twice": everywhere(
			merged,
			(right) =>
				function* (tx, id, status, report) {
					const job = yield* tx.find(id);
					if (job?.merge_status === "merged" && status === "merged") job.merge_status = "pending";
					yield* right(tx, id, status, report);
				},
		),
		"after: failure takes a cancelled job": everywhere(
			fits,
			(right) => (policy, status, merge) => (policy === "failure" && status === "cancelled" ? "met" : right(policy, status, merge)),
		),
		"blocking does not cascade": within(tell, endByVerdict, skippedOp),
		"rerun leaves the children blocked": within(
			rewind,
			withChildren,
			() =>
				function* (_tx, root) {
					yield* [];
					return new Map([[root.id, root]]);
				},
		),
		"gc takes jobs that others refer to": within(gcSome, hidden<(tx: Tx, job: Job) => Op<boolean>>("isReferred"), alwaysOp(false)),
		"the patch of an earlier attempt counts while the job runs again": within(hidden("neededArtifact"), isTerminal, always(true)),
	}),

	...bugsOf("an item is worked on once", {
		"an item is added twice": everywhere(openChain, alwaysOp(undefined)),
		"an item that another worker has is started": within(method({ item }, "ask"), hidden<() => boolean>("isTaken"), always(false)),
	}),

	...bugsOf("a name belongs to one open job", {
		"a name stays taken after its job's end": within(openHolder, isTerminal, always(false)),
		"two open jobs get the same name by a retry": within(refuseNames, openHolder, alwaysOp(null)),
	}),

	...bugsOf("a stage is seen when it is whole", {
		"jobs of a stage emit events before it is whole": within(method({ Tx }, "event"), method({ Tx }, "isComing"), always(false)),
		"a stage that was cut off stays": everywhere(dropStaleStages, skipped),
	}),

	...bugsOf("a run that waits for jobs lends its slots, and no runs wait for each other", {
		"a run that waits lends nothing": within(beginWait, lentBy, always([])),
		"a run keeps waiting for a job that has ended": everywhere(tellWaiters, skippedOp),
		"a run that ends while it waits keeps what it lent": within(finish, takeBack, skipped),
		"waits outlive the daemon": everywhere(endWaits, skippedOp),
		"a circle of waits is allowed": within(beginWait, hidden<() => Op<void>>("refuseCircle"), skippedOp),
		"locks do not make a circle": within(hidden("needsOfWaiting"), obstacles, always([])),
		"all runs may wait under a full safety cap": everywhere(hidden<() => void>("refuseLastOfAll"), skipped),
	}),

	...bugsOf("a job that a person holds does not start before it is released", {
		"run-now starts a held job": everywhere(
			method({ held }, "ask"),
			(right) => (job, clock) => ((job.rank ?? 0) >= RUN_NOW ? null : right(job, clock)),
		),
		"a ready job starts although it is held": within(hold, hidden<() => void>("decideAgain", { beside: release }), skipped),
		"a released job is not woken": within(release, hidden<() => void>("decideAgain", { beside: release }), skipped),
	}),

	...bugsOf("an edited job is what its fields say now", {
		"an edited job keeps the jobs that it came after": within(change, hidden<() => Op<void>>("changeEdges"), skippedOp),
		"an edit closes a circle of jobs": within(hidden("changeAll", { beside: editJob }), refuseCircle, skippedOp),
	}),

	...bugsOf("`why` names every reason", {
		"why forgets that a launch failed": within(allReasons, askSpawn, always(null)),
	}),
];
