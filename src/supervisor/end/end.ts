// The end of a run: detected, reported to the scheduler until the report is durable, written to the run's folder.

import type { RunEnd } from "../../contracts/scheduler.ts";
import { messageOf } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { lastLine, oneLine } from "../../core/input/storable.ts";
import type { ExitKind } from "../../core/job.ts";
import { withVerdict } from "../../core/runs/verdict.ts";
import { forget, isOvertaken, type SupervisorContext } from "../context.ts";
import { hold } from "../freeze.ts";
import { boundLogs } from "../logs/log-limit.ts";
import type { LiveRun } from "../run.ts";
import { reportGiven } from "../telling/given.ts";
import { accountOf, concluded, tailOf } from "./agent-end.ts";
import { endedForLease, endingOf, type Over, TAIL_BYTES } from "./exit.ts";
import { handOverWords, leftWordsOf } from "./left-words.ts";

const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 10_000;

/** True if the run's program is gone. */
export const isOver = ({ stage }: LiveRun): boolean => stage.is === "clearing" || stage.is === "leaving" || stage.is === "ending";

/** Checks whether a run is over, and starts its end if so. Returns true if it is over. */
export function see(context: SupervisorContext, run: LiveRun): boolean {
	if (isOver(run)) return true;
	const seen = context.processes.look(run.id, run.dir);
	if (seen.state === "exited" || seen.state === "gone") {
		onProcessExit(context, run, seen);
		return true;
	}
	if (seen.state === "alive") begun(context, run, seen.pid);
	return false;
}

function begun(context: SupervisorContext, run: LiveRun, pid: number): void {
	run.pid = pid;
	if (run.stage.is !== "launching") return;
	run.stage = { is: "running" };
	context.step?.("started", run.id);
	if (run.frozen !== null) hold(context, [run]);
}

/**
 * Called when the program is gone. A stopped or lost run ends when its whole process tree is gone. Any other run ends at once, and its leftovers are
 * cleared later.
 */
export function onProcessExit(context: SupervisorContext, run: LiveRun, seen: Over): void {
	context.step?.("exit-seen", run.id);
	const now = context.clock.monotonic();
	run.signal = seen.state === "exited" ? seen.signal : null;
	boundLogs(context, run);
	if (run.stop === null && seen.state === "exited") {
		conclude(context, run, seen);
		context.alarm.at(context.clearing.later(run.mark, now));
		return;
	}
	run.stage = { is: "clearing" };
	context.step?.("clearing", run.id);
	// The exit kind is decided after clearing, because a stop may still be requested until then.
	context.clearing.add(run.mark, now, () => conclude(context, run, seen));
	context.alarm.at(now);
}

/** Hands over what the run reported while the daemon was down, before the end is judged: end, workspace and next attempt depend on it. */
function conclude(context: SupervisorContext, run: LiveRun, seen: Over): void {
	if (context.holdEnd(run, () => conclude(context, run, seen))) return;
	const words = run.fenced ? null : leftWordsOf(context, run);
	if (words === null) {
		judge(context, run, seen);
		return;
	}
	run.stage = { is: "leaving" };
	void handOverWords(context, run, words).then(() => {
		// Closed meanwhile: the next daemon hands the reports over again.
		if (!context.closed) judge(context, run, seen);
	});
}

/** A command's end is known at once; an agent's output has to be read first. */
function judge(context: SupervisorContext, run: LiveRun, seen: Over): void {
	if (run.agent === null) {
		leave(
			context,
			run,
			seen,
			endingOf(run, seen, () => lastLine(tailOf(context, run, "stderr", TAIL_BYTES))),
		);
		return;
	}
	run.stage = { is: "leaving" };
	void concluded(context, run, seen).then((ending) => {
		// Closed meanwhile: the next daemon reads the output again.
		if (!context.closed) leave(context, run, seen, run.asDone ? completedBy(ending) : ending);
	});
}

/** A person worked in the session of a stopped run and said that it is done. */
const completedBy = ({ job, token, session, usage }: RunEnd): RunEnd => ({
	job,
	token,
	exit_kind: "completed",
	exit_code: 0,
	...given({ session, usage }),
});

/** Leaves the run's workspace, if it has one, before the end is reported: its work must be committed before the job counts as done. */
function leave(context: SupervisorContext, run: LiveRun, seen: Over, judged: RunEnd): void {
	const ended = run.stop === null && !(seen.state === "exited" && seen.code === 0) && context.disk.size(`${run.dir}/lease`) !== null;
	const beforeVerdict = ended ? endedForLease(judged) : judged;
	// Apply the verdict before the work is committed: a run with verdict `fail` or `ask` has not done its work.
	const ending = run.stop === null ? withVerdict(beforeVerdict, run.verdict) : beforeVerdict;
	if (!run.housed || !context.workspaces || run.fenced || context.closed) {
		report(context, run, ending);
		return;
	}
	run.stage = { is: "leaving" };
	const { job, attempt, dir } = run;
	context.workspaces
		.leave({ job, attempt, dir }, ending)
		// Closed meanwhile: the next daemon leaves the workspace again.
		.then((counts) => {
			if (!context.closed) report(context, run, counts);
		})
		.catch((error) => context.log.error("a run's end could not be reported", { run: run.id, error: messageOf(error) }));
}

