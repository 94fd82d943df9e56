// Stopping a run. The intent is on record before the first signal; from then on nothing but its whole tree being gone ends it.
//
//   rung   an agent    a command    then waits for      (an agent's profile may begin with SIGTERM, too)
//   0      SIGINT      SIGTERM      grace_int, grace_term
//   1      SIGTERM     SIGKILL      grace_term, –
//   2      SIGKILL                  –
//   …      the last rung again, every half second

import type { StopKind } from "../core/job.ts";
import { troubleOf } from "../disk.ts";
import { isOver, neverStarted, see } from "./end.ts";
import { type Floor, isOvertaken } from "./floor.ts";
import { release } from "./freeze.ts";
import type { LiveRun } from "./run.ts";

/** News of an exit is only a hint, and a killed shim sends none. */
const LOOK_MS = 50;
const AGAIN_MS = 500;
const RETRY_MS = 1_000;

const RUNGS = { agent: ["SIGINT", "SIGTERM", "SIGKILL"], command: ["SIGTERM", "SIGKILL"] } as const;

/** Records that a run is to be stopped, then stops it. */
export async function askStop(floor: Floor, run: LiveRun, kind: StopKind, reason: string): Promise<void> {
	if (run.asking || run.stop || run.stage === "ending" || run.stage === "leaving") return;
	run.asking = true;
	try {
		await floor.scheduler.stop({ job: run.job, token: run.token }, { kind, reason }, { by: "supervisor" });
		beginStop(floor, run, kind, reason);
	} catch (error) {
		if (isOvertaken(error)) abandon(floor, run);
		else {
			floor.log.error("a stop could not be recorded; it is tried again", { run: run.id, error: troubleOf(error) });
			floor.alarm.at(floor.clock.monotonic() + RETRY_MS);
		}
	} finally {
		run.asking = false;
	}
}

/** The intent is on record. The first one counts. */
export function beginStop(floor: Floor, run: LiveRun, kind: StopKind, reason: string): void {
	if (run.stop || run.stage === "ending") return;
	const now = floor.clock.monotonic();
	run.stop = { kind, reason, rung: 0, signalAt: now, nextAt: now };
	floor.step?.("stop-asked", run.id);
	floor.alarm.at(now);
}

/** Somebody else has the job: the run's tree goes, and nothing is said about its end. */
export function abandon(floor: Floor, run: LiveRun): void {
	if (run.fenced || run.stage === "ending") return;
	floor.log.warn("a run is stopped: its job has moved on", { run: run.id });
	run.fenced = true;
	beginStop(floor, run, "cancelled", "its job has moved on");
}

/** One look at a run that is being stopped, and the next signal if its time has come. When to look again. */
export function climb(floor: Floor, run: LiveRun, now: number): number {
	const { stop } = run;
	if (!stop || isOver(run)) return Number.POSITIVE_INFINITY;
	if (stop.nextAt > now) return stop.nextAt;
	if (see(floor, run)) return Number.POSITIVE_INFINITY;
	if (run.stage === "launching") return keepFromStarting(floor, run, now);
	if (stop.signalAt <= now) {
		const rungs = run.agent?.stop_signal === "SIGINT" ? RUNGS.agent : RUNGS.command;
		const signal = rungs[stop.rung] ?? "SIGKILL";
		floor.processes.signal(run.id, run.dir, signal);
		// One that is frozen hears it only then.
		if (run.frozen !== null) release(floor, [run]);
		floor.step?.("stop-signalled", run.id);
		const { grace_int_ms, grace_term_ms } = floor.settings().stop;
		stop.signalAt = now + (signal === "SIGINT" ? grace_int_ms : signal === "SIGTERM" ? grace_term_ms : AGAIN_MS);
		stop.rung = Math.min(stop.rung + 1, rungs.length - 1);
	}
	stop.nextAt = Math.min(stop.signalAt, now + LOOK_MS);
	return stop.nextAt;
}

function keepFromStarting(floor: Floor, run: LiveRun, now: number): number {
	const { stop } = run;
	try {
		if (floor.processes.forbid(run.id, run.dir)) {
			neverStarted(floor, run);
			return Number.POSITIVE_INFINITY;
		}
	} catch (error) {
		floor.log.warn("a run that is to be stopped before it starts has to be waited for", { run: run.id, error: troubleOf(error) });
	}
	if (stop) stop.nextAt = now + LOOK_MS;
	return now + LOOK_MS;
}
