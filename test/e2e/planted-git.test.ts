// A run that writes only into its worktree cannot make the daemon run a program of its choice: not by another .git, by filters, hooks, or a repository inside.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TestHome, until } from "../make/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

/** What the configuration of a planted repository would run. */
const configOf = (witness: string) => {
	const program = `sh -c 'echo run >> ${witness}; cat'`;
	return [
		"[core]",
		"	repositoryformatversion = 0",
		"	bare = false",
		`	fsmonitor = ${program}`,
		`	sshCommand = ${program}`,
		`	editor = ${program}`,
		'[filter "x"]',
		`	clean = ${program}`,
		`	smudge = ${program}`,
		`	process = ${program}`,
		"	required = false",
		'[diff "x"]',
		`	textconv = ${program}`,
		`	command = ${program}`,
		"[diff]",
		`	external = ${program}`,
		'[merge "x"]',
		`	driver = ${program}`,
	].join("\n");
};
const ATTRIBUTES = "* filter=x diff=x merge=x";

/** The whole git folder of the worktree is copied, so that a git which looks there finds everything, and the configuration is another. */
const REPLACED = (witness: string) => `
	own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
	mkdir planted; cp -r "$common"/. planted/; cp "$own/HEAD" "$own/index" planted/; rm -rf planted/worktrees
	cat > planted/config <<'END'
${configOf(witness)}
END
	mkdir -p planted/hooks; printf '#!/bin/sh\\necho hook >> ${witness}\\n' > planted/hooks/post-checkout; chmod +x planted/hooks/*
	rm .git; echo "gitdir: $PWD/planted" > .git
	echo "${ATTRIBUTES}" > .gitattributes; echo planted > .gitignore; echo made > made.txt`;

const NESTED = (witness: string) => `
	git init -q sub; cd sub; echo one > file; git add file; git -c user.name=x -c user.email=x@x commit -qm one
	cat >> .git/config <<'END'
${configOf(witness)}
END
	echo "${ATTRIBUTES}" > .gitattributes; echo two > file; cd ..
	git add sub 2>/dev/null; git -c user.name=x -c user.email=x@x commit -qm sub; echo six > sub/file; touch -d 2001-01-01 sub/file; echo made > made.txt`;

describe.each([
	["another .git with a configuration of its own", REPLACED, "cleared away"],
	// git removes no worktree that has a submodule.
	["a repository inside, as a submodule", NESTED, "kept"],
])("%s", (_, scriptOf, end) => {
	test("runs nothing, and the work is still committed, shown and merged", async () => {
		const witness = join(makeFolder(), "witness");
		const repo = makeRepository();
		const home = new TestHome();
		home.make(`repos: ${JSON.stringify({ r: { path: repo.path } })}\n`);
		const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1" });
		const { job } = (await client.call("job.add", { command: ["/bin/sh", "-c", scriptOf(witness)], repo: "r", commit: "auto" })) as {
			job: { id: number };
		};
		const show = async () => (await client.call("job.show", { id: job.id })).job;
		const ended = await until(async () => {
			const now = await show();
			return now.status === "succeeded" || now.status === "failed" ? now : undefined;
		});
		expect(ended).toMatchObject({ status: "succeeded" });
		await client.call("job.diff", { id: job.id });
		await until(async () => (await show()).merge_status === "merged");
		expect(repo.git("show", "main:made.txt")).toBe("made");
		const worktree = join(home.path, "worktrees", "r", String(job.id));
		if (end === "cleared away") await until(() => !existsSync(worktree));
		else await client.call("scheduler.prune", { dry_run: true });
		expect(existsSync(witness) ? readFileSync(witness, "utf8") : "").toBe("");
	});
});
