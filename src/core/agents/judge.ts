// What became of an agent's run, from what it wrote and how it exited. The first row that fits counts.
//
//   it told of                                        outcome
//   (format `command`)                                ok for exit code 0, killed for a signal, else crashed
//   an end, well                                      ok, or needs_human if it got nowhere: closing.ts
//   a budget, a full context, being stopped           budget, context, killed
//   a limit of its plan                               limited, until it resets
//   an error with a cause                             that cause
//   retries that went on to the last                  their cause
//   a limit whose end it waited for, until stopped    that limit
//   nothing, and a signal                             killed
//   nothing, but stderr or the exit code has a cause  that cause
//   lines that are not understood, exit code 0        needs_human: see not-understood.ts
//   a beginning without an end, exit code 0           transient: it can go on where it broke off
//   nothing at all                                    crashed
//
// An exit code of 0 is not enough, nor is another one.

import type { ExitKind } from "../job.ts";
import { causeOfText, delayIn, momentIn } from "./causes.ts";
import { type Circumstances, closing, closingQuestion, refused } from "./closing.ts";
import { keptDenied } from "./denied.ts";
import { causeOfGeminiExit, withErrorOnStderr } from "./gemini.ts";
import type { Cause, Outcome, Trouble, Used } from "./happening.ts";
import { momentOr, short } from "./json.ts";
import { notUnderstoodWords, type Program } from "./not-understood.ts";
import type { Format } from "./profile.ts";
import { isAnswered, type Reading } from "./reading.ts";
import { settleUsage } from "./usage.ts";

/** As a shell would say it: 128 + n for a signal. `signal` where it is known for certain. */
export type Exit = { code: number; signal?: string | null };
export type About = {
	/** The end of what it wrote to stderr. */
	stderr: string;
	/** Epoch milliseconds, and the zone of times without one. */
	now: number;
	timezone: string;
	/** What its session had used before; null when that is not known. */
	before: Used | null;
	/** Whether the job has changed something, and whether it was expected to; absent: unknown, and either way. */
	circumstances?: Circumstances;
	/** When the limit ends, from elsewhere. */
	reset?: number | null;
	/** It was stopped because it waited for this, or tried against it again and again, by itself. */
	waited?: Trouble | null;
	/** Said of output that was not understood. */
	program?: Program;
	job?: number;
};

export type Judgement = {
	outcome: Outcome;
	until: number | null;
	/** What `until` was taken from, where the provider named no reset. */
	until_assumed: string | null;
	retry_after_ms: number | null;
	session: string | null;
	/** What was to be resumed is not there. */
	session_gone: boolean;
	used: Used;
	/** The session's mark from now on; null when nobody knows. */
	total: Used | null;
	/** Transient, and the provider's doing: it is down, overloaded or cannot be reached. */
	outage: boolean;
	/** What it said last, or what was wrong. */
	message: string | null;
	question: string | null;
	/** Lines of JSON that the adapter knows nothing of. */
	not_understood: number;
	/** The program's version, where its output tells it. */
	version: string | null;
	/** What its last words ask, though it is not stopped by that. */
	closing_question: string | null;
	/** Tool calls that it was not allowed to make. */
	denied: string[];
};

const SIGNALS = new Set([129, 130, 131, 134, 137, 143]);
/** What `timeout` exits with: it was ended from outside. */
const TIMED_OUT = 124;

