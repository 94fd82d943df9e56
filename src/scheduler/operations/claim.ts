// Claim: picks the best ready jobs that fit the caps, marks them running with a new run, and takes their locks. All in one transaction.

import type { Claimed, ClaimOptions } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { isDirect } from "../../core/config.ts";
import type { MoveMap } from "../../core/event.ts";
import { chooseAccount, footprint, freeOn } from "../../core/gates/buckets/capacity.ts";
import { quotaOf } from "../../core/gates/buckets/holds.ts";
import { askPace } from "../../core/gates/buckets/pace.ts";
import { decide, shut } from "../../core/gates/index.ts";
import { drop, hasRun, type Job, type Run, WAIT_FIELDS } from "../../core/job.ts";
import { holdKey, type LimitsView } from "../../core/limits-view.ts";
import { READY } from "../../core/parked.ts";
import { overdueBy, type PlannedStart, plan, type ReadyBucket, reachOf } from "../../core/planning/plan.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { carriedOver } from "../../core/runs/verdict.ts";
import { copy } from "../../core/text/copy.ts";
import { isAnothersProbe, letOthersProbe, noteProbe } from "../limits/breakers.ts";
import { reserveBudgets } from "../limits/budgets.ts";
import { drawOnCycle, hasCycles } from "../limits/cycle.ts";
import { isAnothersTry, letOthersTry, noteOutageProbe } from "../limits/outages.ts";
import { noteStart } from "../rollups/notes.ts";
import { takeWaits } from "../rollups/wait-time.ts";
import type { Tx } from "../transaction/tx.ts";
import { drain } from "../waiting/drain.ts";
import { factsOf, plainFacts } from "../waiting/gate-facts.ts";
import { fetchLocks, hasLocksAtHand, lockKeys } from "../waiting/lock-reads.ts";
import { takeLocks } from "../waiting/locks.ts";
import { beginChain, reevaluate } from "../waiting/park.ts";
import type { Window } from "../waiting/ready-queue.ts";
import { isCancelling } from "./cancel/cancel.ts";
import { finish } from "./finish.ts";
import { checkLife, type Life } from "./hosts.ts";

const MAX_CLAIM = 1000;
/** Jobs whose locks are prefetched in one read, even when the claim wants fewer. */
const LOOK_AHEAD = 32;

export type Claimer = Required<Pick<ClaimOptions, "worker" | "max">> & {
	lanes?: readonly string[] | undefined;
	kinds: readonly string[];
	host?: string | undefined;
	/** The life of that host, as the claiming process knows it: a process that has lost the host's name may not claim. */
	life?: Life;
	/** A kernel claim may bring its own clock (`dispatched_at`: its time in seconds), and ignore budgets (`admission` false). */
	kernel?: { now: number; admission: boolean; dispatched_at?: number | undefined };
	/** The worker heartbeats for every run, not only for payloads. */
	lease?: true;
	/** A person requested this pass: `sluice run`. */
	by_hand?: true;
	/** Ignores `spawn_delay`: a dry run wants every job that the cycle would start. */
	unspaced?: true;
};

export function* claim(tx: Tx, claimer: Claimer): Op<Claimed[]> {
	refuseLostName(tx, claimer);
	return yield* handOut(tx, yield* dispatch(tx, claimer));
}

export function refuseLostName(tx: Tx, { host, life }: Claimer): void {
	if (host !== undefined) checkLife(tx, host, life);
}

/** Returns the started jobs with their specs. A job whose spec cannot be used ends as failed; the other jobs are still handed out. */
export function* handOut(tx: Tx, started: readonly Job[]): Op<Claimed[]> {
	const specs = yield* tx.specs(started.map((job) => job.id));
	const claimed: Claimed[] = [];
	for (const job of started) {
		const spec = specs.get(job.id);
		const problem = specProblem(job, spec);
		// Rollups tell models apart, and only the spec knows the model.
		if (spec?.model !== undefined && job.run) job.run.model = spec.model;
		if (spec !== undefined && problem === undefined) claimed.push({ job: copy(job), spec: copy(spec), run: { ...(job.run as Run) } });
		else yield* endUnusable(tx, job, problem as string);
	}
	return claimed;
}

