// The supervisor carries out what the scheduler decides for this host: claims runs, starts them, detects their end, stops them when asked to.
//
// One beat does everything that is due: the next signals of stops, clearing, time limits, and every few seconds a scan of all runs, because notifications
// are only hints and may get lost.

import { troubleOf } from "../contracts/disk.ts";
import type { CallerProcess } from "../contracts/processes.ts";
import type { Claimed, ClaimOptions, CommitSummary, EventRow, PauseScope, PlanReport } from "../contracts/scheduler.ts";
import { SluiceError } from "../core/errors.ts";
import { runId } from "../core/job.ts";
import type { RunVerdict } from "../core/runs/verdict.ts";
import type { Segment } from "../core/text/output-order.ts";
import { ABANDONED, PASS_MS } from "../core/time/pass-limit.ts";
import { type AgentProgress, progressOf } from "./agent.ts";
import { createAlarm } from "./alarm.ts";
import { checkClocks, listen } from "./clocks.ts";
import { expectStart, isOvertaken, type SupervisorContext, type SupervisorDeps } from "./context.ts";
import { accountIn } from "./end/agent-end.ts";
import { createClearing } from "./end/clearing.ts";
import { see, writeOutcome } from "./end/end.ts";
import { freeze, thaw } from "./freeze.ts";
import { type Inside, pidOf, runOfProcess } from "./inside.ts";
import { watchLogs } from "./logs/log-limit.ts";
import { type LogPart, type LogRange, readLog } from "./logs/logs.ts";
import { createOutputOrder } from "./logs/output-order.ts";
import { dropForgotten, dropOldFolders } from "./logs/retention.ts";
import { type Reconciled, reconcileRuns } from "./reconciling.ts";
import { folderOf, type LiveRun } from "./run.ts";
import { promptProblem } from "./start/prepare.ts";
import { isOverdue, startRun } from "./start/start.ts";
import { abandon, askStop, beginStop, climb } from "./stop.ts";

export type { AgentProgress } from "./agent.ts";
export { type ProgramFound, STEPS, type StartStep, type SupervisorDeps } from "./context.ts";
export type { LogPart, LogRange } from "./logs/logs.ts";
export { SETTINGS, type SupervisorSettings } from "./settings.ts";

export type Supervisor = {
	/** Matches this host's processes with the runs assigned to it, then claims whenever something may be startable. */
	start(): Promise<Reconciled>;
	/**
	 * Starts nothing new and waits up to `graceMs` for runs to end; then leaves them to their shims, or stops them as `drained`. The supervisor does nothing
	 * afterwards.
	 */
	drain(options: { graceMs: number; runs: "leave" | "stop" }): Promise<void>;
	/** Claims in the same transaction as a job that is being added in this turn, so that the start waits for one disk sync instead of two. */
	claimAlong(): void;
	/** Runs a cycle by hand. Returns what it started and what limited it. */
	runCycle(): Promise<PlanReport>;
	/** Soon matches processes with the assigned runs again: other hosts may have been given the runs meanwhile. */
	lookAgain(): void;
	freeze(scope: PauseScope): Promise<void>;
	thaw(scope: PauseScope): Promise<void>;
	/** Null if this host has no such run. */
	logs(job: number, options?: LogRange): LogPart | null;
	/** The order of a run's two streams, as noted in its folder. */
	orderOf(job: number, attempt: number): Segment[];
	/** outcome.json of a run that has ended on this host. */
	outcome(job: number, attempt: number): Record<string, unknown> | null;
	/** `progress`: an agent's, as far as its output has been read. */
	live(): { run: string; job: number; pid: number | null; since: number; frozen: boolean; progress: AgentProgress | null }[];
	idle(): boolean;
	/** Why this agent cannot be given this prompt; null if it can. */
	promptProblem(agent: string, prompt: string): string | null;
	/** The live run that a token belongs to. */
	roleOfToken(token: string): { role: "run"; job: number; run: string; token: number } | null;
	/** The run that a process belongs to; `token` is null if that run is over. */
	runOfProcess(caller: CallerProcess): Promise<Inside | null>;
	/** Notes a verdict that a live run has given and that the scheduler has recorded. */
	noteVerdict(run: { job: number; token: number }, verdict: RunVerdict): void;
	/** Removes run folders past their retention (also done automatically every few hours). Returns the number of jobs whose folders were removed. */
	dropOldFolders(): Promise<number>;
	/** After a gc: removes run folders, last changed before `before`, whose job the scheduler has forgotten. Returns how many. */
	dropForgotten(before: number): Promise<number>;
};

