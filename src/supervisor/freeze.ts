// Freezes runs: SIGSTOP to all their processes, SIGCONT later. A file in the run's folder says so to the next daemon. A run is frozen while a pause or a
// person wants it: it goes on when neither does.
//
//   cause    recorded by                    begins with                    ends with
//   pause    the file `frozen` alone        pause with `freeze`            resume
//   person   the scheduler, `run.frozen`    freeze; reconciling finds it   thaw; reconciling finds it
//
// The end of a stop's first signal ends both: a stopped process handles no signal.

import type { PauseScope } from "../contracts/scheduler.ts";
import { messageOf, orElse } from "../core/errors.ts";
import { isOneOf } from "../core/text/one-of.ts";
import { expectStart, type SupervisorContext } from "./context.ts";
import { type FreezeCause, isIn, type LiveRun } from "./run.ts";

/** Maximum number of passes: a process can fork during a pass, so passes go on until one finds nothing new. */
const PASSES = 5;

export const isAtWork = ({ stage }: LiveRun): boolean => stage.is === "launching" || stage.is === "running";
const matching = (context: SupervisorContext, scope: PauseScope) => context.live.all().filter((run) => isIn(scope, run) && isAtWork(run));

export const freeze = (context: SupervisorContext, scope: PauseScope): void => freezeFor(context, matching(context, scope), "pause");
export const thaw = (context: SupervisorContext, scope: PauseScope): void => thawFor(context, matching(context, scope), "pause");

/** Makes a run as its scheduler says: frozen by a person, or not. */
export function setFrozen(context: SupervisorContext, run: LiveRun, wanted: "frozen" | "thawed"): void {
	const is = run.frozenFor.has("person") ? "frozen" : "thawed";
	if (is === wanted || !isAtWork(run)) return;
	if (wanted === "frozen") freezeFor(context, [run], "person");
	else thawFor(context, [run], "person");
}

function freezeFor(context: SupervisorContext, all: readonly LiveRun[], cause: FreezeCause): void {
	const runs = all.filter((run) => run.stop === null);
	for (const run of runs) {
		run.frozen ??= context.clock.monotonic();
		run.frozenFor.add(cause);
		if (run.stage.is === "launching") expectStart(context, run);
		noteFrozen(context, run);
	}
	hold(context, runs);
}

type Note = { for: FreezeCause[]; since: number };

function noteFrozen(context: SupervisorContext, run: LiveRun): void {
	const since = context.clock.now() - (context.clock.monotonic() - (run.frozen ?? context.clock.monotonic()));
	try {
		context.disk.write(`${run.dir}/frozen`, JSON.stringify({ for: [...run.frozenFor], since } satisfies Note));
	} catch (error) {
		context.log.warn("a frozen run could not be noted", { run: run.id, error: messageOf(error) });
	}
}

/** What an earlier daemon noted: why the run is frozen, and for how long it has been. Null if it is not. */
export function readFrozen({ disk, clock }: SupervisorContext, run: LiveRun): { causes: FreezeCause[]; forMs: number } | null {
	const text = disk.read(`${run.dir}/frozen`);
	if (text === null) return null;
	// Daemons of earlier versions wrote an empty file, for a pause.
	const note = orElse((): Partial<Note> | null => JSON.parse(text), null);
	const causes = (note?.for ?? []).filter((one) => isOneOf(one, ["pause", "person"]));
	const since = typeof note?.since === "number" ? note.since : clock.now();
	return { causes: causes.length > 0 ? causes : ["pause"], forMs: Math.max(0, clock.now() - since) };
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

function thawFor(context: SupervisorContext, all: readonly LiveRun[], cause: FreezeCause): void {
	const runs = all.filter((run) => run.frozenFor.delete(cause));
	for (const run of runs) if (run.frozenFor.size > 0) noteFrozen(context, run);
	const free = runs.filter((run) => run.frozenFor.size === 0);
	release(context, free);
	if (free.length > 0) context.alarm.at(context.clock.monotonic());
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
		run.frozenFor.clear();
		if (run.deadline !== null) run.deadline += away;
		if (run.silence) run.silence.since += away;
		context.disk.remove(`${run.dir}/frozen`);
	}
}
