// What becomes of a job when one of its runs ends.
//
//   exit kind                         next
//   completed                         succeeded
//   failed crashed timeout stalled    retry by policy (counts as a failure), else failed; a run that reported `fail` is never retried
//   lost                              the same; "scheduler recovery" if no retry is left; a reboot or a lost host uses no retry
//   launch_failed                     a dispatch failure: its own counter and back-off, then circuit-broken
//   rate_limited                      back in the queue, account held, uses no retry
//   crashed by an outage              the same, as outage.ts says
//   needs_human                       back in the queue, parked on its question
//   preempted drained                 back in the queue
//   cancelled                         cancelled, exit code 143
//
// A stop request stored before the end decides instead, whatever the program's exit code. The run's own verdict comes before this table: verdict.ts.

import type { Config } from "./config.ts";
import { never } from "./errors.ts";
import type { ExitKind, Job, Terminal } from "./job.ts";
import { dispatchDelayMs, policyOf, retryDelayMs } from "./runs/retry.ts";
import { withVerdict } from "./runs/verdict.ts";

export type EndedRun = { exit_kind: ExitKind; exit_code?: number | null; message?: string; question?: string; reboot?: boolean };

/** What a run's end counts as against its job. */
export type Burns = "nothing" | "failure" | "dispatch";

export type Next =
	| { to: "end"; status: Terminal; exit_kind: ExitKind; exit_code: number | null; raw_exit_code?: number; end_reason?: string }
	| {
			to: "wait";
			exit_kind: ExitKind;
			burns: Burns;
			backoff_until?: number;
			question?: string;
	  };

/** The exit kind that counts: that of a stop request, if there was one. */
export function exitKindOf(job: Job, ended: EndedRun): ExitKind {
	const intent = job.run?.intent;
	return intent ? intent.kind : ended.exit_kind;
}

/** The end after applying the run's own verdict, which never overrides a stop request. */
export const spokenEnd = <E extends EndedRun>(job: Job, ended: E): E => (job.run?.intent ? ended : withVerdict(ended, job.run?.verdict));

/** `ended`: as returned by `spokenEnd`. */
export function afterRun(job: Job, ended: EndedRun, config: Config, now: number, chance: number, excused?: "outage"): Next {
	const exit_kind = exitKindOf(job, ended);
	const code = ended.exit_code ?? null;
	switch (exit_kind) {
		case "completed":
			return { to: "end", status: "succeeded", exit_kind, exit_code: code ?? 0 };
		case "cancelled": {
			const end = { to: "end", status: "cancelled", exit_kind, exit_code: 143 } as const;
			const reason = job.run?.intent?.reason || ended.message;
			return { ...end, ...(code === null ? {} : { raw_exit_code: code }), ...(reason ? { end_reason: reason } : {}) };
		}
		case "rate_limited":
		case "preempted":
		case "drained":
			return { to: "wait", exit_kind, burns: "nothing" };
		case "needs_human":
			return { to: "wait", exit_kind, burns: "nothing", question: ended.question ?? ended.message ?? "the agent asks for a person" };
		case "launch_failed":
			return afterLaunchFailure(job, ended, config, now, chance);
		case "lost":
			if (ended.reboot) return { to: "wait", exit_kind, burns: "nothing" };
			return afterFailure(job, exit_kind, null, "scheduler recovery", config, now, chance);
		case "crashed":
			if (excused) return { to: "wait", exit_kind, burns: "nothing" };
			return afterFailure(job, exit_kind, code ?? 1, ended.message, config, now, chance);
		case "failed":
		case "timeout":
		case "stalled":
			return afterFailure(job, exit_kind, code ?? 1, ended.message, config, now, chance);
		default:
			return never(exit_kind);
	}
}

function afterFailure(
	job: Job,
	exit_kind: ExitKind,
	code: number | null,
	why: string | undefined,
	config: Config,
	now: number,
	chance: number,
): Next {
	const policy = policyOf(job, config);
	const failures = (job.failures ?? 0) + 1;
	// No policy retries a run that reported `fail`: a review repeated until it passes is no review.
	const saidNo = job.run?.verdict?.verdict === "fail";
	if (!saidNo && policy.on.includes(exit_kind) && failures <= policy.max)
		return { to: "wait", exit_kind, burns: "failure", backoff_until: now + retryDelayMs(policy, failures, chance) };
	const end = { to: "end", status: "failed", exit_kind, ...(why ? { end_reason: why } : {}) } as const;
	// The program may have exited with 0; a failed job must not show that as its exit code.
	return saidNo && exit_kind === "failed" && code === 0 ? { ...end, exit_code: 1, raw_exit_code: 0 } : { ...end, exit_code: code ?? 1 };
}

function afterLaunchFailure(job: Job, ended: EndedRun, config: Config, now: number, chance: number): Next {
	const count = (job.dispatch_failures ?? 0) + 1;
	if (config.dispatch_breaker === "run") {
		const policy = policyOf(job, config);
		const failures = (job.failures ?? 0) + 1;
		if (failures <= policy.max)
			return { to: "wait", exit_kind: "launch_failed", burns: "failure", backoff_until: now + retryDelayMs(policy, failures, chance) };
		const why = ended.message ? { end_reason: ended.message } : {};
		return { to: "end", status: "failed", exit_kind: "launch_failed", exit_code: 1, ...why };
	}
	if (config.dispatch_breaker !== "off" && count >= config.dispatch_breaker)
		return { to: "end", status: "failed", exit_kind: "launch_failed", exit_code: 1, end_reason: "circuit-broken" };
	return { to: "wait", exit_kind: "launch_failed", burns: "dispatch", backoff_until: now + dispatchDelayMs(config, count) };
}

/** Preset kernel calls an entry completed however it ended; our status keeps the difference. */
export function afterEntry(job: Job, ended: EndedRun): Next {
	const exit_kind = exitKindOf(job, ended);
	const code = ended.exit_code ?? null;
	if (exit_kind === "completed") return { to: "end", status: "succeeded", exit_kind, exit_code: code ?? 0 };
	if (exit_kind === "cancelled") return { to: "end", status: "cancelled", exit_kind, exit_code: 143 };
	return { to: "end", status: "failed", exit_kind, exit_code: code ?? 1 };
}
