// How a run ends: started, complete, extend, and what each exit kind does to the job.

import type { Ended, RunEnd } from "../../src/contracts/scheduler.ts";
import type { ExitKind } from "../../src/core/job.ts";
import { accepted, agree, agreeSame, refused, type Seen } from "./agree.ts";
import { limitAccount, succeedOn } from "./gates/accounts.ts";
import { chargeRun } from "./gates/ledgers.ts";
import { afterOutage, answeredOn } from "./gates/outages.ts";
import { launchFailed, launchWorked, probeUndecided } from "./launch.ts";
import { policyOf, retryWindow } from "./retry-policy.ts";
import { finish, settle } from "./settle.ts";
import { find, type ModelJob, type ModelRun, type State } from "./state.ts";
import { heard } from "./voice.ts";

/** The run this token stands for, or what the engine must refuse with. */
export function runFor(state: State, of: { job: number; token: number }, seen: Seen): ModelJob | undefined {
	const job = find(state, of.job);
	if (job === undefined) {
		refused(seen, ["not_found"], `there is no job ${of.job}`);
		return undefined;
	}
	if (job.run === undefined || job.run.token !== of.token) {
		refused(seen, ["fenced"], `job ${job.id} is ${job.status} and token ${of.token} is stale`);
		return undefined;
	}
	return job;
}

export function started(state: State, of: { job: number; token: number }, seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	accepted(seen);
	noteLaunch(state, job, job.run);
	settle(state, seen);
}

export function answered(state: State, of: { job: number; token: number }, seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	accepted(seen);
	const account = job.run.account ?? (job.kind === "payload" ? "default" : undefined);
	if (account !== undefined) answeredOn(state, account, job, job.run);
	settle(state, seen);
}

/** Told twice, it is no news: a launch that failed in between counts. */
export function noteLaunch(state: State, job: ModelJob, run: ModelRun): void {
	if (run.launched) return;
	run.launched = true;
	job.dispatch_failures = 0;
	launchWorked(state, job);
}

export function extend(state: State, of: { job: number; token: number }, seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	const result = accepted<{ cancel_requested: boolean; lease_until: number | null }>(seen);
	if (job.run.lease_until !== undefined) job.run.lease_until = state.now + state.config.lease_ms;
	delete job.run.unsure;
	if (result === undefined) return;
	agreeSame(result.cancel_requested, job.run.intent !== undefined, `extend of job ${job.id}: cancel_requested`);
	agreeSame(result.lease_until, job.run.lease_until ?? null, `extend of job ${job.id}: lease_until`);
}

export function complete(state: State, ending: RunEnd, seen: Seen): void {
	const job = runFor(state, ending, seen);
	if (job === undefined) return;
	const result = accepted<Ended>(seen);
	endRun(state, job, ending, seen);
	settle(state, seen);
	if (result === undefined) return;
	const shown = seen.job(job.id)?.status ?? job.status;
	if (!seen.blurred) agreeSame(result.status, shown, `complete of job ${job.id} as ${ending.exit_kind}: status, as answered and as shown`);
	if (result.retry_at !== undefined && job.ended_at === undefined)
		agreeSame(result.retry_at, job.backoff_until, `complete of job ${job.id}: retry_at`);
}

/** Endings that only a process can have. */
const RAN: ExitKind[] = ["completed", "failed", "crashed", "timeout", "stalled", "rate_limited", "needs_human"];

/** The run is over; the job is queued again or has ended. */
export function endRun(state: State, job: ModelJob, told: Partial<RunEnd> & { exit_kind: ExitKind }, seen: Seen): void {
	const run = job.run as ModelRun;
	state.past.push({ job: job.id, token: run.token });
	const ending = heard(state, run, told);
	const kind: ExitKind = run.intent ?? ending.exit_kind;
	delete job.run;
	job.exit_kind = kind;
	if (run.verdict !== undefined) job.verdict = run.verdict;
	if (ending.denied !== undefined) job.denied = ending.denied;
	if (job.denied?.length === 0) delete job.denied;
	delete job.closing_question;
	if (kind === "completed" && ending.closing_question !== undefined) job.closing_question = ending.closing_question;
	const excused = onAccount(state, job, run, run.intent ?? told.exit_kind, ending, seen);
	if (RAN.includes(ending.exit_kind)) noteLaunch(state, job, run);
	if (ending.session !== undefined) {
		job.session = ending.session;
		if (run.account !== undefined) job.prefer = run.account;
	}
	if (kind === "crashed" && ending.goes_on) job.goes_on = true;
	// Where its worktree or session is; a run that told of neither leaves it free.
	if (ending.stays && run.host !== "") job.stays = run.host;
	else delete job.stays;
	if (kind !== "launch_failed") probeUndecided(state, job);
	if (excused && kind === "crashed") requeue(state, job);
	else decide(state, job, kind, { ...ending, saidNo: run.verdict?.verdict === "fail" }, seen);
	// A launch that failed used nothing.
	if (kind !== "launch_failed") chargeRun(state, { ...job, run }, ending.usage ?? {}, state.now);
}

