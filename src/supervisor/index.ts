// The supervisor: carries out what the scheduler decides for this host. Claims runs, starts them, sees how they end, stops them when asked to.
//
// One beat does whatever is due: rungs of stops, clearing up, clocks, and now and then a look at everything, since news is only a hint.

import { SluiceError } from "../core/errors.ts";
import { runId } from "../core/job.ts";
import type { Segment } from "../core/output-order.ts";
import { ABANDONED, PASS_MS } from "../core/pass-limit.ts";
import type { RunVerdict } from "../core/verdict.ts";
import { troubleOf } from "../disk.ts";
import type { Claimed, ClaimOptions, EventRow, News, PlanReport, Scope } from "../scheduler.ts";
import { type Progress, progressOf } from "./agent.ts";
import { accountIn } from "./agent-end.ts";
import { createAlarm } from "./alarm.ts";
import { createClearing } from "./clearing.ts";
import { checkClocks, listen } from "./clocks.ts";
import { see, writeOutcome } from "./end.ts";
import { expectStart, type Floor, isOvertaken, type Parts } from "./floor.ts";
import { freeze, thaw } from "./freeze.ts";
import { boundLogs } from "./log-limit.ts";
import { type LogOptions, type LogPart, readLog } from "./logs.ts";
import { createOutputOrder } from "./output-order.ts";
import { promptProblem } from "./prepare.ts";
import { type Reconciled, reconcileRuns } from "./reconciling.ts";
import { dropForgotten, dropOldFolders } from "./retention.ts";
import { folderOf, type LiveRun } from "./run.ts";
import { isOverdue, startRun } from "./start.ts";
import { abandon, askStop, beginStop, climb } from "./stop.ts";

export type { Progress } from "./agent.ts";
export { type Parts, type ProgramFound, STEPS, type Step } from "./floor.ts";
export type { LogOptions, LogPart } from "./logs.ts";
export { SETTINGS, type SupervisorSettings } from "./settings.ts";

export type Supervisor = {
	/** Matches processes with what is assigned, then claims whenever something may be startable. */
	start(): Promise<Reconciled>;
	/** No new starts; waits for runs at most `graceMs`; then leaves them to their shims, or stops them as `drained`. Nothing is done afterwards. */
	drain(options: { graceMs: number; runs: "leave" | "stop" }): Promise<void>;
	/** A job is being added in this turn: the claim goes into the same transaction, so that the start waits for one sync of the disk and not for two. */
	claimAlong(): void;
	/** A cycle by hand: what it started, and what bound it. */
	runCycle(): Promise<PlanReport>;
	/** Matches processes with what is assigned, soon: somebody else may have the runs by now. */
	lookAgain(): void;
	freeze(scope: Scope): Promise<void>;
	thaw(scope: Scope): Promise<void>;
	/** Null when there is no such run on this host. */
	logs(job: number, options?: LogOptions): LogPart | null;
	/** The order of its two streams, as it is noted in its folder. */
	orderOf(job: number, attempt: number): Segment[];
	/** Its account of a run, once that has ended here: outcome.json. */
	outcome(job: number, attempt: number): Record<string, unknown> | null;
	/** `progress`: of an agent, as far as its output was read. */
	live(): { run: string; job: number; pid: number | null; since: number; frozen: boolean; progress: Progress | null }[];
	idle(): boolean;
	/** Why this agent cannot be given this prompt; null when it can. */
	promptProblem(agent: string, prompt: string): string | null;
	/** Whose token this is, while its run is live. */
	roleOfToken(token: string): { role: "run"; job: number; run: string; token: number } | null;
	/** A live run has said this of itself, and it is on record. */
	noteVerdict(run: { job: number; token: number }, verdict: RunVerdict): void;
	/** Removes run folders that are past their retention; done by itself every few hours. How many jobs' folders. */
	dropOldFolders(): Promise<number>;
	/** After a gc: removes run folders, last changed before then, whose job the scheduler has forgotten. How many. */
	dropForgotten(before: number): Promise<number>;
};

const CLAIM_MAX = 100;
const SCAN_MS = 5_000;
const RECONCILE_MS = 10_000;
const RETENTION_MS = 6 * 3_600_000;
const CLAIM_RETRY_MS = 1_000;
const LEASE_RETRY_MS = 100;
const DRAIN_ASK_MS = 1_000;

