// Configured rules for an agent's output (`outcomes`, `usage`, `session`): exit codes and patterns that name an outcome, and where usage and session are found.
//
// Rules are tried in order, and the first match wins, also for exit code 0: some programs exit with 0 at a limit. If no rule matches, the judgement of the
// agent's `output` stands (for `command`: the exit code).

import { compilePattern, type Pattern } from "../../text/pattern.ts";
import { withoutEnd } from "../../text/text-end.ts";
import { type About, type Exit, exitKindFor, type Judgement, judge } from "../judge.ts";
import type { Format } from "../profile.ts";
import { delayIn, momentIn } from "../stream/causes.ts";
import type { Outcome, Used } from "../stream/happening.ts";
import { NOTHING } from "../stream/happening.ts";
import { countIn, microIn, momentOr, short } from "../stream/json.ts";
import { createLines } from "../stream/lines.ts";
import type { Reading } from "../stream/reading.ts";
import { plus } from "../stream/usage.ts";

/** All given conditions must match. A pattern has to match within one line. */
export type OutcomeRule = {
	exit?: number[];
	stdout?: string;
	stderr?: string;
	/** On stdout or stderr. */
	match?: string;
	/** If a later line of the same stream matches this, the program recovered, and the rule does not apply. */
	recovered?: string;
	is: Outcome | "session_gone";
	/** With a group: how long to wait, in seconds unless the text names a unit. */
	retry_after?: string;
	/** With a group: when the limit ends. */
	until?: string;
};
export type UsageRule = {
	/** With groups, whose numbers are added up. */
	tokens?: string;
	/** With a group: dollars. */
	cost?: string;
	/** How several matching lines combine: `sum` adds them, with `last` the last line has the total. */
	count?: "sum" | "last";
	/** `input_tokens` includes cached tokens. */
	input_includes_cache?: boolean;
};
export type OwnReading = { outcomes?: OutcomeRule[]; usage?: UsageRule; session?: string };
type Stream = "stdout" | "stderr";

/** Patterns see at most this many characters of a line. */
const LINE_MAX = 4096;
const DELAY_MAX_MS = 366 * 86_400_000;
const KEEPS_SESSION = /^[\w][\w.:-]{0,199}$/;

export type Watch = {
	/** A piece of stdout. */
	stdout(bytes: Uint8Array): void;
	/** Takes the end of stderr, at the first call, and judges the run. */
	judge(format: Format, reading: Reading, exit: Exit, about: About): OwnJudgement;
};
/** `rule`: index of the rule that named the outcome; null if none did. */
export type OwnJudgement = Judgement & { rule: number | null };

/** The exit kind for the scheduler. A command whose rule says `crashed` counts as a crashed agent, so it is retried. */
export const exitKindOf = (format: Format, { outcome, rule }: OwnJudgement) =>
	exitKindFor(outcome, rule === null && format === "command" ? "exit code" : "output");

type Seen = { rule: OutcomeRule; line: Record<Stream, string | null>; delay: string | null; until: string | null };

export function createWatch(own: OwnReading): Watch {
	const patterns = new Map<string, Pattern>();
	let lowered = "";
	const on = (source: string | undefined, line: string) => {
		if (source === undefined) return null;
		const pattern = patterns.get(source) ?? compilePattern(source, { ignoreCase: true });
		patterns.set(source, pattern);
		return pattern.exec(line, lowered)?.groups ?? null;
	};
	const seen: Seen[] = (own.outcomes ?? []).map((rule) => ({ rule, line: { stdout: null, stderr: null }, delay: null, until: null }));
	const usage = own.usage ?? {};
	let tokens: number | null = null;
	let cost: number | null = null;
	let session: string | null = null;

	const look = (stream: Stream, text: string): void => {
		const line = text.slice(0, LINE_MAX).replace(/\r$/, "");
		lowered = line.toLowerCase();
		for (const one of seen) {
			const { rule } = one;
			if (on(rule[stream] ?? rule.match, line) !== null) one.line[stream] = line;
			else if (one.line[stream] !== null && on(rule.recovered, line) !== null) one.line[stream] = null;
			one.delay = on(rule.retry_after, line)?.[1] ?? one.delay;
			one.until = on(rule.until, line)?.[1] ?? one.until;
		}
		if (stream === "stderr") return;
		const used = on(usage.tokens, line)
			?.slice(1)
			.reduce((sum: number, group) => sum + (amountIn(group) ?? 0), 0);
		if (used !== undefined) tokens = usage.count === "last" ? used : (tokens ?? 0) + used;
		const dollars = amountIn(on(usage.cost, line)?.[1]);
		if (dollars !== undefined) cost = usage.count === "last" ? dollars : (cost ?? 0) + dollars;
		const id = on(own.session, line)?.[1];
		if (id !== undefined && KEEPS_SESSION.test(id)) session = id;
	};
	const lines = createLines((line) => look("stdout", line));
	let isOver = false;

	const judgeWith = (format: Format, reading: Reading, exit: Exit, about: About): OwnJudgement => {
		if (!isOver) {
			isOver = true;
			const rest = lines.end();
			if (rest !== null) look("stdout", rest);
			for (const line of about.stderr.split("\n")) look("stderr", line);
		}
		const matched = tokens === null && cost === null ? null : { ...NOTHING, tokens: countIn(tokens ?? 0), cost_micro: microIn(cost) };
		const counted = withUsage(reading, usage, matched);
		const plain = judge(format, session === null ? counted : { ...counted, session }, exit, about);
		const rule = seen.findIndex((one) => fits(one, exit));
		const found = seen[rule];
		return found === undefined ? { ...plain, rule: null } : { ...ruled(found, plain, exit, about), rule };
	};
	return { stdout: (bytes) => lines.push(bytes), judge: judgeWith };
}

