// Runs that ended well and got nowhere, as the real programs were recorded: what they ask, what they were denied, and what is made of it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { deniedInRollout } from "../src/core/agents/adapters/codex-rollout.ts";
import type { Expect } from "../src/core/agents/closing.ts";
import { CAPTURES, capture, judged } from "./make/agents/capture.ts";

const seen = (name: string, changed: boolean | null, expects: Expect = "any") =>
	judged(capture(name), { circumstances: { changed, expect: expects } });

describe("nothing changed, and the last words ask", () => {
	const ASKS: Record<string, RegExp> = {
		"claude326-question": /^I looked at the server[\s\S]*Which of the two should the health endpoint be on\?$/,
		"codex-readonly": /^I could not write the file\. Should I try again\?$/,
		"gemini-noshell": /^it was not allowed to:\n- run_shell_command: npm test\n\nI have no tool/,
		"opencode-denied": /^it was not allowed to:\n- bash: npm test -- --run/,
	};
	test.each(Object.entries(ASKS))("%s waits for a person", (name, question) => {
		for (const changed of [false, null]) {
			const found = seen(name, changed);
			expect([name, found.outcome]).toEqual([name, "needs_human"]);
			expect(found.question).toMatch(question);
		}
	});

	test.each(["claude326-question", "codex-readonly", "gemini-noshell"])("%s is done where nothing else was expected", (name) => {
		expect(seen(name, false, "none")).toMatchObject({ outcome: "ok", question: null });
	});

	test("a question is kept beside work that was done", () => {
		expect(seen("claude326-question", true)).toMatchObject({
			outcome: "ok",
			question: null,
			closing_question: "Which of the two should the health endpoint be on?",
		});
	});
});

test.each(["claude-ok", "codex-ok", "gemini-ok", "opencode-ok"])("%s, where a change was expected", (name) => {
	expect(seen(name, false, "change").question).toMatch(/^it changed nothing, though a change was expected; its last words:\n/);
	expect(seen(name, true, "change").outcome).toBe("ok");
	expect(seen(name, false, "any").outcome).toBe("ok");
});

describe("what was denied", () => {
	test("is told also of a run that changed something", () => {
		expect(seen("claude326-denied", true)).toMatchObject({ outcome: "ok", denied: ["Bash: python3 -m pytest -q"] });
	});

	test("opencode stops where it is denied: it has not ended, whatever it changed before", () => {
		expect(seen("opencode-denied", true)).toMatchObject({ outcome: "needs_human", denied: ["bash: npm test -- --run"] });
	});

	test("Codex tells some of it only in its own record; that git may not write there does not count", () => {
		const record = readFileSync(join(CAPTURES, "codex-readonly", "rollout.jsonl"), "utf8");
		expect(deniedInRollout(record)).toEqual(["shell: echo x > b.txt", "shell: echo y > /var/tmp/not-allowed.txt"]);
		// Of the last turn alone: a session that goes on has those of its earlier runs, too.
		expect(deniedInRollout(`${record}{"type":"event_msg","payload":{"type":"task_started"}}\n`)).toEqual([]);
	});

	test.each([
		["Read-only file system", "touch x", "denied"],
		["touch: x: Operation not permitted", "touch x", "denied"],
		["1 test failed", "npm test", "failed"],
		["fatal: Unable to create '/r/.git/worktrees/7/index.lock': Read-only file system", "git add -A", "failed"],
	])("Codex: %s", (output, command, how) => {
		const item = { id: "1", type: "command_execution", command: `/bin/bash -lc '${command}'`, aggregated_output: output, status: "failed" };
		const lines = [
			{ type: "item.completed", item },
			{ type: "turn.completed", usage: {} },
		]
			.map((line) => JSON.stringify(line))
			.join("\n");
		const found = judged({ format: "codex", stdout: `${lines}\n`, stderr: "", code: 0 });
		expect(found.denied).toEqual(how === "denied" ? [`shell: ${command}`] : []);
	});
});
