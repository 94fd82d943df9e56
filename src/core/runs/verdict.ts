// What a run reports about itself while it lives: its verdict (ok, fail, ask) and its result (JSON). Pure.
//
// The table shows how the verdict changes the end of the run. All other ends stay as they are: a verdict never overrides a stop, a limit, a closed account,
// a lost run or a failed launch.
//
//   verdict its program ended as                     the run ends as
//   fail   completed, failed, crashed, needs_human   failed, with the text
//   ask    completed, failed, crashed, needs_human   needs_human, with the text as its question
//   ok     needs_human, exit code 0                  completed: needs_human was only concluded from its output
//   ok     anything else                             the same: `ok` never overrides a failure
//
// The last verdict of a run counts, so `ok` withdraws a `fail`.

import { SluiceError } from "../errors.ts";
import * as check from "../input/check.ts";
import { cutTo, oneLine, storable } from "../input/storable.ts";
import type { ExitKind, Job } from "../job.ts";

export const VERDICTS = ["ok", "fail", "ask"] as const;
export type VerdictWord = (typeof VERDICTS)[number];
/** `at`: epoch milliseconds. */
export type RunVerdict = { verdict: VerdictWord; text: string; at: number };

/** Maximum characters. */
export const MAX_VERDICT_TEXT = 10_000;
/** Maximum bytes of a result as compact JSON. */
export const MAX_RESULT_BYTES = 65_536;
/** Maximum nesting of lists and objects. */
const MAX_RESULT_DEPTH = 64;

type Ended = { exit_kind: ExitKind; exit_code?: number | null; message?: string; question?: string };

/** Ends that the program itself caused. */
const BY_ITSELF: readonly ExitKind[] = ["completed", "failed", "crashed", "needs_human"];

/** The run's end after applying its own verdict. */
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

/** Ends that only interrupt the run: the agent resumes its session, and does not report again what it has reported in it. */
const INTERRUPTED: readonly ExitKind[] = ["rate_limited", "drained", "preempted", "lost"];

type Spoken = Pick<Job, "session" | "exit_kind" | "goes_on" | "verdict" | "result">;

/**
 * What the next attempt keeps of the last reports. A result is also kept after a person's answer; a verdict is not, because the answer settles it. Without
 * a session to resume, or after a failure that drops the session, the next attempt begins with neither.
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

/** A verdict counts without a text, too: if an agent's `fail` were refused, it would end with exit code 0, and its work would be merged. */
const WITHOUT_TEXT: Record<VerdictWord, string> = { ok: "", fail: "no reason given", ask: "it asks for a person" };

/** The text of a verdict as stored: without control characters, and truncated. */
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

/** As shown in documents: null for a job without a result, too. */
export const resultValue = (result: string | undefined): unknown => (result === undefined ? null : JSON.parse(result));