export function createSupervisor(parts: Parts): Supervisor {
	const { scheduler, processes, clock, host, log } = parts;
	const claimer: ClaimOptions = { worker: `host:${parts.hostName}`, host: parts.hostName, kinds: ["command", "agent"], max: CLAIM_MAX };
	/** The claim that is under way. */
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
	const floor: Floor = {
		...parts,
		live: new Map(),
		byJob: new Map(),
		bySecret: new Map(),
		alarm,
		clearing,
		order: createOutputOrder(parts),
		claimSoon,
		closed: false,
		forgotten: new Set(),
		onForgotten: () => {
			if (floor.live.size === 0) wakeWaiting();
		},
	};

	const wakeWaiting = () => {
		const all = waiting;
		waiting = [];
		for (const call of all) call();
	};

	/** A claim that is under way sees everything that is committed before it, so one at a time is enough. */
	function claimSoon(): void {
		if (!open || claiming) return;
		const mine = {};
		claiming = mine;
		const over = () => {
			if (claiming === mine) claiming = null;
		};
		// What is claimed now could not be launched: the next heartbeat renews the lease.
		if (parts.mayLaunch?.() === false) {
			host.after(LEASE_RETRY_MS, () => {
				over();
				claimSoon();
				wakeWaiting();
			});
			return;
		}
		const cancelLate = host.after(PASS_MS, () => {
			log.error(ABANDONED);
			over();
			claimSoon();
		});
		scheduler
			.claim(claimer)
			.then(
				(claimed) => {
					over();
					begin(claimed);
					if (claimed.length === CLAIM_MAX) claimSoon();
				},
				(error) => {
					over();
					if (!open) return;
					log.error("claiming failed; it is tried again", { error: troubleOf(error) });
					host.after(CLAIM_RETRY_MS, claimSoon);
				},
			)
			.catch(fault)
			// A drain waits for the claim that was under way.
			.finally(() => {
				cancelLate();
				wakeWaiting();
			});
	}

	/** What was claimed late is ours all the same; a look at what is assigned may have begun it meanwhile. */
	function begin(claimed: readonly Claimed[]): void {
		if (floor.closed) return;
		const fresh = claimed.filter(({ job, run }) => !floor.live.has(runId(job.id, run.attempt)));
		for (const one of fresh) startRun(floor, one);
		if (fresh.length === 0) return;
		scanSoon();
		parts.onDispatch?.(fresh.map(({ job }) => ({ job: job.id, repo: job.repo ?? null })));
	}

	/** `sluice run`. */
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

	/** We were wrong. Runs go on behind their shims; the next look may find the way again. */
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

	function onNews(news: News): void {
		guarded(() => {
			for (const event of news.events) hear(event);
			for (const event of news.heard) hear(event);
			if (news.stirred) claimSoon();
		});
	}

	function hear(event: EventRow): void {
		const run = event.job === null ? undefined : floor.byJob.get(event.job);
		if (!run) return;
		if (event.kind === "stop_asked") {
			const kind = (event.data.kind as "cancelled" | undefined) ?? "cancelled";
			beginStop(floor, run, kind, String(event.data.reason ?? ""));
		} else if ((event.kind === "ended" || event.kind === "requeued") && run.ending && event.data.attempt === run.attempt) {
			// A stop that was asked for in the last moment decides how it ended.
			const exit_kind = event.data.exit_kind as typeof run.ending.exit_kind | undefined;
			if (exit_kind === undefined || exit_kind === run.ending.exit_kind) return;
			run.ending = { ...run.ending, exit_kind };
			writeOutcome(floor, run, run.ending);
		} else if ((event.kind === "ended" || event.kind === "requeued") && !run.ending && event.data.attempt === run.attempt) lookAgain();
	}

	function onProcess(id: string): void {
		const run = floor.live.get(id);
		if (run && !floor.closed) see(floor, run);
	}

	/** When to look again. */
	function awaitStart(run: LiveRun, now: number): number {
		if (run.stage !== "launching" || run.entering) return Number.POSITIVE_INFINITY;
		if (run.lookAt > now) return run.lookAt;
		if (!see(floor, run)) expectStart(floor, run);
		tellStarted(run);
		return run.lookAt;
	}

	function tellStarted(run: LiveRun): void {
		if (run.told || run.fenced || run.stage !== "running") return;
		run.told = true;
		scheduler.started({ job: run.job, token: run.token }).catch((error) => {
			run.told = false;
			if (isOvertaken(error) && floor.live.has(run.id)) abandon(floor, run);
		});
	}

	function beat(): void {
		if (floor.closed) return;
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
		for (const run of [...floor.live.values()]) {
			next = Math.min(next, awaitStart(run, now));
			next = Math.min(next, checkClocks(floor, run, now));
			next = Math.min(next, climb(floor, run, now));
		}
		next = Math.min(next, clearing.beat(now));
		if (clearing.size === 0) wakeWaiting();
		return next;
	}

	/** The net below all hints. */
	function scan(now: number): void {
		scanAt = floor.live.size > 0 ? now + SCAN_MS : Number.POSITIVE_INFINITY;
		for (const run of [...floor.live.values()]) {
			if (see(floor, run)) continue;
			if (run.stage === "running") tellStarted(run);
			listen(floor, run, now);
			boundLogs(floor, run);
			if (isOverdue(floor, run, now)) reconcileAt = now;
		}
		if (reconcileAt > now || reconciling) return;
		reconcileAt = now + RECONCILE_MS;
		reconciling = true;
		reconcileRuns(floor, "ours alone")
			.catch((error) => log.warn("what is assigned could not be asked for", { error: troubleOf(error) }))
			.finally(() => {
				reconciling = false;
				if (floor.live.size > 0) scanSoon();
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
		if (floor.closed) return;
		dropOldFolders(floor).catch((error) => log.warn("old run folders could not be looked for", { error: troubleOf(error) }));
		cancelRetention = host.after(RETENTION_MS, tidyUp);
	}

	return {
		async start() {
			processes.onNews((run) => guarded(() => onProcess(run)));
			// What runs of an earlier life waited for, they ask for again: their connections ended with it.
			await scheduler.endWaits();
			const report = await reconcileRuns(floor, "with strangers");
			open = true;
			unwatch = scheduler.watch(onNews);
			// Asked for between the two: level, not event.
			await reconcileRuns(floor, "ours alone");
			scanSoon();
			claimSoon();
			tidyUp();
			return report;
		},
		async drain({ graceMs, runs }) {
			open = false;
			const isOver = () => floor.live.size === 0 && clearing.size === 0 && !claiming && cycles === 0;
			await until(isOver, graceMs);
			if (runs === "stop") {
				while (!isOver()) {
					for (const run of floor.live.values()) void askStop(floor, run, "drained", "the daemon was told to stop");
					await until(isOver, DRAIN_ASK_MS);
				}
			}
			floor.closed = true;
			unwatch();
			alarm.stop();
			floor.order.close();
			cancelRetention();
			wakeWaiting();
		},
		claimAlong: claimSoon,
		runCycle,
		lookAgain,
		freeze: async (scope) => freeze(floor, scope),
		thaw: async (scope) => thaw(floor, scope),
		logs: (job, options) => readLog(floor, job, options),
		orderOf: (job, attempt) => floor.order.segments(`${job}.${attempt}`, folderOf(floor, job, attempt)),
		outcome: (job, attempt) => {
			const found = accountIn(floor, folderOf(floor, job, attempt));
			return found === null || found.elsewhere !== undefined ? null : found;
		},
		live: () =>
			[...floor.live.values()].map((run) => {
				if (run.pid === null && (run.stage === "launching" || run.stage === "running")) {
					const seen = processes.look(run.id, run.dir);
					if (seen.state === "alive") run.pid = seen.pid;
				}
				return { run: run.id, job: run.job, pid: run.pid, since: run.since, frozen: run.frozen !== null, progress: progressOf(run.agent) };
			}),
		idle: () => floor.live.size === 0,
		promptProblem: (agent, prompt) => promptProblem(agent, prompt, floor.settings()),
		roleOfToken(token) {
			const run = floor.bySecret.get(token);
			return run ? { role: "run", job: run.job, run: run.id, token: run.token } : null;
		},
		noteVerdict({ job, token }, verdict) {
			for (const run of floor.live.values()) if (run.job === job && run.token === token) run.verdict = verdict;
		},
		dropOldFolders: () => dropOldFolders(floor),
		dropForgotten: (before) => dropForgotten(floor, before),
	};
}
