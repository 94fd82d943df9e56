// Contract with git: one call for each question, never a shell, never a prompt. Implementation in host/git.ts.
//
// Callers must pass validated words: branches through `localRef`, commits through `isCommit`, paths after `--`.

import { branchFault } from "../core/fact.ts";

export type GitOptions = {
	timeoutMs?: number;
	env?: Record<string, string>;
	input?: string;
};

export type GitAnswer = { code: number; stdout: string; stderr: string };

export interface Git {
	/** Standard output, without its last line break. Rejects with a GitError unless git exits with 0. */
	ask(folder: string, args: readonly string[], options?: GitOptions): Promise<string>;
	/** Like `ask`, but any exit code is an answer. Rejects only if git cannot be run or takes too long. */
	run(folder: string, args: readonly string[], options?: GitOptions): Promise<GitAnswer>;
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

/** `refs/heads/<branch>`; throws if git, or another program, could take the name for something else. */
export function localRef(branch: string): string {
	const fault = branch === "" ? "an empty branch name" : branchFault(branch);
	if (fault !== undefined) throw new GitError(fault, null, "");
	return `refs/heads/${branch}`;
}

/** The entries of a list in which git ends or separates each one by \0. */
export const entriesIn = (listed: string): string[] => listed.split("\0").filter((entry) => entry !== "");

/** Of `git worktree list --porcelain -z`. */
export function worktreesIn(listed: string): { path: string; ref: string | null; bare: boolean }[] {
	return listed.split("\0\0").flatMap((block) => {
		const lines = block.split("\0");
		const after = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
		const path = after("worktree");
		return path === undefined ? [] : [{ path, ref: after("branch") ?? null, bare: lines.includes("bare") }];
	});
}

/** The commit that a branch points to, or null when there is no such branch. */
export async function headOf(git: Git, folder: string, branch: string): Promise<string | null> {
	const { code, stdout } = await git.run(folder, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${localRef(branch)}^{commit}`]);
	const commit = stdout.trim();
	return code === 0 && isCommit(commit) ? commit : null;
}

export async function isAncestor(git: Git, folder: string, older: string, newer: string): Promise<boolean> {
	const { code, stderr } = await git.run(folder, ["merge-base", "--is-ancestor", older, newer]);
	if (code > 1) throw new GitError(`git merge-base: ${stderr.trim()}`, code, stderr);
	return code === 0;
}

/** The branch that is checked out; null if HEAD is detached. */
export async function currentBranch(git: Git, folder: string): Promise<string | null> {
	const { code, stdout } = await git.run(folder, ["symbolic-ref", "--quiet", "HEAD"]);
	const ref = stdout.trim();
	return code === 0 && ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : null;
}

/** Runs at most `count` tasks at a time; later ones wait for their turn, in order. Starting a process stops the daemon for some milliseconds, so callers that ask
 * for many at once would keep all others waiting. */
export function limited(count: number): <T>(task: () => Promise<T>) => Promise<T> {
	const waiting: (() => void)[] = [];
	let running = 0;
	return async (task) => {
		if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
		else running++;
		try {
			return await task();
		} finally {
			// The place goes to the next task directly, so that no new one can take it before.
			const next = waiting.shift();
			if (next) next();
			else running--;
		}
	};
}

/**
 * One look at a time for each key. Callers that ask while one runs share the next: it begins after they asked, so each sees what was so at that time.
 */
export function shared<T>(look: (key: string) => Promise<T>): (key: string) => Promise<T> {
	const looks = new Map<string, { running: Promise<T>; next: Promise<T> | null }>();
	function start(key: string): Promise<T> {
		const running = look(key).finally(() => {
			if (looks.get(key) === mine && mine.next === null) looks.delete(key);
		});
		const mine = { running, next: null as Promise<T> | null };
		looks.set(key, mine);
		return running;
	}
	return (key) => {
		const current = looks.get(key);
		if (!current) return start(key);
		const again = () => start(key);
		current.next ??= current.running.then(again, again);
		return current.next;
	};
}
