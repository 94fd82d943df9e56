// Whether a run goes on with the session of the one before it, and what it is told then.
//
//   the run before ended as                         its session
//   a limit, a drain, preempted, lost               goes on
//   needs_human                                     goes on, with the answer
//   something transient, or killed by nobody here   goes on
//   timeout, stalled, failed, crashed, context      is left: the same would come of it
//   completed                                       is left, and not spoken of
//   any, and its session is gone                    cannot go on

import type { ExitKind } from "../job.ts";
import type { Outcome } from "./happening.ts";

/** What is known of the run before: from its own account. */
export type Before = {
	exit_kind: ExitKind;
	outcome: Outcome | null;
	session: string | null;
	session_gone: boolean;
	/** It asked, or it was to bring the answer and was cut off: whether that has arrived, nobody knows. */
	awaits_answer: boolean;
};
/** Ends that leave open whether its prompt was heard. */
export const CUT_OFF: readonly ExitKind[] = ["lost", "drained", "preempted", "crashed"];

const GOES_ON: readonly ExitKind[] = ["rate_limited", "drained", "preempted", "lost", "needs_human"];

/** A timeout kills too, but for a reason; what a signal from elsewhere ended was at work. */
export const isBrokenOff = ({ exit_kind, outcome }: Pick<Before, "exit_kind" | "outcome">): boolean =>
	exit_kind === "crashed" && (outcome === "transient" || outcome === "killed");

/** The session to go on with, or why it is left; null when there was none. */
export function continues(before: Before | null, session: string | undefined): { session: string } | { left: string } | null {
	// Done, and now to be done again, or to mend something: what it is told says so.
	if (before === null || before.exit_kind === "completed") return null;
	if (before.session_gone) return { left: "its session was not found any more" };
	if (before.session === null) return null;
	// The scheduler drops it when the job starts on another account, or is begun anew.
	if (session !== before.session) return { left: "it starts on another account, or anew" };
	if (GOES_ON.includes(before.exit_kind) || isBrokenOff(before)) return { session };
	return { left: `the run before ended as ${before.exit_kind}` };
}

/** The session has the task already; sending it again would begin it again. */
export function promptForResumed(why: ExitKind, answer: string | undefined, told: string | null): string {
	const words = answer ?? (told === null ? WORDS[why] : undefined) ?? "Go on with the task.";
	return told === null ? words : answer === undefined ? told : `${words}\n\n${told}`;
}

const WORDS: Partial<Record<ExitKind, string>> = {
	rate_limited: "You were stopped by a usage limit. It is over: go on where you left off, and finish the task.",
	drained: "You were stopped for maintenance. Go on where you left off, and finish the task.",
	preempted: "You were stopped to make room. Go on where you left off, and finish the task.",
	lost: "You were cut off. See what is done already, go on where you left off, and finish the task.",
	crashed: "You were cut off by an error. Go on where you left off, and finish the task.",
};
