// The outcome of an agent's run, from its output and its exit. The first matching row applies.
//
//   the run reported                                  outcome
//   (format `command`)                                ok for exit code 0, killed for a signal, else crashed
//   a good end                                        ok, or needs_human if it got nowhere: closing.ts
//   a budget, a full context, being stopped           budget, context, killed
//   a limit of its plan                               limited, until it resets
//   an error with a cause                             that cause
//   retries until the end                             their cause
//   a limit that it waited for until it was stopped   that limit
//   nothing, and a signal ended it                    killed
//   nothing, but stderr or the exit code has a cause  that cause
//   lines that are not understood, exit code 0        needs_human: see not-understood.ts
//   a beginning without an end, exit code 0           transient: it can resume where it broke off
//   nothing at all                                    crashed
//
// The exit code alone never decides, neither 0 nor any other.

import { lastLine } from "../input/storable.ts";
import type { ExitKind } from "../job.ts";
import { closing, closingQuestion, type RunFindings, refused } from "./closing.ts";
import { ADAPTERS } from "./index.ts";
import { keptDenied } from "./permissions/denied.ts";
import type { Format } from "./profile.ts";
import { causeOfText, delayIn, firstKnown, momentIn } from "./stream/causes.ts";
import type { Cause, Outcome, Trouble, Used } from "./stream/happening.ts";
import { momentOr, short } from "./stream/json.ts";
import { notUnderstoodWords, type Program } from "./stream/not-understood.ts";
import { isAnswered, type Reading } from "./stream/reading.ts";
import { settleUsage } from "./stream/usage.ts";

/** As a shell reports it: 128 + n for a signal. `signal` if it is known for certain. */
export type Exit = { code: number; signal?: string | null };
export type About = {
	/** The end of the run's stderr. */
	stderr: string;
	/** Epoch milliseconds, and the zone for times that name none. */
	now: number;
	timezone: string;
	/** What the session had used before; null if unknown. */
	before: Used | null;
	/** Whether the job changed something, and whether it was expected to; absent = unknown, and not expected. */
	circumstances?: RunFindings;
	/** When the limit ends, from another source than the run's output. */
	reset?: number | null;
	/** The supervisor stopped the run because it waited for this limit, or kept retrying against it. */
	waited?: Trouble | null;
	/** For messages about output that was not understood. */
	program?: Program;
	job?: number;
};

export type Judgement = {
	outcome: Outcome;
	until: number | null;
	/** What `until` is based on if the provider named no reset time. */
	until_assumed: string | null;
	retry_after_ms: number | null;
	session: string | null;
	/** The session to resume does not exist. */
	session_gone: boolean;
	used: Used;
	/** The session's counter from now on; null if unknown. */
	total: Used | null;
	/** A transient failure on the provider's side: it is down, overloaded or unreachable. */
	outage: boolean;
	/** The agent's last message, or what went wrong. */
	message: string | null;
	question: string | null;
	/** Lines of JSON that the adapter does not know. */
	not_understood: number;
	/** The program's version, if its output has it. */
	version: string | null;
	/** A question in the last words of a run that counts as done nevertheless. */
	closing_question: string | null;
	/** Tool calls that were not allowed. */
	denied: string[];
};

const SIGNALS = new Set([129, 130, 131, 134, 137, 143]);
/** The exit code of `timeout`: a process outside ended the run. */
const TIMED_OUT = 124;

export function judge(format: Format, read: Reading, exit: Exit, about: About): Judgement {
	const reading = ADAPTERS[format].withStderr?.(read, about.stderr, about.now) ?? read;
	const { delta, total } = settleUsage(reading, about.before);
	const stderr = short(lastLine(about.stderr), 1000);
	const found = verdict(format, reading, exit, about, stderr);
	const outcome = found.outcome;
	const limit = outcome === "limited" ? momentOr(limitEnd(reading, about, found.message) ?? 0) : null;
	const delay = outcome === "throttled" || (outcome === "limited" && limit === null) ? delayOf(reading, about, found.message) : null;
	return {
		outcome,
		until: limit,
		until_assumed: limit !== null && limit === reading.limit?.until ? (reading.limit.assumed ?? null) : null,
		retry_after_ms: delay === null ? null : Math.min(delay, LONGEST_MS),
		session: reading.session ?? found.session ?? null,
		session_gone: found.gone === true,
		outage: found.outage === true,
		used: delta,
		total,
		message: found.message === "" ? null : short(found.message, 4000),
		question: outcome === "needs_human" ? short(found.question ?? found.message, 4000) : null,
		not_understood: reading.not_understood,
		version: reading.version,
		closing_question: outcome === "ok" && format !== "command" ? closingQuestion(reading) : null,
		denied: keptDenied(reading.denied),
	};
}

