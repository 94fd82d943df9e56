// Whether a run resumes the session of the job's previous run, and with which prompt.
//
//   the previous run ended as                       its session
//   a limit, a drain, preempted, lost               is resumed
//   needs_human                                     is resumed, with the answer
//   transient, or killed by a signal from outside   is resumed
//   timeout, stalled, failed, crashed, context      is dropped: it would probably end the same way
//   completed                                       is dropped, without a mention in the prompt
//   any, and its session is gone                    cannot be resumed

import type { ExitKind } from "../job.ts";
import { type Told, wordsForResumed } from "../runs/told.ts";
import type { Outcome } from "./stream/happening.ts";

/** The previous run, as it reported itself. */
export type Before = {
	exit_kind: ExitKind;
	outcome: Outcome | null;
	session: string | null;
	session_gone: boolean;
	/** The run asked a question, or was cut off while it was to deliver the answer: it is unknown whether the agent received it. */
	awaits_answer: boolean;
	/** A person had its session at a terminal. */
	attached?: boolean;
};
/** Ends after which it is unknown whether the agent received its prompt. */
export const CUT_OFF: readonly ExitKind[] = ["lost", "drained", "preempted", "crashed"];

const GOES_ON: readonly ExitKind[] = ["rate_limited", "drained", "preempted", "lost", "needs_human"];

/** Whether a signal from outside or a transient error ended the run. A timeout also kills, but because the run took too long. */
export const isBrokenOff = ({ exit_kind, outcome }: Pick<Before, "exit_kind" | "outcome">): boolean =>
	exit_kind === "crashed" && (outcome === "transient" || outcome === "killed");

/** The session to resume, or why it is dropped; null if there is none. */
export function continues(before: Before | null, session: string | undefined): { session: string } | { left: string } | null {
	// A completed run is repeated, or its work is to be corrected: the prompt says which.
	if (before === null || before.exit_kind === "completed") return null;
	if (before.session_gone) return { left: "its session was not found any more" };
	if (before.session === null) return null;
	// The scheduler clears the session when the job moves to another account or is started anew.
	if (session !== before.session) return { left: "it starts on another account, or anew" };
	if (GOES_ON.includes(before.exit_kind) || isBrokenOff(before)) return { session };
	return { left: `the run before ended as ${before.exit_kind}` };
}

const AFTER_PERSON =
	"A person has worked in this session and has left it. See what was said and changed meanwhile, go on from there, and finish the task.";

/** The resumed session has the task already; sending it again would make the agent begin again. */
export function promptForResumed(
	{ exit_kind, attached }: Pick<Before, "exit_kind" | "attached">,
	answer: string | undefined,
	feedback: string | null,
	told: readonly Told[] = [],
): string {
	const heard = told.length === 0 ? null : wordsForResumed(told);
	// What a person tells the agent is a reason to go on by itself, unless something else has stopped it.
	const isReason = feedback !== null || (heard !== null && exit_kind === "preempted");
	const usual = attached ? AFTER_PERSON : isReason ? null : (WORDS[exit_kind] ?? "Go on with the task.");
	return [answer ?? usual, heard, feedback].filter((part) => part !== null).join("\n\n");
}

const WORDS: Partial<Record<ExitKind, string>> = {
	rate_limited: "You were stopped by a usage limit. It is over: go on where you left off, and finish the task.",
	drained: "You were stopped for maintenance. Go on where you left off, and finish the task.",
	preempted: "You were stopped to make room. Go on where you left off, and finish the task.",
	lost: "You were cut off. See what is done already, go on where you left off, and finish the task.",
	crashed: "You were cut off by an error. Go on where you left off, and finish the task.",
};
