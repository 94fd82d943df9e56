// Freezes runs: SIGSTOP to all their processes, SIGCONT later. A file in the run's folder says so to the next daemon.

import type { PauseScope } from "../contracts/scheduler.ts";
import { messageOf } from "../core/errors.ts";
import { expectStart, type SupervisorContext } from "./context.ts";
import { isIn, type LiveRun } from "./run.ts";

/** Maximum number of passes: a process can fork during a pass, so passes go on until one finds nothing new. */
const PASSES = 5;

const matching = (context: SupervisorContext, scope: PauseScope) =>
	context.live.all().filter((run) => isIn(scope, run) && (run.stage.is === "launching" || run.stage.is === "running"));

export function freeze(context: SupervisorContext, scope: PauseScope): void {
	const runs = matching(context, scope).filter((run) => run.stop === null);
	for (const run of runs) {
		run.frozen ??= context.clock.monotonic();
		if (run.stage.is === "launching") expectStart(context, run);
		try {
			context.disk.write(`${run.dir}/frozen`, "");
		} catch (error) {
			context.log.warn("a frozen run could not be noted", { run: run.id, error: messageOf(error) });
		}
	}
	hold(context, runs);
}

/** Stops all processes of the runs. Also called for a run that was handed over before the freeze and starts after it. */
export function hold(context: SupervisorContext, runs: readonly LiveRun[]): void {
	for (const run of runs) context.processes.signal(run.id, run.dir, "SIGSTOP");
	const held = new Map(runs.map((run) => [run.mark, new Set<number>()]));
	for (let pass = 0; pass < PASSES && runs.length > 0; pass++) {
		let fresh = 0;
		for (const [mark, pids] of context.processes.sweep([...held.keys()])) {
			const known = held.get(mark);
			const some = pids.filter((pid) => !known?.has(pid));
			for (const pid of some) known?.add(pid);
			if (some.length > 0) context.processes.signalAll(mark, some, "SIGSTOP");
			fresh += some.length;
		}
		if (fresh === 0) break;
	}
}

export function thaw(context: SupervisorContext, scope: PauseScope): void {
	const runs = matching(context, scope).filter((run) => run.frozen !== null);
	release(context, runs);
	if (runs.length > 0) context.alarm.at(context.clock.monotonic());
}

/** Lets frozen runs continue. The frozen time does not count towards a run's limits. */
export function release(context: SupervisorContext, runs: readonly LiveRun[]): void {
	const now = context.clock.monotonic();
	const found = runs.length > 0 ? context.processes.sweep(runs.map((run) => run.mark)) : new Map<string, number[]>();
	for (const run of runs) {
		context.processes.signalAll(run.mark, found.get(run.mark) ?? [], "SIGCONT");
		context.processes.signal(run.id, run.dir, "SIGCONT");
		const away = now - (run.frozen ?? now);
		run.frozen = null;
		if (run.deadline !== null) run.deadline += away;
		if (run.silence) run.silence.since += away;
		context.disk.remove(`${run.dir}/frozen`);
	}
}