/** Why this spec cannot be run. It was checked when the job was added, so its record has been damaged since. */
function specProblem({ kind }: Job, spec: Claimed["spec"] | undefined): string | undefined {
	if (spec === undefined) return "unusable record: its spec is missing";
	if (spec.broken !== undefined) return `unusable record: ${spec.broken}`;
	if (kind === "command" && (spec.command ?? []).length === 0) return "there is nothing to run: the job has no command";
	return undefined;
}

/** Ends a job whose record is damaged, without a retry: none can repair it. */
function* endUnusable(tx: Tx, job: Job, problem: string): Op<void> {
	const ending = { job: job.id, token: (job.run as Run).token, exit_kind: "failed" as const, exit_code: 1, message: problem };
	yield* finish(tx, ending, { to: "end", status: "failed", exit_kind: "failed", exit_code: 1, end_reason: problem });
}

function bucketsFor(tx: Tx, { kinds, lanes }: Claimer): Bucket[] {
	const found: Bucket[] = [];
	for (const bucket of tx.memory.buckets.values()) {
		if (bucket.ready === 0 || bucket.stage !== undefined) continue;
		if (kinds.includes(bucket.kind) && (!lanes || lanes.includes(bucket.lane))) found.push(bucket);
	}
	return found;
}

/** Plans, starts what was planned, and plans again from what is ready then, until as many jobs as wanted have started or no plan has more. */
export function* dispatch(tx: Tx, claimer: Claimer): Op<Job[]> {
	const world = tx.world(claimer.host);
	const kernel = claimer.kernel !== undefined;
	if (!kernel && isCancelling(tx)) return [];
	const want = wanted(tx, claimer, world);
	if (want === 0) {
		// A pass that the pace holds back counts for its cycle, too: starts for which no job is ready expire.
		if (!kernel) drawOnCycle(tx, 0);
		return [];
	}
	const buckets = bucketsFor(tx, claimer);
	const started: Job[] = [];
	const room = kernel ? want : Math.min(want, freeOn(claimer.host, world));
	// After a start that did not go as planned, one start is planned, then twice as many each time: what follows such a start in a plan is planned in vain.
	for (let ahead = want; started.length < want; ) {
		const view = { limits: world, buckets: readyIn(tx, buckets, claimer) };
		const { picks, next } = plan(view, Math.min(ahead, want - started.length));
		const went = yield* startAll(tx, claimer, picks, { started, room });
		ahead = went ? 2 * ahead : 1;
		if (!went || next === "replan") continue;
		if (next === "done") break;
		yield* readRows(tx, next, world);
	}
	if (kernel) return started;
	if (started.length > 0) tx.setPace({ last_start_at: tx.now, last_dispatch_at: tx.now });
	drawOnCycle(tx, started.length);
	return started;
}

/** The kernel preset's `admission_check: false` ignores the ledgers of the owner. */
function readyIn(tx: Tx, buckets: readonly Bucket[], { kernel }: Claimer): ReadyBucket[] {
	return buckets.map((bucket) => ({ bucket: kernel?.admission === false ? withoutOwner(bucket) : bucket, rows: tx.window(bucket) }));
}

function withoutOwner(bucket: Bucket): Bucket {
	const { owner: _owner, ...rest } = bucket;
	return rest;
}

function* readRows(tx: Tx, { read, of }: { read: "heads" | "oldest"; of: readonly Bucket[] }, limits: LimitsView): Op<void> {
	for (const planned of of) {
		const bucket = tx.memory.buckets.get(planned.id) ?? planned;
		if (read === "heads") yield* tx.window(bucket).heads(bucket, reachOf(bucket, limits));
		else yield* tx.window(bucket).oldest(bucket, overdueBy(limits));
	}
}

