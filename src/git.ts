// Contract with git: one call a question, never a shell, never a prompt. Implementation in host/git.ts.
//
// Whoever calls hands over validated words: branches through `localRef`, commits through `isCommit`, paths after `--`.

import { branchFault } from "./core/fact.ts";

export type GitOptions = {
	timeoutMs?: number;
	env?: Record<string, string>;
	input?: string;
};

export type GitAnswer = { code: number; stdout: string; stderr: string };

export interface Git {
	/** Standard output, without its last line break. Rejects with a GitError unless git exits with 0. */
	ask(folder: string, args: readonly string[], options?: GitOptions): Promise<string>;
	/** The same, but an exit code is an answer. Rejects only when git cannot be run or takes too long. */
	tell(folder: string, args: readonly string[], options?: GitOptions): Promise<GitAnswer>;
}

export class GitError extends Error {
	override readonly name = "GitError";
	readonly code: number | null;
	readonly stderr: string;

	constructor(message: string, code: number | null, stderr: string) {
		super(message);
		this.code = code;
		this.stderr = stderr;
	}
}

export const isCommit = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** `refs/heads/<branch>`; throws when git, or a program, could take the name for something else. */
export function localRef(branch: string): string {
	const fault = branch === "" ? "an empty branch name" : branchFault(branch);
	if (fault !== undefined) throw new GitError(fault, null, "");
	return `refs/heads/${branch}`;
}

/** The commit that a branch points to, or null when there is no such branch. */
export async function headOf(git: Git, folder: string, branch: string): Promise<string | null> {
	const { code, stdout } = await git.tell(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${localRef(branch)}^{commit}`]);
	const commit = stdout.trim();
	return code === 0 && isCommit(commit) ? commit : null;
}

export async function isAncestor(git: Git, folder: string, older: string, newer: string): Promise<boolean> {
	const { code, stderr } = await git.tell(folder, ["merge-base", "--is-ancestor", older, newer]);
	if (code > 1) throw new GitError(`git merge-base: ${stderr.trim()}`, code, stderr);
	return code === 0;
}

/** What HEAD of a checkout names; null when it is detached. */
export async function currentBranch(git: Git, folder: string): Promise<string | null> {
	const { code, stdout } = await git.tell(folder, ["symbolic-ref", "--quiet", "HEAD"]);
	const ref = stdout.trim();
	return code === 0 && ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
}
