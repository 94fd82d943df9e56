// The warning about a job's program when the job is added: only what this machine can know.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { startProblem } from "./start-check.ts";

/** A folder with a program in `bin` and a file that is not executable; PATH leads there. */
function makeHome(): { home: string; env: { PATH: string } } {
	const home = makeFolder();
	mkdirSync(join(home, "bin"));
	writeFileSync(join(home, "bin/mine"), "#!/bin/sh\n");
	chmodSync(join(home, "bin/mine"), 0o755);
	writeFileSync(join(home, "plain"), "text");
	return { home, env: { PATH: join(home, "bin") } };
}

describe("a command", () => {
	// HOME stands for the folder.
	test.each([
		["in PATH", ["mine"], {}, null],
		["not in PATH", ["mien"], {}, "no such program in PATH: mien"],
		["not in the PATH that the job brings", ["mine"], { env: { PATH: "/nowhere" } }, "no such program in PATH: mine"],
		["in a folder of PATH that is relative to where the job runs", ["mien"], { env: { PATH: "node_modules/.bin:/nowhere" } }, null],
		["by its whole path", ["HOME/bin/mine"], {}, null],
		["by a path that is not there", ["/no/such"], {}, "no such program: /no/such"],
		["that is no program", ["HOME/plain"], {}, "not executable: HOME/plain"],
		["that is a folder", ["HOME/bin"], {}, "a folder, not a program: HOME/bin"],
		["in its folder", ["./plain"], { cwd: "HOME" }, "not executable: ./plain"],
		["in a worktree, which is not there yet", ["./plain"], { cwd: "HOME", repo: "app" }, null],
		// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a manifest says
		["that a manifest fills in", ["${item}"], {}, null],
		["that is a shell line", ["ls | wc -l"], {}, "no such program in PATH: ls | wc -l; for a shell line: sluice add -- sh -c 'ls | wc -l'"],
	])("%s", (_what, command, more, said) => {
		const { home, env } = makeHome();
		const job = JSON.parse(JSON.stringify({ command, ...more }).replaceAll("HOME", home));
		expect(startProblem(job, {}, env)).toBe(said === null ? null : said.replaceAll("HOME", home));
	});

	test("where no PATH is known, there is no warning", () => {
		expect(startProblem({ command: ["mien"] }, {}, {})).toBeNull();
	});
});

describe("an agent", () => {
	test("that is not installed: with how to install it", () => {
		expect(startProblem({ agent: "codex" }, {}, makeHome().env)).toMatch(
			/^agent codex: no such program in PATH: codex; install it: npm install -g @openai\/codex/,
		);
	});

	test("of the configuration: by its own command", () => {
		const { env } = makeHome();
		expect(startProblem({ agent: "a" }, { a: { command: ["mine", "{prompt}"] } }, env)).toBeNull();
		expect(startProblem({ agent: "a" }, { a: { command: ["mien", "{prompt}"] } }, env)).toBe("agent a: no such program in PATH: mien");
	});

	test("that nothing says how to start", () => {
		expect(startProblem({ agent: "b" }, { b: { output: "codex" } }, { PATH: "/nowhere" })).toContain("no such program in PATH: codex");
		expect(startProblem({ agent: "c" }, {}, {})).toBe('nothing says how to start the agent "c": set agents.c.command');
	});
});
