// The end of a run: seen, told to the scheduler until it is durable, written down in its folder.

import type { ExitKind } from "../core/job.ts";
import { withVerdict } from "../core/verdict.ts";
import { troubleOf } from "../disk.ts";
import type { Ending } from "../scheduler.ts";
import { accountOf, concluded, tailOf } from "./agent-end.ts";
import { endedForLease, endingOf, lastLine, type Over, oneLine, TAIL_BYTES } from "./exit.ts";
import { type Floor, forget, isOvertaken } from "./floor.ts";
import { hold } from "./freeze.ts";
import { handOverWords, leftWordsOf } from "./left-words.ts";
import { boundLogs } from "./log-limit.ts";
import type { LiveRun } from "./run.ts";

const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 10_000;

/** Its program is gone. */
export const isOver = ({ stage }: LiveRun): boolean => stage === "clearing" || stage === "leaving" || stage === "ending";

/** Looks whether a run is over. True when it is. */
export function see(floor: Floor, run: LiveRun): boolean {
	if (isOver(run)) return true;
	let seen = floor.processes.look(run.id, run.dir);
	// Between the two looks of one look it may have written its exit and gone.
	if (seen.state === "gone") seen = floor.processes.look(run.id, run.dir);
	if (seen.state === "exited" || seen.state === "gone") {
		settle(floor, run, seen);
		return true;
	}
	if (seen.state === "alive") begun(floor, run, seen.pid);
	return false;
}

function begun(floor: Floor, run: LiveRun, pid: number): void {
	run.pid = pid;
	if (run.stage !== "launching") return;
	run.stage = "running";
	floor.step?.("started", run.id);
	if (run.frozen !== null) hold(floor, [run]);
}

/** The program is over. A stopped or lost run ends when its whole tree is gone, another one at once, and its leftovers are seen to later. */
export function settle(floor: Floor, run: LiveRun, seen: Over): void {
	floor.step?.("exit-seen", run.id);
	const now = floor.clock.monotonic();
	run.signal = seen.state === "exited" ? seen.signal : null;
	boundLogs(floor, run);
	if (run.stop === null && seen.state === "exited") {
		conclude(floor, run, seen);
		floor.alarm.at(floor.clearing.later(run.mark, now));
		return;
	}
	run.stage = "clearing";
	floor.step?.("clearing", run.id);
	// What the end is called is decided last: a stop may still be asked for.
	floor.clearing.add(run.mark, now, () => conclude(floor, run, seen));
	floor.alarm.at(now);
}

/** What the run said while the daemon was away comes first: its end, its workspace and its next attempt hang on it. */
function conclude(floor: Floor, run: LiveRun, seen: Over): void {
	const words = run.fenced ? null : leftWordsOf(floor, run);
	if (words === null) {
		judge(floor, run, seen);
		return;
	}
	run.stage = "leaving";
	void handOverWords(floor, run, words).then(() => {
		// Closed meanwhile: the next life of the daemon hands the words over once more.
		if (!floor.closed) judge(floor, run, seen);
	});
}

/** A command's end is known at once; what an agent wrote has to be read first. */
function judge(floor: Floor, run: LiveRun, seen: Over): void {
	if (run.agent === null) {
		leave(
			floor,
			run,
			seen,
			endingOf(run, seen, () => lastLine(tailOf(floor, run, "stderr", TAIL_BYTES))),
		);
		return;
	}
	run.stage = "leaving";
	void concluded(floor, run, seen).then((ending) => {
		// Closed meanwhile: the next life reads it once more.
		if (!floor.closed) leave(floor, run, seen, ending);
	});
}

/** A run that had a workspace leaves it first: what it did must be committed before anybody hears that it is done. */
function leave(floor: Floor, run: LiveRun, seen: Over, judged: Ending): void {
	const ended = run.stop === null && !(seen.state === "exited" && seen.code === 0) && floor.disk.size(`${run.dir}/lease`) !== null;
	const told = ended ? endedForLease(judged) : judged;
	// Before its work is committed: a run that says no, or asks, has not done it.
	const ending = run.stop === null ? withVerdict(told, run.verdict) : told;
	if (!run.housed || !floor.workspaces || run.fenced || floor.closed) {
		report(floor, run, ending);
		return;
	}
	run.stage = "leaving";
	const { job, attempt, dir } = run;
	floor.workspaces
		.leave({ job, attempt, dir }, ending)
		// Closed meanwhile: the next life leaves it once more.
		.then((counts) => {
			if (!floor.closed) report(floor, run, counts);
		})
		.catch((error) => floor.log.error("a run's end could not be reported", { run: run.id, error: troubleOf(error) }));
}

