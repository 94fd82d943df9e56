// Reads the configuration of an agent's output, and refuses mistakes with the place, what is wrong, and what to write instead.

import { given } from "../../given.ts";
import * as check from "../../input/check.ts";
import { compilePattern } from "../../text/pattern.ts";
import { PatternFault } from "../../text/pattern-chars.ts";
import { OUTCOMES } from "../stream/happening.ts";
import type { OutcomeRule, OwnReading, UsageRule } from "./outcomes.ts";

const RULES_MAX = 50;
/** Maximum characters of a pattern. */
const MAX_PATTERN_CHARACTERS = 500;
const RULE_KEYS = ["exit", "stdout", "stderr", "match", "recovered", "is", "retry_after", "until"] as const;
const PATTERNS = ["stdout", "stderr", "match", "recovered", "retry_after", "until"] as const;
const USAGE_KEYS = ["tokens", "cost", "count", "input_includes_cache"] as const;

/** `groups`: whether the pattern must have a capture group. */
export function readPattern(value: unknown, field: string, groups: "captures" | "any"): string {
	const source = check.text(value, field, { max: MAX_PATTERN_CHARACTERS, lines: "one" });
	if (source === "") throw check.wrong(field, "is empty: it would match every line");
	try {
		const pattern = compilePattern(source, { ignoreCase: true });
		if (groups === "captures" && pattern.groups === 0)
			throw check.wrong(field, "captures nothing", `put what is meant in parentheses, for example 'retry in (\\d+)s'`);
		return source;
	} catch (error) {
		if (!(error instanceof PatternFault)) throw error;
		throw check.wrong(
			field,
			`${error.message} (character ${error.at + 1} of ${check.shown(source)})`,
			"docs/agents.md, Agents of your own, says what a pattern may hold",
		);
	}
}

/** Reads `outcomes`, `usage` and `session` as a run's folder stores them. */
export function readOwn(value: unknown, field: string): OwnReading {
	const { outcomes, usage, session } = check.record(value, field);
	return given({
		outcomes: outcomes === undefined ? undefined : readOutcomes(outcomes, `${field}.outcomes`),
		usage: usage === undefined ? undefined : readUsage(usage, `${field}.usage`),
		session: session === undefined ? undefined : readPattern(session, `${field}.session`, "captures"),
	});
}

export function readOutcomes(value: unknown, field: string): OutcomeRule[] {
	return check.list(value, field, RULES_MAX).map((one, index) => readRule(one, `${field}[${index}]`));
}

function readRule(value: unknown, field: string): OutcomeRule {
	const given = check.record(value, field);
	check.knownKeys(given, RULE_KEYS, field);
	if (given.is === undefined) throw check.wrong(field, "names no outcome", "add is: limited, throttled, transient, auth …");
	const is = check.oneOf(given.is, [...OUTCOMES, "session_gone"] as const, `${field}.is`);
	const rule: OutcomeRule = { is };
	if (given.exit !== undefined) rule.exit = readCodes(given.exit, `${field}.exit`);
	for (const key of PATTERNS) {
		if (given[key] === undefined) continue;
		rule[key] = readPattern(given[key], `${field}.${key}`, key === "retry_after" || key === "until" ? "captures" : "any");
	}
	const looks = rule.stdout ?? rule.stderr ?? rule.match;
	if (rule.exit === undefined && looks === undefined)
		throw check.wrong(field, "fits every run", "say which: exit: 75, or stdout, stderr or match with a pattern");
	if (rule.match !== undefined && (rule.stdout ?? rule.stderr) !== undefined)
		throw check.wrong(field, "has match and a stream", "match looks at both streams: leave it out, or leave out stdout and stderr");
	if (rule.recovered !== undefined && looks === undefined)
		throw check.wrong(`${field}.recovered`, "belongs to a pattern", "add stdout, stderr or match");
	if (rule.until !== undefined && is !== "limited")
		throw check.wrong(`${field}.until`, "belongs to is: limited", "a wait in seconds is retry_after");
	if (rule.retry_after !== undefined && is !== "limited" && is !== "throttled")
		throw check.wrong(`${field}.retry_after`, "belongs to is: throttled or is: limited", "leave it out");
	return rule;
}

const readCodes = (value: unknown, field: string): number[] =>
	(Array.isArray(value) ? value : [value]).map((code, index) =>
		check.integer(code, Array.isArray(value) ? `${field}[${index}]` : field, 0, 255),
	);

export function readUsage(value: unknown, field: string): UsageRule {
	const given = check.record(value, field);
	check.knownKeys(given, USAGE_KEYS, field);
	const usage: UsageRule = {};
	if (given.tokens !== undefined) usage.tokens = readPattern(given.tokens, `${field}.tokens`, "captures");
	if (given.cost !== undefined) usage.cost = readPattern(given.cost, `${field}.cost`, "captures");
	if (given.count !== undefined) usage.count = check.oneOf(given.count, ["sum", "last"] as const, `${field}.count`);
	if (given.input_includes_cache !== undefined)
		usage.input_includes_cache = check.flag(given.input_includes_cache, `${field}.input_includes_cache`);
	return usage;
}
