// Contract of workspaces: where the runs of a job with a repo take place, and what becomes of their work. Implementation in workspaces/.

import type { Job } from "./core/job.ts";
import type { Claimed, Ending } from "./scheduler.ts";

export const HOOKS = ["after_create", "before_run", "after_run", "before_remove"] as const;
export type Hook = (typeof HOOKS)[number];

/** What the configuration says of a repo, beside what the engine needs. */
export type RepoSettings = {
	/** Its folder; null = the name is only a label, and runs take place in the job's own folder. */
	path: string | null;
	/** Instead of a folder: each host that needs it clones it from here. */
	url: string | null;
	/** Jobs begin and merge here; null = not written down yet: the branch that is checked out in its folder, or that origin calls its default. */
	base_branch: string | null;
	/** Must exit with 0 before the base moves: argv; empty = none. */
	verify: string[];
	verify_timeout_ms: number;
	/** Beginnings of shell commands that agents may run here at `edit` without asking, besides `verify`. */
	allow: string[];
	/** argv each; empty = none. The first two are fatal. */
	hooks: Record<Hook, string[]>;
	hook_timeout_ms: number;
	merge: "direct" | "mr" | "local";
	/** For `mr`: opens the request once the branch is pushed. */
	merge_command: string[];
	/** A merge in conflict, or one that `verify` refuses: say so, or let the job run again and be told. */
	on_conflict: "report" | "follow_up";
	recipe: string | null;
	/** Whether its own sluice.yml counts: never, always, or as long as it is the text with this SHA-256. */
	trusted: boolean | string;
};

/** Where a run takes place. `told` is for a run that has to mend something: words for its prompt. */
export type Place = {
	cwd: string;
	env: Record<string, string>;
	told: string | null;
	/** The repo's `allow`, and its `verify` as argv; empty = none. */
	allow: string[];
	verify: string[];
};

/** What the supervisor asks. Nothing here rejects. */
export interface Workspaces {
	/** Whether this job has one: it names a repo that has a folder. */
	has(job: Pick<Job, "repo">): boolean;
	/**
	 * Made, or found again; the hooks before a run have gone well. May be called again for the same run after a crash. `fault`: it is refused for
	 * something that this job asks for (a base that is not there), and no other job of the repo is concerned.
	 */
	enter(claimed: Claimed, dir: string): Promise<Place | { refused: string; fault?: "job" }>;
	/** Whether the worktree is other than when the job's first run began; null when the job has no worktree to look at. */
	changed(job: number): Promise<boolean | null>;
	/** The program has ended: the last hook, the commit, the patch. The end as it counts. May be called again for the same run. */
	leave(run: { job: number; attempt: number; dir: string }, ending: Ending): Promise<Ending>;
}

/** A worktree, as it is shown. */
export type WorktreeView = { job: number; repo: string; path: string; branch: string; base_branch: string; there: boolean };
/** What `prune` did, or would do. */
export type PruneReport = {
	removed: { job: number; path: string; branch: string; rescued: string | null }[];
	kept: { job: number; path: string; why: string }[];
};
