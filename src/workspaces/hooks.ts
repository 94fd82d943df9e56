// A repo's hooks around its worktrees: run as argv without a shell, in the worktree, with a timeout, their output logged in the run's folder.

import { lstatSync } from "node:fs";
import { GitError } from "../contracts/git.ts";
import { faultOf } from "../contracts/program.ts";
import type { Hook } from "../contracts/workspace.ts";
import { messageOf } from "../core/errors.ts";
import type { Repo, WorkspaceDeps } from "./context.ts";
import { workMark } from "./orphans.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";

/** Why the hook failed; null when it succeeded, or when none is configured. */
export async function runHook(
	parts: WorkspaceDeps,
	repo: Repo,
	hook: Hook,
	record: WorktreeRecord,
	dir: string | null,
): Promise<string | null> {
	const argv = repo.hooks[hook];
	if (argv.length === 0) return null;
	const cwd = worktreeOf(parts, record.repo, record.job);
	const wrong = await restorePointer(parts, cwd).then(() => null, messageOf);
	if (wrong !== null) return `hook ${hook} was not run: ${wrong}`;
	const end = await parts.run(argv, {
		cwd,
		env: { ...parts.env(), ...variablesOf(parts, record), SLUICE_HOOK: hook, SLUICE_MARK: workMark(parts.homeTag) },
		timeoutMs: repo.hook_timeout_ms,
		keep: 10_000,
		...(dir === null ? {} : { log: `${dir}/hooks.log` }),
	});
	const fault = faultOf(end);
	return fault === null ? null : `hook ${hook} failed: ${fault}`;
}

/**
 * Rewrites `.git` as git made it, unless it is unchanged. The daemon's own git does not read it, but the owner's programs do: a `.git` that a run has put there
 * may lead their git to a configuration that starts a program of the run. A folder is moved beside the worktree, because it may hold commits.
 */
export async function restorePointer({ git, disk }: Pick<WorkspaceDeps, "git" | "disk">, worktree: string): Promise<void> {
	const own = await git.ask(worktree, ["rev-parse", "--absolute-git-dir"]);
	const [path, pointer] = [`${worktree}/.git`, `gitdir: ${own}\n`];
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (found?.isFile() && disk.read(path) === pointer) return;
	if (found?.isDirectory()) {
		disk.remove(replacedGit(worktree));
		disk.move(path, replacedGit(worktree));
	} else disk.remove(path);
	disk.write(path, pointer);
	const now = lstatSync(path, { throwIfNoEntry: false });
	if (!now?.isFile() || disk.read(path) !== pointer) throw new GitError(`${path} cannot be put back as git made it`, null, "");
}

/** Where `restorePointer` moves a folder that a run has put in the place of `.git`. */
export const replacedGit = (worktree: string): string => `${worktree}.replaced-git`;

/** Environment variables that describe the worktree to runs, hooks and commands. */
export const variablesOf = (parts: WorkspaceDeps, record: WorktreeRecord): Record<string, string> => ({
	SLUICE_JOB_ID: String(record.job),
	SLUICE_ATTEMPT: String(record.attempt),
	SLUICE_REPO: record.repo,
	SLUICE_REPO_PATH: record.root,
	SLUICE_WORKTREE: worktreeOf(parts, record.repo, record.job),
	SLUICE_BRANCH: record.branch,
	SLUICE_BASE_BRANCH: record.base_branch,
});
