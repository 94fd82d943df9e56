// What people do to jobs and lanes: reorder, approve, answer, tell, pause, resume. Each appends an event that names the person. Cancelling is in cancel.ts.

import type { HoldReport, PauseScope } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Granted } from "../../core/agents/permissions/allowing.ts";
import { SluiceError } from "../../core/errors.ts";
import type { EventMap } from "../../core/event.ts";
import { outagesOf } from "../../core/gates/buckets/holds.ts";
import { given } from "../../core/given.ts";
import { cutTo } from "../../core/input/storable.ts";
import { isTerminal, isWaiting, type Job, type Run } from "../../core/job.ts";
import { holdKey } from "../../core/limits-view.ts";
import { RUN_NOW } from "../../core/order.ts";
import { outageKey } from "../../core/outage.ts";
import { READY } from "../../core/parked.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { pendingOf, TOLD_PENDING, withTold } from "../../core/runs/told.ts";
import { mustFind, runningJob } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";
import { endJob } from "../waiting/park.ts";

type Reordered = "promoted" | "demoted" | "run_now" | "prioritised";

/** Changes a field that the job's place in the order depends on: takes the job out of its ready queue, changes it, puts it back. */
function* reorder<K extends Reordered>(tx: Tx, id: number, kind: K, data: EventMap[K], change: (job: Job) => void): Op<void> {
	const job = yield* mustFind(tx, id);
	if (!isWaiting(job.status))
		throw new SluiceError("illegal_transition", `job ${id} is ${job.status}: only a waiting job has a place in line`, { field: "id" });
	const ready = job.parked_on === READY;
	if (ready) tx.leave(job);
	change(job);
	job.bucket = tx.bucketFor(job, tx.memory.buckets.get(job.bucket)?.stage).id;
	tx.touch(job);
	if (ready) tx.enter(job);
	tx.event(kind, id, data);
	tx.stirred = true;
	// The waiters that were woken for a free key were chosen by the old order: choose again.
	for (const { key } of job.locks ?? []) tx.work.wake(key);
}

export const promote = (tx: Tx, id: number): Op<void> => reorder(tx, id, "promoted", {}, (job) => setRank(job, tx.nextId("rank")));
export const demote = (tx: Tx, id: number): Op<void> => reorder(tx, id, "demoted", {}, (job) => setRank(job, -tx.nextId("rank")));
/** Puts the job before all others and ends its delay and back-off. Gates that are not about time or order stay as they are. */
export function* runNow(tx: Tx, id: number, how: "in_line" | "force"): Op<void> {
	yield* reorder(tx, id, "run_now", { force: how === "force" }, (job) => {
		setRank(job, RUN_NOW + tx.nextId("rank"));
		if (how === "force") job.forced = true;
	});
	const job = yield* mustFind(tx, id);
	const isLater = job.runnable_at > tx.now || (job.backoff_until ?? 0) > tx.now;
	if (queuePolicy(job.kind).clock === "claim" || !isLater) return;
	job.runnable_at = Math.min(job.runnable_at, tx.now);
	job.backoff_until = undefined;
	tx.touch(job);
	tx.work.reevaluate(job);
}
export const prioritise = (tx: Tx, id: number, priority: number): Op<void> =>
	reorder(tx, id, "prioritised", { priority }, (job) => {
		job.priority = priority;
	});

/** The last command counts: a later promote or demote takes a forced run-now back. */
const setRank = (job: Job, rank: number) => {
	job.rank = rank;
	job.forced = undefined;
};

/** A running job is past every gate: a hold could not stop it. */
function refuseToHold(job: Job): SluiceError | undefined {
	if (isWaiting(job.status) && queuePolicy(job.kind).isListed) return undefined;
	const hint =
		job.status === "running" ? `sluice freeze ${job.id} stops its processes for a while, sluice cancel ${job.id} ends it` : undefined;
	return new SluiceError("illegal_transition", `job ${job.id} is ${job.status}: only a waiting job can be held`, {
		field: "ids",
		...given({ hint }),
	});
}

export const hold = (tx: Tx, ids: readonly number[], reason: string | undefined): Op<HoldReport> =>
	eachOf(tx, ids, (job) => {
		const error = refuseToHold(job);
		if (error) throw error;
		if (job.hold && reason === undefined) return;
		job.hold = { by: tx.by, since: tx.now, ...given({ reason }) };
		tx.event("held", job.id, given({ reason }));
		decideAgain(tx, job);
	});

