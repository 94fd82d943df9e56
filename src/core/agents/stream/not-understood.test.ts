// Output that adapters do not know: counted, reported with the version, and never retried blindly.

import { describe, expect, test } from "vitest";
import { type Capture, capture, captures, judged } from "../../../../test/make/agents/capture.ts";
import { isOlder, numberOf } from "../version.ts";

const CLAUDE = { name: "claude", version: null, tested: "2.1.326" };
const lines = ({ stdout }: Capture) => stdout.toString().split("\n").filter(Boolean);
const changed = (made: Capture, change: (event: Record<string, unknown>, index: number) => unknown) => ({
	...made,
	stdout: `${lines(made)
		.map((line, index) => JSON.stringify(change(JSON.parse(line), index)))
		.join("\n")}\n`,
});

test("every event of every recording is known", () => {
	for (const made of captures()) expect([made.name, judged(made).not_understood]).toEqual([made.name, 0]);
});

describe("a run that exited with 0 and was not understood waits for a person, and is not repeated", () => {
	test("all events renamed: reports the size of the output, and the version from its first event", () => {
		const made = changed(capture("claude325-ok"), (event, at) => (at === 0 ? event : { ...event, type: `v3.${event.type}` }));
		const found = judged({ ...made, stdout: made.stdout.replaceAll("2.1.325", "2.1.400") }, { program: CLAUDE, job: 7 });
		expect(found.outcome).toBe("needs_human");
		expect(found.question).toMatch(
			/^its output was not understood, so whether it is done is for you to say: it wrote \d+ lines \(\d+ kB\) that Sluice does not understand, and did not say that it is done; claude 2\.1\.400 is newer than 2\.1\.326, which Sluice was tested with; see sluice logs 7 --raw and sluice diff 7$/,
		);
		expect(found.not_understood).toBe(lines(capture("claude325-ok")).length - 1);
		expect([found.version, found.used.tokens]).toEqual(["2.1.400", 0]);
		// A person's answer resumes the session.
		expect(found.session).toBe(judged(capture("claude325-ok")).session);
	});

	test.each(["claude-ok", "codex-ok", "gemini-ok", "opencode-ok"])("%s, wrapped", (name) => {
		const wrapped = changed(capture(name), (event) => ({ event }));
		const found = judged(wrapped, { program: { name: "it", version: "it 9.9.9", tested: "1.2.3" } });
		expect([found.outcome, found.not_understood]).toEqual(["needs_human", lines(capture(name)).length]);
		expect(found.message).toMatch(/that Sluice does not understand; it 9\.9\.9 is newer than 1\.2\.3, which Sluice was tested with$/);
		// A run that failed is judged by its exit code, and its message says so as well.
		const failed = judged({ ...wrapped, code: 1 });
		expect([failed.outcome, failed.message]).toEqual(["crashed", expect.stringContaining("that Sluice does not understand")]);
	});

	test("only its last event is not known", () => {
		const renamed = changed(capture("codex-tool"), (event) => (event.type === "turn.completed" ? { ...event, type: "turn.done" } : event));
		const found = judged(renamed, { program: { name: "codex", version: "codex-cli 0.169.0", tested: "0.169.0" } });
		expect([found.outcome, found.not_understood]).toEqual(["needs_human", 1]);
		expect(found.message).toMatch(
			/it wrote 1 line \(\d+ B\) that .*, and did not say that it is done; this is codex 0\.169\.0, which Sluice was/,
		);
	});

	test("nothing at all is still nothing", () => {
		expect(judged({ ...capture("claude-ok"), stdout: "" }).message).toBe("it exited with 0 and said nothing");
	});
});

describe("partly understood output", () => {
	test("counts as before, and the rest is counted", () => {
		const made = capture("claude-tool");
		const stdout = `${lines(made)
			.flatMap((line) => ['{"type":"hologram"}', line])
			.join("\n")}\n`;
		const { not_understood, ...found } = judged({ ...made, stdout });
		const { not_understood: none, ...plain } = judged(made);
		expect(found).toEqual(plain);
		expect([not_understood, none]).toEqual([lines(made).length, 0]);
	});

	test("a stream that breaks off after a known event is resumed where it broke off", () => {
		const made = capture("claude-tool");
		const stdout = `{"type":"hologram"}\n${lines(made).slice(0, 3).join("\n")}\n`;
		expect(judged({ ...made, stdout }).outcome).toBe("transient");
	});

	test("text on stderr does not close the account if an answer may not have been understood", () => {
		const wrapped = changed(capture("claude-ok"), (event) => ({ event }));
		const found = judged({ ...wrapped, stderr: "tool: 401 Unauthorized", code: 1 });
		expect(found.outcome).toBe("crashed");
	});
});

describe("numbers as text, and ends in words of a later version", () => {
	test.each(["claude-ok", "codex-ok", "gemini-ok", "opencode-ok"])("%s is charged all the same", (name) => {
		const made = capture(name);
		const stdout = made.stdout.toString().replace(/(":)(-?\d+(?:\.\d+)?)(?=[,}\]])/g, '$1"$2"');
		expect(stdout).not.toBe(made.stdout.toString());
		const { used } = judged({ ...made, stdout });
		expect(used).toEqual(judged(made).used);
		expect(used.tokens).toBeGreaterThan(0);
	});

	const ended = (change: Record<string, unknown>, of = "claude-ok") =>
		changed(capture(of), (event) => (event.type === "result" ? { ...event, ...change } : event));
	test.each([
		["a subtype that is not known", {}, 0, "ok"],
		["the same, and the program failed", {}, 1, "crashed"],
		["a subtype that names an error", { subtype: "error_of_some_kind" }, 0, "crashed"],
		["with errors", { errors: ["no more room"] }, 0, "crashed"],
		["with a status of the API", { api_error_status: 429 }, 0, "throttled"],
		["with a reason of its own", { terminal_reason: "model_error" }, 0, "crashed"],
		["an error as text", { subtype: "success", is_error: "true" }, 0, "crashed"],
	])("%s", (_name, change, code, outcome) => {
		expect(judged({ ...ended({ subtype: "finished", ...change }), code }).outcome).toBe(outcome);
	});

	test("without a known word for success, an earlier error counts", () => {
		const found = judged(ended({ subtype: "finished", is_error: null, api_error_status: null, terminal_reason: null }, "claude-529"));
		expect(found.outcome).toBe("transient");
	});
});

test("versions", () => {
	expect(numberOf("2.1.326 (Claude Code)")).toBe("2.1.326");
	expect(isOlder("0.166.0", "codex-cli 0.169.0")).toBe(true);
	expect(isOlder("2.1.326", "2.1.99")).toBe(false);
	expect(isOlder("2.1.326", "2.1.326")).toBe(false);
	expect(isOlder("2.1.326", "3.0")).toBe(true);
	expect(isOlder("2.1.326", "no number")).toBe(null);
});
