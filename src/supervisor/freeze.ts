// Freezing: SIGSTOP to everything that a run has started, SIGCONT later. A file in its folder says so to the next life of the daemon.

import { troubleOf } from "../disk.ts";
import type { Scope } from "../scheduler.ts";
import { expectStart, type Floor } from "./floor.ts";
import { isIn, type LiveRun } from "./run.ts";

/** A process can start another one while it is looked for: until a pass finds nothing new. */
const PASSES = 5;

const matching = (floor: Floor, scope: Scope) =>
	[...floor.live.values()].filter((run) => isIn(scope, run) && (run.stage === "launching" || run.stage === "running"));

export function freeze(floor: Floor, scope: Scope): void {
	const runs = matching(floor, scope).filter((run) => run.stop === null);
	for (const run of runs) {
		run.frozen ??= floor.clock.monotonic();
		if (run.stage === "launching") expectStart(floor, run);
		try {
			floor.disk.write(`${run.dir}/frozen`, "");
		} catch (error) {
			floor.log.warn("a frozen run could not be noted", { run: run.id, error: troubleOf(error) });
		}
	}
	hold(floor, runs);
}

/** Also for a run that was handed over before the freeze and starts after it. */
export function hold(floor: Floor, runs: readonly LiveRun[]): void {
	for (const run of runs) floor.processes.signal(run.id, run.dir, "SIGSTOP");
	const held = new Map(runs.map((run) => [run.mark, new Set<number>()]));
	for (let pass = 0; pass < PASSES && runs.length > 0; pass++) {
		let fresh = 0;
		for (const [mark, pids] of floor.processes.sweep([...held.keys()])) {
			const known = held.get(mark);
			const some = pids.filter((pid) => !known?.has(pid));
			for (const pid of some) known?.add(pid);
			if (some.length > 0) floor.processes.signalAll(mark, some, "SIGSTOP");
			fresh += some.length;
		}
		if (fresh === 0) break;
	}
}

export function thaw(floor: Floor, scope: Scope): void {
	const runs = matching(floor, scope).filter((run) => run.frozen !== null);
	release(floor, runs);
	if (runs.length > 0) floor.alarm.at(floor.clock.monotonic());
}

/** The time it was frozen does not count against a run. */
export function release(floor: Floor, runs: readonly LiveRun[]): void {
	const now = floor.clock.monotonic();
	const found = runs.length > 0 ? floor.processes.sweep(runs.map((run) => run.mark)) : new Map<string, number[]>();
	for (const run of runs) {
		floor.processes.signalAll(run.mark, found.get(run.mark) ?? [], "SIGCONT");
		floor.processes.signal(run.id, run.dir, "SIGCONT");
		const away = now - (run.frozen ?? now);
		run.frozen = null;
		if (run.deadline !== null) run.deadline += away;
		if (run.silence) run.silence.since += away;
		floor.disk.remove(`${run.dir}/frozen`);
	}
}
