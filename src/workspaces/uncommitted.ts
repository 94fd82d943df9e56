// Work that is not committed on a job's branch: it blocks the merge, or goes to a rescue ref where the job says that it is no part of the work.
//
//   commit:                    what happens to changes left uncommitted after a successful run
//   auto (agents)              they are committed: see leaving.ts
//   agent, or not set          the merge waits for a person
//   never, set by the job      they stay out of the merge; saved on a rescue ref, which the merge's message names

import { currentBranch, entriesIn } from "../contracts/git.ts";
import type { JobView } from "../contracts/scheduler.ts";
import type { WorkspaceContext } from "./context.ts";
import { STATUS } from "./merging/staging.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";
import { rescue } from "./removal.ts";

const MOST_FILES = 1000;
const NAMED_FILES = 5;

export type Unfinished = { message: string; files: string[] };

/** Why the branch is not all of the job's work; null when it is, or when the worktree is gone. */
export async function unfinished(context: WorkspaceContext, record: WorktreeRecord, job: JobView): Promise<Unfinished | null> {
	const path = worktreeOf(context, record.repo, record.job);
	if (context.disk.size(`${path}/.git`) === null) return null;
	// HEAD of a shared branch's worktree may be detached so that the next job can use the branch (see freeBranch): that is not an error here.
	const branch = record.named ? record.branch : await currentBranch(context.git, path);
	const files = await uncommitted(context, path);
	if (branch !== record.branch) {
		const where = branch === null ? "at a commit without a branch, perhaps in the middle of a rebase" : `on branch ${branch}`;
		return { message: `its worktree is ${where}, not on ${record.branch}`, files };
	}
	if (files.length === 0 || job.spec.commit === "never") return null;
	const named = files.slice(0, NAMED_FILES).join(", ");
	const rest = files.length > NAMED_FILES ? ` and ${files.length - NAMED_FILES} more` : "";
	return { message: `${named}${rest} ${files.length === 1 ? "is" : "are"} not committed`, files: files.slice(0, MOST_FILES) };
}

/** Saves uncommitted changes and returns the rescue ref; null when there are none. */
export async function keepUncommitted(context: WorkspaceContext, record: WorktreeRecord): Promise<string | null> {
	const path = worktreeOf(context, record.repo, record.job);
	if (context.disk.size(`${path}/.git`) === null || (await uncommitted(context, path)).length === 0) return null;
	return rescue(context, record, path);
}

/** Of `git status --porcelain -z --no-renames`. */
export const filesIn = (listed: string): string[] => entriesIn(listed).map((entry) => entry.slice(3));

/** What is in the middle of a submodule cannot be committed here. */
async function uncommitted({ git }: WorkspaceContext, path: string): Promise<string[]> {
	const args = [...STATUS, "--no-renames", "--untracked-files=normal"];
	return filesIn(await git.ask(path, args));
}