export function judge(format: Format, read: Reading, exit: Exit, about: About): Judgement {
	const reading = format === "gemini" ? withErrorOnStderr(read, about.stderr, about.now) : read;
	const { delta, total } = settleUsage(reading, about.before);
	const stderr = lastLine(about.stderr);
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

/** What asks to wait for longer than a year is a mistake, and would end after the last date there is. */
const LONGEST_MS = 366 * 86_400_000;

type Verdict = { outcome: Outcome; message: string; question?: string; gone?: boolean; session?: string; outage?: boolean };

function verdict(format: Format, reading: Reading, exit: Exit, about: About, stderr: string): Verdict {
	const bySignal = (exit.signal ?? null) !== null || SIGNALS.has(exit.code);
	const { circumstances = { changed: null, expect: "any" } } = about;
	if (format === "command") {
		// What such a program prints is not read: its last words are no one's question.
		const expect = circumstances.expect === "change" ? "change" : "none";
		if (exit.code === 0) return { message: reading.message, ...closing(reading, { ...circumstances, expect }) };
		return { outcome: bySignal ? "killed" : "crashed", message: stderr || `exit code ${exit.code}` };
	}
	// Half a last word of one that was killed is not its word.
	const ended = reading.cut && bySignal ? null : reading.ended;
	if (ended?.how === "well" && isBelieved(ended, reading, exit)) return { message: reading.message, ...closing(reading, circumstances) };
	const { denied } = reading;
	const unread = notUnderstoodWords(reading, about.program, about.job);
	// Whatever went wrong before, the program went on, and ended well by its own account.
	const isUnread = unread !== null && exit.code === 0 && ended === null && reading.limit === null && denied.length === 0;
	if (isUnread && reading.events > 0) return asks(unread);
	const inUse = /Session ID (\S+) is already in use/.exec(about.stderr)?.[1];
	if (inUse !== undefined) return { outcome: "transient", message: stderr, session: inUse };
	const text = ended?.text || reading.trouble?.text || reading.retry?.text || about.waited?.text || "";
	// Stopped while it waited: that it was stopped is no news.
	const isStopped = ended === null || ended.cause === "aborted" || ended.cause === "unknown";
	const told = firstKnown(isStopped ? (about.waited?.cause ?? "unknown") : "unknown", causeTold({ ...reading, ended }));
	if (told !== "unknown" && !(told === "transient" && bySignal && !ended && !about.waited)) return ofCause(told, text || stderr);
	if (bySignal && (ended === null || ended.cause === "unknown"))
		return { outcome: "killed", message: text || `ended by ${exit.signal ?? `signal ${exit.code - 128}`}` };
	// It has said what was wrong; only the cause is not known.
	const elsewhere = firstKnown(
		ended ? "unknown" : ofOthersToo(about.stderr, reading),
		ended ? "unknown" : ofOthersToo(reading.noise, reading),
		format === "gemini" ? causeOfGeminiExit(exit.code) : "unknown",
	);
	// Words of its tools are among these: once the model has answered, nothing is said of the provider by them.
	if (elsewhere !== "unknown") {
		const found = ofCause(elsewhere, text || lineAbout(elsewhere, about.stderr) || reading.noise || stderr || `exit code ${exit.code}`);
		return isAnswered(reading) ? { ...found, outage: false } : found;
	}
	if (ended || reading.trouble) return { outcome: "crashed", message: text || stderr || `exit code ${exit.code}` };
	if (exit.code === TIMED_OUT && reading.events > 0) return { outcome: "killed", message: stderr || "it was ended for taking too long" };
	if (exit.code === 0) {
		// opencode stops there, without a word.
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

/** An end without the words that are known for success counts only where nothing else speaks against it. */
const isBelieved = (ended: NonNullable<Reading["ended"]>, { trouble, limit, cut }: Reading, exit: Exit): boolean =>
	ended.doubtful !== true || (exit.code === 0 && !cut && trouble === null && limit === null);

/** Its tools write there, too. Whom the model has answered is logged in and has paid: that is somebody else's trouble, and must not close the account. */
function ofOthersToo(text: string, { message, tool_calls, not_understood }: Reading): Cause {
	const cause = causeOfText(text);
	// What was not understood may have been an answer.
	const isAnswered = message !== "" || tool_calls > 0 || not_understood > 0;
	return isAnswered && (cause === "auth" || cause === "billing") ? "unknown" : cause;
}

/** The events' own account of what was wrong. */
function causeTold({ ended, limit, trouble, retry }: Reading): Cause {
	const hard: Cause[] = ["budget", "context", "aborted", "session_gone"];
	if (ended && hard.includes(ended.cause)) return ended.cause;
	if (limit) return "limited";
	return firstKnown(trouble?.cause ?? "unknown", ended?.cause ?? "unknown", retry?.cause ?? "unknown");
}

const firstKnown = (...causes: Cause[]): Cause => causes.find((cause) => cause !== "unknown") ?? "unknown";

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

function lastLine(text: string): string {
	const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
	return plain(lines.at(-1) ?? "");
}

/** A stack trace ends in words that say nothing. */
function lineAbout(cause: Cause, stderr: string): string {
	const lines = stderr.split(/[\r\n]+/).filter((line) => causeOfText(line) === cause);
	return plain(lines.at(-1) ?? "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
const plain = (line: string) => short(line.replace(/\u001b\[[0-9;]*m/g, "").trim(), 1000);

/** The run's end as the scheduler counts it. A transient error is a crash to it: agents are tried again after those. */
export function exitKindFor(format: Format, outcome: Outcome): ExitKind {
	switch (outcome) {
		case "ok":
			return "completed";
		case "needs_human":
			return "needs_human";
		case "limited":
		case "throttled":
		case "auth":
		case "billing":
			return "rate_limited";
		case "budget":
			return "cancelled";
		case "context":
			return "failed";
		case "transient":
		case "killed":
			return "crashed";
		case "crashed":
			return format === "command" ? "failed" : "crashed";
		default:
			return outcome satisfies never;
	}
}
