// Decides every waiting job anew: verdicts that are certain, the status it waits in, since when it is ready. Until nothing changes.

import type { Status } from "../../src/core/job.ts";
import { REASON_CODES } from "../../src/core/reason.ts";
import { adopt, type Seen } from "./agree.ts";
import { batchRefusals } from "./gates/late.ts";
import { lockRefusals } from "./gates/locks.ts";
import { artifactKey, deadline, early, type Refusal, rest, time } from "./gates/refusal.ts";
import { isActive, isKernel, isWaiting, type ModelJob, type State, waiting } from "./state.ts";
import { stopAwaiting } from "./waits.ts";

/** A terminal end of a job that was waiting or whose run is over. */
export function finish(state: State, job: ModelJob, status: Status, reason: string | undefined, now: number): void {
	job.status = status;
	job.ended_at = now;
	if (reason === undefined) delete job.end_reason;
	else job.end_reason = reason;
	for (const field of ["run", "wait", "rest_at", "ready_at", "backoff_until", "question", "hold", "noticed_at"] as const) delete job[field];
	stopAwaiting(state, job.id);
	job.rank = 0;
	job.first = 0;
	job.forced = false;
	// What it was to produce must be looked at again: a probe from before its end proves nothing.
	for (const artifact of [...job.produces, `patch:${job.id}`]) delete state.facts[artifactKey(artifact, job.repo)];
}

export function settle(state: State, seen: Seen): void {
	const { now } = state;
	const ended: ModelJob[] = [];
	for (let changed = true; changed; ) {
		changed = false;
		for (const job of waiting(state)) {
			const verdicts = early(state, job, now).flatMap((refusal) => refusal.verdict ?? []);
			if (verdicts.length === 0) continue;
			const one = adopt(verdicts, (verdict) => {
				const view = seen.job(job.id);
				return (
					view?.status === verdict.status &&
					(view.end_reason === undefined || verdict.reason === undefined || view.end_reason === verdict.reason)
				);
			});
			finish(state, job, one.status, one.reason, now);
			if (one.status === "expired" || one.status === "blocked_by_dependency") job.exit_code = null;
			ended.push(job);
			changed = true;
		}
	}
	for (const [item, chain] of Object.entries(state.begun))
		if (!state.jobs.some((job) => job.chain === chain && job.item === item && isActive(job))) delete state.begun[item];
	for (const job of ended) adoptReason(state, job, seen);
	for (const job of waiting(state)) park(state, job);
	for (const job of state.jobs.filter((one) => isKernel(one) && isWaiting(one))) job.status = "queued";
}

/** Several things may have doomed it at once: any of them is a true reason. */
function adoptReason(state: State, job: ModelJob, seen: Seen): void {
	const said = seen.job(job.id)?.end_reason;
	const reasons = early(state, job, state.now).map((refusal) => refusal.verdict?.reason);
	if (said !== undefined && reasons.includes(said)) job.end_reason = said;
}

/** Where a job waits: the first job gate that refuses it. */
function park(state: State, job: ModelJob): void {
	const { now } = state;
	job.noticed_at = Math.max(job.noticed_at ?? 0, now);
	// A time that was seen to come before is not what it waited for, even if it lies ahead again since the clock was set back.
	const delayed = job.come ? 0 : job.runnable_at;
	if (job.runnable_at <= now) job.come = true;
	const others = rest(state, job);
	if (others.length > 0) delete job.rest_at;
	else job.rest_at ??= now;
	const refusals = [...time(job, now), ...deadline(job, now), ...others];
	if (refusals.length > 0) delete job.ready_at;
	else job.ready_at ??= Math.min(now, Math.max(job.rest_at ?? now, delayed, job.backoff_until ?? 0));
	if (time(job, now).length === 0) delete job.backoff_until;
	const first = refusals[0] ?? lockRefusals(state, job).find((refusal) => !refusal.optional) ?? batchRefusals(state, job, now)[0];
	job.status = first === undefined ? "queued" : statusFor(first);
	if (first === undefined) delete job.wait;
	else job.wait = { gate: first.gate, codes: first.codes };
}

const statusFor = (refusal: Refusal): Status => REASON_CODES[refusal.codes[0] ?? "turn"];
