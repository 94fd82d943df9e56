// Runs that wait for jobs: while a wait is open, the run lends its slot. Each run that waits has a record `wait/<job>`.
//
//   a wait begins                   writes the record; counts `lent:<cap>` beside `<cap>`
//   the last awaited job ends       the run takes its slot back in the same transaction, before any claim
//   the caller gives up, or goes    the run takes its slot back
//   the run ends                    the slot is released
//   the run's daemon restarts       all runs of that host take their slots back

import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { fits } from "../../core/gates/after.ts";
import { lentBy } from "../../core/gates/buckets/capacity.ts";
import { obstacles } from "../../core/gates/locks.ts";
import { circleOf, circleWords, type Need, needs, needsAnyOf, type WaitStep } from "../../core/graph/wait-cycle.ts";
import { hasRun, isTerminal, isWaiting, type Job, type RunningJob } from "../../core/job.ts";
import { mustFind, runningJob } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { factsOf, makersOf } from "../waiting/gate-facts.ts";

/** `calls`: the open calls by number, each with those of its jobs that have not ended. */
export type WaitRecord = { since: number; calls: Record<string, number[]> };
type RunRef = { job: number; token: number };

const recordOf = (tx: Tx, job: number) => tx.memory.recall("wait", String(job));

/** The jobs that a run waits for; undefined if it does not wait. */
export function awaitedBy(tx: Tx, job: number): number[] | undefined {
	const record = recordOf(tx, job);
	return record ? [...new Set(Object.values(record.calls).flat())].sort((a, b) => a - b) : undefined;
}

/** The jobs whose runs wait for this one. */
export function waitersOf(tx: Tx, id: number): number[] {
	const found: number[] = [];
	for (const key of tx.memory.all("wait").keys()) if (awaitedBy(tx, Number(key))?.includes(id)) found.push(Number(key));
	return found.sort((a, b) => a - b);
}

/** Opens a wait. `wait` is null if all of the jobs have ended already. A wait that would close a circle is refused with the steps of that circle. */
export function* beginWait(tx: Tx, run: RunRef, ids: readonly number[]): Op<{ wait: number | null; open: number[] }> {
	const job = yield* runningJob(tx, run);
	yield* tx.load(ids);
	const open: number[] = [];
	for (const id of ids) if (!isTerminal((yield* mustFind(tx, id)).status)) open.push(id);
	if (open.length === 0) return { wait: null, open };
	if (mayBeAwaited(tx, job) || open.includes(job.id)) yield* refuseCircle(tx, job, open);
	const record = recordOf(tx, job.id);
	if (!record) refuseLastOfAll(tx, job, open);
	const wait = tx.nextId("token");
	tx.put("wait", String(job.id), {
		since: record?.since ?? tx.now,
		calls: { ...record?.calls, [wait]: open },
	});
	if (record) return { wait, open };
	for (const [key, amount] of lentBy(job, job.run)) tx.count("usage", key, amount);
	tx.event("wait_began", job.id, { attempt: job.run.attempt, for: open.slice(0, 100) });
	tx.stirred = true;
	return { wait, open };
}

/** Ends a call's wait. A wait that is already over is not an error. */
export function* endWait(tx: Tx, { job: id, token }: RunRef, wait: number): Op<void> {
	const job = yield* tx.find(id);
	const record = recordOf(tx, id);
	if (!record || !job || !hasRun(job) || job.run.token !== token || record.calls[wait] === undefined) return;
	const { [wait]: _, ...calls } = record.calls;
	settle(tx, job, { ...record, calls });
}

/** Ends all waits of a host's runs: the daemon that their callers were connected to is gone. */
export function* endWaits(tx: Tx, host: string): Op<void> {
	for (const key of [...tx.memory.all("wait").keys()]) {
		const job = yield* tx.find(Number(key));
		if (job && hasRun(job) && job.run.host === host) takeBack(tx, job);
	}
}

/** Ends the waits for a job that has ended. A run that waits for nothing else takes its slot back, before anything can be claimed. */
export function* tellWaiters(tx: Tx, id: number): Op<void> {
	for (const [key, record] of [...tx.memory.all("wait")]) {
		if (!Object.values(record.calls).some((jobs) => jobs.includes(id))) continue;
		const job = yield* tx.find(Number(key));
		if (!job || !hasRun(job)) continue;
		const calls: WaitRecord["calls"] = {};
		for (const [call, jobs] of Object.entries(record.calls)) {
			const left = jobs.filter((one) => one !== id);
			if (left.length > 0) calls[call] = left;
		}
		settle(tx, job, { ...record, calls });
	}
}

function settle(tx: Tx, job: RunningJob, record: WaitRecord): void {
	if (Object.keys(record.calls).length === 0) takeBack(tx, job);
	else tx.put("wait", String(job.id), record);
}

