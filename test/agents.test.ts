// Adapters on what the real programs printed: every recorded scenario with its outcome, and the rules of usage over several runs of one session.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { resetInRollout, usedInRollout } from "../src/core/agents/adapters/codex-rollout.ts";
import { exitKindFor } from "../src/core/agents/judge.ts";
import { AGENT_NAMES } from "../src/core/agents/profile.ts";
import { causeOfText, delayIn, momentIn } from "../src/core/agents/stream/causes.ts";
import { NOTHING } from "../src/core/agents/stream/happening.ts";
import { createRenderer } from "../src/core/agents/stream/render.ts";
import { capture, captures, judged } from "./make/agents/capture.ts";

/** scenario → outcome, exit kind, tokens, cost, and when it may go on. */
const TABLE: Record<string, [outcome: string, exit: string, tokens: number, cost: number | null, when?: string]> = {
	"claude-401": ["auth", "rate_limited", 0, null],
	"claude-429-r2": ["throttled", "rate_limited", 0, 0, "2s"],
	"claude-429then": ["ok", "completed", 4207, 7925],
	"claude-500": ["transient", "crashed", 0, 0],
	"claude-529": ["transient", "crashed", 0, 0],
	"claude-budget": ["budget", "cancelled", 12726, 26400],
	"claude-credit": ["billing", "rate_limited", 0, 0],
	"claude-json-ok": ["ok", "completed", 4207, 7925],
	"claude-maxturns": ["budget", "cancelled", 8484, 17600],
	"claude-ok": ["ok", "completed", 4207, 7925],
	"claude-resume": ["ok", "completed", 4207, 7925],
	"claude-sessionid-reuse": ["transient", "crashed", 0, null],
	"claude-sig-int": ["killed", "crashed", 0, 0],
	"claude-sig-term": ["killed", "crashed", 0, null],
	"claude-tool": ["ok", "completed", 8449, 16725],
	"claude-tool-denied": ["needs_human", "needs_human", 8449, 16725],
	"claude-toolong": ["context", "failed", 0, 0],
	"claude-unirej": ["limited", "rate_limited", 0, 0, "2026-11-15T22:01:32.000Z"],
	"claude-uniwarn": ["ok", "completed", 4207, 4755],
	"claude212-drop": ["transient", "crashed", 2152, 4650],
	"claude325-401": ["auth", "rate_limited", 0, 0],
	"claude325-429": ["throttled", "rate_limited", 0, 0, "2s"],
	"claude325-429-plan": ["throttled", "rate_limited", 0, 0],
	"claude325-529": ["transient", "crashed", 0, 0],
	"claude325-credit": ["billing", "rate_limited", 0, 0],
	"claude325-limit1": ["limited", "rate_limited", 0, 0, "2026-11-15T22:29:24.000Z"],
	"claude325-ok": ["ok", "completed", 4207, 5740],
	"claude325-resume": ["ok", "completed", 4207, 5740],
	"claude325-tool": ["ok", "completed", 2643, 7248],
	"claude325-toolong": ["context", "failed", 0, 0],
	"claude325-unirej": ["limited", "rate_limited", 0, 0, "2026-11-15T22:20:55.000Z"],
	"claude326-denied": ["needs_human", "needs_human", 3000, 10640],
	"claude326-question": ["needs_human", "needs_human", 1500, 5320],
	"claude326-drop": ["transient", "crashed", 2853, 5955],
	"codex-401": ["auth", "rate_limited", 0, null],
	"codex-429": ["throttled", "rate_limited", 0, null],
	"codex-429-long": ["throttled", "rate_limited", 0, null],
	"codex-429quota": ["billing", "rate_limited", 0, null],
	"codex-429then": ["ok", "completed", 1255, null],
	"codex-503": ["transient", "crashed", 0, null],
	"codex-appserver-tool": ["ok", "completed", 2510, null],
	"codex-appserver-usagelimit": ["limited", "rate_limited", 0, null, "2026-11-15T22:19:22.000Z"],
	"codex-ctx": ["context", "failed", 0, null],
	"codex-drop": ["transient", "crashed", 0, null],
	"codex-ok": ["ok", "completed", 1255, null],
	"codex-readonly": ["needs_human", "needs_human", 3750, null],
	"codex-resume": ["ok", "completed", 2510, null],
	"codex-sig-term": ["killed", "crashed", 0, null],
	"codex-tool": ["ok", "completed", 2510, null],
	"codex-usagelimit": ["limited", "rate_limited", 0, null, "2026-11-15T22:05:00.000Z"],
	"gemini-401": ["auth", "rate_limited", 0, null],
	"gemini-429-long": ["throttled", "rate_limited", 0, null, "3600s"],
	"gemini-429-stopped": ["throttled", "rate_limited", 0, null, "10.115s"],
	"gemini-429-twice": ["throttled", "rate_limited", 1500, null, "2s"],
	"gemini-429day": ["limited", "rate_limited", 0, null, "2026-11-16T08:00:00.000Z"],
	"gemini-500": ["transient", "crashed", 0, null],
	"gemini-billing": ["billing", "rate_limited", 0, null],
	"gemini-ctx": ["context", "failed", 0, null],
	"gemini-503-stopped": ["transient", "crashed", 0, null],
	"gemini-drop": ["transient", "crashed", 750, null],
	"gemini-dropped-at-once": ["transient", "crashed", 0, null],
	"gemini-dropped-short": ["transient", "crashed", 750, null],
	"gemini-json-429": ["throttled", "rate_limited", 0, null, "35.82s"],
	"gemini-noshell": ["needs_human", "needs_human", 1500, null],
	"gemini-ok": ["ok", "completed", 920, null],
	"gemini-tool": ["ok", "completed", 1840, null],
	"gemini-untrusted": ["needs_human", "needs_human", 0, null],
	"gemini053-401": ["auth", "rate_limited", 1500, null],
	"gemini053-429-stopped": ["throttled", "rate_limited", 0, null, "10.536s"],
	"gemini053-429-twice": ["throttled", "rate_limited", 1500, null, "2s"],
	"gemini053-429day": ["limited", "rate_limited", 1500, null, "2026-11-16T08:00:00.000Z"],
	"gemini053-503": ["transient", "crashed", 1500, null],
	"gemini053-503-stopped": ["transient", "crashed", 0, null],
	"gemini053-billing": ["billing", "rate_limited", 1500, null],
	"gemini053-ctx": ["context", "failed", 1500, null],
	"gemini053-drop": ["transient", "crashed", 750, null],
	"gemini053-dropped-short": ["transient", "crashed", 750, null],
	"opencode-401": ["auth", "rate_limited", 0, null],
	"opencode-429": ["throttled", "rate_limited", 0, null, "2s"],
	"opencode-429-long": ["killed", "crashed", 0, null],
	"opencode-denied": ["needs_human", "needs_human", 3000, 5400],
	"opencode-drop": ["transient", "crashed", 750, 1350],
	"opencode-ok": ["ok", "completed", 709, 950],
	"opencode-resume": ["ok", "completed", 709, 950],
	"opencode-tool": ["ok", "completed", 1418, 1900],
};
const WITHOUT_SESSION = ["opencode-429-long", "gemini-json-429", "gemini-untrusted"];

