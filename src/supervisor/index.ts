// The supervisor carries out what the scheduler decides for this host: claims runs, starts them, detects their end, stops them when asked to.
//
//   claiming.ts      which runs are this host's
//   start/           a claimed run: folder, workspace, command line, launcher
//   rounds.ts        while it runs: starts, time limits, signals of stops, the size of its logs
//   notices.ts       what the scheduler and the processes report in between; only hints
//   reconciling.ts   every few seconds: processes against assigned runs
//   end/             its program is gone: clearing, judging, reporting

import type { CallerProcess } from "../contracts/processes.ts";
import type { Claimed, PauseScope } from "../contracts/scheduler.ts";
import { messageOf } from "../core/errors.ts";
import { runId } from "../core/job.ts";
import type { RunSignal } from "../core/runs/signals.ts";
import type { RunVerdict } from "../core/runs/verdict.ts";
import { createAlarm } from "./alarm.ts";
import { createClaiming } from "./claiming.ts";
import type { SupervisorContext, SupervisorDeps } from "./context.ts";
import { accountIn } from "./end/agent-end.ts";
import { createClearing } from "./end/clearing.ts";
import { freeze, isAtWork, thaw } from "./freeze.ts";
import { pidOf, runOfProcess } from "./inside.ts";
import { LiveRuns } from "./live-runs.ts";
import { type LogRange, readLog } from "./logs/logs.ts";
import { createOutputOrder } from "./logs/output-order.ts";
import { dropForgotten, dropOldFolders } from "./logs/retention.ts";
import { onCommit, onProcess } from "./notices.ts";
import { createProgress } from "./progress/progress.ts";
import { type Reconciled, reconcileRuns } from "./reconciling.ts";
import { createRounds } from "./rounds.ts";
import { folderOf, type LiveRun } from "./run.ts";
import { promptProblem } from "./start/prepare.ts";
import { startRun } from "./start/start.ts";
import { askStop } from "./stop.ts";
import { attach, detach, holdForPerson, release } from "./telling/attach.ts";
import { createWaiters } from "./waiters.ts";

export { type ProgramFound, STEPS, type StartStep, type SupervisorDeps } from "./context.ts";
export type { LogPart } from "./logs/logs.ts";
export type { ProgressOfRun } from "./progress/progress.ts";
export type { SupervisorSettings } from "./settings.ts";

export type Supervisor = ReturnType<typeof createSupervisor>;

const RETENTION_MS = 6 * 3_600_000;
const DRAIN_ASK_MS = 1_000;

/** Calls, and reports what is thrown. */
const guardedBy =
	(fault: (error: unknown) => void) =>
	(act: () => void): void => {
		try {
			act();
		} catch (error) {
			fault(error);
		}
	};

export function createSupervisor(parts: SupervisorDeps) {
	const { scheduler, processes, host, log } = parts;
	/** Logs a bug in the supervisor and goes on: runs continue behind their shims, and the next scan may recover. */
	const fault = (error: unknown) => log.error("the supervisor failed", { error: messageOf(error), stack: (error as Error)?.stack });
	const guarded = guardedBy(fault);
	const waiters = createWaiters(host);
	const claiming = createClaiming({ ...parts, begin, onOver: waiters.wake, fault });
	const context = contextOf(parts, { ring: () => rounds.beat(), claimSoon: claiming.request, onEmpty: waiters.wake });
	const { live, clearing } = context;
	const rounds = createRounds(context, fault, waiters.wake);
	let stopWatching = () => {};
	let cancelRetention = () => {};

	/** Starts claimed runs, even those of a claim that was abandoned as too slow. Reconciling may have started them meanwhile. */
	function begin(claimed: readonly Claimed[]): void {
		if (context.closed) return;
		const fresh = claimed.filter(({ job, run }) => !live.has(runId(job.id, run.attempt)));
		for (const one of fresh) startRun(context, one);
		if (fresh.length === 0) return;
		rounds.scanSoon();
		parts.onDispatch?.(fresh.map(({ job }) => ({ job: job.id, repo: job.repo ?? null })));
	}

	function tidyUp(): void {
		if (context.closed) return;
		dropOldFolders(context).catch((error) => log.warn("old run folders could not be looked for", { error: messageOf(error) }));
		cancelRetention = host.after(RETENTION_MS, tidyUp);
	}

	return {
		...viewsOf(context),
		...actsOf(context),
		/** Matches this host's processes with the runs assigned to it, then claims whenever something may be startable. */
		async start(): Promise<Reconciled> {
			processes.onExit((run) => guarded(() => onProcess(context, run)));
			// Connections of runs that waited for jobs ended with the earlier daemon. The runs ask again.
			await scheduler.endWaits();
			const report = await reconcileRuns(context, "with strangers");
			claiming.open();
			stopWatching = scheduler.watch((commit) => guarded(() => onCommit(context, commit, rounds.lookAgain)));
			// Reconcile again for stops that were recorded between the first reconcile and `watch`: it compares state, not events.
			await reconcileRuns(context, "ours alone");
			rounds.scanSoon();
			claiming.request();
			tidyUp();
			return report;
		},
		/**
		 * Starts nothing new and waits up to `graceMs` for runs to end; then leaves them to their shims, or stops them as `drained`. The supervisor does nothing
		 * afterwards.
		 */
		async drain({ graceMs, runs }: { graceMs: number; runs: "leave" | "stop" }): Promise<void> {
			claiming.close();
			const isOver = () => live.size === 0 && clearing.size === 0 && claiming.idle;
			await waiters.until(isOver, graceMs);
			while (runs === "stop" && !isOver()) {
				for (const run of live.all()) stopForDrain(context, run);
				await waiters.until(isOver, DRAIN_ASK_MS);
			}
			context.closed = true;
			stopWatching();
			context.alarm.stop();
			context.order.close();
			cancelRetention();
			waiters.wake();
		},
		/** Claims in the same transaction as a job that is being added in this turn, so that the start waits for one disk sync instead of two. */
		claimAlong: claiming.request,
		/** Runs a cycle by hand. Returns what it started and what limited it. */
		runCycle: claiming.runCycle,
		/** Soon matches processes with the assigned runs again: other hosts may have been given the runs meanwhile. */
		lookAgain: rounds.lookAgain,
	};
}

