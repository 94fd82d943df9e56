// The supervisor's beat: does everything that is due for the live runs, and says when the next thing is. Every few seconds it scans all runs, because
// notifications are only hints and may get lost, and less often it matches processes with the assigned runs.

import { messageOf } from "../core/errors.ts";
import { checkClocks, listen } from "./clocks.ts";
import { expectStart, isOvertaken, type SupervisorContext } from "./context.ts";
import { see } from "./end/end.ts";
import { watchLogs } from "./logs/log-limit.ts";
import { reconcileRuns } from "./reconciling.ts";
import type { LiveRun } from "./run.ts";
import { isOverdue } from "./start/start.ts";
import { abandon, climb } from "./stop.ts";
import { checkAttached } from "./telling/attach.ts";
import { reportGiven } from "./telling/given.ts";
import { checkTold } from "./telling/told.ts";

const SCAN_MS = 5_000;
const RECONCILE_MS = 10_000;
/** How long the beat pauses after a bug. */
const FAULT_MS = 1_000;

/** `onCleared`: called when no leftovers are being cleared. */
export function createRounds(context: SupervisorContext, fault: (error: unknown) => void, onCleared: () => void) {
	const { clock, alarm, clearing, live } = context;
	let scanAt = Number.POSITIVE_INFINITY;
	let reconcileAt = Number.POSITIVE_INFINITY;
	let isReconciling = false;

	/** Begins to scan, if that is not under way. */
	function scanSoon(): void {
		if (scanAt !== Number.POSITIVE_INFINITY) return;
		const now = clock.monotonic();
		scanAt = now + SCAN_MS;
		reconcileAt = now + RECONCILE_MS;
		alarm.at(scanAt);
	}

	function beat(): void {
		if (context.closed) return;
		try {
			alarm.at(Math.min(attend(clock.monotonic()), scanAt));
		} catch (error) {
			fault(error);
			alarm.at(clock.monotonic() + FAULT_MS);
		}
	}

	function attend(now: number): number {
		if (scanAt <= now) scan(now);
		let next = Number.POSITIVE_INFINITY;
		for (const run of live.all()) {
			for (const check of [awaitStart, checkClocks, checkTold, checkAttached, climb, watchLogs])
				next = Math.min(next, check(context, run, now));
		}
		next = Math.min(next, clearing.beat(now));
		if (clearing.size === 0) onCleared();
		return next;
	}

	/** Checks all runs, in case a notification was lost. */
	function scan(now: number): void {
		scanAt = live.size > 0 ? now + SCAN_MS : Number.POSITIVE_INFINITY;
		for (const run of live.all()) {
			if (see(context, run)) continue;
			if (run.stage.is === "running") reportStarted(context, run);
			if (run.stage.is === "running") reportGiven(context, run);
			listen(context, run, now);
			if (isOverdue(context, run, now)) reconcileAt = now;
		}
		if (reconcileAt > now || isReconciling) return;
		reconcileAt = now + RECONCILE_MS;
		isReconciling = true;
		reconcileRuns(context, "ours alone")
			.catch((error) => context.log.warn("what is assigned could not be asked for", { error: messageOf(error) }))
			.finally(() => {
				isReconciling = false;
				if (live.size > 0) scanSoon();
			});
	}

	return {
		beat,
		scanSoon,
		/** Scans and reconciles at once. */
		lookAgain(): void {
			const now = clock.monotonic();
			[scanAt, reconcileAt] = [now, now];
			alarm.at(now);
		},
	};
}

/** Checks whether a launched run has started. Returns when to check again. */
function awaitStart(context: SupervisorContext, run: LiveRun, now: number): number {
	const { stage } = run;
	if (stage.is !== "launching" || stage.isPreparing) return Number.POSITIVE_INFINITY;
	if (stage.lookAt > now) return stage.lookAt;
	if (!see(context, run)) expectStart(context, run);
	reportStarted(context, run);
	if (run.stage !== stage) reportGiven(context, run);
	return run.stage === stage ? stage.lookAt : Number.POSITIVE_INFINITY;
}

function reportStarted(context: SupervisorContext, run: LiveRun): void {
	if (run.startReported || run.fenced || run.stage.is !== "running") return;
	run.startReported = true;
	context.scheduler.started({ job: run.job, token: run.token }).catch((error) => {
		run.startReported = false;
		if (isOvertaken(error) && context.live.has(run.id)) abandon(context, run);
	});
}
