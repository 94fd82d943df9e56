// The kernel contract: a queue of its own kind, in strict order, claimed by outside workers. Times in its parameters and results are epoch seconds.

import type { EnqueueParams, Kernel, ReadyEntry, StatusReport } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { nth } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { readPayload } from "../../core/input/payload.ts";
import { isWaiting, type Job, type JobSpec, type Status } from "../../core/job.ts";
import { JsonText } from "../../core/text/json-text.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { claim } from "../operations/claim.ts";
import type { Tx } from "../transaction/tx.ts";
import { factsOf } from "../waiting/gate-facts.ts";
import { endJob, reevaluate } from "../waiting/park.ts";
import { agentOf, checked, idOf, KernelError, lastPid, pidOf, seconds, subjectOf, toMs } from "./input.ts";

export const STATES = ["queued", "dispatched", "completed", "expired", "cancelled"] as const;
type State = (typeof STATES)[number];
export const EXITS = ["completed", "cancelled", "failed", "crashed"] as const;

/** The parameters and the answer of a method of the contract. Parameters are checked here: a caller may pass anything. */
type Params<M extends keyof Kernel> = Kernel[M] extends (params: infer P, ...rest: never[]) => unknown ? NonNullable<P> : never;
type Answer<M extends keyof Kernel> = Kernel[M] extends (...args: never[]) => Promise<infer R> ? Op<R> : never;
type KernelSpec = JobSpec & { runnable_at: number; deadline: number | null };

export function draftEntry(params: EnqueueParams, now: number): { job: Job; spec: KernelSpec } {
	const known = ["pid", "priority", "runnable_at", "deadline", "trigger", "payload", "dedupe_by"];
	checked(() => check.knownKeys(check.record(params, "params"), known, ""));
	const pid = pidOf(params);
	const priority =
		params.priority === undefined ? 0 : checked(() => check.integer(params.priority, "priority", -1_000_000_000, 1_000_000_000));
	const runnable_at = params.runnable_at === undefined ? 0 : seconds(params.runnable_at, "runnable_at");
	const deadline = params.deadline === undefined || params.deadline === null ? null : seconds(params.deadline, "deadline");
	const trigger = params.trigger === undefined ? "manual" : checked(() => check.word(params.trigger, "trigger"));
	const read = checked(() => readPayload(params.payload ?? {}, "payload"));
	checked(() => check.record(read.payload, "payload"));
	const job: Job = {
		id: 0,
		status: "queued",
		kind: "kernel",
		lane: "kernel",
		owner: subjectOf(pid),
		trigger,
		priority,
		created_at: now,
		runnable_at: toMs(runnable_at),
		attempt: 0,
		parked_on: "new",
		bucket: 0,
	};
	if (deadline !== null) job.deadline = toMs(deadline);
	return { job, spec: { version: 1, enqueued_at: now, ...read, runnable_at, deadline } };
}

/** `payload_json`: the exact text of the payload, if a JavaScript value cannot represent it. */
type Enqueueing<P extends EnqueueParams = EnqueueParams> = { params: P; payload_json?: string };

/** The parameters as the caller gave them. */
const givenParams = <P extends EnqueueParams>({ params, payload_json }: Enqueueing<P>): P =>
	payload_json === undefined ? params : { ...params, payload: new JsonText(payload_json) };

/** Refuses an entry for a dead agent: it is never resumed, so the entry would wait for ever. */
function* livingAgent(tx: Tx, pid: number): Op<void> {
	const { state } = yield* agentOf(tx, pid);
	if (state === "DEAD") throw new KernelError("kernel_sched_invalid_payload", "forbidden", `agent ${pid} is DEAD`, "pid");
}

export function* enqueue(tx: Tx, given: Enqueueing): Op<{ sched_id: number }> {
	const params = givenParams(given);
	const { job, spec } = draftEntry(params, tx.now);
	yield* livingAgent(tx, params.pid);
	job.id = tx.nextId("job");
	job.bucket = tx.bucketFor(job).id;
	tx.create(job, spec);
	yield* reevaluate(tx, job);
	tx.event("added", job.id, { from: null, to: job.status, kind: "kernel" });
	return { sched_id: job.id };
}

export function* enqueueUnique(tx: Tx, given: Enqueueing<Params<"enqueueUnique">>): Answer<"enqueueUnique"> {
	const params = givenParams(given);
	const by = checked(() =>
		check
			.list(params.dedupe_by ?? ["pid", "trigger"], "dedupe_by", 3)
			.map((one, index) => check.oneOf(one, ["pid", "trigger", "priority"], `dedupe_by[${index}]`)),
	);
	const { job } = draftEntry(params, tx.now);
	yield* livingAgent(tx, params.pid);
	for (let after = 0; ; ) {
		const filter = { kind: "kernel", status: ["queued" as const], ...(by.includes("pid") ? { owner: subjectOf(params.pid) } : {}) };
		const some = yield* ask({ read: "active", filter, after, limit: 500 });
		const twin = some.find(
			(one) => (!by.includes("trigger") || one.trigger === job.trigger) && (!by.includes("priority") || one.priority === job.priority),
		);
		if (twin) return { sched_id: twin.id, created: false };
		if (some.length < 500) break;
		after = nth(some, -1).id;
	}
	return { ...(yield* enqueue(tx, given)), created: true };
}