/** A longer wait is a mistake in the message, and would overflow the range of dates. */
const LONGEST_MS = 366 * 86_400_000;

type Verdict = { outcome: Outcome; message: string; question?: string; gone?: boolean; session?: string; outage?: boolean };

function verdict(format: Format, reading: Reading, exit: Exit, about: About, stderr: string): Verdict {
	const bySignal = (exit.signal ?? null) !== null || SIGNALS.has(exit.code);
	const { circumstances = { changed: null, expect: "any" } } = about;
	if (format === "command") {
		// Output of format `command` is not read, so its last words do not count as a question.
		const expect = circumstances.expect === "change" ? "change" : "none";
		if (exit.code === 0) return { message: reading.message, ...closing(reading, { ...circumstances, expect }) };
		return { outcome: bySignal ? "killed" : "crashed", message: stderr || `exit code ${exit.code}` };
	}
	// A truncated last event of a killed program is not trusted.
	const ended = reading.cut && bySignal ? null : reading.ended;
	if (ended?.how === "well" && isBelieved(ended, reading, exit)) return { message: reading.message, ...closing(reading, circumstances) };
	const { denied } = reading;
	const unread = notUnderstoodWords(reading, about.program, about.job);
	// Exit code 0, but no end that the adapter knows: whatever went wrong before, the program went on and exited well, so a person has to look.
	const isUnread = unread !== null && exit.code === 0 && ended === null && reading.limit === null && denied.length === 0;
	if (isUnread && reading.events > 0) return asks(unread);
	const inUse = /Session ID (\S+) is already in use/.exec(about.stderr)?.[1];
	if (inUse !== undefined) return { outcome: "transient", message: stderr, session: inUse };
	const text = ended?.text || reading.trouble?.text || reading.retry?.text || about.waited?.text || "";
	// The supervisor stopped it while it waited: the cause is what it waited for, not the stop.
	const isStopped = ended === null || ended.cause === "aborted" || ended.cause === "unknown";
	const reported = firstKnown(isStopped ? (about.waited?.cause ?? "unknown") : "unknown", reportedCause({ ...reading, ended }));
	if (reported !== "unknown" && !(reported === "transient" && bySignal && !ended && !about.waited))
		return ofCause(reported, text || stderr);
	if (bySignal && (ended === null || ended.cause === "unknown"))
		return { outcome: "killed", message: text || `ended by ${exit.signal ?? `signal ${exit.code - 128}`}` };
	// If the program reported its end, stderr is not searched: the program has said what was wrong, only without a known cause.
	const elsewhere = firstKnown(
		ended ? "unknown" : ofOthersToo(about.stderr, reading),
		ended ? "unknown" : ofOthersToo(reading.noise, reading),
		ADAPTERS[format].exitCause?.(exit.code) ?? "unknown",
	);
	// stderr also holds words of the agent's tools: once the model has answered, they prove no outage of the provider.
	if (elsewhere !== "unknown") {
		const found = ofCause(elsewhere, text || lineAbout(elsewhere, about.stderr) || reading.noise || stderr || `exit code ${exit.code}`);
		return isAnswered(reading) ? { ...found, outage: false } : found;
	}
	if (ended || reading.trouble) return { outcome: "crashed", message: text || stderr || `exit code ${exit.code}` };
	if (exit.code === TIMED_OUT && reading.events > 0) return { outcome: "killed", message: stderr || "it was ended for taking too long" };
	if (exit.code === 0) {
		// opencode stops after a denied call without a message.
		if (denied.length > 0)
			return {
				outcome: "needs_human",
				message: reading.message || `it was not allowed ${denied[0]}`,
				question: refused(denied, reading.message),
			};
		if (unread !== null) return asks(unread);
		if (reading.events > 0) return { outcome: "transient", message: "it exited with 0, but its output breaks off before the end" };
		return { outcome: "crashed", message: `it exited with 0 and said nothing${stderr ? `: ${stderr}` : ""}` };
	}
	if (exit.code === 127 || exit.code === 126)
		return { outcome: "crashed", message: stderr || `the program was not found (exit code ${exit.code})` };
	const words = stderr || reading.noise || `exit code ${exit.code}`;
	return { outcome: "crashed", message: unread === null || reading.not_understood === 0 ? words : `${words}; ${unread}` };
}

