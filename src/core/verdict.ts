// What a run says of itself while it lives: its verdict (ok, fail, ask) and its result (JSON). Pure.
//
// What the verdict makes of the way its program ended. Rows that are not here stay as they are: a verdict never beats a stop, a limit, an account that is
// closed, a lost run or a launch that failed.
//
//   said   its program ended as                      the run ends as
//   fail   completed, failed, crashed, needs_human   failed, with the text
//   ask    completed, failed, crashed, needs_human   needs_human, with the text as its question
//   ok     needs_human, exit code 0                  completed: that it needs a person was only concluded from its output
//   ok     anything else                             the same: `ok` never beats a failure
//
// The last verdict of a run counts, so that `ok` takes a `fail` back.

import * as check from "./check.ts";
import { SluiceError } from "./errors.ts";
import type { ExitKind, Job } from "./job.ts";
import { cutTo, oneLine, storable } from "./storable.ts";

export const VERDICTS = ["ok", "fail", "ask"] as const;
export type VerdictWord = (typeof VERDICTS)[number];
/** `at`: epoch milliseconds. */
export type RunVerdict = { verdict: VerdictWord; text: string; at: number };

/** Characters. */
export const MAX_VERDICT_TEXT = 10_000;
/** Bytes of a result as compact JSON. */
export const MAX_RESULT_BYTES = 65_536;
/** Lists and objects inside each other. */
export const MAX_RESULT_DEPTH = 64;

type Ended = { exit_kind: ExitKind; exit_code?: number | null; message?: string; question?: string };

/** Ends that the program itself brought about. */
const BY_ITSELF: readonly ExitKind[] = ["completed", "failed", "crashed", "needs_human"];

/** The end as it counts once the run's own verdict is heard. */
export function withVerdict<E extends Ended>(ended: E, said: RunVerdict | null | undefined): E {
	if (!said || !BY_ITSELF.includes(ended.exit_kind)) return ended;
	const { question: _question, message: _message, ...rest } = ended;
	switch (said.verdict) {
		case "fail":
			return { ...rest, exit_kind: "failed", message: oneLine(said.text) } as E;
		case "ask":
			return { ...rest, exit_kind: "needs_human", question: said.text } as E;
		case "ok":
			return ended.exit_kind === "needs_human" && ended.exit_code === 0 ? ({ ...rest, exit_kind: "completed" } as E) : ended;
		default:
			return said.verdict satisfies never;
	}
}

/** Ends that only interrupt: an agent goes on with its session, and does not say again what it has said in it. */
const INTERRUPTED: readonly ExitKind[] = ["rate_limited", "drained", "preempted", "lost"];

type Spoken = Pick<Job, "session" | "exit_kind" | "goes_on" | "verdict" | "result">;

/**
 * What stays said when the next attempt begins. A result also stays when a person has answered; a verdict does not, since the answer settles it. Without
 * a session to go on with, or after a failure that leaves its session, the next attempt begins with neither.
 */
export function carriedOver({ session, exit_kind, goes_on, verdict, result }: Spoken): {
	verdict?: RunVerdict;
	result?: string;
} {
	if (session === undefined || exit_kind === undefined) return {};
	const isInterrupted = INTERRUPTED.includes(exit_kind) || goes_on === true;
	return {
		...(isInterrupted && verdict !== undefined ? { verdict } : {}),
		...((isInterrupted || exit_kind === "needs_human") && result !== undefined ? { result } : {}),
	};
}

export function readVerdict(value: unknown, text: unknown): Omit<RunVerdict, "at"> {
	const verdict = check.oneOf(value, VERDICTS, "verdict");
	const given = text === undefined || text === null ? "" : check.text(typeof text === "string" ? verdictText(text) : text, "text");
	return { verdict, text: given === "" ? WITHOUT_TEXT[verdict] : given };
}

/** A verdict counts without a text, too: an agent whose `fail` were refused would end with exit code 0, and its work would be merged. */
const WITHOUT_TEXT: Record<VerdictWord, string> = { ok: "", fail: "no reason given", ask: "it asks for a person" };

/** The text of a verdict as it is kept: without control characters, and cut where it is too long. */
export const verdictText = (text: string): string => cutTo(MAX_VERDICT_TEXT, storable(text));

/** A result as compact JSON. */
export function readResult(value: unknown): string {
	if (value === undefined) throw check.wrong("result", "is missing", "any JSON will do: a text, a number, a list, an object");
	const text = JSON.stringify(check.json(value, "result", { depth: MAX_RESULT_DEPTH }));
	const bytes = new TextEncoder().encode(text).length;
	if (bytes > MAX_RESULT_BYTES)
		throw new SluiceError("limit", `result: is ${bytes} bytes of JSON; the limit is ${MAX_RESULT_BYTES} (64 KiB)`, {
			field: "result",
			hint: "put the rest into a file on the branch, and name the file in the result",
		});
	return text;
}

/** As it is shown: null for a job without one, too. */
export const resultValue = (result: string | undefined): unknown => (result === undefined ? null : JSON.parse(result));
