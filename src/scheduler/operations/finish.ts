// The end of a run: charges its cost, releases its locks and counts, and decides whether its job ends or waits again.

import type { Ended, RunEnd } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { footprint } from "../../core/gates/buckets/capacity.ts";
import { quotaOf } from "../../core/gates/buckets/holds.ts";
import { given } from "../../core/given.ts";
import { drop, type Job, type RunningJob, type StopKind } from "../../core/job.ts";
import { RUN_NOW } from "../../core/order.ts";
import { exitKindOf, type Next } from "../../core/outcome.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { pendingOf } from "../../core/runs/told.ts";
import { accountWorks, limitAccount } from "../limits/account-holds.ts";
import { launchFailed, launchWorked, probeUndecided } from "../limits/breakers.ts";
import { chargeRun, releaseBudgets } from "../limits/budgets.ts";
import { accountAnswers, outageAtEnd } from "../limits/outages.ts";
import { countReview } from "../limits/reviews.ts";
import { noteRunEnd } from "../rollups/notes.ts";
import { beginWaiting } from "../rollups/wait-time.ts";
import { runningJob } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { recount } from "../waiting/gate-facts.ts";
import { releaseLocks } from "../waiting/locks.ts";
import { endJob, reevaluate } from "../waiting/park.ts";
import { takeBack } from "./waits.ts";

export function* started(tx: Tx, run: { job: number; token: number }): Op<void> {
	const job = yield* runningJob(tx, run);
	if (job.run.launched) return;
	markLaunched(tx, job);
	tx.event("launched", job.id, { attempt: job.run.attempt });
}

function markLaunched(tx: Tx, job: RunningJob): void {
	job.run.launched = true;
	job.dispatch_failures = undefined;
	tx.touch(job);
	launchWorked(tx, job);
}

/** The provider answered this run: an outage of its account is over. */
export function* answered(tx: Tx, run: { job: number; token: number }): Op<void> {
	const job = yield* runningJob(tx, run);
	const quota = quotaOf(job.kind, job.run.account);
	if (quota !== undefined) accountAnswers(tx, job, quota);
}

export function* extend(tx: Tx, run: { job: number; token: number }): Op<{ cancel_requested: boolean; lease_until: number | null }> {
	const job = yield* runningJob(tx, run);
	if (job.run.lease_until !== undefined) {
		job.run.lease_until = tx.now + tx.config.lease_ms;
		job.due_at = job.run.lease_until;
		tx.touch(job);
	}
	return { cancel_requested: job.run.intent !== undefined, lease_until: job.run.lease_until ?? null };
}

/** Renews the leases of several runs. Returns the jobs of those that are over, or that another process has. */
export function* extendAll(tx: Tx, { runs }: { runs: { job: number; token: number }[] }): Op<number[]> {
	const over: number[] = [];
	yield* tx.load(runs.map(({ job }) => job));
	for (const run of runs) {
		try {
			yield* extend(tx, run);
		} catch (error) {
			if (!(error instanceof SluiceError)) throw error;
			over.push(run.job);
		}
	}
	return over;
}

/** Records a stop before the first signal is sent. If a stop was requested earlier, that one stays, unless the job would only have gone on after it. */
export function* stop(
	tx: Tx,
	run: { job: number; token: number },
	{ kind, reason, resumes }: { kind: StopKind; reason: string; resumes?: true | undefined },
): Op<void> {
	const job = yield* runningJob(tx, run);
	if (job.run.intent && !job.run.intent.resumes) return;
	job.run.intent = { kind, reason, by: tx.by, at: tx.now, ...given({ resumes }) };
	tx.touch(job);
	tx.event("stop_asked", job.id, { kind, reason });
}