/** Reports a run that could not be started. `fault`: the job's own, so that the repo's breaker does not hold other jobs back. */
export function launchFailed(context: SupervisorContext, run: LiveRun, why: string, fault?: "job"): void {
	try {
		context.disk.makeFolder(run.dir);
	} catch {
		// The report carries the reason; a missing folder only means that there is no outcome.json.
	}
	const stopped = run.stop ? { exit_kind: run.stop.kind as ExitKind, message: oneLine(run.stop.reason) } : null;
	const failed = { exit_kind: "launch_failed" as const, message: oneLine(why), ...given({ fault }) };
	report(context, run, { job: run.job, token: run.token, ...(stopped ?? failed) });
}

/**
 * Takes a run back before it is started: its job waits again. Writes no outcome.json, so that the next run gets its context from the last run that really
 * took place.
 */
export function withdraw(context: SupervisorContext, run: LiveRun, why: string): void {
	requestEnd(context, run, { job: run.job, token: run.token, exit_kind: "preempted", message: oneLine(why) });
}

/** Requests the end and the next claim in one turn, so that they share a transaction. */
function requestEnd(context: SupervisorContext, run: LiveRun, ending: RunEnd): void {
	run.stage = { is: "ending", end: ending, retryMs: 0 };
	if (run.fenced || context.closed) {
		forget(context, run);
		return;
	}
	record(context, run, ending);
	context.claimSoon();
}

/**
 * The transaction of the end begins in a later turn, so outcome.json is on disk before the end is committed: a reader that sees the end in the store finds the
 * folder complete.
 */
function report(context: SupervisorContext, run: LiveRun, ending: RunEnd): void {
	requestEnd(context, run, context.company === "others" && hasSomethingToGoOnWith(run, ending) ? { ...ending, stays: true } : ending);
	writeOutcome(context, run, ending);
}

/**
 * True if the next run should come back to this host: it has a worktree or a session here. A run that could not be started here may start on another host.
 */
const hasSomethingToGoOnWith = (run: LiveRun, { exit_kind, session }: RunEnd): boolean =>
	exit_kind !== "launch_failed" && (run.housed || session !== undefined);

function record(context: SupervisorContext, run: LiveRun, ending: RunEnd): void {
	// In the transaction of the end, before it: a run that is too short to be reported as started has got its prompt, too.
	if (ending.exit_kind !== "launch_failed") reportGiven(context, run);
	context.scheduler.complete(ending).then(
		() => {
			context.step?.("completed", run.id);
			forget(context, run);
			context.onEnded?.({ job: run.job, attempt: run.attempt });
		},
		(error) => unrecorded(context, run, error),
	);
}

function unrecorded(context: SupervisorContext, run: LiveRun, error: unknown): void {
	if (isOvertaken(error)) {
		context.log.warn("the end of a run is thrown away: its job has moved on", { run: run.id });
		run.fenced = true;
		const now = context.clock.monotonic();
		context.clearing.add(run.mark, now);
		context.alarm.at(now);
		forget(context, run);
		return;
	}
	const { code } = error as { code?: unknown };
	if (context.closed || code === "closed") return;
	// If the store rejects the message (bad characters, too long), record the end without it.
	const { stage } = run;
	if (stage.is !== "ending") return;
	const { exit_kind, fault } = stage.end;
	if (code === "invalid" || code === "limit") stage.end = { job: run.job, token: run.token, exit_kind, ...given({ fault }) };
	context.log.error("the end of a run could not be recorded; it is tried again", { run: run.id, error: messageOf(error) });
	stage.retryMs = Math.min(RETRY_LAST_MS, Math.max(RETRY_FIRST_MS, stage.retryMs * 2));
	context.host.after(stage.retryMs, () => {
		if (context.closed) return;
		record(context, run, stage.end);
		context.claimSoon();
	});
}

/** Writes outcome.json. If the disk refuses it, the end goes on: the store has the end too. */
export function writeOutcome(context: SupervisorContext, run: LiveRun, ending: RunEnd): void {
	const { exit_kind, exit_code = null, message = null } = ending;
	const outcome = {
		version: 1,
		run: run.id,
		exit_kind,
		exit_code,
		signal: run.signal,
		message,
		started_at: run.since,
		ended_at: context.clock.now(),
		...(run.stop ? { stopped: { kind: run.stop.kind, reason: run.stop.reason } } : {}),
		...accountOf(run.agent),
		...(run.verdict === null ? {} : { verdict: run.verdict }),
		...(run.wasAttached ? { attached: true } : {}),
		...(run.fenced ? { fenced: true } : {}),
		...(run.logsCut.size > 0 ? { logs_cut: [...run.logsCut] } : {}),
	};
	try {
		context.disk.replace(`${run.dir}/outcome.json`, `${JSON.stringify(outcome)}\n`);
	} catch (error) {
		context.log.warn("outcome.json could not be written", { run: run.id, error: messageOf(error) });
	}
	context.step?.("outcome-written", run.id);
}
