// Everything in a worktree into an index, and what is other than the last commit. git would start itself inside each submodule to see whether that is clean, under
// the configuration that lies there, which a run may have written; so submodules are never looked into: what counts is the commit that they are at.

import type { Git, GitOptions } from "../git.ts";

/** For `git status` in a worktree. */
export const STATUS = ["status", "--porcelain", "-z", "--ignore-submodules=dirty"] as const;

const SUBMODULE = /^160000 [0-9a-f]+ \d\t([\s\S]*)$/;

/** As `git add --all` does. */
export async function stageAll(git: Git, path: string, options: GitOptions): Promise<void> {
	const entries = (await git.ask(path, ["ls-files", "--stage", "-z"], options)).split("\0");
	const submodules = entries.flatMap((entry) => SUBMODULE.exec(entry)?.[1] ?? []);
	const others = submodules.map((name) => `:(exclude,top,literal)${name}`);
	await git.ask(path, ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"], {
		...options,
		input: [".", ...others].join("\0"),
	});
	if (submodules.length === 0) return;
	await git.ask(path, ["update-index", "--add", "--remove", "-z", "--stdin"], {
		...options,
		input: submodules.map((name) => `${name}\0`).join(""),
	});
}