/** A person who has the session of a run does not keep the daemon from stopping. */
function stopForDrain(context: SupervisorContext, run: LiveRun): void {
	release(context, run, "goes on");
	void askStop(context, run, "drained", "the daemon was told to stop");
}

/** What callers have done to runs and their folders. */
const actsOf = (context: SupervisorContext) => ({
	freeze: async (scope: PauseScope) => freeze(context, scope),
	thaw: async (scope: PauseScope) => thaw(context, scope),
	/** Signals all processes of a live run's program. False if this host has no such run, or the run has no process. */
	signal(job: number, signal: RunSignal): boolean {
		const run = context.live.ofJob(job);
		return run !== undefined && isAtWork(run) && context.processes.signal(run.id, run.dir, `SIG${signal}`);
	},
	/** Notes a verdict that a live run has given and that the scheduler has recorded. */
	noteVerdict({ job, token }: { job: number; token: number }, verdict: RunVerdict): void {
		const run = context.live.ofJob(job);
		if (run?.token === token) run.verdict = verdict;
	},
	/** Asks for the session of a job's live run for a terminal, or renews its lease. Throws if that is not possible. */
	attach: (job: number, terminal: { by: string; key: string | null }) => attach(context, job, terminal),
	/** Ends that: the run goes on, or counts as `done`. False if it has ended already. */
	detach: (job: number, terminal: { key: string; done: boolean }) => detach(context, job, terminal),
	/** Removes run folders past their retention (also done automatically every few hours). Returns the number of jobs whose folders were removed. */
	dropOldFolders: () => dropOldFolders(context),
	/** After a gc: removes run folders, last changed before `before`, whose job the scheduler has forgotten. Returns how many. */
	dropForgotten: (before: number) => dropForgotten(context, before),
});

function contextOf(
	parts: SupervisorDeps,
	{ ring, claimSoon, onEmpty }: { ring(): void; claimSoon(): void; onEmpty(): void },
): SupervisorContext {
	const { processes, clock, host, log } = parts;
	const live = new LiveRuns();
	const context: SupervisorContext = {
		...parts,
		live,
		holdEnd: (run, then) => holdForPerson(context, run, then),
		alarm: createAlarm(clock, host, ring),
		clearing: createClearing({
			processes,
			clock,
			log,
			graceMs: () => parts.settings().stop.grace_term_ms,
			signalled: (mark) => parts.step?.("leftovers-signalled", mark.slice(parts.homeTag.length + 1)),
		}),
		order: createOutputOrder(parts),
		claimSoon,
		closed: false,
		onForgotten() {
			if (live.size === 0) onEmpty();
		},
	};
	return context;
}

/** What can be asked of the supervisor, and changes nothing. */
function viewsOf(context: SupervisorContext) {
	const { live, processes } = context;
	const progress = createProgress(context);
	return {
		/** Null if this host has no such run. */
		logs: (job: number, options?: LogRange) => readLog(context, job, options),
		/** The order of a run's two streams, as noted in its folder. */
		orderOf: (job: number, attempt: number) => context.order.segments(`${job}.${attempt}`, folderOf(context, job, attempt)),
		/** outcome.json of a run that has ended on this host. */
		outcome: (job: number, attempt: number) => {
			const found = accountIn(context, folderOf(context, job, attempt));
			return found === null || found.elsewhere !== undefined ? null : found;
		},
		/** `progress`: null unless its program runs. */
		live: () =>
			live.all().map((run) => ({
				run: run.id,
				job: run.job,
				pid: pidOf(run, processes),
				since: run.since,
				frozen: run.frozen !== null,
				attached: run.attached === null ? null : { by: run.attached.by, since: run.attached.since, state: run.attached.state },
				progress: progress.of(run),
			})),
		/** The present progress of each run of this host, or of one job's. */
		progress: progress.now,
		/** Calls back with the runs whose progress has changed, at most once a second, until the returned function is called. */
		onProgress: progress.listen,
		idle: () => live.size === 0,
		/** Why this agent cannot be given this prompt; null if it can. */
		promptProblem: (agent: string, prompt: string) => promptProblem(agent, prompt, context.settings()),
		/** The live run that a token belongs to. */
		roleOfToken(token: string) {
			const run = live.ofSecret(token);
			return run ? { job: run.job, run: run.id, token: run.token } : null;
		},
		/** The run that a process belongs to; `token` is null if that run is over. */
		runOfProcess: (caller: CallerProcess) => runOfProcess(context, caller),
	};
}
