// Facts as a host finds them: present, absent, or unknown with a reason.

import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository, realGit } from "../../../test/make/repository.ts";
import { localHost, systemClock } from "../local.ts";
import { runProgram } from "../program.ts";
import { type FactParts, withFacts } from "./facts.ts";
import type { FactRepo } from "./repo-facts.ts";

function look(more: Partial<FactParts> = {}, repoMore: Partial<FactRepo> = {}) {
	const repo = makeRepository();
	const host = withFacts(localHost, {
		git: realGit(),
		run: runProgram,
		clock: systemClock,
		repos: () => ({ r: { path: repo.path, base_branch: "main", ...repoMore } }),
		probes: () => ({}),
		env: () => ({ PATH: process.env.PATH ?? "" }),
		cwd: repo.path,
		hasPatch: (job) => job === 7,
		wanted: async () => new Set(),
		...more,
	});
	return { repo, host };
}

test("keys of many kinds in one probe", async () => {
	const other = makeRepository({ "made.md": "made\n" });
	const { repo, host } = look({}, { makers: (artifact) => (artifact === "file:made.md" ? [other.path] : []) });
	repo.git("branch", "same");
	repo.git("checkout", "--quiet", "-b", "feature/x@y");
	repo.commit({ "docs/a b.md": "x\n" });
	repo.git("checkout", "--quiet", "main");
	repo.commit({ "folder/x": "x\n" });
	repo.git("branch", "--force", "same");
	repo.git("checkout", "--quiet", "feature/x@y");
	expect(
		await host.probe([
			"head:r:main",
			"head:r:gone",
			"busy:r",
			"busy:unknown",
			"artifact:branch:feature/x@y@r",
			"artifact:ahead:feature/x@y@r",
			"artifact:ahead:same@r",
			"artifact:ahead:gone@r",
			"artifact:doc:feature/x@y:docs/a b.md@r",
			"artifact:doc:feature/x@y:docs@r",
			"artifact:doc:main:docs/a b.md@r",
			"artifact:file:README.md@r",
			"artifact:file:folder@r",
			"artifact:file:./folder/../folder/@r",
			"artifact:file:docs/a b.md@r",
			"artifact:file:made.md@r",
			"artifact:file:gone@r",
			`artifact:file:${repo.path}/README.md`,
			"artifact:patch:7",
			"artifact:patch:8",
			"condition:clean_worktree@r",
			"condition:branch_exists:same@r",
			'condition:command:["test","-e","README.md"]@r',
			'condition:command:["test","-e","gone"]@r',
			"item:cards:x",
		]),
	).toEqual({
		"head:r:main": repo.head("main"),
		"head:r:gone": null,
		"busy:r": null,
		"artifact:branch:feature/x@y@r": true,
		"artifact:ahead:feature/x@y@r": true,
		"artifact:ahead:same@r": false,
		"artifact:ahead:gone@r": false,
		"artifact:doc:feature/x@y:docs/a b.md@r": true,
		"artifact:doc:feature/x@y:docs@r": false,
		"artifact:doc:main:docs/a b.md@r": false,
		"artifact:file:README.md@r": true,
		"artifact:file:folder@r": true,
		"artifact:file:./folder/../folder/@r": true,
		"artifact:file:docs/a b.md@r": false,
		"artifact:file:made.md@r": true,
		"artifact:file:gone@r": false,
		[`artifact:file:${repo.path}/README.md`]: true,
		"artifact:patch:7": true,
		"artifact:patch:8": false,
		"condition:clean_worktree@r": true,
		"condition:branch_exists:same@r": true,
		'condition:command:["test","-e","README.md"]@r': true,
		'condition:command:["test","-e","gone"]@r': false,
	});
});

test("a fact that cannot be determined has an error, on its key alone", async () => {
	const worktree = makeRepository();
	const { repo, host } = look({}, { makers: (artifact) => (artifact === "file:etc/passwd" ? [worktree.path] : []) });
	symlinkSync("/etc", join(worktree.path, "etc"));
	const found = await host.probe([
		"head:r:main",
		"head::main",
		"head:other:main",
		"head:r:--all",
		"artifact:branch:x",
		"artifact:branch:x@other",
		"artifact:file:relative",
		"artifact:file:../outside@r",
		"artifact:file:etc/passwd@r",
		"artifact:probe:unknown@r",
		'condition:command:["/nonexistent/program"]@r',
	]);
	expect(found).toEqual({
		"head:r:main": repo.head("main"),
		"head::main": { error: "the job names no repo" },
		"head:other:main": { error: "no folder is known of repo other: set repos.other.path" },
		"head:r:--all": { error: 'the branch name "--all" looks like an option' },
		"artifact:branch:x": { error: "the job names no repo" },
		"artifact:branch:x@other": { error: "no folder is known of repo other: set repos.other.path" },
		"artifact:file:relative": { error: "the job names no repo" },
		"artifact:file:../outside@r": { error: `../outside leads out of ${repo.path}` },
		"artifact:file:etc/passwd@r": { error: `etc/passwd is a link that leads out of ${worktree.path}` },
		"artifact:probe:unknown@r": { error: "nothing says how to look: set probes.unknown.command" },
		'condition:command:["/nonexistent/program"]@r': { error: expect.stringContaining("cannot be started") },
	});
});

test("a repo that is no repo, and git in the middle of each operation", async () => {
	const { repo, host } = look();
	const plain = withFacts(localHost, {
		git: realGit(),
		run: runProgram,
		clock: systemClock,
		repos: () => ({ r: { path: dirname(repo.path), base_branch: null } }),
		probes: () => ({}),
		env: () => ({}),
		cwd: "/",
		hasPatch: () => false,
		wanted: async () => new Set(),
	});
	expect(await plain.probe(["head:r:main"])).toEqual({ "head:r:main": { error: expect.stringContaining("not a git repository") } });
	repo.git("checkout", "--quiet", "-b", "side");
	const side = repo.commit({ "README.md": "side\n" });
	repo.git("checkout", "--quiet", "main");
	repo.commit({ "README.md": "main\n" });
	for (const [what, start, end] of [
		["merge", ["merge", "side"], ["merge", "--abort"]],
		["cherry-pick", ["cherry-pick", side], ["cherry-pick", "--abort"]],
		["rebase", ["rebase", "side"], ["rebase", "--abort"]],
	] as const) {
		expect(() => repo.git(...start)).toThrow();
		expect(await host.probe(["busy:r"])).toEqual({ "busy:r": what });
		repo.git(...end);
		expect(await host.probe(["busy:r"])).toEqual({ "busy:r": null });
	}
});

test("a command is run again only after a while, or when its repo has changed", async () => {
	const { repo, host } = look({ probes: () => ({ count: ["/bin/sh", "-c", "echo x >> .git/sluice-count; true"] }) });
	const runs = () =>
		execFileSync("cat", [join(repo.path, ".git/sluice-count")], { encoding: "utf8" })
			.trim()
			.split("\n").length;
	for (let n = 0; n < 5; n++) await host.probe(["artifact:probe:count@r"]);
	expect(runs()).toBe(1);
	host.stir("r");
	expect(await host.probe(["artifact:probe:count@r"])).toEqual({ "artifact:probe:count@r": true });
	expect(runs()).toBe(2);
});
