// The record of a job's worktree: a small file beside it, written before the worktree is made and removed after the worktree is gone.
//
//   worktrees/<repo>/<job>          the worktree
//   worktrees/<repo>/<job>.json     its record
//   worktrees/<repo>/<job>.replaced-git   the folder that a run has put in the place of .git, until the worktree is removed
//   worktrees/<repo>/merge-…        detached worktree used for merging; holds no work that could be lost
//
//   state      meaning                                                what the next daemon does after a crash
//   making     `git worktree add` may be half done; no run yet        discards the folder and makes the worktree again
//   made       the worktree exists; after_create has not succeeded    runs after_create again
//   ready      runs may use it                                        uses it as it is
//   removing   uncommitted work is saved; the rest may be deleted     continues the removal

import { withoutEnd } from "../core/text/text-end.ts";
import type { WorkspaceDeps } from "./context.ts";

export type WorktreeRecord = {
	version: 1;
	job: number;
	repo: string;
	/** The repo's folder when the worktree was made. The configuration may name another folder by now. */
	root: string;
	branch: string;
	/** The job named the branch (`worktree:`), so Sluice must not move or delete it. */
	named: boolean;
	base_branch: string;
	base_commit: string;
	state: "making" | "made" | "ready" | "removing";
	attempt: number;
	/** The attempt that the worktree was made for: after a rewind it is not the job's first. Absent in older records. */
	begun_by?: number;
	title: string;
	strategy: "direct" | "mr" | "local" | "none";
	/** Epoch milliseconds of the last `enter`. */
	entered_at: number;
	/** HEAD when the last run began. */
	entered_head?: string;
	/** HEAD when the first run began, counted from the job's start or from its last `rerun`. Absent in older records. */
	first_head?: string;
	/**
	 * Written before the base branch moves from one commit to the other. After a crash, the base itself shows whether it has moved. `tip`: the branch's
	 * commit that was merged.
	 */
	moving?: { from: string; to: string; tip: string };
	merged?: { tip: string; commit: string };
	/** What the next run has to fix before the merge can succeed. */
	told?: { status: "conflict" | "verify_failed"; files: string[]; message: string };
	follow_ups?: number;
	/** The job has to run again because of the failed merge, and the scheduler has not been asked for that run yet. */
	follow_up_due?: true;
	/** Artifacts of kind `file:` that the job declares in `produces`. */
	makes?: string[];
	/** For strategy `mr`: the commit of the branch that was last pushed. */
	pushed?: string;
};

type Place = Pick<WorkspaceDeps, "worktrees" | "disk">;

export const repoFolder = ({ worktrees }: Place, repo: string) => `${worktrees}/${repo}`;
export const worktreeOf = (place: Place, repo: string, job: number) => `${repoFolder(place, repo)}/${job}`;
const recordPath = (place: Place, repo: string, job: number) => `${worktreeOf(place, repo, job)}.json`;

export function readRecord(place: Place, repo: string, job: number): WorktreeRecord | null {
	const text = place.disk.read(recordPath(place, repo, job));
	if (text === null) return null;
	try {
		const record = JSON.parse(text) as WorktreeRecord;
		return record.version === 1 && record.job === job && record.repo === repo ? record : null;
	} catch {
		return null;
	}
}

export function writeRecord(place: Place, record: WorktreeRecord): void {
	place.disk.makeFolder(repoFolder(place, record.repo));
	place.disk.replace(recordPath(place, record.repo, record.job), `${JSON.stringify(record)}\n`);
}

export const dropRecord = (place: Place, record: WorktreeRecord): void => place.disk.remove(recordPath(place, record.repo, record.job));

/** The records of all repos, including repos that are no longer configured. */
export function allRecords(place: Place): WorktreeRecord[] {
	return place.disk.list(place.worktrees).flatMap((repo) =>
		place.disk.list(repoFolder(place, repo)).flatMap((name) => {
			const job = /^([1-9]\d*)\.json$/.exec(name)?.[1];
			return job === undefined ? [] : (readRecord(place, repo, Number(job)) ?? []);
		}),
	);
}

/** The record of a job, found by its number under any repo name: the repo may have been renamed since. */
export const recordOf = (place: Place, job: number): WorktreeRecord | null =>
	place.disk.list(place.worktrees).reduce<WorktreeRecord | null>((found, repo) => found ?? readRecord(place, repo, job), null);

/** Turns a title into a short slug for a branch name. */
export function slugOf(text: string): string {
	const plain = text
		.normalize("NFKD")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.slice(0, 41);
	const words = withoutEnd(plain.replace(/^-+/, ""), "-").slice(0, 40);
	return words === "" ? "job" : words.replace(/-lock$/, "");
}

export const rescueRef = (record: WorktreeRecord, nth: number): string =>
	`refs/sluice/rescue/${record.job}-${record.attempt}${nth === 1 ? "" : `-${nth}`}`;

/** The worktree that contains a folder, and the repository it was made from; undefined for a folder outside `worktrees`. */
export function treeOf(
	place: Place,
	folder: string,
	pathOf: (repo: string) => string | null,
): { path: string; root: string | null } | undefined {
	if (!folder.startsWith(`${place.worktrees}/`)) return undefined;
	const [repo = "", tree = ""] = folder.slice(place.worktrees.length + 1).split("/");
	const record = /^[1-9]\d*$/.test(tree) ? readRecord(place, repo, Number(tree)) : null;
	return { path: `${repoFolder(place, repo)}/${tree}`, root: record?.root ?? pathOf(repo) };
}