test.each(AGENT_NAMES)("%s has recordings, and a column in docs/agents.md", (name) => {
	expect(captures().some(({ format }) => format === name)).toBe(true);
	expect(readFileSync(new URL("../docs/agents.md", import.meta.url), "utf8")).toMatch(new RegExp(`^\\| \\|.* \`${name}\` \\|`, "m"));
});

test("every recorded scenario is in the table", () => {
	expect(captures().map(({ name }) => name)).toEqual(Object.keys(TABLE).sort());
});

test.each(Object.entries(TABLE))("%s", (name, [outcome, exit, tokens, cost, when]) => {
	const made = capture(name);
	const found = judged(made);
	const until = found.until === null ? undefined : new Date(found.until).toISOString();
	const delay = found.retry_after_ms === null ? undefined : `${found.retry_after_ms / 1000}s`;
	expect([
		found.outcome,
		exitKindFor(found.outcome, made.format === "command" ? "exit code" : "output"),
		found.used.tokens,
		found.used.cost_micro,
		until ?? delay,
	]).toEqual([outcome, exit, tokens, cost, when]);
	expect(found.session === null).toBe(WITHOUT_SESSION.includes(name));
	if (found.session) expect(made.stdout.toString() + made.stderr).toContain(found.session);
	expect(found.message).toBeTruthy();
});

test("parts of usage are counted as each agent counts them", () => {
	const parts = (name: string) => {
		const { input_tokens, output_tokens, cached_tokens, cache_write_tokens } = judged(capture(name)).used;
		return [input_tokens, output_tokens, cached_tokens, cache_write_tokens];
	};
	expect(parts("claude-ok")).toEqual([1000, 7, 3000, 200]);
	expect(parts("codex-ok")).toEqual([1200, 55, 800, 0]);
	expect(parts("gemini-ok")).toEqual([900, 12, 100, 0]);
	expect(parts("opencode-ok")).toEqual([400, 9, 300, 0]);
});

