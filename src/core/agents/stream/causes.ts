// Why a model call failed: derived from the HTTP status, or from prose if there is nothing better. Applied only to text that an agent reports as an error,
// never to its other output.

import { isTimezone, windowEnd, windowStart } from "../../time/window.ts";
import type { Cause } from "./happening.ts";
import { numberOr } from "./json.ts";

export const firstKnown = (...causes: Cause[]): Cause => causes.find((cause) => cause !== "unknown") ?? "unknown";

/** The cause that a program's own word stands for. */
export const causeIn = (words: Readonly<Record<string, Cause>>, word: unknown): Cause =>
	(typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined) ?? "unknown";

export function causeOfStatus(value: unknown): Cause {
	const status = numberOr(value);
	if (status === undefined) return "unknown";
	if (status === 429) return "throttled";
	if (status === 401 || status === 403) return "auth";
	if (status === 402) return "billing";
	if (status === 413) return "context";
	if (status === 408 || status >= 500) return "transient";
	return "unknown";
}

/** The first match wins. Limits come before billing, because messages about limits often say how to buy more. */
const WORDS: readonly [Cause, RegExp][] = [
	[
		"session_gone",
		/no conversation found|no rollout found|session (?:\S+ )?not found|invalid session identifier|no (?:previous )?sessions? found/i,
	],
	["limited", /usage limit|(?<!rate )limit reached|hit your [\w-]+ limit|daily quota|quota.{0,40}per ?day|weekly limit/i],
	["throttled", /\b429\b|too many requests|rate.?limit|resource.?exhausted|(?:retry|try again) (?:in|after) \d/i],
	[
		"billing",
		/credit balance|insufficient.?(?:quota|funds)|billing|payment required|out of credits|quota exceeded|spend(?:ing)? (?:cap|limit)/i,
	],
	[
		"auth",
		/\b401\b|unauthori[sz]ed|api.?key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect|missing) (?:x-)?api.?key|not logged in|please run \/login|log ?in required|authentication|invalid_grant|auth method|oauth token|\b403 forbidden/i,
	],
	["context", /context.?(?:window|length)|prompt is too long|maximum context|input is too long|exceeds the maximum number of tokens/i],
	["budget", /maximum budget|maximum number of turns|max.?(?:session.?)?turns|turn limit/i],
	["needs_human", /not (?:running in|inside) a trusted directory|untrusted workspace/i],
	[
		"transient",
		/overload|at capacity|high demand|server error|unavailable|bad gateway|\b5\d\d\b|timed? ?out|econnre|enotfound|eai_again|socket hang up|network error|stream (?:disconnected|error)|fetch failed|connection (?:was |is )?(?:error|failed|reset|refused|closed|lost|aborted)|(?:cannot|could not|can.t|unable to|failed to) connect|error sending request|(?:error: |^)terminated\b|other side closed|und_err_|epipe|premature close|incomplete json segment|stream (?:ended|closed) (?:unexpectedly|before|without)/im,
	],
];

/** `index.js:429:10`, `line 401`: numbers that are not an HTTP status. */
const POSITION = /(?<=\.\w{1,5}):\d+(?::\d+)?|\blines? \d+/gi;

export function causeOfText(text: string): Cause {
	const words = text.replace(POSITION, "");
	return WORDS.find(([, pattern]) => pattern.test(words))?.[0] ?? "unknown";
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "Please try again in 1.5s", "in 6m0s", "Retrying after 35820ms": the last match wins. */
export function delayIn(text: string): number | undefined {
	const found = [
		...text.matchAll(
			/(?:retry(?:ing)?|try again) (?:in|after) ((?:\d{1,9}(?:\.\d{1,6})? ?(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z]) ?)+)/gi,
		),
	];
	const [, spans] = found.at(-1) ?? [];
	if (spans === undefined) return undefined;
	let sum = 0;
	for (const [, amount, unit = ""] of spans.matchAll(/(\d{1,9}(?:\.\d{1,6})?) ?([a-z]+)/gi)) {
		const short = /^(?:ms|milli)/i.test(unit) ? "ms" : unit.slice(0, 1).toLowerCase();
		sum += Number(amount) * (UNITS[short] ?? 1000);
	}
	return Math.ceil(sum);
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY = 86_400_000;
/** A time of day that passed less than this ago means today, not tomorrow. */
const JUST_NOW = 15 * 60_000;

/**
 * "resets 10:01pm (UTC)", "try again at Nov 18th, 2026 10:05 PM", "regain access on 2026-12-01 at 00:00 UTC": in the zone that the text names, else in
 * `timezone`.
 */
export function momentIn(text: string, now: number, timezone: string): number | undefined {
	const epoch = /limit reached\|(\d{10})\b/.exec(text)?.[1];
	if (epoch !== undefined) return Number(epoch) * 1000;
	const [, written, time] = /(?:regain access|try again|resets?)(?: at| on)? (\d{4}-\d\d-\d\d)(?: at |T| )(\d\d:\d\d)/i.exec(text) ?? [];
	if (written !== undefined) return Date.parse(`${written}T${time}:00Z`) || undefined;
	const match =
		/(?:resets?|try again|available)(?: again)?(?: at| on)? (?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}),?)?(?: at)? )?(\d{1,2})(?::(\d\d))? ?(am|pm)(?: \(([\w/+-]+)\))?/i.exec(
			text,
		);
	if (!match) return undefined;
	const [, month, day, year, hour, minute = "0", half, named] = match;
	const zone = named !== undefined && isTimezone(named) ? named : timezone;
	const clock = (((Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0)) * 60 + Number(minute)) * 60_000;
	if (month === undefined) {
		const today = windowStart("day", now, zone) + clock;
		return today > now - JUST_NOW ? today : windowEnd("day", now, zone) + clock;
	}
	const index = MONTHS.indexOf(month.toLowerCase());
	if (index < 0) return undefined;
	const noon = (of: number) => Date.UTC(of, index, Number(day), 12);
	const thisYear = new Date(now).getUTCFullYear();
	const date = year !== undefined ? noon(Number(year)) : noon(thisYear) > now - 180 * DAY ? noon(thisYear) : noon(thisYear + 1);
	return windowStart("day", date, zone) + clock;
}

/** Whether a tool's answer says that the call was refused. */
export const isDenial = (text: string): boolean =>
	/rejected permission|permission (?:was |has been )?(?:denied|rejected) (?:by|for)|requires (?:user )?(?:approval|confirmation)|haven't granted|denied by (?:policy|user)|auto-rejecting|specified a rule which prevents you from using|was blocked\. for security/i.test(
		text,
	);
