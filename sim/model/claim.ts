// One cycle: take the best startable job again and again, until a bound holds.

import type { Claimed, ClaimOptions, Cycled, PlanReport } from "../../src/contracts/scheduler.ts";
import { accepted, agree, agreeSame, type Seen } from "./agree.ts";
import { drawOnCycle, openCycle } from "./cycle.ts";
import { chooseAccount } from "./gates/accounts.ts";
import { breakersOf, pace } from "./gates/late.ts";
import { reservedBy } from "./gates/ledgers.ts";
import { keptNow, lockRefusals, overdueForLocks } from "./gates/locks.ts";
import { noteTry, triedLast } from "./gates/outages.ts";
import { noteKept } from "./hosts.ts";
import { best, type Filter, startable } from "./order.ts";
import { settle } from "./settle.ts";
import { accountOf, breakerOf, copyState, type ModelJob, note, type State } from "./state.ts";
import { beginAttempt } from "./voice.ts";

/** How many starts a pass may make now, before any cap. */
export function passBound(state: State, max: number): { least: number; most: number } {
	const { config, now } = state;
	let bound = Math.min(max, 1000);
	const both = (most: number) => ({ least: most, most });
	if (config.max_concurrent <= 0) return both(bound);
	if (pace(state, now).length > 0) return both(0);
	if (config.spawn_delay_ms > 0) bound = Math.min(bound, 1);
	if (config.cycle_interval_ms > 0) return { least: Math.min(bound, state.cycle_left.least), most: Math.min(bound, state.cycle_left.most) };
	return both(config.batch_size > 0 ? Math.min(bound, config.batch_size) : bound);
}

/** Marks the job running: a new attempt, its locks, its account. */
export function start(state: State, job: ModelJob, run: { worker: string; host: string; token: number }): void {
	const { now } = state;
	const { account } = chooseAccount(state, job, now);
	const reserved = reservedBy(state, job);
	job.status = "running";
	job.attempt += 1;
	job.run = { attempt: job.attempt, token: run.token, host: run.host, worker: run.worker, started_at: now, launched: false, reserved };
	if (job.session !== undefined && (job.account ?? job.prefer) !== account) delete job.session;
	if (job.prefer !== undefined && account !== job.prefer) {
		note(state, "failover");
		// It starts afresh there: nothing is left to wait for.
		delete job.prefer;
		delete job.session;
	}
	beginAttempt(state, job, job.run);
	if (account !== undefined) {
		job.run.account = account;
		accountOf(state, account).spaced_until = now + state.config.rate_limit.stagger_ms;
		noteTry(state, account, job);
	} else if (job.kind === "payload") {
		accountOf(state, "default").spaced_until = now + state.config.rate_limit.stagger_ms;
		noteTry(state, "default", job);
	}
	if (job.kind === "payload") job.run.lease_until = now + state.config.lease_ms;
	for (const name of breakersOf(job)) {
		const breaker = breakerOf(state, name);
		if (breaker.open_until === null || breaker.probe !== null) continue;
		breaker.probe = job.id;
		note(state, "half-open");
	}
	if (job.forced) job.run.forced = true;
	if (job.first > 0) state.first_starts += 1;
	job.rank = 0;
	job.first = 0;
	job.forced = false;
	for (const field of ["wait", "rest_at", "ready_at", "backoff_until", "passed"] as const) delete job[field];
	if (job.item !== undefined) state.begun[job.item] = job.chain;
	state.starts += 1;
	state.last_start_at = now;
}

/** Whether this job was the last probe of a breaker that another one could probe now; `sure`: nothing could be in that one's way. */
function isAnothersProbe(state: State, job: ModelJob, jobs: ModelJob[]): { sure: boolean } | undefined {
	if (state.config.environment_breaker.failures <= 0) return undefined;
	const scopes = breakersOf(job).filter((name) => {
		const breaker = breakerOf(state, name);
		return breaker.open_until !== null && breaker.probe === null && breaker.probed === job.id;
	});
	const others = jobs.filter((other) => other !== job && breakersOf(other).some((name) => scopes.includes(name)));
	return others.length === 0 ? undefined : { sure: others.some((other) => other.locks.length === 0) };
}

/** The same for a provider that is down: whether another one could try it now. */
function isAnothersTry(state: State, job: ModelJob, jobs: ModelJob[]): { sure: boolean } | undefined {
	const accountFor = (one: ModelJob) => chooseAccount(state, one, state.now).account ?? (one.kind === "payload" ? "default" : undefined);
	const account = accountFor(job);
	if (!triedLast(state, account, job)) return undefined;
	const others = jobs.filter((other) => other !== job && other.agent === job.agent && accountFor(other) === account);
	return others.length === 0 ? undefined : { sure: others.some((other) => other.locks.length === 0) };
}