/** Takes back a stop after which the job would have gone on: the run's own end counts. False if another stop was requested. */
export function* takeBackStop(tx: Tx, run: { job: number; token: number }): Op<boolean> {
	const job = yield* runningJob(tx, run);
	if (job.run.intent && !job.run.intent.resumes) return false;
	if (job.run.intent) {
		const { intent: _, ...run } = job.run;
		job.run = run;
		tx.touch(job);
	}
	return true;
}

/** `decided`: what becomes of the job, where the caller knows it without the rules in core/outcome.ts. */
export function* finish(tx: Tx, told: RunEnd, decided?: Next): Op<Ended> {
	const job = yield* runningJob(tx, told);
	const { run } = job;
	const policy = queuePolicy(job.kind);
	const ending = policy.spokenEnd(job, told);
	const exit_kind = exitKindOf(job, ending);
	takeBack(tx, job);
	for (const [key, amount] of footprint(job, run.account, run.host === "" ? undefined : run.host)) tx.count("usage", key, -amount);
	const released = releaseBudgets(tx, run);
	tx.stirred = true;

	let refunded = false;
	if (exit_kind === "launch_failed" && ending.fault === "job") probeUndecided(tx, job);
	else if (exit_kind === "launch_failed") refunded = yield* launchFailed(tx, job, ending.message ?? "launch failed");
	// A launch that was reported counts from then on: launches that failed since then say more about the environment than the end of this run.
	else if (!run.launched && !["lost", "cancelled", "drained", "preempted", "launch_failed"].includes(ending.exit_kind))
		markLaunched(tx, job);
	else probeUndecided(tx, job);
	if (exit_kind === "rate_limited") limitAccount(tx, run.account ?? "default", ending);
	const quota = quotaOf(job.kind, run.account);
	// If the program completed, its account works, whatever verdict the run gave on its own work.
	const toldKind = exitKindOf(job, told);
	if (toldKind === "completed" && quota !== undefined) accountWorks(tx, quota, run.started_at);
	const met = quota === undefined ? undefined : outageAtEnd(tx, job, quota, { ...told, exit_kind: toldKind });
	if (ending.session !== undefined) job.session = ending.session;
	if (ending.usage !== undefined) job.usage = sum(job.usage, ending.usage);
	if (ending.denied !== undefined) job.denied = ending.denied.length === 0 ? undefined : ending.denied;
	job.closing_question = exit_kind === "completed" ? ending.closing_question : undefined;
	if (ending.message !== undefined && exit_kind !== "completed") job.last_failure = ending.message;

	if (run.verdict !== undefined) job.verdict = run.verdict;

	// A person told the agent something that this run has not got, and the run is done: its session goes on with the text.
	const unheard = exit_kind === "completed" && run.intent === undefined && ending.session !== undefined && pendingOf(job.told).length > 0;
	const next: Next =
		(unheard ? { to: "wait", exit_kind: "preempted", burns: "nothing" } : decided) ??
		(refunded ? { to: "wait", exit_kind, burns: "nothing" } : policy.afterRun(job, ending, tx.config, tx.now, tx.chance(), met));
	job.due_at = undefined;
	if (ending.stays && run.host !== "") job.stays = run.host;
	else if (job.stays !== undefined) drop(job, ["stays"]);
	// First in the order, so that the claim of this transaction gives the job its slot and its locks back.
	if (next.to === "wait" && (unheard || run.intent?.resumes)) job.rank = RUN_NOW + tx.nextId("rank");
	if (next.to === "end") yield* end(tx, job, next, ending);
	else yield* wait(tx, job, next, ending);
	// Charge last: a breached budget may stop runs, and this run must have ended by then.
	if (exit_kind !== "launch_failed") {
		const wall_s = Math.ceil(Math.max(0, tx.now - run.started_at) / 1000);
		if (job.owner !== undefined || job.batch !== undefined || job.repo !== undefined)
			yield* chargeRun(tx, job, { ...ending.usage, runs: 1, wall_s });
	}
	released();
	const ended: Ended = { job: job.id, status: job.status };
	if (next.to === "wait") {
		if (next.backoff_until !== undefined) ended.retry_at = next.backoff_until;
		// Another job may take the locks that this one has released.
		tx.answerLater(() => {
			ended.status = job.status;
		});
	}
	return ended;
}