export function* kernelClaim(tx: Tx, params: Params<"claim">): Answer<"claim"> {
	const worker = checked(() => check.word(params.worker_id, "worker_id"));
	const max = params.max_n === undefined ? 1 : checked(() => check.integer(params.max_n, "max_n", 0, 1000));
	const admission = params.admission_check === undefined ? true : checked(() => check.flag(params.admission_check, "admission_check"));
	const now = params.now === undefined ? tx.now : toMs(seconds(params.now, "now"));
	yield* moveClock(tx, now);
	const claimed = yield* claim(tx, { worker, max, kinds: ["kernel"], kernel: { now, admission, dispatched_at: params.now } });
	return { entries: claimed.map(({ job, spec }) => entryOf(job, spec as KernelSpec)) };
}

/** The caller's clock may run ahead of ours, or behind: entries become ready or late by the caller's clock. */
function* moveClock(tx: Tx, now: number): Op<void> {
	if (now > tx.now) {
		const ids = yield* ask({ read: "due", now, limit: 10_000 });
		yield* tx.load(ids);
		for (const id of ids) {
			const job = tx.peek(id);
			if (job?.kind === "kernel" && isWaiting(job.status)) yield* reevaluate(tx, job, { ...(yield* factsOf(tx, job)), now });
		}
		tx.putMeta("late_clock", Math.max(now, tx.memory.meta("late_clock") ?? 0));
	}
	// Entries that an earlier caller, whose clock was ahead of this one, took for late.
	if (now < tx.now || now < (tx.memory.meta("late_clock") ?? 0)) {
		for (const job of yield* late(tx)) if ((job.deadline ?? 0) > now) yield* reevaluate(tx, job, { ...(yield* factsOf(tx, job)), now });
	}
}

function* late(tx: Tx): Op<Job[]> {
	const found: Job[] = [];
	for (const bucket of yield* ask({ read: "buckets", line: "late" })) {
		const heads = yield* ask({ read: "line", line: "late", bucket, limit: 10_000 });
		yield* tx.load(heads.map((head) => head.id));
		for (const head of heads) {
			const job = tx.peek(head.id);
			if (job) found.push(job);
		}
	}
	return found;
}

function* entry(tx: Tx, id: number): Op<Job> {
	const job = yield* tx.find(id);
	if (job?.kind !== "kernel")
		throw new KernelError("kernel_sched_unknown_id", "not_found", `there is no entry ${id}`, "sched_id", "sluice kernel list shows them");
	return job;
}

const illegal = (id: number, from: State, to: string, hint?: string) =>
	new KernelError("kernel_sched_illegal_transition", "illegal_transition", `entry ${id} is ${from} and cannot be ${to}`, "sched_id", hint);

export function* kernelComplete(tx: Tx, params: Params<"complete">): Answer<"complete"> {
	const exit_kind = checked(() => check.oneOf(params.exit_kind, EXITS, "exit_kind"));
	const job = yield* entry(tx, idOf(params));
	if (!job.run) throw illegal(job.id, stateOf(job), "completed");
	if (params.worker_id !== undefined && params.worker_id !== job.run.worker)
		throw new KernelError(
			"kernel_sched_illegal_transition",
			"fenced",
			`entry ${job.id} was claimed by ${job.run.worker}, not by ${params.worker_id}`,
			"worker_id",
		);
	const { run } = job;
	job.run = undefined;
	job.due_at = undefined;
	const status: Status = exit_kind === "completed" ? "succeeded" : exit_kind === "cancelled" ? "cancelled" : "failed";
	const { attempt, host, worker, started_at, dispatched_at } = run;
	job.last_run = { attempt, host, worker, started_at, ...(dispatched_at === undefined ? {} : { dispatched_at }) };
	yield* endJob(tx, job, { status, exit_kind, exit_code: status === "succeeded" ? 0 : status === "cancelled" ? 143 : 1 });
	return { sched_id: job.id, state: "completed", prev_state: "dispatched" };
}

export function* kernelCancel(tx: Tx, params: { sched_id: number }): Op<{ sched_id: number; state: "cancelled" }> {
	const job = yield* entry(tx, idOf(params));
	if (!isWaiting(job.status))
		throw illegal(job.id, stateOf(job), "cancelled", job.run && `sluice cancel ${job.id} asks its worker to stop`);
	yield* endJob(tx, job, { status: "cancelled", exit_code: null });
	return { sched_id: job.id, state: "cancelled" };
}

export function* kernelGet(tx: Tx, params: { sched_id: number }): Op<ReadyEntry> {
	const job = yield* entry(tx, idOf(params));
	return entryOf(job, (yield* tx.specs([job.id])).get(job.id) as KernelSpec);
}

