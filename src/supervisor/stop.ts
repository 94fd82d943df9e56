// Stops a run. The intent is recorded before the first signal; from then on the run ends only when its whole process tree is gone.
//
//   rung   an agent    a command    then waits for      (an agent's profile may begin with SIGTERM, too)
//   0      SIGINT      SIGTERM      grace_int, grace_term
//   1      SIGTERM     SIGKILL      grace_term, –
//   2      SIGKILL                  –
//   …      the last rung again, every half second

import { messageOf } from "../core/errors.ts";
import type { StopKind } from "../core/job.ts";
import { isOvertaken, type SupervisorContext } from "./context.ts";
import { isOver, launchFailed, see } from "./end/end.ts";
import { release } from "./freeze.ts";
import type { LiveRun } from "./run.ts";

/** How often a run that is being stopped is checked: the notification of an exit is only a hint, and a killed shim sends none. */
const LOOK_MS = 50;
const AGAIN_MS = 500;
const RETRY_MS = 1_000;

const RUNGS = { agent: ["SIGINT", "SIGTERM", "SIGKILL"], command: ["SIGTERM", "SIGKILL"] } as const;

/** Records that a run should be stopped, then stops it. `resumes`: its job goes on at once. */
export async function askStop(
	context: SupervisorContext,
	run: LiveRun,
	kind: StopKind,
	reason: string,
	then: "resumes" | "waits" = "waits",
): Promise<void> {
	if (run.asking || run.stop || run.stage.is === "ending" || run.stage.is === "leaving") return;
	run.asking = true;
	try {
		const stop = { kind, reason, ...(then === "resumes" ? { resumes: true as const } : {}) };
		await context.scheduler.stop({ job: run.job, token: run.token }, stop, { by: "supervisor" });
		beginStop(context, run, kind, reason);
	} catch (error) {
		if (isOvertaken(error)) abandon(context, run);
		else {
			context.log.error("a stop could not be recorded; it is tried again", { run: run.id, error: messageOf(error) });
			context.alarm.at(context.clock.monotonic() + RETRY_MS);
		}
	} finally {
		run.asking = false;
	}
}

/** Begins a stop whose intent is recorded. A later stop changes nothing: the first one counts. */
export function beginStop(context: SupervisorContext, run: LiveRun, kind: StopKind, reason: string): void {
	if (run.stop || run.stage.is === "ending") return;
	const now = context.clock.monotonic();
	run.stop = { kind, reason, rung: 0, signalAt: now, nextAt: now };
	context.step?.("stop-asked", run.id);
	context.alarm.at(now);
}

/** Stops a run whose job was reassigned: kills its processes and does not report its end. */
export function abandon(context: SupervisorContext, run: LiveRun): void {
	if (run.fenced || run.stage.is === "ending") return;
	context.log.warn("a run is stopped: its job has moved on", { run: run.id });
	run.fenced = true;
	beginStop(context, run, "cancelled", "its job has moved on");
}

/** Checks a run that is being stopped, and sends the next signal if it is time. Returns when to check again. */
export function climb(context: SupervisorContext, run: LiveRun, now: number): number {
	const { stop } = run;
	if (!stop || isOver(run)) return Number.POSITIVE_INFINITY;
	if (stop.nextAt > now) return stop.nextAt;
	if (see(context, run)) return Number.POSITIVE_INFINITY;
	if (run.stage.is === "launching") return keepFromStarting(context, run, now);
	if (stop.signalAt <= now) {
		const rungs = run.agent?.stop_signal === "SIGINT" ? RUNGS.agent : RUNGS.command;
		const signal = rungs[stop.rung] ?? "SIGKILL";
		context.processes.signal(run.id, run.dir, signal);
		// A frozen process handles the signal only after SIGCONT.
		if (run.frozen !== null) release(context, [run]);
		context.step?.("stop-signalled", run.id);
		const { grace_int_ms, grace_term_ms } = context.settings().stop;
		stop.signalAt = now + (signal === "SIGINT" ? grace_int_ms : signal === "SIGTERM" ? grace_term_ms : AGAIN_MS);
		stop.rung = Math.min(stop.rung + 1, rungs.length - 1);
	}
	stop.nextAt = Math.min(stop.signalAt, now + LOOK_MS);
	return stop.nextAt;
}

function keepFromStarting(context: SupervisorContext, run: LiveRun, now: number): number {
	const { stop } = run;
	try {
		if (context.processes.forbid(run.id, run.dir)) {
			launchFailed(context, run, "it was never started");
			return Number.POSITIVE_INFINITY;
		}
	} catch (error) {
		context.log.warn("a run that is to be stopped before it starts has to be waited for", { run: run.id, error: messageOf(error) });
	}
	if (stop) stop.nextAt = now + LOOK_MS;
	return now + LOOK_MS;
}
