// What runs say of themselves: verdicts and results, and what they make of the run's end.

import type { RunEnd } from "../../src/contracts/scheduler.ts";
import type { ExitKind } from "../../src/core/job.ts";
import type { VerdictWord } from "../../src/core/runs/verdict.ts";
import { accepted, agreeSame, type Seen } from "./agree.ts";
import { runFor } from "./ending.ts";
import { type ModelJob, type ModelRun, note, type State } from "./state.ts";

type End = Partial<RunEnd> & { exit_kind: ExitKind };

export function verdict(state: State, of: { job: number; token: number }, said: { verdict: VerdictWord; text?: string }, seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	const result = accepted<{ verdict: string; text: string }>(seen);
	const text = said.text || { ok: "", fail: "no reason given", ask: "it asks for a person" }[said.verdict];
	job.run.verdict = { verdict: said.verdict, text };
	if (result !== undefined) agreeSame([result.verdict, result.text], [said.verdict, text], `verdict of job ${job.id}`);
}

export function result(state: State, of: { job: number; token: number }, value: unknown, seen: Seen): void {
	const job = runFor(state, of, seen);
	if (job?.run === undefined) return;
	accepted(seen);
	job.result = JSON.stringify(value);
}

/** The end once its verdict is heard. Only where the program itself came to an end does it count. */
export function heard(state: State, run: ModelRun, end: End): End {
	const said = run.verdict;
	if (said === undefined || run.intent !== undefined) return end;
	const { exit_kind } = end;
	const byItself = exit_kind === "completed" || exit_kind === "failed" || exit_kind === "crashed" || exit_kind === "needs_human";
	if (!byItself) {
		note(state, "verdict-beaten");
		return end;
	}
	if (said.verdict === "fail") {
		note(state, "said-no");
		return { ...end, exit_kind: "failed" };
	}
	if (said.verdict === "ask") {
		note(state, "asked-itself");
		return { ...end, exit_kind: "needs_human", question: said.text };
	}
	if (exit_kind !== "needs_human" || end.exit_code !== 0) return end;
	note(state, "said-ok");
	return { ...end, exit_kind: "completed" };
}

/** A new attempt: an agent whose session was interrupted has said what it said. */
export function beginAttempt(state: State, job: ModelJob, run: ModelRun): void {
	const goesOn = job.session !== undefined;
	const interrupted = ["rate_limited", "drained", "preempted", "lost"].includes(job.exit_kind ?? "") || job.goes_on === true;
	if (goesOn && interrupted && job.verdict !== undefined) {
		run.verdict = job.verdict;
		note(state, "still-said");
	}
	if (!(goesOn && (interrupted || job.exit_kind === "needs_human"))) delete job.result;
	delete job.verdict;
	delete job.goes_on;
}