function fits({ rule, line }: Seen, exit: Exit): boolean {
	if (rule.exit !== undefined && !rule.exit.includes(exit.code)) return false;
	if (rule.stdout !== undefined && line.stdout === null) return false;
	if (rule.stderr !== undefined && line.stderr === null) return false;
	return rule.match === undefined || line.stdout !== null || line.stderr !== null;
}

function ruled({ rule, line, delay, until }: Seen, plain: Judgement, exit: Exit, about: About): Judgement {
	const outcome = rule.is === "session_gone" ? "transient" : rule.is;
	const words = line.stderr ?? line.stdout;
	const message =
		words === null ? (outcome === "ok" ? plain.message : `exit code ${exit.code}`) : outcome === "ok" ? plain.message : words.trim();
	const isHeld = outcome === "limited" || outcome === "throttled";
	const end = outcome === "limited" ? (momentOf(until, about) ?? momentOr(momentIn(message ?? "", about.now, about.timezone) ?? 0)) : null;
	const wait = isHeld && end === null ? (spanOf(delay) ?? delayIn(message ?? "") ?? null) : null;
	return {
		...plain,
		outcome,
		until: end,
		retry_after_ms: wait === null ? null : Math.min(wait, DELAY_MAX_MS),
		session_gone: rule.is === "session_gone",
		// A rule that says `transient` means that the provider is down: the account is held, and the job uses up no retry.
		outage: rule.is === "transient",
		message: message === null ? null : short(message, 4000),
		question: outcome === "needs_human" ? short(plain.question ?? message ?? "the agent asks for a person", 4000) : null,
	};
}

/** Usage from the configured patterns takes precedence over usage from the format. */
function withUsage(reading: Reading, usage: UsageRule, matched: Used | null): Reading {
	if (matched !== null && usage.count === "last") return { ...reading, steps: null, total: { scope: "process", used: matched } };
	if (matched !== null) return { ...reading, steps: plus(NOTHING, matched), total: null };
	if (usage.input_includes_cache !== true) return reading;
	const once = (used: Used): Used => ({ ...used, tokens: Math.min(used.tokens, used.input_tokens + used.output_tokens) });
	const { steps, total } = reading;
	return {
		...reading,
		steps: steps && once(steps),
		total: total && { ...total, used: once(total.used), own: total.own && once(total.own) },
	};
}

const FACTORS: Record<string, number> = { k: 1000, m: 1_000_000, b: 1_000_000_000 };

/** "4.5k", "8,975", "0.0042", "1.2M". */
export function amountIn(text: string | undefined): number | undefined {
	const [, digits, factor = ""] = /^(?:\$\s*)?(\d[\d.,]*)\s*([kmb])?$/i.exec((text ?? "").trim()) ?? [];
	if (digits === undefined) return undefined;
	const number = Number(digits.replaceAll(",", ""));
	return Number.isFinite(number) ? number * (FACTORS[factor.toLowerCase()] ?? 1) : undefined;
}

/** "30" (seconds), "1.5s", "2 minutes", "6m0s". */
export function spanOf(text: string | null): number | null {
	if (text === null) return null;
	const bare = amountIn(text);
	if (bare !== undefined && /^[\s\d.]+$/.test(text)) return Math.ceil(bare * 1000);
	return delayIn(`retry in ${text.trim()}`) ?? null;
}

/** "2026-12-01T00:00:00Z", "1794780092" (seconds or milliseconds since 1970), "10:05 PM", "Nov 18, 10pm (UTC)", "10/2/2026". */
export function momentOf(text: string | null, { now, timezone }: Pick<About, "now" | "timezone">): number | null {
	if (text === null) return null;
	const said = text.trim().replace(/(\d) at (?=\d)/, "$1 ");
	const bare = withoutEnd(said, ".,;*)");
	const words = said.slice(bare.length).includes(")") && text.includes("(") ? `${bare})` : bare;
	if (/^\d{10}$/.test(words)) return momentOr(Number(words) * 1000);
	if (/^\d{13}$/.test(words)) return momentOr(Number(words));
	if (/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?$/.test(words)) {
		const iso = words
			.replace(" UTC", "Z")
			.replace(/^(\S+) (\d\d:)/, "$1T$2")
			.replace(" ", "");
		return momentOr(Date.parse(/T[^T]*(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso.includes("T") ? iso : `${iso}T00:00:00`}Z`) || 0);
	}
	const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(words) ?? [];
	if (year !== undefined) return momentOr(Date.UTC(Number(year), Number(month) - 1, Number(day)));
	return momentOr(momentIn(`resets at ${words}`, now, timezone) ?? 0);
}