/** Counts the run against the caps again. The run does not wait for a free slot: it holds locks that the job in its place may need. */
export function takeBack(tx: Tx, job: RunningJob): void {
	const record = recordOf(tx, job.id);
	if (!record) return;
	for (const [key, amount] of lentBy(job, job.run)) tx.count("usage", key, -amount);
	tx.put("wait", String(job.id), null);
	const waited_ms = Math.max(0, tx.now - record.since);
	job.run.lent_ms = (job.run.lent_ms ?? 0) + waited_ms;
	tx.touch(job);
	tx.event("wait_ended", job.id, { attempt: job.run.attempt, waited_ms });
}

/**
 * Refuses a wait if the safety cap is reached and all other runs wait already. The cap counts every live run, also those that wait: nothing could start
 * that they wait for.
 */
function refuseLastOfAll(tx: Tx, job: Job, open: readonly number[]): void {
	const { safety_cap } = tx.config;
	const live = tx.memory.usage.get("all") ?? 0;
	const lent = tx.memory.usage.get("lent:all") ?? 0;
	if (safety_cap === 0 || live < safety_cap || lent + 1 < live) return;
	throw new SluiceError(
		"conflict",
		`job ${job.id} cannot wait for job ${open[0]}: safety_cap is reached (${live} of ${safety_cap} runs), and all other runs wait as well`,
		{ field: "ids", hint: "wait for fewer jobs from inside jobs, or raise it: sluice config set safety_cap N" },
	);
}

/** True if anything can depend on the end of this run: only then is a circle searched for. */
function mayBeAwaited(tx: Tx, job: Job): boolean {
	return Boolean(job.dependents || job.awaited || job.produces || job.locks || job.uses) || waitersOf(tx, job.id).length > 0;
}

function* refuseCircle(tx: Tx, job: Job, open: readonly number[]): Op<void> {
	const search = circleOf(job.id, [...new Set([...open, ...(awaitedBy(tx, job.id) ?? [])])]);
	let step = search.next();
	while (!step.done) step = search.next(yield* needsOf(tx, step.value, job.id));
	if (step.value)
		throw new SluiceError("conflict", circleWords(job.id, step.value), { field: "ids", hint: hintFor(tx, job.id, step.value) });
}

function hintFor(tx: Tx, waiter: number, path: readonly WaitStep[]): string {
	const last = path[path.length - 1];
	const isChild = last && last.kind === "after" && tx.peek(last.from)?.path?.at(-1) === waiter;
	if (isChild)
		return `a job that this run waits for must not wait for this run: add it without --after ${waiter}, and with --parent-gate none (parent_gate: none)`;
	if (last?.kind === "lock") return "a run that waits keeps its locks: let the other job do without that lock, or do not wait for it";
	if (last?.kind === "resource") return "a run that waits keeps its resources: let the other job do without them, or do not wait for it";
	return "end this run first: the other job goes on by itself";
}

/** What each of these jobs depends on. */
function* needsOf(tx: Tx, ids: readonly number[], waiter: number): Op<Map<number, Need[]>> {
	yield* tx.load(ids);
	const found = new Map<number, Need[]>();
	for (const id of ids) {
		const job = tx.peek(id);
		if (job?.run)
			found.set(
				id,
				(awaitedBy(tx, id) ?? []).map((to) => needs({ to, kind: "waits" })),
			);
		else if (job && isWaiting(job.status)) found.set(id, yield* needsOfWaiting(tx, job, waiter));
	}
	return found;
}

function* needsOfWaiting(tx: Tx, job: Job, waiter: number): Op<Need[]> {
	const found: Need[] = [];
	if (job.deps_left || job.needs || job.locks) {
		const facts = yield* factsOf(tx, job, "all");
		for (const { job: to, policy, status, merge_status } of facts.after)
			if (typeof status === "string" && status !== "missing" && fits(policy, status, merge_status) === "open")
				found.push(needs({ to, kind: "after" }));
		for (const { artifact, present } of facts.artifacts) {
			const makers = present ? [] : yield* makersOf(tx, job, artifact);
			if (makers.length > 0) found.push(needsAnyOf(makers.map((to) => ({ to, kind: "artifact" as const, what: artifact }))));
		}
		for (const { key, holders } of obstacles(job, facts)) for (const to of holders) found.push(needs({ to, kind: "lock", what: key }));
	}
	for (const [name, wanted] of Object.entries(job.uses ?? {})) {
		const need = yield* roomFor(tx, name, wanted, waiter);
		if (need) found.push(need);
	}
	return found;
}

/** Runs that wait keep their resources: says how much the waiting runs have to release before `wanted` is available. */
function* roomFor(tx: Tx, name: string, wanted: number, waiter: number): Op<Need | undefined> {
	const limit = tx.config.resources[name];
	if (limit === undefined) return undefined;
	const links: Need["links"] = [];
	for (const id of new Set([...[...tx.memory.all("wait").keys()].map(Number), waiter])) {
		const weight = (yield* tx.find(id))?.uses?.[name] ?? 0;
		if (weight > 0) links.push({ to: id, kind: "resource", what: `${wanted} of resource ${name}`, weight });
	}
	const kept = links.reduce((sum, { weight }) => sum + weight, 0);
	return { links, least: wanted - limit + kept };
}
