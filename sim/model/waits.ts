// Runs that wait for jobs: what they lend, when they have it again, and which waits can never end.

import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { runFor } from "./ending.ts";
import { clash } from "./gates/locks.ts";
import { after, presence, producers } from "./gates/refusal.ts";
import { find, isActive, isWaiting, type ModelJob, note, running, type State } from "./state.ts";

export const isLending = (job: ModelJob): boolean => (job.run?.waits ?? []).length > 0;

/** Live runs that count against the caps on runs. */
export const counting = (state: State): ModelJob[] => running(state).filter((job) => !isLending(job));

/** What a run waits for, in order. */
export const awaitedBy = (job: ModelJob): number[] =>
	[...new Set((job.run?.waits ?? []).flatMap(({ jobs }) => jobs))].sort((a, b) => a - b);

/** A job has ended: no run waits for it any more. */
export function stopAwaiting(state: State, id: number): void {
	for (const { run } of state.jobs) {
		if (run?.waits === undefined) continue;
		for (const wait of run.waits) wait.jobs = wait.jobs.filter((one) => one !== id);
		run.waits = run.waits.filter(({ jobs }) => jobs.length > 0);
	}
}

export function beginWait(state: State, of: { job: number; token: number }, ids: readonly number[], seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	const open = ids.filter((id) => isActive(find(state, id) as ModelJob));
	if (open.length > 0 && isHopeless(state, job, open, "stuck")) {
		// A circle that was there before, which the waiter is no part of, need not be found.
		if (isHopeless(state, job, open, "free") && seen.error === undefined) note(state, "wait-in-vain");
		else {
			note(state, "circle");
			refused(seen, ["conflict"], `job ${job.id} would wait for ever for ${open.join(", ")}`);
			return;
		}
	}
	const live = running(state);
	const cap = state.config.safety_cap;
	if (open.length > 0 && !isLending(job) && cap > 0 && live.length >= cap && live.every((one) => one === job || isLending(one))) {
		note(state, "all-wait");
		refused(seen, ["conflict"], "the safety cap is reached and every run would wait");
		return;
	}
	const result = accepted<{ wait: number | null; open: number[] }>(seen);
	if (result !== undefined) {
		agreeSame(result.open, open, `beginWait of job ${job.id}: open`);
		agree((result.wait === null) === (open.length === 0), `beginWait of job ${job.id}: wait ${result.wait} for ${open.length} open jobs`);
	}
	if (open.length === 0) return;
	if (!isLending(job)) note(state, "lent");
	job.run.waits = [...(job.run.waits ?? []), { wait: result?.wait ?? null, jobs: open }];
}

export function endWait(state: State, of: { job: number; token: number }, wait: number, seen: Seen): void {
	accepted(seen);
	const run = find(state, of.job)?.run;
	if (run?.token === of.token && run.waits !== undefined) run.waits = run.waits.filter((one) => one.wait !== wait);
}

export function endWaits(state: State, host: string, seen: Seen): void {
	accepted(seen);
	for (const { run } of state.jobs) {
		if (run?.host !== host) continue;
		if ((run.waits ?? []).length > 0) note(state, "waits-dropped");
		delete run.waits;
	}
}

/** Whether the jobs can never all end while this run waits for them, if every other run that does not wait ends. `as`: with the waiter itself stuck, or gone. */
function isHopeless(state: State, waiter: ModelJob, open: readonly number[], as: "stuck" | "free"): boolean {
	const ends = new Set<number>(as === "free" ? [waiter.id] : []);
	const over = (id: number) => ends.has(id) || !isActive(find(state, id) ?? ({ status: "failed" } as ModelJob));
	const waits = (job: ModelJob) => (job === waiter ? [...awaitedBy(job), ...open] : awaitedBy(job));
	const canEnd = (job: ModelJob): boolean => {
		if (!isWaiting(job)) return waits(job).every(over);
		const edges = after(state, job).every((refusal) => over(Number(refusal.subject?.slice("job:".length))));
		const made = job.needs.every((artifact) => {
			const makers = presence(state, job, artifact) === "present" ? [] : producers(state, job, artifact).filter(isActive);
			return makers.length === 0 || makers.some((maker) => over(maker.id));
		});
		const holders = running(state).filter(
			(other) => other !== job && other.locks.some((held) => job.locks.some((lock) => clash(held, lock))),
		);
		const room = Object.entries(job.uses).every(([name, amount]) => {
			const kept = running(state).filter((other) => waits(other).length > 0 && !over(other.id));
			const limit = state.config.resources[name];
			return limit === undefined || kept.reduce((sum, other) => sum + (other.uses[name] ?? 0), amount) <= limit;
		});
		return edges && made && room && holders.every((other) => over(other.id));
	};
	for (let grown = true; grown; ) {
		const more = state.jobs.filter((job) => isActive(job) && !ends.has(job.id) && canEnd(job));
		for (const job of more) ends.add(job.id);
		grown = more.length > 0;
	}
	return !open.every(over);
}