/**
 * Starts the picks in their order. False once a start does not go as planned: the limits or the job's own gates refuse it, or more has become ready or ceased
 * to be than the job itself (its locks may park other jobs).
 */
function* startAll(tx: Tx, claimer: Claimer, picks: readonly PlannedStart[], pass: { started: Job[]; room: number }): Op<boolean> {
	const world = tx.world(claimer.host);
	for (const [index, { bucket: planned, head }] of picks.entries()) {
		// A plan counts runs, as its starts do; but starts also change budgets, and holds (probes, the spacing after a rate limit). The first pick was planned with the
		// limits as they are.
		const mayDiffer = index > 0 && (world.ledgers.size > 0 || world.holds.size > 0);
		if (mayDiffer && shut(planned, world)) return false;
		const bucket = tx.memory.buckets.get(planned.id) ?? planned;
		yield* lookAhead(tx, tx.window(bucket), head.id, Math.max(1, pass.room - pass.started.length));
		const moves = tx.memory.readyMoves;
		const job = yield* tryStart(tx, bucket, head, claimer);
		// The next pick sees which jobs can still take the locks that this one took.
		if (!tx.work.isEmpty) yield* drain(tx);
		if (!job) return false;
		pass.started.push(job);
		if (tx.memory.readyMoves !== moves + 1) return false;
	}
	return true;
}

/** The most jobs this cycle may start, before any cap. */
function wanted({ config }: Tx, { max, kernel, unspaced }: Claimer, world: LimitsView): number {
	const most = Math.min(max, MAX_CLAIM);
	if (kernel || isDirect(config)) return most;
	const refusals = askPace(world) ?? [];
	if (refusals.some(({ subject }) => !(unspaced && subject === "spawn_delay"))) return 0;
	const cycle = config.cycle_interval_ms > 0 ? world.cycle_left : config.batch_size > 0 ? config.batch_size : most;
	return Math.min(most, cycle, config.spawn_delay_ms > 0 && !unspaced ? 1 : most);
}

/** Prefetches the documents and locks of the jobs that the planner is likely to pick next, in a few reads. */
function* lookAhead(tx: Tx, window: Window, id: number, count: number): Op<void> {
	if (!tx.peek(id)) yield* tx.load(window.upcoming(id, count));
	if (!tx.peek(id)?.locks || hasLocksAtHand(tx, tx.peek(id) as Job)) return;
	const ids = window.upcoming(id, Math.max(count, LOOK_AHEAD));
	yield* tx.load(ids);
	yield* fetchLocks(tx, lockKeys(tx, ids));
}

/** Checks the plan again when it is carried out: the job's own gates decide once more. */
function* tryStart(tx: Tx, bucket: Bucket, head: ReadyJob, claimer: Claimer): Op<Job | undefined> {
	const job = tx.peek(head.id) ?? (yield* tx.find(head.id));
	if (job?.parked_on !== READY || job.bucket !== bucket.id) {
		tx.window(bucket).discard(head.id);
		return undefined;
	}
	if (job.broken !== undefined) {
		yield* reevaluate(tx, job);
		return undefined;
	}
	const known = plainFacts(tx, job) ?? (yield* factsOf(tx, job));
	const facts = claimer.kernel ? { ...known, now: claimer.kernel.now } : known;
	if (decide(job, facts, tx.world()).kind !== "ready") {
		yield* repark(tx, job, claimer);
		return undefined;
	}
	const open = () => bucketsFor(tx, claimer).filter((one) => !shut(one, tx.world(claimer.host)));
	if (isAnothersProbe(tx, job, open)) {
		letOthersProbe(tx, job);
		return undefined;
	}
	if (isAnothersTry(tx, job, bucket, tx.world(claimer.host), open)) {
		letOthersTry(tx, job);
		return undefined;
	}
	start(tx, job, bucket, claimer);
	if (job.item !== undefined) yield* beginChain(tx, job);
	if (job.locks) yield* takeLocks(tx, job);
	return job;
}

