// Work that is on no commit of a job's branch: it keeps its merge from being tried, or is put on a rescue ref where the job says that it is no part of it.
//
//   commit                     what is left uncommitted after a good run
//   auto (agents)              is committed: see leaving.ts
//   agent, or not said         the merge waits for a person
//   never, said by the job     stays out of the merge; kept on a rescue ref, and the merge says on which

import { currentBranch } from "../git.ts";
import type { JobView } from "../scheduler.ts";
import type { Yard } from "./parts.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";
import { rescue } from "./removal.ts";
import { STATUS } from "./staging.ts";

const MOST_FILES = 1000;
const NAMED = 5;

export type Unfinished = { message: string; files: string[] };

/** Why the branch is not all of the job's work; null when it is, or when the worktree is not there any more. */
export async function unfinished(yard: Yard, record: WorktreeRecord, job: JobView): Promise<Unfinished | null> {
	const path = worktreeOf(yard, record.repo, record.job);
	if (yard.disk.size(`${path}/.git`) === null) return null;
	// A branch that jobs share is let go of for the next one: see freeBranch.
	const branch = record.named ? record.branch : await currentBranch(yard.git, path);
	const files = await uncommitted(yard, path);
	if (branch !== record.branch) {
		const where = branch === null ? "at a commit without a branch, perhaps in the middle of a rebase" : `on branch ${branch}`;
		return { message: `its worktree is ${where}, not on ${record.branch}`, files };
	}
	if (files.length === 0 || job.spec.commit === "never") return null;
	const named = files.slice(0, NAMED).join(", ");
	const rest = files.length > NAMED ? ` and ${files.length - NAMED} more` : "";
	return { message: `${named}${rest} ${files.length === 1 ? "is" : "are"} not committed`, files: files.slice(0, MOST_FILES) };
}

/** The ref that has what the branch does not; null when there is nothing like it. */
export async function keepUncommitted(yard: Yard, record: WorktreeRecord): Promise<string | null> {
	const path = worktreeOf(yard, record.repo, record.job);
	if (yard.disk.size(`${path}/.git`) === null || (await uncommitted(yard, path)).length === 0) return null;
	return rescue(yard, record, path);
}

/** What is in the middle of a submodule cannot be committed here. */
async function uncommitted({ git }: Yard, path: string): Promise<string[]> {
	const args = [...STATUS, "--no-renames", "--untracked-files=normal"];
	const entries = (await git.ask(path, args)).split("\0");
	return entries.filter((entry) => entry !== "").map((entry) => entry.slice(3));
}
