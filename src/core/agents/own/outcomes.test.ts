// Configured rules for an agent's output: which rule applies, what it captures, and what is refused.

import { describe, expect, test } from "vitest";
import { capture, THEN } from "../../../../test/make/agents/capture.ts";
import type { Format } from "../profile.ts";
import { NOTHING } from "../stream/happening.ts";
import { createReader } from "../stream/reading.ts";
import { readOwn } from "./outcome-input.ts";
import { amountIn, createWatch, exitKindOf, momentOf, spanOf } from "./outcomes.ts";

type Output = { stdout?: string; stderr?: string; code?: number; format?: Format };
function judged(own: unknown, { stdout = "", stderr = "", code = 0, format = "command" }: Output) {
	const watch = createWatch(readOwn(own, "agents.mine"));
	const reader = createReader(format);
	for (let at = 0; at < stdout.length; at += 7) {
		const bytes = Buffer.from(stdout.slice(at, at + 7));
		reader.push(bytes);
		watch.stdout(bytes);
	}
	const found = watch.judge(format, reader.end(), { code }, { stderr, now: THEN, timezone: "UTC", before: NOTHING });
	return { ...found, exit: exitKindOf(format, found) };
}
const outcomes = (...rules: object[]) => ({ outcomes: rules });

describe("which rule counts", () => {
	test.each<[string, object[], Output, string, string, number | null]>([
		["none: the exit code", [{ exit: 75, is: "throttled" }], { code: 1, stderr: "no\n" }, "crashed", "failed", null],
		["none: exit code 0", [{ exit: 75, is: "throttled" }], { stdout: "fine\n" }, "ok", "completed", null],
		["by exit code", [{ exit: 75, is: "throttled" }], { code: 75 }, "throttled", "rate_limited", 0],
		["a failure that is success", [{ exit: [3, 4], is: "ok" }], { code: 4, stdout: "nothing to do\n" }, "ok", "completed", 0],
		[
			"the first of two",
			[
				{ match: "b", is: "auth" },
				{ match: "a", is: "billing" },
			],
			{ stdout: "a\nb\n" },
			"auth",
			"rate_limited",
			0,
		],
		["by stderr alone", [{ stderr: "429", is: "throttled" }], { stdout: "429\n", code: 1, stderr: "x" }, "crashed", "failed", null],
		[
			"exit code 0 with a limit",
			[{ stdout: "^usage limit", is: "limited" }],
			{ stdout: "Usage limit reached\r\n" },
			"limited",
			"rate_limited",
			0,
		],
		["both must fit", [{ exit: 1, stdout: "no money", is: "billing" }], { stdout: "no money\n", code: 2 }, "crashed", "failed", null],
		["both streams must fit", [{ stdout: "a", stderr: "b", is: "auth" }], { stdout: "a\n", code: 1 }, "crashed", "failed", null],
		["got over it", [{ stdout: "429", recovered: "^done", is: "throttled" }], { stdout: "429\ndone\n" }, "ok", "completed", null],
		["and again", [{ stdout: "429", recovered: "^done", is: "throttled" }], { stdout: "429\ndone\n429" }, "throttled", "rate_limited", 0],
		["a crash is repeated", [{ exit: 70, is: "crashed" }], { code: 70 }, "crashed", "crashed", 0],
		["transient", [{ exit: 69, is: "transient" }], { code: 69 }, "transient", "crashed", 0],
		["context", [{ exit: 2, is: "context" }], { code: 2 }, "context", "failed", 0],
		["budget", [{ exit: 2, is: "budget" }], { code: 2 }, "budget", "cancelled", 0],
		["a person", [{ stdout: "\\?$", is: "needs_human" }], { stdout: "blue or red?\n" }, "needs_human", "needs_human", 0],
	])("%s", (_name, rules, output, outcome, exit, rule) => {
		const found = judged(outcomes(...rules), output);
		expect([found.outcome, found.exit, found.rule]).toEqual([outcome, exit, rule]);
		if (outcome === "needs_human") expect(found.question).toBe("blue or red?");
	});

	test("only transient is an outage of the provider, also for a program that is judged by its exit code", () => {
		expect(judged(outcomes({ exit: 69, is: "transient" }), { code: 69 })).toMatchObject({ outcome: "transient", outage: true });
		for (const is of ["crashed", "throttled", "session_gone", "ok"])
			expect(judged(outcomes({ exit: 69, is }), { code: 69 }).outage).toBe(false);
		// The rule overrides what the program's own words would have meant.
		const down = { stdout: capture("claude-529").stdout.toString(), code: 1, format: "claude" as const };
		expect(judged({}, down).outage).toBe(true);
		expect(judged(outcomes({ exit: 1, is: "crashed" }), down)).toMatchObject({ outcome: "crashed", outage: false });
	});

	test("a session that is gone", () => {
		expect(judged(outcomes({ stderr: "no such session", is: "session_gone" }), { code: 1, stderr: "No such session x\n" })).toMatchObject({
			outcome: "transient",
			session_gone: true,
		});
	});

	test("with a format: the rule comes first, and other values of the format stay", () => {
		const { stdout } = capture("claude-ok");
		const output = { stdout: stdout.toString(), format: "claude" as const };
		expect(judged(outcomes({ exit: 0, stdout: "hello from fake", is: "needs_human" }), output)).toMatchObject({
			outcome: "needs_human",
			session: expect.stringMatching(/^\w{8}-/),
			used: { tokens: 4207 },
		});
		expect(judged(outcomes({ exit: 9, is: "auth" }), output)).toMatchObject({ outcome: "ok", rule: null });
	});
});