/** It lets the others go first. */
function rest(state: State, job: ModelJob, ms: number, deed: string): void {
	job.backoff_until = state.now + ms;
	delete job.ready_at;
	note(state, deed);
}

/** What the engine took, so that its choices where it has one can be followed; undefined when only the model speaks. */
type Followed = (taken: ModelJob[]) => number | undefined | "unknown";
/** The keys that were reserved when this job started (for undefined: when the claim was over), and at any time of the claim until then. */
type Kept = (job: number | undefined) => { now: State["reserved"]; ever: State["reserved"] };

/** The jobs that a claim takes now, in order; the state is changed as if it had. */
export function take(
	state: State,
	options: ClaimOptions,
	host: string | undefined,
	token: (job: ModelJob) => number,
	followed: Followed = () => "unknown",
	kept: Kept = () => ({ now: state.reserved, ever: state.reserved }),
): ModelJob[] {
	const taken: ModelJob[] = [];
	const bound = passBound(state, options.max ?? 1);
	const [before, keptBefore] = [state.reserved, keptNow(state)];
	while (taken.length < bound.most) {
		const wanted = followed(taken);
		if (wanted === undefined && taken.length >= bound.least) break;
		const { now, ever } = kept(wanted === "unknown" ? undefined : wanted);
		state.reserved = now;
		// What came to be kept and was given up again in the course of it may have kept others waiting, too.
		state.kept_before = [...keptBefore, ...ever.filter(({ key, job }) => !isAmong(before, key, job))];
		const job = next(state, { ...options, host }, wanted);
		if (job === undefined) break;
		const others = isAnothersProbe(state, job, startable(state, state.now, { ...options, host }));
		if (others !== undefined && (others.sure || job.id !== wanted)) {
			agree(job.id !== wanted, `job ${job.id} probes twice in a row, though another one could`);
			rest(state, job, Math.max(1, state.config.environment_breaker.cooldown_ms), "probe-passed-on");
			continue;
		}
		const triers = isAnothersTry(state, job, startable(state, state.now, { ...options, host }));
		if (triers !== undefined && (triers.sure || job.id !== wanted)) {
			agree(job.id !== wanted, `job ${job.id} tries a provider twice in a row, though another one could`);
			rest(state, job, 1000, "try-passed-on");
			continue;
		}
		countPassedOver(state, startable(state, state.now, { ...options, host }), job);
		start(state, job, { worker: options.worker, host: host ?? "", token: token(job) });
		taken.push(job);
	}
	state.kept_before = [];
	drawOnCycle(state, taken.length);
	return taken;
}

const isAmong = (list: State["reserved"], key: string, job: number) => list.some((one) => one.key === key && one.job === job);

/** Who is overdue, could start here, and sees another one start. Those that a kept key may keep waiting have a place, but nothing is owed to them. */
function countPassedOver(state: State, jobs: ModelJob[], started: ModelJob): void {
	const { overdue_share: share, overdue_after_ms: after } = state.config.order;
	const overdue = jobs
		.filter((job) => share > 0 && after > 0 && (job.ready_at ?? state.now) <= state.now - after)
		.sort((a, b) => (a.ready_at ?? 0) - (b.ready_at ?? 0) || a.id - b.id);
	const sure = overdue.filter((job) => lockRefusals(state, job).length === 0);
	for (const job of state.jobs) if (!sure.includes(job)) delete job.passed;
	for (const [index, job] of overdue.entries()) {
		if (!sure.includes(job)) continue;
		job.passed ??= { place: index + 1, times: 0, older: 0 };
		// Older ones that become startable meanwhile go before it by right.
		job.passed.place = Math.max(job.passed.place, job.passed.older + index + 1);
		if (job === started || started.first > 0) continue;
		job.passed.times += 1;
		if (overdue.indexOf(started) >= 0 && overdue.indexOf(started) < index) job.passed.older += 1;
	}
}

/** So many doubtful ones are tried in every combination; with more, those that stand in the wanted one's way are left out one by one. */
const COMBINED = 8;

