// Contract of workspaces: where the runs of a job with a repo take place, and what becomes of their work. Implementation in workspaces/.

import type { Job } from "../core/job.ts";
import type { Trust } from "../core/trust/repo-files.ts";
import type { Claimed, RunEnd } from "./scheduler.ts";

const HOOKS = ["after_create", "before_run", "after_run", "before_remove"] as const;
export type Hook = (typeof HOOKS)[number];

/** What the configuration says of a repo, besides what the engine needs. */
export type RepoSettings = {
	/** Its folder; null: the name is only a label, and runs take place in the job's own folder. */
	path: string | null;
	/** Instead of a folder: each host that needs the repo clones it from here. */
	url: string | null;
	/** The branch that jobs start from and merge into; null: not configured, so the branch that is checked out in its folder, or origin's default. */
	base_branch: string | null;
	/** This command must exit with 0 before the base branch moves: argv; empty = none. */
	verify: string[];
	verify_timeout_ms: number;
	/** Prefixes of shell commands that agents may run here at `edit` without asking, besides `verify`. */
	allow: string[];
	/** argv each; empty = none. If `after_create` or `before_run` fails, the run does not start. */
	hooks: Record<Hook, string[]>;
	hook_timeout_ms: number;
	merge: "direct" | "mr" | "local";
	/** For `mr`: opens the merge request once the branch is pushed. */
	merge_command: string[];
	/** What to do when a merge conflicts or `verify` fails: report it, or run the job again with the failure in its prompt. */
	on_conflict: "report" | "follow_up";
	recipe: string | null;
	/** Whether the repo's own sluice.yml and recipes count: never, always, or while they are the files that were trusted. */
	trusted: Trust;
};

/** Where a run takes place. `told`: text added to the prompt of a run that has to repair something. */
export type EnteredWorkspace = {
	cwd: string;
	env: Record<string, string>;
	told: string | null;
	/** The repo's `allow`, and its `verify` as argv; empty = none. */
	allow: string[];
	verify: string[];
};

/** What the supervisor calls. No method rejects. */
export interface Workspaces {
	/** Whether this job has a workspace: it names a repo that has a folder. */
	has(job: Pick<Job, "repo">): boolean;
	/**
	 * Makes the worktree or finds it again, and runs the hooks before a run. May be called again for the same run after a crash. `fault`: refused because of
	 * something that this job asks for (a base branch that does not exist), so that no other job of the repo is affected.
	 */
	enter(claimed: Claimed, dir: string): Promise<EnteredWorkspace | { refused: string; fault?: "job" }>;
	/** Whether the worktree differs from when the job's first run began; null if the job has no worktree. */
	changed(job: number): Promise<boolean | null>;
	/**
	 * After the program ended: runs the last hook, commits, makes the patch. Returns the effective ending: a successful run whose work could not be committed
	 * counts as failed. May be called again for the same run.
	 */
	leave(run: { job: number; attempt: number; dir: string }, ending: RunEnd): Promise<RunEnd>;
}

/** A worktree as it is shown. */
export type WorktreeView = { job: number; repo: string; path: string; branch: string; base_branch: string; there: boolean };
/** What `prune` removed and kept, or would. */
export type PruneReport = {
	removed: { job: number; path: string; branch: string; rescued: string | null }[];
	kept: { job: number; path: string; why: string }[];
};