const asks = (unread: string): Verdict => ({
	outcome: "needs_human",
	message: unread,
	question: `its output was not understood, so whether it is done is for you to say: ${unread}`,
});

/** An end without a known word for success counts only if nothing contradicts it. */
const isBelieved = (ended: NonNullable<Reading["ended"]>, { trouble, limit, cut }: Reading, exit: Exit): boolean =>
	ended.doubtful !== true || (exit.code === 0 && !cut && trouble === null && limit === null);

/**
 * Tools write to stderr, too. If the model has answered, the account is logged in and paid for: an auth or billing error there comes from a tool, and must
 * not close the account.
 */
function ofOthersToo(text: string, { message, tool_calls, not_understood }: Reading): Cause {
	const cause = causeOfText(text);
	// A line that was not understood may have been an answer.
	const isAnswered = message !== "" || tool_calls > 0 || not_understood > 0;
	return isAnswered && (cause === "auth" || cause === "billing") ? "unknown" : cause;
}

/** The cause according to the events. */
function reportedCause({ ended, limit, trouble, retry }: Reading): Cause {
	const hard: Cause[] = ["budget", "context", "aborted", "session_gone"];
	if (ended && hard.includes(ended.cause)) return ended.cause;
	if (limit) return "limited";
	return firstKnown(trouble?.cause ?? "unknown", ended?.cause ?? "unknown", retry?.cause ?? "unknown");
}

function ofCause(cause: Exclude<Cause, "unknown">, message: string): Verdict {
	if (cause === "aborted") return { outcome: "killed", message };
	if (cause === "session_gone") return { outcome: "transient", message, gone: true };
	return { outcome: cause, message, outage: cause === "transient" };
}

function limitEnd({ limit, trouble }: Reading, about: About, text: string): number | null {
	return about.reset ?? limit?.until ?? trouble?.until ?? momentIn(text, about.now, about.timezone) ?? null;
}

function delayOf({ trouble, retry }: Reading, { stderr, waited }: About, text: string): number | null {
	return delayIn(text) ?? trouble?.retry_after_ms ?? retry?.retry_after_ms ?? waited?.retry_after_ms ?? delayIn(stderr) ?? null;
}

/** The line that names the cause: the last line of a stack trace says nothing. */
function lineAbout(cause: Cause, stderr: string): string {
	const lines = stderr.split(/[\r\n]+/).filter((line) => causeOfText(line) === cause);
	return short(lastLine(lines.at(-1) ?? ""), 1000);
}

/** The exit kind for the scheduler. A transient error counts as a crash, after which agents are retried. */
export const exitKindFor = (outcome: Outcome, judgedBy: "output" | "exit code"): ExitKind =>
	outcome === "crashed" && judgedBy === "exit code" ? "failed" : EXIT_KINDS[outcome];

const EXIT_KINDS: Record<Outcome, ExitKind> = {
	ok: "completed",
	needs_human: "needs_human",
	limited: "rate_limited",
	throttled: "rate_limited",
	auth: "rate_limited",
	billing: "rate_limited",
	budget: "cancelled",
	context: "failed",
	transient: "crashed",
	killed: "crashed",
	crashed: "crashed",
};
