// A repo's hooks around its worktrees: argv without a shell, in the worktree, bounded in time, their output in the run's folder.

import { faultOf } from "../program.ts";
import type { Hook } from "../workspace.ts";
import { workMark } from "./orphans.ts";
import type { Parts, Repo } from "./parts.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";

/** Why it did not go well; null when it did, or when there is none. */
export async function runHook(parts: Parts, repo: Repo, hook: Hook, record: WorktreeRecord, dir: string | null): Promise<string | null> {
	const argv = repo.hooks[hook];
	if (argv.length === 0) return null;
	const end = await parts.run(argv, {
		cwd: worktreeOf(parts, record.repo, record.job),
		env: { ...parts.env(), ...variablesOf(parts, record), SLUICE_HOOK: hook, SLUICE_MARK: workMark(parts.homeTag) },
		timeoutMs: repo.hook_timeout_ms,
		keep: 10_000,
		...(dir === null ? {} : { log: `${dir}/hooks.log` }),
	});
	const fault = faultOf(end);
	return fault === null ? null : `hook ${hook} failed: ${fault}`;
}

/** What runs, hooks and commands are told of their place. */
export const variablesOf = (parts: Parts, record: WorktreeRecord): Record<string, string> => ({
	SLUICE_JOB_ID: String(record.job),
	SLUICE_ATTEMPT: String(record.attempt),
	SLUICE_REPO: record.repo,
	SLUICE_REPO_PATH: record.root,
	SLUICE_WORKTREE: worktreeOf(parts, record.repo, record.job),
	SLUICE_BRANCH: record.branch,
	SLUICE_BASE_BRANCH: record.base_branch,
});
