// Decides where a waiting job belongs and moves it there: ready, parked on what will free it, or ended.
// The table is in core/parked.ts.

import type { Op } from "../../contracts/store.ts";
import type { MoveMap } from "../../core/event.ts";
import { artifactKey, isMarker, isProbed, itemKey } from "../../core/fact.ts";
import type { JobFacts, Verdict } from "../../core/gates/gate.ts";
import { type Decision, decide } from "../../core/gates/index.ts";
import { drop, type ExitKind, isWaiting, type Job, type Run, type Terminal, WAIT_FIELDS } from "../../core/job.ts";
import { isOnBatch, isOnLock, READY } from "../../core/parked.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { countSerial, uncountSerial } from "../limits/backlog.ts";
import { returnName } from "../operations/names.ts";
import { tellWaiters } from "../operations/waits.ts";
import { noteEnd } from "../rollups/notes.ts";
import { chargeWait } from "../rollups/wait-time.ts";
import type { Tx } from "../transaction/tx.ts";
import { cancelNaming, hasContinuations, wakeByFact } from "./continuation.ts";
import { doubtFact, factsOf, plainFacts } from "./gate-facts.ts";
import { giveUpReservations, unwant, want } from "./lock-records.ts";

/** Asks the gates where a waiting job belongs and moves it there. What follows for other jobs goes on the worklist. */
export function* reevaluate(tx: Tx, job: Job, facts?: JobFacts): Op<Decision> {
	if (job.broken !== undefined) {
		yield* endJob(tx, job, { status: "failed", exit_code: 1, end_reason: `unusable record: ${job.broken}` });
		return { kind: "end", verdict: { status: "failed", reason: job.broken } };
	}
	const decision = decide(job, facts ?? plainFacts(tx, job) ?? (yield* factsOf(tx, job)), tx.world());
	if (job.runnable_at > job.created_at && job.runnable_at <= tx.now && queuePolicy(job.kind).clock === "scheduler") job.timely = true;
	// The end of a back-off has its own event: the job usually goes on waiting, for its turn or for a lock, without a change of status.
	if (job.backoff_until !== undefined && (decision.kind === "ready" || (decision.kind === "park" && decision.gate !== "time")))
		tx.event("backoff_over", job.id, {});
	if (decision.kind === "end") yield* endByVerdict(tx, job, decision.verdict);
	else if (decision.kind === "ready") {
		if (job.parked_on === "new") makeReady(tx, job, tx.now);
		else if (job.parked_on !== READY) {
			const since = readySince(tx, job);
			unplace(tx, job);
			makeReady(tx, job, since);
		}
	} else park(tx, job, decision);
	return decision;
}

/** Ends a job that can never start. If a cancel under way names the job, it ends as cancelled, in the name of the caller of that cancel. */
export function* endByVerdict(tx: Tx, job: Job, { status, reason }: Verdict): Op<void> {
	const cancel = hasContinuations(tx) ? cancelNaming(tx, job.id) : undefined;
	if (!cancel) return yield* endJob(tx, job, { status, exit_code: status === "failed" ? 1 : null, end_reason: reason });
	const own = tx.by;
	tx.by = cancel.by;
	yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: cancel.reason });
	tx.by = own;
}

/**
 * Takes the job off what it is parked on, or out of its ready bucket. Call it before changing any field that determines the job's place in the order: the
 * bucket's window finds the job by that place.
 */
export function unplace(tx: Tx, job: Job): void {
	const { parked_on } = job;
	chargeWait(tx, job);
	uncountSerial(tx, job);
	if (parked_on === READY) {
		tx.leave(job);
		if (job.locks) {
			unwant(tx, job);
			for (const { key } of job.locks) tx.work.wake(key);
		}
	} else if (isOnBatch(parked_on)) unwant(tx, job);
	job.parked_on = "end";
}

/**
 * Since when the job has been ready. A job that waited only for its time has been ready since its `due_at`, not since this transaction noticed. `due_at` is
 * that time: a deadline that came first would have ended the job.
 */
const readySince = (tx: Tx, job: Job): number =>
	job.parked_on === "time" && job.due_at !== undefined && job.due_at <= tx.now ? job.due_at : tx.now;

const PARKED = ["wait_reason", "waits_for_pred", "gate", "since", "backoff_until"] as const;

function makeReady(tx: Tx, job: Job, since: number): void {
	job.ready_at ??= since;
	drop(job, PARKED);
	job.parked_on = READY;
	setDue(tx, job, undefined);
	if (job.status !== "queued") tx.move(job, "queued", "ready", {});
	else tx.touch(job);
	if (job.locks) want(tx, job);
	tx.enter(job);
}