export const release = (tx: Tx, ids: readonly number[]): Op<HoldReport> =>
	eachOf(tx, ids, (job) => {
		if (!job.hold || !isWaiting(job.status))
			throw new SluiceError("illegal_transition", `job ${job.id} is not held: nothing to release`, { field: "ids" });
		job.hold = undefined;
		tx.event("released", job.id, {});
		decideAgain(tx, job);
	});

/** A run that has processes of ours, which can be stopped and signalled. */
function runOf({ id, status, kind, run }: Job, act: string): Run {
	if (run === undefined || kind === "kernel" || kind === "payload") {
		const why = run === undefined ? `is ${status}: only a running job can be ${act}` : "runs at an outside worker, which has its processes";
		const hint = isWaiting(status) ? { hint: `sluice hold ${id} keeps it from starting` } : {};
		throw new SluiceError("illegal_transition", `job ${id} ${why}`, { field: "ids", ...hint });
	}
	return run;
}

/** Its host stops the processes when it learns of this. */
export const freeze = (tx: Tx, ids: readonly number[], reason: string | undefined): Op<HoldReport> =>
	eachOf(tx, ids, (job) => {
		const run = runOf(job, "frozen");
		if (run.intent) throw new SluiceError("illegal_transition", `job ${job.id} is being stopped: it cannot be frozen`, { field: "ids" });
		if (run.frozen && reason === undefined) return;
		run.frozen = { by: tx.by, since: tx.now, ...given({ reason }) };
		tx.touch(job);
		tx.event("frozen", job.id, { attempt: run.attempt, ...given({ reason }) });
	});

export const thaw = (tx: Tx, ids: readonly number[]): Op<HoldReport> =>
	eachOf(tx, ids, (job) => {
		const run = runOf(job, "thawed");
		if (!run.frozen)
			throw new SluiceError("illegal_transition", `job ${job.id} was not frozen by sluice freeze: nothing to thaw`, {
				field: "ids",
				hint: "if a pause froze it: sluice resume",
			});
		delete run.frozen;
		tx.touch(job);
		tx.event("thawed", job.id, { attempt: run.attempt });
	});

/** Records a signal that was sent to a run. */
export function* signalled(tx: Tx, id: number, attempt: number, signal: string): Op<void> {
	yield* mustFind(tx, id);
	tx.event("signalled", id, { attempt, signal });
}

function decideAgain(tx: Tx, job: Job): void {
	tx.touch(job);
	tx.work.reevaluate(job);
}

/** Acts on several jobs. A job that cannot be changed is reported, and the rest are still changed; the only job fails the call, and so does a number that does not exist. */
function* eachOf(tx: Tx, ids: readonly number[], act: (job: Job) => void): Op<HoldReport> {
	const jobs: Job[] = [];
	yield* tx.load(ids);
	for (const id of ids) jobs.push(yield* mustFind(tx, id));
	const report: HoldReport = { done: [], refused: [] };
	for (const job of jobs) {
		try {
			act(job);
			report.done.push(job.id);
		} catch (error) {
			if (!(error instanceof SluiceError) || jobs.length === 1) throw error;
			report.refused.push({ job: job.id, code: error.code, message: error.message });
		}
	}
	return report;
}

export function* approve(tx: Tx, id: number): Op<void> {
	const job = yield* mustFind(tx, id);
	if (!isWaiting(job.status) || job.approval !== "needed")
		throw new SluiceError("illegal_transition", `job ${id} is ${job.status} and does not wait for approval`, { field: "id" });
	job.approval = "given";
	tx.touch(job);
	tx.event("approved", id, {});
	tx.work.reevaluate(job);
}

export function* reject(tx: Tx, id: number, reason: string): Op<void> {
	const job = yield* mustFind(tx, id);
	if (!isWaiting(job.status) || (job.approval !== "needed" && job.question === undefined))
		throw new SluiceError("illegal_transition", `job ${id} is ${job.status} and does not wait for a person`, { field: "id" });
	yield* endJob(tx, job, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: reason });
}

/** `grant` is added to what was granted before; it applies to all runs until the job is begun anew. */
export function* answer(tx: Tx, id: number, text: string, grant?: Granted): Op<void> {
	const job = yield* mustFind(tx, id);
	if (!isWaiting(job.status) || job.question === undefined)
		throw new SluiceError("illegal_transition", `job ${id} is ${job.status} and has no open question`, { field: "id" });
	const question = job.question;
	job.question = undefined;
	job.asked = question;
	job.answer = text;
	if (grant !== undefined) job.granted = together(job.granted, grant);
	tx.touch(job);
	tx.event("answered", id, { question, answer: text, ...(grant === undefined ? {} : { granted: grant }) });
	tx.work.reevaluate(job);
}