export function* kernelList(tx: Tx, params: Params<"list">): Answer<"list"> {
	if (params.state !== undefined && !isOneOf(params.state, STATES))
		throw new KernelError(
			"kernel_sched_invalid_state_filter",
			"invalid",
			`state: must be one of ${STATES.join(", ")}, not ${check.shown(params.state)}`,
			"state",
		);
	const limit = params.limit === undefined ? 100 : checked(() => check.integer(params.limit, "limit", 0, 10_000));
	const offset = params.offset === undefined ? 0 : checked(() => check.integer(params.offset, "offset", 0));
	const filter = { kind: "kernel", ...(params.pid === undefined ? {} : { owner: subjectOf(pidOf({ pid: params.pid })) }) };
	const all: Job[] = [];
	for (const table of ["active", "ended"] as const)
		for (let after = 0; ; ) {
			const some = yield* ask({ read: table, filter, after, limit: 1000 });
			all.push(...some.filter((job) => params.state === undefined || stateOf(job) === params.state));
			if (some.length < 1000) break;
			after = nth(some, -1).id;
		}
	all.sort((a, b) => a.id - b.id);
	const page = all.slice(offset, offset + limit);
	const specs = yield* tx.specs(page.map((job) => job.id));
	return { entries: page.map((job) => entryOf(job, specs.get(job.id) as KernelSpec)), total: all.length };
}

/** Counts the entries that have not ended. Without any agent there are none, so nothing is read. */
export function* kernelCounts(tx: Tx): Op<StatusReport["kernel"]> {
	const counts = { queued: 0, dispatched: 0 };
	if ((yield* lastPid(tx)) === null) return counts;
	for (const { status, count } of yield* ask({ read: "tally", lane: "kernel", kind: "kernel" }))
		counts[status === "running" ? "dispatched" : "queued"] += count;
	return counts;
}

export function* gcExpired(tx: Tx, params: { now?: number }): Op<{ swept: number }> {
	const now = params.now === undefined ? tx.now : toMs(seconds(params.now, "now"));
	yield* moveClock(tx, now);
	let swept = 0;
	for (const job of yield* late(tx)) {
		if ((job.deadline ?? 0) >= now) continue;
		yield* endJob(tx, job, { status: "expired", exit_code: null, end_reason: "deadline passed" });
		swept++;
	}
	return { swept };
}

/** Puts entries back into the queue whose worker has sent no heartbeat for too long. */
export function* gcDispatched(tx: Tx, params: { stale_seconds: number }): Op<{ swept: number }> {
	const stale = toMs(seconds(params.stale_seconds, "stale_seconds"));
	let swept = 0;
	for (let after = 0; ; ) {
		const some = yield* ask({ read: "active", filter: { kind: "kernel", status: ["running"] }, after, limit: 500 });
		for (const { id } of some) {
			const job = yield* tx.find(id);
			if (!job?.run || (job.run.lease_until ?? job.run.started_at) > tx.now - stale) continue;
			job.run = undefined;
			job.parked_on = "end";
			tx.move(job, "queued", "requeued", { exit_kind: "lost", attempt: job.attempt });
			job.ready_at = undefined;
			yield* reevaluate(tx, job);
			swept++;
		}
		if (some.length < 500) return { swept };
		after = nth(some, -1).id;
	}
}

export function* kernelExtend(tx: Tx, params: Params<"extend">): Answer<"extend"> {
	const job = yield* entry(tx, idOf(params));
	if (!job.run || job.run.worker !== params.worker_id) throw illegal(job.id, stateOf(job), `extended by ${check.shown(params.worker_id)}`);
	// For an entry, `lease_until` is the time of its last heartbeat, not the end of a lease: only gc_dispatched acts on it.
	job.run.lease_until = tx.now;
	tx.touch(job);
	return { sched_id: job.id, cancel_requested: job.run.intent !== undefined };
}

function stateOf(job: Job): State {
	if (isWaiting(job.status)) return "queued";
	if (job.status === "running") return "dispatched";
	if (job.status === "expired") return "expired";
	return job.status === "cancelled" && job.last_run === undefined ? "cancelled" : "completed";
}

function entryOf(job: Job, spec: KernelSpec): ReadyEntry {
	const run = job.run ?? job.last_run;
	const state = stateOf(job);
	return {
		sched_id: job.id,
		pid: Number(job.owner?.slice(4)),
		priority: job.priority,
		runnable_at: spec.runnable_at,
		deadline: spec.deadline,
		trigger: job.trigger,
		payload: spec.payload ?? {},
		...(spec.payload_json === undefined ? {} : { payload_json: spec.payload_json }),
		state,
		worker_id: run?.worker ?? null,
		created_at: job.created_at / 1000,
		dispatched_at: run ? (run.dispatched_at ?? run.started_at / 1000) : null,
		completed_at: state === "completed" ? (job.ended_at ?? 0) / 1000 : null,
		exit_kind: state === "completed" ? (job.exit_kind ?? null) : null,
	};
}