function* repark(tx: Tx, job: Job, claimer: Claimer): Op<void> {
	if (!claimer.kernel) {
		yield* reevaluate(tx, job);
		return;
	}
	// By the caller's clock the entry is too early or too late, by ours it may not be: park it until the next claim or sweep.
	tx.leave(job);
	const late = job.deadline !== undefined && job.deadline <= claimer.kernel.now;
	job.parked_on = late ? "late" : "time";
	if (!late) job.due_at = job.runnable_at;
	tx.touch(job);
}

const BEFORE_RUN = [...WAIT_FIELDS, "rank", "exit_kind", "goes_on", "exit_code", "raw_exit_code", "verdict"] as const;

function start(tx: Tx, job: Job, bucket: Bucket, claimer: Claimer): void {
	const account = chooseAccount(bucket, tx.world(claimer.host)) ?? undefined;
	const waits = takeWaits(tx, job);
	tx.leave(job);
	job.attempt++;
	const run: Run = {
		attempt: job.attempt,
		token: tx.nextId("token"),
		host: claimer.host ?? "",
		worker: claimer.worker,
		started_at: tx.now,
	};
	if (account !== undefined) run.account = account;
	const isByHand = claimer.by_hand || (hasCycles(tx) && tx.getPace().cycle_by === "run");
	if (claimer.host !== undefined && isByHand) run.started_by = "run";
	if (claimer.kernel?.dispatched_at !== undefined) run.dispatched_at = claimer.kernel.dispatched_at;
	if (job.kind === "payload" || claimer.lease) run.lease_until = tx.now + tx.config.lease_ms;
	job.run = run;
	job.parked_on = "run";
	// An agent's session belongs to one account; on another account the run starts a new session.
	if (job.session !== undefined && (job.account ?? job.prefer) !== account) job.session = undefined;
	if (job.prefer !== undefined && job.prefer !== account) job.prefer = undefined;
	if (job.verdict !== undefined || job.result !== undefined) {
		const { verdict, result } = carriedOver(job);
		if (verdict !== undefined) run.verdict = verdict;
		job.result = result;
	}
	drop(job, BEFORE_RUN);
	if (run.lease_until !== undefined) job.due_at = run.lease_until;
	job.started_at = tx.now;
	const waited_ms = Math.max(0, tx.now - (job.ready_at ?? tx.now));
	const told: MoveMap["started"] = { attempt: run.attempt, worker: run.worker, waited_ms };
	if (account !== undefined) told.account = account;
	if (claimer.host !== undefined) told.started_by = run.started_by ?? "daemon";
	tx.move(job, "running", "started", told);
	noteStart(tx, job, run, { waits, ready_ms: waited_ms });
	if (!queuePolicy(job.kind).isCounted) return;
	for (const [key, amount] of footprint(bucket, account, claimer.host)) tx.count("usage", key, amount);
	tx.countStart();
	if (tx.memory.ledgers.size > 0 && hasRun(job)) reserveBudgets(tx, job);
	const quota = quotaOf(job.kind, account);
	if (quota !== undefined) {
		stagger(tx, quota);
		if (noteOutageProbe(tx, job, quota)) run.probe = true;
	}
	if (job.agent !== undefined || job.repo !== undefined) noteProbe(tx, job);
}

/** After a rate limit, starts on the account are spaced until one has succeeded. */
function stagger(tx: Tx, account: string): void {
	const key = holdKey("rate_limited", `account:${account}`);
	const hold = tx.memory.holds.get(key);
	if (hold?.kind === "rate_limited") tx.put("hold", key, { ...hold, next_at: tx.now + tx.config.rate_limit.stagger_ms });
}