function park(tx: Tx, job: Job, to: Extract<Decision, { kind: "park" }>): void {
	const detail = to.reason.detail;
	// The back-off is over. Clear it, so that a clock that is set back does not start it again.
	if (to.gate !== "time") job.backoff_until = undefined;
	const same =
		job.parked_on === to.parked_on &&
		job.wait_reason?.detail === detail &&
		job.wait_reason.kind === to.reason.code &&
		job.status === to.status;
	if (same) {
		setDue(tx, job, to.until);
		tx.touch(job);
		return;
	}
	const since = readySince(tx, job);
	const asks = to.parked_on === "human" && job.parked_on !== to.parked_on && to.reason.code === "approval";
	if (job.parked_on !== to.parked_on) {
		unplace(tx, job);
		job.since = tx.now;
		job.parked_on = to.parked_on;
		countSerial(tx, job);
		// A job that only its batch holds back could take its locks. Link it like a ready job: when another job takes one of them, the lock becomes the first of
		// its reasons.
		if (isOnBatch(to.parked_on)) want(tx, job);
		tx.memory.joinWaitQueue(to.parked_on);
	}
	if (to.gate === "locks" || to.gate === "holds" || to.gate === "budget") job.ready_at ??= since;
	else {
		job.ready_at = undefined;
		giveUpReservations(tx, job);
	}
	job.gate = to.gate;
	job.wait_reason = { kind: to.reason.code, detail };
	job.waits_for_pred = to.parked_on === "after" ? to.reason.subject : undefined;
	if (!job.waited_on?.includes(to.reason.code)) job.waited_on = [...(job.waited_on ?? []), to.reason.code];
	setDue(tx, job, to.until);
	if (job.status !== to.status) tx.move(job, to.status, "parked", { reason: to.reason });
	else tx.touch(job);
	if (asks && job.id !== tx.arriving) tx.event("approval_asked", job.id, {});
	if (isOnLock(to.parked_on)) tx.stirred = true;
}

/** Sets `due_at`: the next moment at which time alone may change something for this job. */
export function setDue(tx: Tx, job: Job, until: number | undefined): void {
	if (until === undefined && job.deadline === undefined && !job.locks) {
		if (job.due_at !== undefined) job.due_at = undefined;
		return;
	}
	const times: number[] = [];
	if (until !== undefined) times.push(until);
	// By the clock of a claim the deadline may lie ahead and the job wait for its time: `due_at` must not be set to a moment that has passed.
	const isPast = queuePolicy(job.kind).clock === "claim" && (job.deadline ?? 0) < tx.now;
	if (job.deadline !== undefined && job.parked_on !== "late" && isWaiting(job.status) && !isPast) times.push(job.deadline);
	if (isOnLock(job.parked_on) && job.ready_at !== undefined && tx.config.order.overdue_after_ms > 0)
		times.push(Math.max(job.ready_at + tx.config.order.overdue_after_ms, job.reserve_at ?? 0));
	job.due_at = times.length === 0 ? undefined : Math.min(...times);
}

export type JobEnd = {
	status: Terminal;
	exit_kind?: ExitKind;
	exit_code: number | null;
	raw_exit_code?: number;
	end_reason?: string;
	usage?: Record<string, number>;
};

const ENDED = [...WAIT_FIELDS, "ready_at", "rank", "forced", "question", "hold"] as const;

/** Ends a job for good: unparks it and removes it from its chain and batch. Its dependents go on the worklist. `run`: the run that ended it. */
export function* endJob(tx: Tx, job: Job, end: JobEnd, run?: Run): Op<void> {
	if (isWaiting(job.status)) {
		unplace(tx, job);
		giveUpReservations(tx, job);
	}
	job.parked_on = "end";
	drop(job, ENDED);
	if (end.status === "blocked_by_dependency" && end.end_reason) job.wait_reason = { kind: "dependencies", detail: end.end_reason };
	job.ended_at = tx.now;
	job.exit_code = end.exit_code;
	if (end.exit_kind !== undefined) job.exit_kind = end.exit_kind;
	if (end.raw_exit_code !== undefined) job.raw_exit_code = end.raw_exit_code;
	if (end.end_reason !== undefined) job.end_reason = end.end_reason;
	tx.move(job, end.status, "ended", toldOf(job, end));
	noteEnd(tx, job, run, end.status);
	if (job.older_name) yield* returnName(tx, job);
	if (job.item !== undefined) yield* leaveChain(tx, job, job.item);
	if (job.batch !== undefined) yield* countBatch(tx, job.batch, "ended");
	if (job.produces) yield* doubtProducts(tx, job);
	if (job.awaited) yield* tellAwaiting(tx, job);
	if (tx.memory.all("wait").size > 0) yield* tellWaiters(tx, job.id);
	if (job.dependents) tx.work.tellDependents(job);
}

