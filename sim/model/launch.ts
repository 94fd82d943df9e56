// Launches that fail: the job's own count and its circuit breaker, and the breaker of an agent or repo whose environment is broken.

import { agree, type Seen } from "./agree.ts";
import { exitCodeOf, requeue } from "./ending.ts";
import { breakersOf } from "./gates/late.ts";
import { finish } from "./settle.ts";
import { breakerOf, find, isActive, isWaiting, type ModelJob, note, type State } from "./state.ts";

/** The process is there: nothing is wrong with this agent and this repo. */
export function launchWorked(state: State, job: ModelJob): void {
	for (const name of breakersOf(job)) {
		const breaker = breakerOf(state, name);
		breaker.failed = [];
		if (breaker.probe === job.id || breaker.open_until === null) {
			breaker.open_until = null;
			breaker.probe = null;
			breaker.probed = null;
		}
	}
}

/** Its probe told nothing: another job may go. */
export function probeUndecided(state: State, job: ModelJob): void {
	for (const breaker of Object.values(state.breakers)) {
		if (breaker.probe !== job.id) continue;
		breaker.probe = null;
		breaker.probed = job.id;
	}
}

/** `asFailure`: what a failed run does, for configurations where a launch failure counts as one. `fault`: the job's own, which concerns no other. */
export function launchFailed(state: State, job: ModelJob, fault: "job" | undefined, seen: Seen, asFailure: () => void): void {
	const { config, now } = state;
	if (fault === "job") note(state, "own-fault");
	const refunded = fault === undefined && noteEnvironment(state, job);
	probeUndecided(state, job);
	if (refunded) {
		requeue(state, job);
		return;
	}
	if (config.dispatch_breaker === "run") {
		asFailure();
		return;
	}
	job.dispatch_failures += 1;
	if (config.dispatch_breaker !== "off" && job.dispatch_failures >= config.dispatch_breaker) {
		note(state, "circuit-broken");
		finish(state, job, "failed", "circuit-broken", now);
		job.exit_kind = "launch_failed";
		job.exit_code = exitCodeOf(seen, job);
		return;
	}
	requeue(state, job);
	const wait = config.dispatch_backoff_ms * 2 ** (job.dispatch_failures - 1);
	const at = seen.job(job.id)?.backoff_until;
	agree(
		at === undefined || at === now + wait,
		`job ${job.id}: launch failure ${job.dispatch_failures} should wait ${wait} ms, waits ${(at ?? now) - now}`,
	);
	job.backoff_until = now + wait;
}

/** Counts the failure against agent and repo; opens their breakers, or keeps them open. True when it was not charged to the job. */
function noteEnvironment(state: State, job: ModelJob): boolean {
	const { failures, cooldown_ms } = state.config.environment_breaker;
	if (failures <= 0) return false;
	let refunded = false;
	const isProbe = breakersOf(job).some((name) => breakerOf(state, name).probe === job.id);
	for (const name of breakersOf(job)) {
		const breaker = breakerOf(state, name);
		if (breaker.probe === job.id) {
			breaker.open_until = state.now + cooldown_ms;
			note(state, "probe-failed");
			continue;
		}
		// It had started before the breaker opened.
		if (breaker.open_until !== null) {
			refunded = true;
			continue;
		}
		breaker.failed.push({ job: job.id, as: state.config.dispatch_breaker === "run" ? "run" : "launch" });
		if (breaker.failed.length < failures || new Set(breaker.failed.map((one) => one.job)).size < 2) continue;
		breaker.open_until = state.now + cooldown_ms;
		note(state, "breaker-opened");
		for (const one of breaker.failed)
			if (one.job !== job.id || breaker.failed.indexOf(one) < breaker.failed.length - 1) refund(state, one.job, one.as);
		breaker.failed = [];
		refunded = true;
	}
	return refunded && !isProbe;
}

/** The failure was not the job's own. One in back-off is ready now; one that is ready already stays so since then. */
function refund(state: State, id: number, as: "launch" | "run"): void {
	const job = find(state, id);
	if (job === undefined || !isActive(job)) return;
	if (as === "launch") job.dispatch_failures = Math.max(0, job.dispatch_failures - 1);
	else job.failures = Math.max(0, job.failures - 1);
	if (!isWaiting(job) || job.backoff_until === undefined || job.backoff_until <= state.now) return;
	delete job.backoff_until;
	delete job.rest_at;
	delete job.ready_at;
}