describe("over several runs of one session", () => {
	test.each([
		["claude325-ok", "claude325-resume", 4207, 5740],
		["codex-ok", "codex-resume", 1255, null],
		["opencode-ok", "opencode-resume", 709, 950],
	])("%s, then %s: only what is new", (first, second, tokens, cost) => {
		const before = judged(capture(first)).total;
		const { used, total } = judged(capture(second), { before });
		expect([used.tokens, used.cost_micro]).toEqual([tokens, cost]);
		expect(total?.tokens).toBe(2 * tokens);
	});

	test("an older Claude Code counts each process for itself", () => {
		const before = judged(capture("claude-ok")).total;
		const { used, total } = judged(capture("claude-resume"), { before });
		expect([used.tokens, used.cost_micro, total?.tokens]).toEqual([4207, 7925, 8414]);
	});

	test("a mark that is lost charges nothing twice where the agent tells its own part", () => {
		expect(judged(capture("claude325-resume"), { before: null }).used.cost_micro).toBe(5740);
	});

	test("a count that has begun anew is all new", () => {
		const before = { ...NOTHING, tokens: 1_000_000 };
		expect(judged(capture("codex-ok"), { before }).used.tokens).toBe(1255);
	});
});

describe("a denied tool", () => {
	test("is a question for a person, with what it wanted", () => {
		const { question } = judged(capture("claude-tool-denied"));
		expect(question).toBe("it was not allowed to:\n- Bash: echo hi-from-tool > out.txt && cat out.txt\n\ndone");
	});

	test("is none where the run has changed something", () => {
		expect(judged(capture("claude-tool-denied"), { circumstances: { changed: true, expect: "any" } }).outcome).toBe("ok");
	});

	test("a question that was asked through a tool is the question", () => {
		const denial = { tool_name: "AskUserQuestion", tool_use_id: "t", tool_input: { questions: [{ question: "Which port?" }] } };
		const result = { type: "result", subtype: "success", is_error: false, result: "", permission_denials: [denial], session_id: "s" };
		const found = judged({ format: "claude", stdout: JSON.stringify(result), stderr: "", code: 0 });
		expect([found.outcome, found.question]).toEqual(["needs_human", "Which port?"]);
	});
});

describe("bad ends have a stated outcome", () => {
	const ends: [
		string,
		{ stdout?: string; stderr?: string; code: number; format?: "claude" | "codex" | "gemini" | "opencode" | "command" },
		string,
		RegExp,
	][] = [
		["exit 0, nothing said", { code: 0 }, "crashed", /exited with 0 and said nothing/],
		[
			"exit 0, garbage",
			{ stdout: '\u0000\u0001 lorem\n[1,2]\n"x"\n', code: 0 },
			"needs_human",
			/wrote 3 lines \(\d+ B\) that Sluice does not understand/,
		],
		["exit 1, nothing said", { code: 1 }, "crashed", /exit code 1/],
		["not installed", { code: 127, stderr: "sh: claude: not found" }, "crashed", /not found/],
		["not installed, without words", { code: 127 }, "crashed", /the program was not found/],
		["killed before it said anything", { code: 137 }, "killed", /signal 9/],
		[
			"claude, not logged in",
			{
				code: 1,
				stdout: '{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","session_id":"s"}\n',
			},
			"auth",
			/Not logged in/,
		],
		["gemini, not logged in", { format: "gemini", code: 41, stderr: "Please set an Auth method in your settings" }, "auth", /Auth method/],
		["gemini, only its exit code", { format: "gemini", code: 173 }, "throttled", /./],
		[
			"claude, session is gone",
			{
				code: 1,
				stdout:
					'{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]}\n',
			},
			"transient",
			/No conversation found/,
		],
		[
			"codex, session is gone",
			{ format: "codex", code: 1, stderr: "Error: thread/resume failed: no rollout found for thread id x" },
			"transient",
			/no rollout/,
		],
		[
			"refuses root",
			{ code: 1, stderr: "--dangerously-skip-permissions cannot be used with root/sudo privileges" },
			"crashed",
			/cannot be used/,
		],
		[
			"breaks off",
			{ code: 0, stdout: capture("claude-tool").stdout.toString().split("\n").slice(0, 3).join("\n") },
			"transient",
			/breaks off/,
		],
		["a command that fails", { format: "command", code: 3, stderr: "no such target\n" }, "crashed", /no such target/],
		["a command that goes well", { format: "command", code: 0, stdout: "built\n" }, "ok", /built/],
		["a command that is killed", { format: "command", code: 143 }, "killed", /./],
	];
	test.each(ends)("%s", (_name, { stdout = "", stderr = "", code, format = "claude" }, outcome, message) => {
		const found = judged({ format, stdout, stderr, code });
		expect(found.outcome).toBe(outcome);
		expect(found.message ?? "").toMatch(message);
	});

	test("a session that is gone is not gone on with", () => {
		const stderr = "Error: thread/resume failed: no rollout found for thread id x";
		expect(judged({ format: "codex", stdout: "", stderr, code: 1 }).session_gone).toBe(true);
		expect(judged(capture("codex-ok")).session_gone).toBe(false);
	});
});

