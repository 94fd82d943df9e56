// What programs are told about what they may do.

import { describe, expect, test } from "vitest";
import { allowedBy, allowedOf, canAllow, grantProblem, permissionOptions, permitOf, readAllow, simpleCommands } from "./allowing.ts";
import { CLAUDE } from "./claude.ts";
import { CODEX } from "./codex.ts";
import { GEMINI } from "./gemini.ts";
import { profileOf } from "./index.ts";
import { OPENCODE } from "./opencode.ts";
import { opencodePermission } from "./opencode-config.ts";

describe("what may be done", () => {
	test("at edit: git, the repo's commands, the job's; at full nothing is listed; at ask only what was granted", () => {
		const edit = permitOf({ allow: ["npm test"] }, undefined, ["make lint"]);
		expect(edit.allow).toEqual(expect.arrayContaining(["git add", "git commit", "sluice verdict", "npm test", "make lint"]));
		expect(edit.allow).not.toContain("git push");
		expect(permitOf({ permission: "full", allow: ["npm test"] }, { allow: ["Bash: x"] }, [])).toEqual({
			permission: "full",
			allow: [],
			granted: [],
		});
		expect(permitOf({ permission: "ask", allow: ["npm test"] }, { allow: ["Write: a.txt"] }, ["make lint"])).toEqual({
			permission: "ask",
			allow: [],
			granted: ["Write: a.txt"],
		});
	});

	test("a grant only ever widens", () => {
		expect(permitOf({ permission: "full" }, { permission: "edit" }, []).permission).toBe("full");
		expect(permitOf({ permission: "ask" }, { permission: "edit" }, []).permission).toBe("edit");
		expect(permitOf({}, { permission: "full" }, []).permission).toBe("full");
	});
});

describe("what was denied, granted", () => {
	const permit = { permission: "ask" as const, allow: [], granted: ["Bash: echo hi > out.txt && npm test -- --run", "Write: a.txt"] };

	test("to Claude Code: each simple command of a line, and the tool", () => {
		expect(permissionOptions(CLAUDE, permit)).toEqual([
			"--permission-mode",
			"default",
			"--allowedTools=Bash(echo hi:*)",
			"--allowedTools=Bash(npm test -- --run:*)",
			"--allowedTools=Write",
		]);
	});

	test("to Gemini CLI", () => {
		const granted = ["run_shell_command: npm test", "write_file: a.txt"];
		expect(permissionOptions(GEMINI, { ...permit, granted }).slice(1)).toEqual([
			"--allowed-tools=run_shell_command(npm test)",
			"--allowed-tools=write_file",
		]);
	});

	test("to opencode: in its rules, beside those that are there", () => {
		const granted = ["bash: npm test", "write: a.txt", "webfetch: https://x.test"];
		const rulesOf = (permission: "ask" | "edit", allow: string[]) => {
			const { commands, tools } = allowedBy({ permission, allow, granted });
			return opencodePermission(permission, commands, tools);
		};
		const usual = { "*": "deny", "?*": "deny" };
		expect(rulesOf("edit", ["git add"])).toMatchObject({
			edit: "allow",
			webfetch: "allow",
			bash: { ...usual, "git add *": "allow", "npm test *": "allow" },
		});
		expect(rulesOf("ask", [])).toMatchObject({ edit: "allow", webfetch: "allow", bash: { ...usual, "npm test *": "allow" } });
		expect(opencodePermission("ask")).toMatchObject({ edit: usual, bash: usual });
	});

	test("not to Codex, nor to an agent of one's own that says no way", () => {
		expect([CLAUDE, GEMINI, OPENCODE, CODEX].map(canAllow)).toEqual([true, true, true, false]);
		expect(canAllow(profileOf("mine", { mine: { command: ["mine"] } })!)).toBe(false);
		expect(canAllow(profileOf("mine", { mine: { command: ["mine", "{options}"], output: "claude" } })!)).toBe(false);
		expect(canAllow(profileOf("mine", { mine: { command: ["claude", "{options}"], output: "claude" } })!)).toBe(true);
	});

	test.each([
		["asked", CODEX, "edit", ["shell: x"], /codex cannot be allowed single commands or tools.*--permission full/],
		["asked", CLAUDE, "edit", [], /nothing was denied/],
		["edit", CLAUDE, "edit", ["Bash: x"], /it has permission edit already/],
		["edit", CLAUDE, "full", ["Bash: x"], /it has permission full already/],
		["asked", CLAUDE, "edit", ["Bash: x"], null],
		["full", CODEX, "edit", [], null],
		["asked", CLAUDE, "ask", ["Bash: echo hi > out.txt"], /no way to allow a command that writes into a file.*edit or full/],
		["asked", CLAUDE, "edit", ["Bash: echo hi > out.txt"], null],
		["asked", GEMINI, "edit", ["run_shell_command: echo hi >> out.txt"], /writes into a file.*--permission full/],
		["asked", GEMINI, "edit", ["run_shell_command: npm test > /dev/null 2>&1", "run_shell_command: echo 'a > b'"], null],
	] as const)("%s for %o at %s", (wanted, profile, permission, denied, words) => {
		const found = grantProblem(wanted, { name: profile.output, profile }, { permission, denied });
		if (words === null) expect(found).toBe(null);
		else expect(`${found?.message} ${found?.hint}`).toMatch(words);
	});
});

describe("commands", () => {
	test.each([
		["npm test", ["npm test"]],
		["cd a && npm test 2>&1 | tail -5", ["cd a", "npm test", "tail -5"]],
		["echo 'a && b' > x; cat x", ["echo 'a && b'", "cat x"]],
		["", []],
	])("of %s", (line, commands) => expect(simpleCommands(line)).toEqual(commands));

	test("of an argv: what no pattern can hold is left out", () => {
		expect(allowedOf(["npm", "test"])).toEqual(["npm test"]);
		expect(allowedOf(["sh", "-c", "npm ci && npm test"])).toEqual(["npm ci", "npm test"]);
		expect(allowedOf(["node", "-e", "process.exit(0)"])).toEqual([]);
		expect(allowedOf([])).toEqual([]);
	});

	test.each(["", "npm test; rm -rf /", "npm *", 'echo "x"', "a(b)", " npm", "a,b"])("%s cannot be allowed", (text) => {
		expect(() => readAllow([text], "allow")).toThrow(/allow\[0\].*is not the beginning of a command/);
	});
});