/** Data of the job's `ended` event. Assigned field by field because this runs for every end: spreads would copy the object several times. */
function toldOf(job: Job, end: JobEnd): MoveMap["ended"] {
	const told: MoveMap["ended"] = { exit_code: end.exit_code, attempt: job.attempt };
	if (end.exit_kind !== undefined) told.exit_kind = end.exit_kind;
	if (end.raw_exit_code !== undefined) told.raw_exit_code = end.raw_exit_code;
	if (end.end_reason !== undefined) told.end_reason = end.end_reason;
	if (end.usage !== undefined) told.usage = end.usage;
	return told;
}

/**
 * The chain of jobs that has an item. `chain`: its first job. `open`: how many of its jobs are open. `jobs`: their ids, unless the first job is the only
 * one. `begun`: a job of the chain has been started.
 */
export type ChainRecord = { chain: number; open: number; jobs?: number[]; begun?: true };

/** Maximum number of open jobs that a chain record lists. An error about a taken item names one of them. */
const NAMED = 100;

export const openJobs = (chain: ChainRecord): readonly number[] => chain.jobs ?? [chain.chain];

export function joinChain(before: ChainRecord | null, job: Job): ChainRecord {
	const chain = before?.chain ?? job.chain ?? job.id;
	if (!before && chain === job.id) return { chain, open: 1 };
	const jobs = [...(before ? openJobs(before) : []), job.id].slice(0, NAMED);
	return { chain, open: (before?.open ?? 0) + 1, jobs, ...(before?.begun ? { begun: true } : {}) };
}

/**
 * Marks the item's chain as begun when a job of it starts. Re-evaluates the chain's other jobs: they may have waited because a worker outside the queue had
 * the item.
 */
export function* beginChain(tx: Tx, { item, chain }: Job): Op<void> {
	const known = item === undefined ? null : yield* tx.get("chain", item);
	if (!known || item === undefined || known.chain !== chain || known.begun) return;
	tx.put("chain", item, { ...known, begun: true });
	if (known.open > 1) wakeByFact(tx, itemKey(item));
}

/** Takes an ended job out of its item's chain. The item is free when the chain has no open job left. */
function* leaveChain(tx: Tx, job: Job, item: string): Op<void> {
	const chain = yield* tx.get("chain", item);
	if (!chain || chain.chain !== job.chain) return;
	const jobs = openJobs(chain).filter((id) => id !== job.id);
	tx.put("chain", item, chain.open > 1 ? { ...chain, open: chain.open - 1, jobs } : null);
}

/** An apply that goes in by pieces. `at`: when the process that applies it last wrote. `batches`: the batches that it adds jobs to. */
export type Stage = { from: number; to: number; at: number; batches?: string[] };

export type BatchRecord = { open: number; total: number; owned?: true };

/**
 * Counts a job of a batch. `again`: an ended job of the batch is open again, which does not add to `total`. A batch closes by itself when its last job has
 * ended, unless its caller owns it.
 */
export function* countBatch(tx: Tx, batch: string, how: "added" | "again" | "ended", owned = false): Op<void> {
	const before = (yield* tx.get("batch", batch)) ?? { open: 0, total: 0 };
	const open = before.open + (how === "ended" ? -1 : 1);
	const after: BatchRecord = {
		...before,
		open,
		total: Math.max(open, before.total + (how === "added" ? 1 : 0)),
		...(owned ? { owned: true } : {}),
	};
	tx.put("batch", batch, after);
	if (after.open === 0 && !after.owned) tx.work.close(batch);
}

/** Appends `batch_closed` for each batch that has no open job at the end of the transaction and gets no more from an apply that is still coming in. */
export function* closeBatches(tx: Tx): Op<void> {
	const coming = new Set([...tx.memory.all("stage").values()].flatMap((stage) => stage.batches ?? []));
	for (const batch of tx.work.closing) {
		const record = yield* tx.get("batch", batch);
		if (record?.open === 0 && record.total > 0 && !record.owned && !coming.has(batch))
			tx.event("batch_closed", null, { batch, total: record.total });
	}
	tx.work.closing.clear();
}

/**
 * Invalidates the facts about what the job produced: only a probe that begins after its end counts. Markers need no probe. Re-evaluates the jobs that need
 * any of them.
 */
export function* doubtProducts(tx: Tx, job: Job): Op<void> {
	for (const artifact of job.produces ?? []) {
		const key = artifactKey(artifact, job.repo);
		if (isProbed(key)) {
			yield* doubtFact(tx, key);
		} else if (!isMarker(artifact)) continue;
		wakeByFact(tx, key);
		tx.stirred = true;
	}
}

/**
 * Re-evaluates the jobs that need `job:` or `patch:` of this job. Invalidates the fact about its patch file: only a probe that begins from now on counts.
 */
export function* tellAwaiting(tx: Tx, job: Job): Op<void> {
	const patch = `artifact:patch:${job.id}`;
	yield* doubtFact(tx, patch);
	for (const key of [`artifact:job:${job.id}`, patch]) wakeByFact(tx, key);
}
