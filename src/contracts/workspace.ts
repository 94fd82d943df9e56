// Contract of workspaces: where the runs of a job with a repo take place, and what becomes of their work. Implementation in workspaces/.

import type { Job } from "../core/job.ts";
import type { RepoSettings } from "../core/schema/repo.ts";
import type { Claimed, RunEnd } from "./scheduler.ts";

export type { RepoSettings } from "../core/schema/repo.ts";
export type Hook = keyof RepoSettings["hooks"];

/** Where a run takes place. `feedback`: text added to the prompt of a run that has to repair something. */
export type EnteredWorkspace = {
	cwd: string;
	env: Record<string, string>;
	feedback: string | null;
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
	/** Lines that differ from where the worktree began, new files included; null if the job has no worktree, or if they cannot be counted. */
	lines(job: number): Promise<{ added: number; removed: number } | null>;
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