function together(before: Granted | undefined, more: Granted): Granted {
	const allow = [...new Set([...(before?.allow ?? []), ...(more.allow ?? [])])];
	const permission = before?.permission === "full" ? "full" : (more.permission ?? before?.permission);
	return { ...(permission === undefined ? {} : { permission }), ...(allow.length === 0 ? {} : { allow }) };
}

/** An event has the beginning of a long text; the job has all of it. */
const EVENT_CHARACTERS = 1000;

export function* tell(tx: Tx, id: number, text: string): Op<{ number: number }> {
	const job = yield* mustFind(tx, id);
	refuseToTell(job);
	job.told = withTold(job.told, text, tx.by, tx.now);
	const { number } = job.told.at(-1) as { number: number };
	tx.touch(job);
	tx.event("told", id, { number, text: cutTo(EVENT_CHARACTERS, text) });
	return { number };
}

function refuseToTell(job: Job): void {
	const { id, kind, status } = job;
	if (kind !== "agent")
		throw new SluiceError("illegal_transition", `job ${id} runs no agent: only an agent can be told something`, {
			field: "id",
			hint: `sluice logs ${id} shows what it writes; sluice cancel ${id} ends it`,
		});
	if (isTerminal(status))
		throw new SluiceError("illegal_transition", `job ${id} has ended (${status}): there is nothing left to tell`, {
			field: "id",
			hint: `sluice retry ${id} runs it again`,
		});
	if (job.question !== undefined)
		throw new SluiceError("illegal_transition", `job ${id} waits for an answer`, { field: "id", hint: `sluice answer ${id} TEXT` });
	if (pendingOf(job.told).length >= TOLD_PENDING)
		throw new SluiceError("limit", `job ${id} has ${TOLD_PENDING} texts that no run has got yet`, {
			field: "id",
			hint: `sluice show ${id} lists them`,
		});
}

/** The run has got these texts, in its prompt. Texts that a run has got already stay as they are. */
export function* toldGiven(tx: Tx, { numbers, ...run }: { job: number; token: number; numbers: number[] }): Op<void> {
	const job = yield* runningJob(tx, run);
	const { attempt } = job.run;
	const given = pendingOf(job.told).filter(({ number }) => numbers.includes(number));
	if (given.length === 0) return;
	const got = new Set(given.map(({ number }) => number));
	job.told = (job.told ?? []).map((one) => (got.has(one.number) ? { ...one, attempt } : one));
	tx.touch(job);
	tx.event("told_given", job.id, { numbers: [...got], attempt });
}

export function scopeKey(scope: PauseScope): string {
	const given = Object.entries(scope).filter(([, value]) => value !== undefined);
	if (given.length > 1)
		throw new SluiceError("invalid", "scope: give one of lane, repo, batch, account, or none for everything", { field: "scope" });
	const [kind, name] = given[0] ?? [];
	return kind === undefined ? "all" : `${kind}:${name}`;
}

export function pause(tx: Tx, scope: string, reason: string, until: number | undefined): void {
	tx.put("hold", holdKey("paused", scope), {
		kind: "paused",
		scope,
		by: tx.by,
		since: tx.now,
		reason,
		...(until === undefined ? {} : { until }),
	});
	tx.event("paused", null, { scope, reason, ...(until === undefined ? {} : { until }) });
	batchChanged(tx, scope);
}

export function resume(tx: Tx, scope: string): void {
	if (!tx.memory.holds.has(holdKey("paused", scope))) return;
	tx.put("hold", holdKey("paused", scope), null);
	tx.event("resumed", null, { scope });
	batchChanged(tx, scope);
	tx.stirred = true;
}

function batchChanged(tx: Tx, scope: string): void {
	if (scope.startsWith("batch:")) continueLater(tx, { do: "batch", of: scope.slice(6), after: 0 });
}

export function clearAccount(tx: Tx, account: string): void {
	for (const kind of ["account_closed", "rate_limited"] as const) {
		const key = holdKey(kind, `account:${account}`);
		if (tx.memory.holds.has(key)) tx.put("hold", key, null);
	}
	for (const { agent } of outagesOf(account, "all", tx.memory)) tx.put("hold", outageKey(account, agent), null);
	tx.event("account_cleared", null, { account });
	tx.stirred = true;
}