function sum(before: Record<string, number> | undefined, more: Record<string, number>): Record<string, number> {
	const all = { ...before };
	for (const [dim, amount] of Object.entries(more)) all[dim] = Math.min(Number.MAX_SAFE_INTEGER, (all[dim] ?? 0) + amount);
	return all;
}

function* end(tx: Tx, job: RunningJob, next: Extract<Next, { to: "end" }>, ending: RunEnd): Op<void> {
	if (next.status === "succeeded" && job.will_merge) job.merge_status = ending.merge_status ?? "pending";
	if (
		next.exit_kind === "failed" ||
		next.exit_kind === "crashed" ||
		next.exit_kind === "timeout" ||
		next.exit_kind === "stalled" ||
		next.exit_kind === "lost"
	)
		job.failures = (job.failures ?? 0) + 1;
	if (next.exit_kind === "launch_failed") {
		if (tx.config.dispatch_breaker === "run") job.failures = (job.failures ?? 0) + 1;
		else job.dispatch_failures = (job.dispatch_failures ?? 0) + 1;
	}
	const { run } = job;
	(job as Job).run = undefined;
	noteRunEnd(tx, job, run, { usage: ending.usage, after: "end" });
	yield* endJob(tx, job, ending.usage === undefined ? next : { ...next, usage: ending.usage }, run);
	if (job.will_merge) countReview(tx, job);
	const { attempt, host, worker, account, started_at } = run;
	job.last_run = account === undefined ? { attempt, host, worker, started_at } : { attempt, host, worker, account, started_at };
	if (job.locks) yield* releaseLocks(tx, job);
}

function* wait(tx: Tx, job: RunningJob, next: Extract<Next, { to: "wait" }>, ending: RunEnd): Op<void> {
	const { run } = job;
	tx.changes.runs.push({
		job: job.id,
		attempt: run.attempt,
		host: run.host,
		worker: run.worker,
		account: run.account ?? null,
		started_at: run.started_at,
		ended_at: tx.now,
		exit_kind: next.exit_kind,
		exit_code: ending.exit_code ?? null,
		message: ending.message ?? null,
	});
	if (next.burns === "failure") job.failures = (job.failures ?? 0) + 1;
	if (next.burns === "dispatch") job.dispatch_failures = (job.dispatch_failures ?? 0) + 1;
	if (next.backoff_until !== undefined) job.backoff_until = next.backoff_until;
	if (next.question !== undefined) job.question = next.question;
	job.exit_kind = next.exit_kind;
	if (ending.goes_on && next.exit_kind === "crashed") job.goes_on = true;
	if (job.session !== undefined && run.account !== undefined && job.account === undefined) job.prefer = run.account;
	noteRunEnd(tx, job, run, { usage: ending.usage, after: next.burns === "nothing" ? "wait" : "retry" });
	beginWaiting(tx, job);
	drop(job, ["run", "forced", "ready_at"]);
	job.parked_on = "end";
	job.bucket = tx.bucketFor(job).id;
	tx.move(job, "queued", "requeued", {
		exit_kind: next.exit_kind,
		attempt: run.attempt,
		burns: next.burns,
		...(next.backoff_until === undefined ? {} : { retry_at: next.backoff_until }),
		...(ending.message === undefined ? {} : { message: ending.message }),
		...(ending.usage === undefined ? {} : { usage: ending.usage }),
	});
	if (job.locks) yield* releaseLocks(tx, job);
	// A predecessor was rewound and runs again meanwhile.
	if (job.deps_left) yield* reevaluate(tx, job, yield* recount(tx, job));
	else yield* reevaluate(tx, job);
}
