// The options and variables by which each program learns what it may do.

import { describe, expect, test } from "vitest";
import { CLAUDE } from "../adapters/claude.ts";
import { CODEX } from "../adapters/codex.ts";
import { GEMINI } from "../adapters/gemini.ts";
import { OPENCODE } from "../adapters/opencode.ts";
import { opencodePermission } from "../adapters/opencode-config.ts";
import { profileOf } from "../index.ts";
import { allowedBy, allowedOf, grantProblem, permissionOptions, permitOf, readAllow, usualCommands } from "./allowing.ts";
import { canAllow } from "./denied.ts";

const UNGRANTABLE = [
	"Bash: echo a), Bash(curl",
	"Bash: echo hi > out.txt",
	"Bash: npm test | tail",
	"Bash: npm test &",
	'Bash: echo "a b"',
	"Bash: rm $(cat list)",
	"Bash: cat <<E\nx\nE",
	"Bash: for x in a b; do rm x; done",
	"Bash: npm run aaaa…",
	`Bash: ${"a".repeat(201)}`,
	"Bash: ",
	"Bash",
	"a tool",
];

describe("what may be done", () => {
	test("at edit: git, the repo's commands, the job's; at full nothing is listed; at ask only what was granted", () => {
		const edit = permitOf({ allow: ["npm test"] }, undefined, ["make lint"], "gemini");
		expect(edit.allow).toEqual(expect.arrayContaining(["git add", "git commit", "sluice verdict", "npm test", "make lint"]));
		for (const one of ["git push", "git rm", "git mv", "git restore"]) expect(edit.allow).not.toContain(one);
		expect(permitOf({ permission: "full", allow: ["npm test"] }, { allow: ["Bash: x"] }, [], "claude")).toEqual({
			permission: "full",
			allow: [],
			granted: [],
		});
		expect(permitOf({ permission: "ask", allow: ["npm test"] }, { allow: ["Write: a.txt"] }, ["make lint"], "claude")).toEqual({
			permission: "ask",
			allow: [],
			granted: ["Write: a.txt"],
		});
	});

	test("Claude Code allows git's reading commands by itself: a rule would allow their --output, too", () => {
		expect(usualCommands("claude")).toEqual(["git add", "git commit", "sluice verdict", "sluice result"]);
		expect(permitOf({ allow: ["git diff"] }, undefined, [], "claude").allow).toContain("git diff");
	});

	test("opencode: commands that write files or touch its configuration are denied after all allowed ones", () => {
		const rules = Object.entries(opencodePermission("edit", ["git log", "make --output x"]).bash as Record<string, string>);
		const at = (pattern: string) => rules.findIndex(([one]) => one === pattern);
		for (const pattern of ["*>*", "*--output*", "* opencode.json*", "*.opencode*"]) {
			expect(rules[at(pattern)]?.[1]).toBe("deny");
			expect(at(pattern)).toBeGreaterThan(at("git log *"));
		}
		expect(rules.at(-1)).toEqual(["make --output x", "allow"]);
	});

	test("a grant only ever widens", () => {
		expect(permitOf({ permission: "full" }, { permission: "edit" }, [], "claude").permission).toBe("full");
		expect(permitOf({ permission: "ask" }, { permission: "edit" }, [], "claude").permission).toBe("edit");
		expect(permitOf({}, { permission: "full" }, [], "claude").permission).toBe("full");
	});
});

describe("what was denied, granted", () => {
	const permit = { permission: "ask" as const, allow: [], granted: ["Bash: echo hi && npm test -- --run", "Write: a.txt"] };

	test("to Claude Code: each simple command of a line, and the tool", () => {
		expect(permissionOptions(CLAUDE.profile, permit)).toEqual([
			"--permission-mode",
			"default",
			"--allowedTools=Bash(echo hi:*)",
			"--allowedTools=Bash(npm test -- --run:*)",
			"--allowedTools=Write",
		]);
	});

	test("to Gemini CLI", () => {
		const granted = ["run_shell_command: npm test", "write_file: a.txt"];
		expect(permissionOptions(GEMINI.profile, { ...permit, granted }).slice(1)).toEqual([
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

	test("not to Codex, nor to a configured agent without options for it", () => {
		expect([CLAUDE, GEMINI, OPENCODE, CODEX].map(({ profile }) => canAllow(profile))).toEqual([true, true, true, false]);
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
		["asked", CLAUDE, "edit", ["Bash: cd a && npm test; make\nmake lint", "and 40 more"], null],
		...UNGRANTABLE.map(
			(line) => ["asked", CLAUDE, "edit", ["Bash: x", line], /cannot be allowed alone.*grant a mode: --permission full/] as const,
		),
	] as const)("%s for %o at %s", (wanted, { profile }, permission, denied, words) => {
		const found = grantProblem(wanted, { name: profile.output, profile }, { permission, denied });
		if (words === null) expect(found).toBe(null);
		else expect(`${found?.message} ${found?.hint}`).toMatch(words);
	});
});

describe("commands", () => {
	test("of an argv: none for a line with anything but plain words", () => {
		expect(allowedOf(["npm", "test"])).toEqual(["npm test"]);
		expect(allowedOf(["sh", "-c", "npm ci && npm test"])).toEqual(["npm ci", "npm test"]);
		expect(allowedOf(["bash", "test.sh"])).toEqual(["bash test.sh"]);
	});

	test.each([
		[["node", "-e", "process.exit(0)"]],
		[["npm", "test all"]],
		[["sh", "-c", 'npm ci && NODE_ENV="a b" npm test']],
		[["sh", "-c", "cd sub; rm -rf build || true; make test | tee out.log"]],
		[["sh", "-c", "cd sub; make"]],
		[["sh", "-c"]],
		[["bash", "-lc", "make"]],
		[["sh"]],
		[[]],
	])("of %j none", (argv) => expect(allowedOf(argv)).toEqual([]));

	test.each(["", "npm test; rm -rf /", "npm *", 'echo "x"', "a(b)", " npm", "a,b"])("%s cannot be allowed", (text) => {
		expect(() => readAllow([text], "allow")).toThrow(/allow\[0\].*is not the beginning of a command/);
	});
});