describe("captures", () => {
	test("how long to wait, and until when", () => {
		const rule = { match: "slow down", is: "throttled", retry_after: "retry in (\\d+)s" };
		expect(judged(outcomes(rule), { stderr: "slow down\nretry in 30s\n", code: 1 })).toMatchObject({ retry_after_ms: 30_000, until: null });
		const limit = { match: "usage limit", is: "limited", until: "resets at (.+)" };
		expect(judged(outcomes(limit), { stdout: "usage limit, resets at 10:05 PM\n" }).until).toBe(Date.parse("2026-11-15T22:05:00Z"));
		expect(judged(outcomes(limit), { stdout: "usage limit, resets at some time\n" })).toMatchObject({ until: null, retry_after_ms: null });
	});

	test.each([
		["2026-12-01T00:00:00Z", "2026-12-01T00:00:00.000Z"],
		["2026-12-01 at 01:30 UTC.", "2026-12-01T01:30:00.000Z"],
		["2026-12-01 01:30", "2026-12-01T01:30:00.000Z"],
		["2026-12-01", "2026-12-01T00:00:00.000Z"],
		["2026-12-01T02:00:00+02:00", "2026-12-01T00:00:00.000Z"],
		["1796083200", "2026-12-01T00:00:00.000Z"],
		["1796083200000", "2026-12-01T00:00:00.000Z"],
		["10pm (UTC)", "2026-11-15T22:00:00.000Z"],
		["Nov 18th, 10:05 PM", "2026-11-18T22:05:00.000Z"],
		["11/17/2026.*", "2026-11-17T00:00:00.000Z"],
		["soon", null],
	])("until %s", (text, at) => {
		const found = momentOf(text, { now: THEN, timezone: "UTC" });
		expect(found === null ? null : new Date(found).toISOString()).toBe(at);
	});

	test.each([
		["30", 30_000],
		["1.5s", 1500],
		["6m0s", 360_000],
		["2 minutes", 120_000],
		["500ms", 500],
		["a while", null],
	])("a wait of %s", (text, ms) => expect(spanOf(text)).toBe(ms));

	test.each([
		["4.5k", 4500],
		["8,975", 8975],
		["1.2M", 1_200_000],
		["$0.0042", 0.0042],
		["many", undefined],
		["1.2.3", undefined],
	])("the amount %s", (text, amount) => expect(amountIn(text)).toBe(amount));

	test("usage: the sum of the lines, or the last line; and the session", () => {
		const own = { usage: { tokens: "(\\d+) in, (\\d+) out", cost: "\\$([\\d.]+)" }, session: "session (\\S+)" };
		const stdout = "session abc-1\n10 in, 2 out, $0.5\n20 in, 3 out, $0.25\n";
		expect(judged(own, { stdout })).toMatchObject({ used: { tokens: 35, cost_micro: 750_000 }, session: "abc-1" });
		expect(judged({ usage: { ...own.usage, count: "last" } }, { stdout })).toMatchObject({ used: { tokens: 23, cost_micro: 250_000 } });
		expect(judged(own, { stdout: "session ../../etc\n" }).session).toBeNull();
	});

	test("cached tokens are counted once", () => {
		const result = { type: "result", subtype: "success", is_error: false, result: "ok", session_id: "s" };
		const usage = { input_tokens: 8000, output_tokens: 137, cache_read_input_tokens: 6033 };
		const of = (more: object) => `${JSON.stringify({ ...result, usage: { ...usage, ...more } })}\n`;
		const tokens = (own: object, stdout: string) => judged(own, { stdout, format: "claude" }).used.tokens;
		expect(tokens({}, of({}))).toBe(14_170);
		expect(tokens({ usage: { input_includes_cache: true } }, of({}))).toBe(8137);
		expect(tokens({}, of({ total_tokens: 8137 }))).toBe(8137);
	});

	test("of a long line the beginning is matched", () => {
		const rule = outcomes({ stdout: "needle", is: "auth" });
		expect(judged(rule, { stdout: `${"x".repeat(4000)}needle${"x".repeat(99_000)}\n` }).outcome).toBe("auth");
		expect(judged(rule, { stdout: `${"x".repeat(5000)}needle\n` }).outcome).toBe("ok");
	});
});

