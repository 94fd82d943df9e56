// Staging of a whole worktree into an index, and `git status` against the last commit. To see whether a submodule is clean, git would start itself in there,
// under a configuration that a run may have written. So git never looks into submodules: only the commit they are at counts.

import type { Disk } from "../../contracts/disk.ts";
import { entriesIn, type Git, GitError, type GitOptions } from "../../contracts/git.ts";

export const STATUS = ["status", "--porcelain", "-z", "--ignore-submodules=dirty"] as const;

/** Options of `git diff` for a patch that `git apply` takes, whatever the user's settings are. It goes to a file because it may be large. */
export const patchOptions = (into: string) => ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${into}`];

/** Calls `act` with a separate index, so that the working tree and its own index stay as they are whatever state they are in. */
export async function withSeparateIndex<T>(disk: Disk, index: string, act: (env: Record<string, string>) => Promise<T>): Promise<T> {
	try {
		disk.remove(index);
		return await act({ GIT_INDEX_FILE: index });
	} finally {
		disk.remove(index);
		disk.remove(`${index}.lock`);
	}
}

const SUBMODULE = /^160000 [0-9a-f]+ \d\t([\s\S]*)$/;

/** Their paths, of `git ls-files --stage -z`. */
export const submodulesIn = (listed: string): string[] => entriesIn(listed).flatMap((entry) => SUBMODULE.exec(entry)?.[1] ?? []);

const STAGING_TRIES = 4;

/**
 * As `git add --all` does. git fails where a file goes, or becomes shorter, after git has listed it, as in the worktree of a live run. It then leaves the index
 * as it was, and staging is tried again. An error that does not go away is thrown by the last try; a call that took too long has no exit code and is not repeated.
 */
export async function stageAll(git: Git, path: string, options: GitOptions): Promise<void> {
	for (let tries = 1; ; tries++) {
		try {
			return await stageOnce(git, path, options);
		} catch (error) {
			if (tries === STAGING_TRIES || !(error instanceof GitError) || error.code === null) throw error;
		}
	}
}

async function stageOnce(git: Git, path: string, options: GitOptions): Promise<void> {
	const submodules = submodulesIn(await git.ask(path, ["ls-files", "--stage", "-z"], options));
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