/** Whether an outage of the provider excuses the job. */
function onAccount(state: State, job: ModelJob, run: ModelRun, kind: ExitKind, ending: Partial<RunEnd>, seen: Seen): boolean {
	const account = run.account ?? (job.kind === "payload" ? "default" : undefined);
	if (kind === "completed" && account !== undefined) succeedOn(state, account, run.started_at);
	if (kind === "rate_limited") limitAccount(state, run.account ?? "default", ending, state.now);
	if (account === undefined) return false;
	return afterOutage(state, account, job, run, { exit_kind: kind, ...(ending.outage ? { outage: true } : {}) }, seen);
}

function decide(state: State, job: ModelJob, kind: ExitKind, ending: Partial<RunEnd> & { saidNo: boolean }, seen: Seen): void {
	const { now } = state;
	const code = ending.exit_code ?? undefined;
	switch (kind) {
		case "completed":
			finish(state, job, "succeeded", ending.message, now);
			job.exit_kind = kind;
			job.exit_code = code ?? 0;
			if (job.will_merge) job.merge_status = ending.merge_status ?? "pending";
			return;
		case "cancelled":
			finish(state, job, "cancelled", undefined, now);
			job.exit_kind = kind;
			job.exit_code = 143;
			if (code !== undefined) job.raw_exit_code = code;
			return;
		case "failed":
		case "crashed":
		case "timeout":
		case "stalled":
			fail(state, job, kind, ending.saidNo && kind === "failed" && code === 0 ? 1 : code, seen, ending.saidNo ? "final" : "by policy");
			return;
		case "lost":
			if (ending.reboot) requeue(state, job);
			else fail(state, job, kind, code, seen, ending.saidNo ? "final" : "by policy");
			return;
		case "launch_failed":
			launchFailed(state, job, ending.fault, seen, () => fail(state, job, kind, code, seen));
			return;
		case "needs_human":
			requeue(state, job);
			job.question = ending.question ?? "";
			return;
		case "rate_limited":
			requeue(state, job);
			return;
		case "preempted":
		case "drained":
			requeue(state, job);
			return;
	}
}

export function requeue(_state: State, job: ModelJob): void {
	job.status = "queued";
	delete job.noticed_at;
	delete job.rest_at;
	delete job.ready_at;
	delete job.backoff_until;
}

/** A failed run: again after a back-off, or the end. */
function fail(
	state: State,
	job: ModelJob,
	kind: ExitKind,
	code: number | undefined,
	seen: Seen,
	how: "by policy" | "final" = "by policy",
): void {
	const { now } = state;
	const policy = policyOf(state, job);
	const counts = policy.on.includes(kind) || kind === "launch_failed";
	job.failures += 1;
	if (how === "by policy" && counts && job.failures <= policy.max) {
		requeue(state, job);
		const window = retryWindow(policy, job.failures);
		const said = (seen.result as Ended | undefined)?.retry_at ?? seen.job(job.id)?.backoff_until;
		// With no engine to read from (the model alone), jitter is nothing.
		const shown = seen.job(job.id);
		const at =
			said ?? (shown === undefined || shown.ended_at !== undefined ? now + Math.round((window.least + window.most) / 2) : undefined);
		agree(at !== undefined, `job ${job.id} failed (${kind}, ${job.failures} of ${policy.max} retries): expected a back-off, found none`);
		agree(
			at - now >= window.least && at - now <= window.most,
			`job ${job.id}: back-off ${at - now} ms before retry ${job.failures} is outside ${window.least}…${window.most}`,
		);
		job.backoff_until = at;
		return;
	}
	finish(state, job, "failed", kind === "lost" ? "scheduler recovery" : undefined, now);
	job.exit_kind = kind;
	job.exit_code = code ?? exitCodeOf(seen, job);
}

/** A run that ended badly without a code of its own: none, or 1. */
export const exitCodeOf = (seen: Seen, job: ModelJob) => (seen.job(job.id)?.exit_code === 1 ? 1 : null);