const CLAIM_MAX = 100;
const SCAN_MS = 5_000;
const RECONCILE_MS = 10_000;
const RETENTION_MS = 6 * 3_600_000;
const CLAIM_RETRY_MS = 1_000;
const LEASE_RETRY_MS = 100;
const DRAIN_ASK_MS = 1_000;

export function createSupervisor(parts: SupervisorDeps): Supervisor {
	const { scheduler, processes, clock, host, log } = parts;
	const claimer: ClaimOptions = { worker: `host:${parts.hostName}`, host: parts.hostName, kinds: ["command", "agent"], max: CLAIM_MAX };
	/** Identifies the claim under way; null if there is none. */
	let claiming: object | null = null;
	let cycles = 0;
	let open = false;
	let scanAt = Number.POSITIVE_INFINITY;
	let reconcileAt = Number.POSITIVE_INFINITY;
	let reconciling = false;
	let waiting: (() => void)[] = [];
	let unwatch = () => {};
	let cancelRetention = () => {};

	const alarm = createAlarm(clock, host, beat);
	const clearing = createClearing({
		processes,
		clock,
		log,
		graceMs: () => parts.settings().stop.grace_term_ms,
		signalled: (mark) => parts.step?.("leftovers-signalled", mark.slice(parts.homeTag.length + 1)),
	});
	const context: SupervisorContext = {
		...parts,
		live: new Map(),
		byJob: new Map(),
		bySecret: new Map(),
		alarm,
		clearing,
		order: createOutputOrder(parts),
		claimSoon: requestClaim,
		closed: false,
		forgotten: new Set(),
		onForgotten: () => {
			if (context.live.size === 0) wakeWaiting();
		},
	};

	const wakeWaiting = () => {
		const all = waiting;
		waiting = [];
		for (const call of all) call();
	};

	/** Claims unless a claim is under way already: that claim sees everything that is committed before it begins. */
	function requestClaim(): void {
		if (!open || claiming) return;
		const mine = {};
		claiming = mine;
		const over = () => {
			if (claiming === mine) claiming = null;
		};
		// The host's lease may be over, so runs claimed now could not be launched. Try again after the next heartbeat has renewed it.
		if (parts.mayLaunch?.() === false) {
			host.after(LEASE_RETRY_MS, () => {
				over();
				requestClaim();
				wakeWaiting();
			});
			return;
		}
		const cancelLate = host.after(PASS_MS, () => {
			log.error(ABANDONED);
			over();
			requestClaim();
		});
		scheduler
			.claim(claimer)
			.then(
				(claimed) => {
					over();
					begin(claimed);
					if (claimed.length === CLAIM_MAX) requestClaim();
				},
				(error) => {
					over();
					if (!open) return;
					log.error("claiming failed; it is tried again", { error: troubleOf(error) });
					host.after(CLAIM_RETRY_MS, requestClaim);
				},
			)
			.catch(fault)
			// `drain` waits for the claim that was under way.
			.finally(() => {
				cancelLate();
				wakeWaiting();
			});
	}

	/** Starts claimed runs, even those of a claim that was abandoned as too slow. Reconciling may have started them meanwhile. */
	function begin(claimed: readonly Claimed[]): void {
		if (context.closed) return;
		const fresh = claimed.filter(({ job, run }) => !context.live.has(runId(job.id, run.attempt)));
		for (const one of fresh) startRun(context, one);
		if (fresh.length === 0) return;
		scanSoon();
		parts.onDispatch?.(fresh.map(({ job }) => ({ job: job.id, repo: job.repo ?? null })));
	}

	/** Implements `sluice run`. */
	async function runCycle(): Promise<PlanReport> {
		if (!open || parts.mayLaunch?.() === false)
			throw new SluiceError("conflict", "this daemon starts nothing now: it is stopping, or waits for its lease", { hint: "try it again" });
		cycles++;
		try {
			const { claimed, report } = await scheduler.runCycle(claimer);
			begin(claimed);
			return report;
		} finally {
			cycles--;
			wakeWaiting();
		}
	}

	/** Logs a bug in the supervisor and goes on: runs continue behind their shims, and the next scan may recover. */
	const fault = (error: unknown) => log.error("the supervisor failed", { error: troubleOf(error), stack: (error as Error)?.stack });

	const guarded = (act: () => void) => {
		try {
			act();
		} catch (error) {
			fault(error);
		}
	};

	function scanSoon(): void {
		if (scanAt !== Number.POSITIVE_INFINITY) return;
		const now = clock.monotonic();
		scanAt = now + SCAN_MS;
		reconcileAt = now + RECONCILE_MS;
		alarm.at(scanAt);
	}

	function lookAgain(): void {
		const now = clock.monotonic();
		[scanAt, reconcileAt] = [now, now];
		alarm.at(now);
	}

	function onNews(news: CommitSummary): void {
		guarded(() => {
			for (const event of news.events) hear(event);
			for (const event of news.heard) hear(event);
			if (news.stirred) requestClaim();
		});
	}

	function hear(event: EventRow): void {
		const run = event.job === null ? undefined : context.byJob.get(event.job);
		if (!run) return;
		if (event.kind === "stop_asked") {
			const kind = (event.data.kind as "cancelled" | undefined) ?? "cancelled";
			beginStop(context, run, kind, String(event.data.reason ?? ""));
		} else if ((event.kind === "ended" || event.kind === "requeued") && run.ending && event.data.attempt === run.attempt) {
			// A stop that was recorded at the last moment changed the exit kind: write outcome.json again.
			const exit_kind = event.data.exit_kind as typeof run.ending.exit_kind | undefined;
			if (exit_kind === undefined || exit_kind === run.ending.exit_kind) return;
			run.ending = { ...run.ending, exit_kind };
			writeOutcome(context, run, run.ending);
		} else if ((event.kind === "ended" || event.kind === "requeued") && !run.ending && event.data.attempt === run.attempt) lookAgain();
	}

	function onProcess(id: string): void {
		const run = context.live.get(id);
		if (run && !context.closed) see(context, run);
	}

	/** Checks whether a launched run has started. Returns when to check again. */
	function awaitStart(run: LiveRun, now: number): number {
		if (run.stage !== "launching" || run.entering) return Number.POSITIVE_INFINITY;
		if (run.lookAt > now) return run.lookAt;
		if (!see(context, run)) expectStart(context, run);
		tellStarted(run);
		return run.lookAt;
	}

	function tellStarted(run: LiveRun): void {
		if (run.told || run.fenced || run.stage !== "running") return;
		run.told = true;
		scheduler.started({ job: run.job, token: run.token }).catch((error) => {
			run.told = false;
			if (isOvertaken(error) && context.live.has(run.id)) abandon(context, run);
		});
	}

	function beat(): void {
		if (context.closed) return;
		try {
			alarm.at(Math.min(attend(clock.monotonic()), scanAt));
		} catch (error) {
			fault(error);
			alarm.at(clock.monotonic() + 1_000);
		}
	}

	function attend(now: number): number {
		let next = Number.POSITIVE_INFINITY;
		if (scanAt <= now) scan(now);
		for (const run of [...context.live.values()]) {
			next = Math.min(next, awaitStart(run, now));
			next = Math.min(next, checkClocks(context, run, now));
			next = Math.min(next, climb(context, run, now));
			next = Math.min(next, watchLogs(context, run, now));
		}
		next = Math.min(next, clearing.beat(now));
		if (clearing.size === 0) wakeWaiting();
		return next;
	}

	/** Checks all runs, in case a notification was lost. */
	function scan(now: number): void {
		scanAt = context.live.size > 0 ? now + SCAN_MS : Number.POSITIVE_INFINITY;
		for (const run of [...context.live.values()]) {
			if (see(context, run)) continue;
			if (run.stage === "running") tellStarted(run);
			listen(context, run, now);
			if (isOverdue(context, run, now)) reconcileAt = now;
		}
		if (reconcileAt > now || reconciling) return;
		reconcileAt = now + RECONCILE_MS;
		reconciling = true;
		reconcileRuns(context, "ours alone")
			.catch((error) => log.warn("what is assigned could not be asked for", { error: troubleOf(error) }))
			.finally(() => {
				reconciling = false;
				if (context.live.size > 0) scanSoon();
			});
	}

	const until = (done: () => boolean, graceMs: number): Promise<void> =>
		new Promise((resolve) => {
			if (done()) return resolve();
			const cancel = host.after(graceMs, () => resolve(), "hold");
			const check = () => {
				if (!done()) return void waiting.push(check);
				cancel();
				resolve();
			};
			waiting.push(check);
		});

	function tidyUp(): void {
		if (context.closed) return;
		dropOldFolders(context).catch((error) => log.warn("old run folders could not be looked for", { error: troubleOf(error) }));
		cancelRetention = host.after(RETENTION_MS, tidyUp);
	}

	return {
		async start() {
			processes.onNews((run) => guarded(() => onProcess(run)));
			// Connections of runs that waited for jobs ended with the earlier daemon. The runs ask again.
			await scheduler.endWaits();
			const report = await reconcileRuns(context, "with strangers");
			open = true;
			unwatch = scheduler.watch(onNews);
			// Reconcile again for stops that were recorded between the first reconcile and `watch`: it compares state, not events.
			await reconcileRuns(context, "ours alone");
			scanSoon();
			requestClaim();
			tidyUp();
			return report;
		},
		async drain({ graceMs, runs }) {
			open = false;
			const isOver = () => context.live.size === 0 && clearing.size === 0 && !claiming && cycles === 0;
			await until(isOver, graceMs);
			if (runs === "stop") {
				while (!isOver()) {
					for (const run of context.live.values()) void askStop(context, run, "drained", "the daemon was told to stop");
					await until(isOver, DRAIN_ASK_MS);
				}
			}
			context.closed = true;
			unwatch();
			alarm.stop();
			context.order.close();
			cancelRetention();
			wakeWaiting();
		},
		claimAlong: requestClaim,
		runCycle,
		lookAgain,
		freeze: async (scope) => freeze(context, scope),
		thaw: async (scope) => thaw(context, scope),
		logs: (job, options) => readLog(context, job, options),
		orderOf: (job, attempt) => context.order.segments(`${job}.${attempt}`, folderOf(context, job, attempt)),
		outcome: (job, attempt) => {
			const found = accountIn(context, folderOf(context, job, attempt));
			return found === null || found.elsewhere !== undefined ? null : found;
		},
		live: () =>
			[...context.live.values()].map((run) => ({
				run: run.id,
				job: run.job,
				pid: pidOf(run, processes),
				since: run.since,
				frozen: run.frozen !== null,
				progress: progressOf(run.agent),
			})),
		idle: () => context.live.size === 0,
		promptProblem: (agent, prompt) => promptProblem(agent, prompt, context.settings()),
		roleOfToken(token) {
			const run = context.bySecret.get(token);
			return run ? { role: "run", job: run.job, run: run.id, token: run.token } : null;
		},
		runOfProcess: (caller) => runOfProcess(context, caller),
		noteVerdict({ job, token }, verdict) {
			for (const run of context.live.values()) if (run.job === job && run.token === token) run.verdict = verdict;
		},
		dropOldFolders: () => dropOldFolders(context),
		dropForgotten: (before) => dropForgotten(context, before),
	};
}
