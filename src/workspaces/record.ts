// What is known of a job's worktree: a small file beside it, written before the worktree is made and removed after it is gone.
//
//   worktrees/<repo>/<job>          the worktree
//   worktrees/<repo>/<job>.json     its record
//   worktrees/<repo>/merge-…        detached, for merging; nobody's work is in there
//
//   state      means                                                  after a crash
//   making     git may be in the middle of adding it; no run yet      what is there is thrown away and made anew
//   made       it is there; after_create has not gone well yet        after_create again
//   ready      runs may take place                                    found again
//   removing   what was uncommitted is safe, the rest may go          gone on with

import type { Parts } from "./parts.ts";

export type WorktreeRecord = {
	version: 1;
	job: number;
	repo: string;
	/** The repo's folder when it was made: it may be configured otherwise since. */
	root: string;
	branch: string;
	/** The branch was named by the job: it is not ours to move or delete. */
	named: boolean;
	base_branch: string;
	base_commit: string;
	state: "making" | "made" | "ready" | "removing";
	attempt: number;
	/** The run that it was made for: after a rewind not the job's first. Absent in older records. */
	begun_by?: number;
	title: string;
	strategy: "direct" | "mr" | "local" | "none";
	/** Epoch milliseconds of the last `enter`. */
	entered_at: number;
	/** Where HEAD was when the last run began. */
	entered_head?: string;
	/** The same for the first run since the job was begun, or was run again alone. Absent in older records. */
	first_head?: string;
	/** The base is about to move from one commit to the other, or has: told apart by looking at it. `tip`: what was merged. */
	moving?: { from: string; to: string; tip: string };
	merged?: { tip: string; commit: string };
	/** What the next run has to mend. */
	told?: { status: "conflict" | "verify_failed"; files: string[]; message: string };
	follow_ups?: number;
	/** The job is to run again because of it, but does not know yet. */
	follow_up_due?: true;
	/** Files that the job says it makes, as artifacts. */
	makes?: string[];
	/** For `mr`: the branch is pushed. */
	pushed?: string;
};

type Place = Pick<Parts, "worktrees" | "disk">;

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

/** All of them, of all repos, also of those that are no longer configured. */
export function allRecords(place: Place): WorktreeRecord[] {
	return place.disk.list(place.worktrees).flatMap((repo) =>
		place.disk.list(repoFolder(place, repo)).flatMap((name) => {
			const job = /^([1-9]\d*)\.json$/.exec(name)?.[1];
			return job === undefined ? [] : (readRecord(place, repo, Number(job)) ?? []);
		}),
	);
}

/** The record of a job, whatever its repo is called now. */
export const recordOf = (place: Place, job: number): WorktreeRecord | null =>
	place.disk.list(place.worktrees).reduce<WorktreeRecord | null>((found, repo) => found ?? readRecord(place, repo, job), null);

/** A few words of a title that may stand in a branch name. */
export function slugOf(text: string): string {
	const words = text
		.normalize("NFKD")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.slice(0, 41)
		.replace(/^-+|-+$/g, "")
		.slice(0, 40);
	return words === "" ? "job" : words.replace(/-lock$/, "");
}

export const rescueRef = (record: WorktreeRecord, nth: number): string =>
	`refs/sluice/rescue/${record.job}-${record.attempt}${nth === 1 ? "" : `-${nth}`}`;

/** The worktree that a folder lies in, with the repository it was made from; undefined for a folder that is none of ours. */
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