/** It could not be started at all. `fault`: the job's own, so that no other job waits for it. */
export function launchFailed(floor: Floor, run: LiveRun, why: string, fault?: "job"): void {
	try {
		floor.disk.makeFolder(run.dir);
	} catch {
		// The end says why; the folder would only have been the place for it.
	}
	const stopped = run.stop ? { exit_kind: run.stop.kind as ExitKind, message: oneLine(run.stop.reason) } : null;
	const failed = { exit_kind: "launch_failed" as const, message: oneLine(why), ...(fault === undefined ? {} : { fault }) };
	report(floor, run, { job: run.job, token: run.token, ...(stopped ?? failed) });
}

/** Not to be started after all: its job waits again. It leaves no outcome.json, so that the next run is told of the last one that there was. */
export function withdraw(floor: Floor, run: LiveRun, why: string): void {
	run.stage = "ending";
	run.ending = { job: run.job, token: run.token, exit_kind: "preempted", message: oneLine(why) };
	if (run.fenced || floor.closed) {
		forget(floor, run);
		return;
	}
	record(floor, run, run.ending);
	floor.claimSoon();
}

/** Stopped before it began. */
export function neverStarted(floor: Floor, run: LiveRun): void {
	launchFailed(floor, run, "it was never started");
}

/**
 * The end and the next claim are asked for in one turn, so that they share a transaction. That begins in a later turn, so what is written here is on
 * disk before it: whoever finds the end in the store finds the folder complete.
 */
function report(floor: Floor, run: LiveRun, ending: Ending): void {
	run.stage = "ending";
	run.ending = floor.company === "others" && hasSomethingToGoOnWith(run, ending) ? { ...ending, stays: true } : ending;
	if (run.fenced || floor.closed) {
		writeOutcome(floor, run, ending);
		forget(floor, run);
		return;
	}
	record(floor, run, run.ending);
	floor.claimSoon();
	writeOutcome(floor, run, ending);
}

/** A worktree, or a session. One that could not even be started here may have more luck elsewhere. */
const hasSomethingToGoOnWith = (run: LiveRun, { exit_kind, session }: Ending): boolean =>
	exit_kind !== "launch_failed" && (run.housed || session !== undefined);

function record(floor: Floor, run: LiveRun, ending: Ending): void {
	floor.scheduler.complete(ending).then(
		() => {
			floor.step?.("completed", run.id);
			forget(floor, run);
			floor.onEnded?.({ job: run.job, attempt: run.attempt });
		},
		(error) => unrecorded(floor, run, error),
	);
}

function unrecorded(floor: Floor, run: LiveRun, error: unknown): void {
	if (isOvertaken(error)) {
		floor.log.warn("the end of a run is thrown away: its job has moved on", { run: run.id });
		run.fenced = true;
		const now = floor.clock.monotonic();
		floor.clearing.add(run.mark, now);
		floor.alarm.at(now);
		forget(floor, run);
		return;
	}
	const { code } = error as { code?: unknown };
	if (floor.closed || code === "closed") return;
	// Words that cannot be stored are not worth an end that cannot be.
	if (run.ending && (code === "invalid" || code === "limit"))
		run.ending = {
			job: run.job,
			token: run.token,
			exit_kind: run.ending.exit_kind,
			...(run.ending.fault === undefined ? {} : { fault: run.ending.fault }),
		};
	floor.log.error("the end of a run could not be recorded; it is tried again", { run: run.id, error: troubleOf(error) });
	run.retryMs = Math.min(RETRY_LAST_MS, Math.max(RETRY_FIRST_MS, run.retryMs * 2));
	floor.host.after(run.retryMs, () => {
		if (floor.closed || !run.ending) return;
		record(floor, run, run.ending);
		floor.claimSoon();
	});
}

/** The daemon's account. A disk that refuses it does not hold up the end: the store has it too. */
export function writeOutcome(floor: Floor, run: LiveRun, ending: Ending): void {
	const { exit_kind, exit_code = null, message = null } = ending;
	const outcome = {
		version: 1,
		run: run.id,
		exit_kind,
		exit_code,
		signal: run.signal,
		message,
		started_at: run.since,
		ended_at: floor.clock.now(),
		...(run.stop ? { stopped: { kind: run.stop.kind, reason: run.stop.reason } } : {}),
		...accountOf(run.agent),
		...(run.verdict === null ? {} : { verdict: run.verdict }),
		...(run.fenced ? { fenced: true } : {}),
		...(run.logsCut.size > 0 ? { logs_cut: [...run.logsCut] } : {}),
	};
	try {
		floor.disk.write(`${run.dir}/outcome.json`, `${JSON.stringify(outcome)}\n`);
	} catch (error) {
		floor.log.warn("outcome.json could not be written", { run: run.id, error: troubleOf(error) });
	}
	floor.step?.("outcome-written", run.id);
}