/** The best one; those that a reservation may keep waiting are passed over if the engine passed over them. */
function next(state: State, filter: Filter, wanted: number | undefined | "unknown"): ModelJob | undefined {
	const rest = startable(state, state.now, filter);
	const maybe = rest.filter((job) => job.id !== wanted && lockRefusals(state, job).length > 0);
	const bestWithout = (out: ModelJob[]) =>
		best(
			state,
			rest.filter((job) => !out.includes(job)),
			state.now,
		);
	if (typeof wanted === "number") {
		// Even one that is not the best changes who is: a demoted job waits for the others of its lane, a promoted one stands for them.
		const doubtful = maybe.slice(0, COMBINED);
		for (let bits = 0; bits < 2 ** doubtful.length; bits++) {
			for (const others of maybe.length > COMBINED ? [[], maybe.slice(COMBINED)] : [[]]) {
				const job = bestWithout([...doubtful.filter((_, index) => (bits & (1 << index)) > 0), ...others]);
				if (job?.id === wanted) return job;
			}
		}
	}
	for (const out: ModelJob[] = []; ; ) {
		const job = bestWithout(out);
		if (job === undefined || job.id === wanted || !maybe.includes(job)) return job;
		out.push(job);
	}
}

/** Nobody lived to say what was claimed: tokens tell, they only grow. */
function startedSince(state: State, seen: Seen): number[] {
	const runs = state.jobs.flatMap((job) => {
		const token = seen.job(job.id)?.run?.token ?? 0;
		return token > state.last_token && job.run === undefined ? [{ id: job.id, token }] : [];
	});
	return runs.sort((a, b) => a.token - b.token).map((run) => run.id);
}

/** A cycle by hand: opened now, and what is told of it is what it started. */
export function runCycle(state: State, options: ClaimOptions, seen: Seen): void {
	const cycled = accepted<Cycled>(seen);
	openCycle(state);
	claim(state, options, cycled === undefined ? seen : { ...seen, result: cycled.claimed });
	if (cycled === undefined) return;
	agreeSame(
		cycled.report.dispatch,
		cycled.claimed.map(({ job }) => job.id),
		"runCycle().report.dispatch",
	);
}

export function claim(state: State, options: ClaimOptions, seen: Seen): void {
	const result = accepted<Claimed[]>(seen);
	if (state.cancelling && result?.length === 0) {
		// The engine may have answered before the last cancelled job had ended, or after a pass that found nothing: both are right.
		const { most } = state.cycle_left;
		drawOnCycle(state, 0);
		state.cycle_left.most = most;
		return;
	}
	const before = state.last_token;
	const tokenOf = (job: ModelJob) => result?.find((one) => one.job.id === job.id)?.run.token ?? seen.job(job.id)?.run?.token ?? 0;
	const order = result?.map((one) => one.job.id) ?? startedSince(state, seen);
	noteKept(state, options.host, (asIf) => passBound(asIf, 1).most > 0 && startable(asIf, state.now, options).length > 0);
	const taken = take(state, options, options.host, tokenOf, (so) => order[so.length], seen.kept);
	if (result !== undefined) {
		agreeSame(
			result.map((one) => one.job.id),
			taken.map((job) => job.id),
			"claimed jobs, in order",
		);
		for (const one of result) {
			agree(one.run.token > before, `job ${one.job.id}: token ${one.run.token} is not newer than ${before}`);
			agree(one.job.status === "running", `job ${one.job.id} was claimed as ${one.job.status}`);
		}
	}
	for (const job of taken) state.last_token = Math.max(state.last_token, job.run?.token ?? 0);
	settle(state, seen);
}

/** What a pass would start now; checked against `plan()`. */
export function checkPlan(state: State, report: PlanReport, max: number | undefined, host?: string): void {
	const copy = copyState(state);
	const taken = take(
		copy,
		{ worker: "plan", max: max ?? 1000 },
		host,
		() => 0,
		(so) => report.dispatch[so.length],
		() => {
			// No event tells of keys that come to be kept in the course of a pass that is not made.
			const coming = overdueForLocks(copy).flatMap((job) => job.locks.map(({ key }) => ({ key, job: job.id })));
			return { now: copy.reserved, ever: [...copy.kept_before, ...coming] };
		},
	);
	agreeSame(
		report.dispatch,
		taken.map((job) => job.id),
		"plan().dispatch",
	);
	const rest = startable(state, state.now, { host }).length;
	if (report.reason === "ready") agree(taken.length > 0 || rest === 0, "plan().reason is ready, with nothing that binds");
	if (report.reason === "none") agree(taken.length === 0, "plan().reason is none, but jobs would start");
}