describe("prose that was not recorded", () => {
	const NOW = Date.parse("2026-11-15T19:30:00Z");
	test.each<[string, string, number | undefined]>([
		["5-hour limit reached ∙ resets 7pm (America/New_York)", "limited", Date.parse("2026-11-16T00:00:00Z")],
		["Claude usage limit reached. Your limit will reset at 3am (Europe/Berlin).", "limited", Date.parse("2026-11-16T02:00:00Z")],
		["You've hit your weekly limit · resets Nov 18, 10pm (UTC)", "limited", Date.parse("2026-11-18T22:00:00Z")],
		["You’ve hit your usage limit. Try again at Nov 18th, 2026 10:05 PM.", "limited", Date.parse("2026-11-18T22:05:00Z")],
		[
			"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
			"limited",
			Date.parse("2026-12-01T00:00:00Z"),
		],
		["Claude AI usage limit reached|1794780092", "limited", 1_794_780_092_000],
		["Rate limit reached for gpt-5. Please try again in 6m0s.", "throttled", 360_000],
		["rate limit exceeded: slow down. Please try again in 1.5s.", "throttled", 1500],
		["You exceeded your current quota, please check your plan and billing details. Please retry in 2s.", "throttled", 2000],
		["You exceeded your current quota, please check your plan and billing details.", "billing", undefined],
		["We're currently experiencing high demand, which may cause temporary errors.", "transient", undefined],
		["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "context", undefined],
		["Not inside a trusted directory and --skip-git-repo-check was not specified.", "needs_human", undefined],
		["The model `gpt-9` does not exist", "unknown", undefined],
	])("%s", (text, cause, when) => {
		expect(causeOfText(text)).toBe(cause);
		if (when !== undefined) expect(cause === "limited" ? momentIn(text, NOW, "UTC") : delayIn(text)).toBe(when);
	});
});

test("one object over many lines is read, too", () => {
	const answer = {
		session_id: "s-1",
		response: "hi\n}",
		stats: { models: { m: { tokens: { prompt: 900, candidates: 12, total: 920, cached: 100 } } } },
	};
	const stdout = `Loaded cached credentials.\n${JSON.stringify(answer, null, 2)}\n`;
	expect(judged({ format: "gemini", stdout, stderr: "", code: 0 })).toMatchObject({
		outcome: "ok",
		session: "s-1",
		message: "hi\n}",
		used: { tokens: 920 },
	});
	expect(judged({ format: "gemini", stdout: stdout.trimEnd(), stderr: "", code: 0 }).outcome).toBe("ok");
});

test("opencode stops where it is refused, without a word about it", () => {
	const state = { status: "error", input: { command: "rm -r x" }, error: "The user rejected permission to use this specific tool call." };
	const lines = [
		{ type: "tool_use", sessionID: "ses_1", part: { tool: "bash", callID: "c", state } },
		{ type: "step_finish", sessionID: "ses_1", part: { reason: "tool-calls", tokens: { total: 9 }, cost: 0 } },
	];
	const found = judged({ format: "opencode", stdout: lines.map((line) => JSON.stringify(line)).join("\n"), stderr: "", code: 0 });
	expect([found.outcome, found.question]).toEqual(["needs_human", "it was not allowed to:\n- bash: rm -r x"]);
});

test("Codex's own record says when a limit ends", () => {
	const window = (used_percent: number, resets_at: number) => ({ used_percent, window_minutes: 300, resets_at });
	const line = (primary: object, secondary: object) =>
		JSON.stringify({
			type: "event_msg",
			payload: { type: "token_count", info: null, rate_limits: { limit_id: "codex", primary, secondary } },
		});
	const text = `cut off at the front"}\n${line(window(99, 5), window(20, 9))}\n${line(window(100, 1_794_780_092), window(31, 1_795_000_000))}\n`;
	expect(resetInRollout(text)).toBe(1_794_780_092_000);
	expect(resetInRollout(line(window(100, 5), window(100, 9)))).toBe(9000);
	expect(resetInRollout(line(window(40, 5), window(31, 9)))).toBe(null);
	expect(resetInRollout("")).toBe(null);
	expect(judged(capture("codex-usagelimit"), { reset: 1_794_780_092_000 }).until).toBe(1_794_780_092_000);
});

test("Codex's own record says what a turn that was broken off has used", () => {
	const line = (info: unknown) => JSON.stringify({ type: "event_msg", payload: { type: "token_count", info, rate_limits: null } });
	const since = 1_794_780_000_000;
	const total = (input_tokens: number) => ({
		total_token_usage: { input_tokens, cached_input_tokens: 300, output_tokens: 50, total_tokens: 1 },
	});
	const text = `cut off"}\n${line(total(700))}\n${line(total(1400))}\n${line(null)}\n`;
	const used = { tokens: 1450, input_tokens: 1400, cached_tokens: 300, output_tokens: 50, cost_micro: null };
	expect(usedInRollout(text, since, NOTHING)).toMatchObject({ mark: used, counted: used, late: NOTHING });
	expect(usedInRollout(line(null), since, NOTHING)).toBe(null);
	expect(usedInRollout("", since, NOTHING)).toBe(null);
});

describe("for people", () => {
	const shown = (name: string) => {
		const { format, stdout } = capture(name);
		const renderer = createRenderer(format);
		return renderer.push(stdout.toString()) + renderer.end();
	};

	test("what it said, did and used", () => {
		expect(shown("claude-tool")).toBe("▸ Bash echo hi-from-tool > out.txt && cat out.txt\n  hi-from-tool\ndone\n· 8449 tokens, $0.0167\n");
		expect(shown("codex-tool")).toContain("▸ shell echo hi-from-codex > out.txt; cat out.txt\n  hi-from-codex\ndone\n");
		expect(shown("gemini-tool")).toBe("▸ run_shell_command echo hi-from-gemini\n  hi-from-gemini\nhello from fake gemini\n· 1840 tokens\n");
		expect(shown("opencode-tool")).toContain("▸ bash echo hi-from-opencode\n  hi-from-opencode\n");
	});

	test("what this run used, also where it went on with a session; where only the session's sum is told, it says so", () => {
		expect(shown("claude325-resume")).toMatch(/· 4207 tokens, \$0\.0057\n$/);
		expect(shown("codex-resume")).toMatch(/· 2510 tokens in this session so far\n$/);
	});

	test("a tool of an MCP server with its arguments and its answer", () => {
		const call = { id: "i1", type: "mcp_tool_call", server: "sluice", tool: "job_add", arguments: { prompt: "test it", lane: "slow" } };
		const done = {
			...call,
			result: { content: [{ type: "text", text: "job 7" }], structured_content: null },
			error: null,
			status: "completed",
		};
		const renderer = createRenderer("codex");
		const lines = [
			{ type: "item.started", item: { ...call, status: "in_progress" } },
			{ type: "item.completed", item: done },
			{ type: "item.started", item: { ...call, id: "i2", tool: "job_list", arguments: {} } },
		];
		expect(renderer.push(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))).toBe(
			'▸ sluice.job_add {"prompt":"test it","lane":"slow"}\n  job 7\n▸ sluice.job_list\n',
		);
	});

	test("what went wrong, once", () => {
		expect(shown("claude-unirej")).toBe(
			"! limit reached, until 2026-11-15T22:01:32.000Z\n! You've hit your session limit · resets 10:01pm (UTC)\n",
		);
		expect(shown("claude-tool-denied")).toContain("! not allowed: Bash: echo hi-from-tool");
	});

	test("in pieces it is the same, and what is no event comes through", () => {
		for (const { name, format, stdout } of captures()) {
			const renderer = createRenderer(format);
			let text = "";
			const whole = stdout.toString();
			for (let at = 0; at < whole.length; at += 97) text += renderer.push(whole.slice(at, at + 97));
			expect(text + renderer.end(), name).toBe(shown(name));
		}
		const renderer = createRenderer("claude");
		expect(renderer.push("plain words\n")).toBe("plain words\n");
	});
});