describe("refuses, with the place and what to write", () => {
	test.each<[unknown, string, RegExp]>([
		[outcomes({ exit: 1 }), "agents.mine.outcomes[0]", /names no outcome/],
		[outcomes({ exit: 1, is: "tired" }), "agents.mine.outcomes[0].is", /"tired"/],
		[outcomes({ is: "ok" }), "agents.mine.outcomes[0]", /fits every run/],
		[outcomes({ exit: 256, is: "ok" }), "agents.mine.outcomes[0].exit", /256/],
		[outcomes({ exit: 1, is: "ok" }, { stderr: "(a)\\1", is: "auth" }), "agents.mine.outcomes[1].stderr", /reference back.*character 4/],
		[outcomes({ exit: 1, is: "throttled", retry_after: "in \\d+s" }), "agents.mine.outcomes[0].retry_after", /captures nothing/],
		[outcomes({ exit: 1, is: "throttled", until: "at (.+)" }), "agents.mine.outcomes[0].until", /belongs to is: limited/],
		[outcomes({ exit: 1, is: "auth", retry_after: "in (.+)" }), "agents.mine.outcomes[0].retry_after", /belongs to/],
		[outcomes({ exit: 1, is: "auth", recovered: "x" }), "agents.mine.outcomes[0].recovered", /belongs to a pattern/],
		[outcomes({ match: "a", stdout: "b", is: "auth" }), "agents.mine.outcomes[0]", /match and a stream/],
		[outcomes({ match: "a", iss: "auth" }), "agents.mine.outcomes[0].iss", /./],
		[{ usage: { tokens: "tokens" } }, "agents.mine.usage.tokens", /captures nothing/],
		[{ session: "id" }, "agents.mine.session", /captures nothing/],
	])("%j", (own, field, message) => {
		expect(() => readOwn(own, "agents.mine")).toThrow(expect.objectContaining({ field, message: expect.stringMatching(message) }));
	});
});
