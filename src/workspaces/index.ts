// Workspaces of jobs with a repo: a worktree each, the merge of what they did, and the way out. What the daemon and the supervisor call.

import { SluiceError } from "../core/errors.ts";
import { troubleOf } from "../disk.ts";
import { currentBranch, headOf } from "../git.ts";
import type { Claimed } from "../scheduler.ts";
import type { Place, PruneReport, Workspaces, WorktreeView } from "../workspace.ts";
import { captureDiff } from "./capture.ts";
import { createClones } from "./clones.ts";
import { runHook, variablesOf } from "./hooks.ts";
import { isChanged, leaveWorktree, patchOf } from "./leaving.ts";
import { createMakers } from "./makers.ts";
import { createMergeQueue } from "./merge-queue.ts";
import { createLine, type Parts, type Repo, type Yard } from "./parts.ts";
import { prune } from "./prune.ts";
import { allRecords, readRecord, recordOf, type WorktreeRecord, worktreeOf } from "./record.ts";
import { type Past, type Restorable, restorable } from "./restoring.ts";
import { ensureWorktree } from "./worktree.ts";

export { CLONE_STEPS, type Parts, type Repo, WORK_STEPS, type WorkStep } from "./parts.ts";

export type Work = Workspaces & {
	/** Merges begin, and worktrees that are long over go. */
	start(): void;
	stop(): Promise<void>;
	/** Jobs whose merge goes on only if a person sees to it. */
	stuckMerges(): number[];
	/** Fetches a repo that is registered by URL, in the background; what is wrong is only told to the log. */
	freshen(repo: string): Promise<void>;
	/** Something in this repo has changed. */
	stir(repo: string): void;
	prune(act: "remove" | "only look"): Promise<PruneReport>;
	worktrees(repo?: string): WorktreeView[];
	/** How a person makes a worktree again that is gone; null when that is not possible here. */
	restorable(repo: string, past: Past): Promise<Restorable | null>;
	/** Worktrees of jobs that say they make this file and do not merge it. */
	makers(repo: string, artifact: string): string[];
	/** The diff of the working tree that a folder is in, as it is now. */
	capture(folder: string): Promise<string>;
	/** What a job has changed, as a patch; from its worktree, or from its last run's folder. */
	diff(job: number, attempt: number): Promise<{ patch: string; from: "worktree" | "run" } | null>;
	/** What a branch has that its base has not; null where one of them is not there. */
	branchDiff(repo: string, branch: string, base: string | undefined): Promise<{ patch: string; from: "branch" } | null>;
};

const TIDY_MS = 3_600_000;
const MOST_PATCH = 5_000_000;

export function createWork(parts: Parts): Work {
	const yard: Yard = { ...parts, ...createClones(parts), line: createLine() };
	const merges = createMergeQueue(yard);
	const makers = createMakers(yard);
	let cancelTidy = () => {};
	let looks = 0;
	const repoOf = (name: string | undefined) => (name === undefined ? null : yard.repo(name));

	async function enter(claimed: Claimed, dir: string): Promise<Place | { refused: string; fault?: "job" }> {
		const repo = repoOf(claimed.job.repo);
		if (!repo) return { refused: `no folder is known of repo ${claimed.job.repo}: set repos.${claimed.job.repo}.path, or its url` };
		try {
			await bringUpToDate(repo, claimed.job.id);
			const record = await yard.line(repo.path, () => ensureWorktree(yard, repo, claimed, dir));
			makers.note(record);
			const fault = await runHook(yard, repo, "before_run", record, dir);
			if (fault !== null) return { refused: fault };
			return {
				cwd: worktreeOf(yard, record.repo, record.job),
				env: { ...variablesOf(yard, record), ...priorOf(record), SLUICE_ATTEMPT: String(claimed.run.attempt) },
				told: toldIn(record),
				allow: repo.allow,
				verify: repo.verify,
			};
		} catch (error) {
			const refused = `no worktree in repo ${repo.name}: ${troubleOf(error)}`;
			return error instanceof SluiceError && error.field === "job" ? { refused, fault: "job" } : { refused };
		}
	}

	/** A worktree that is there goes on without origin; one that is to be made cannot begin from something old. */
	async function bringUpToDate(repo: Repo, job: number): Promise<void> {
		try {
			await yard.freshen(repo);
		} catch (error) {
			if (readRecord(yard, repo.name, job)?.state !== "ready") throw error;
			yard.log.warn("a run goes on with what was fetched before", { job, error: troubleOf(error) });
		}
	}

	function tidy(): void {
		prune(yard, { what: "long over", act: "remove" }).catch((error) =>
			yard.log.warn("old worktrees could not be looked for", { error: troubleOf(error) }),
		);
		cancelTidy = yard.host.after(TIDY_MS, tidy);
	}

	return {
		has: ({ repo }) => repoOf(repo) !== null,
		enter,
		async changed(job) {
			const record = recordOf(yard, job);
			return record === null ? null : isChanged(yard, record, worktreeOf(yard, record.repo, job)).catch(() => null);
		},
		async leave({ job, dir }, ending) {
			const record = recordOf(yard, job);
			const repo = record && yard.repo(record.repo);
			if (!record || !repo) return ending;
			try {
				return await leaveWorktree(yard, repo, record, dir, ending);
			} catch (error) {
				if (ending.exit_kind !== "completed") return ending;
				return { ...ending, exit_kind: "failed", message: `its worktree cannot be read: ${troubleOf(error)}`.slice(0, 1000) };
			}
		},
		start() {
			merges.look();
			tidy();
		},
		async stop() {
			cancelTidy();
			await merges.stop();
		},
		async freshen(name) {
			const repo = yard.repo(name);
			if (repo) await yard.freshen(repo).catch((error) => yard.log.warn(troubleOf(error)));
		},
		stir: (repo) => merges.stir(repo),
		stuckMerges: () => merges.stuck(),
		makers: makers.of,
		capture: (folder) => captureDiff(yard, folder),
		prune: (act) => prune(yard, { what: "ended", act }),
		worktrees: (repo) =>
			allRecords(yard)
				.filter((record) => repo === undefined || record.repo === repo)
				.map((record) => viewOf(yard, record)),
		async branchDiff(name, branch, base) {
			const repo = yard.repo(name);
			if (repo === null) return null;
			yard.disk.makeFolder(yard.worktrees);
			const into = `${yard.worktrees}/branch.diff-${++looks}`;
			try {
				return await branchPatch(yard, repo, { branch, base }, into);
			} finally {
				yard.disk.remove(into);
			}
		},
		async restorable(name, past) {
			const repo = yard.repo(name);
			return repo === null ? null : restorable(yard, repo, past).catch(() => null);
		},
		async diff(job, attempt) {
			const record = recordOf(yard, job);
			const path = record && worktreeOf(yard, record.repo, job);
			if (record && path && record.state === "ready" && yard.disk.size(`${path}/.git`) !== null) {
				// Several may look at the same time, each into files of its own.
				const into = `${path}.diff-${++looks}`;
				try {
					await patchOf(yard, { path, from: record.base_commit, index: `${into}-index`, into, untouched: false });
					return { patch: readPatch(yard, into) ?? "", from: "worktree" };
				} finally {
					yard.disk.remove(into);
				}
			}
			for (let at = attempt; at > 0; at--) {
				const patch = readPatch(yard, `${yard.runs}/${job}/${at}/output.patch`);
				if (patch !== null) return { patch, from: "run" };
			}
			return null;
		},
	};
}

/** From where the branch left its base. */
async function branchPatch(yard: Yard, repo: Repo, names: { branch: string; base: string | undefined }, into: string) {
	const base = names.base ?? repo.base_branch ?? (await currentBranch(yard.git, repo.path));
	const from = base === null ? null : await headOf(yard.git, repo.path, base);
	const to = await headOf(yard.git, repo.path, names.branch);
	if (from === null || to === null) return null;
	const plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${into}`];
	await yard.git.ask(repo.path, ["diff", ...plain, `${from}...${to}`, "--"]);
	return { patch: readPatch(yard, into) ?? "", from: "branch" as const };
}

function readPatch(yard: Yard, path: string): string | null {
	const size = yard.disk.size(path);
	if (size === null) return null;
	if (size > MOST_PATCH)
		throw new SluiceError("limit", `the patch has ${size} bytes, at most ${MOST_PATCH} can be shown`, { hint: `it is ${path}` });
	return yard.disk.read(path);
}

const viewOf = (yard: Yard, record: WorktreeRecord): WorktreeView => {
	const path = worktreeOf(yard, record.repo, record.job);
	const { job, repo, branch, base_branch } = record;
	return { job, repo, path, branch, base_branch, there: yard.disk.changedAt(path) !== null };
};

/** A run after the first is told where the last one worked, unless it begins anew; one that has to mend a merge, what is in its way. */
function priorOf(record: WorktreeRecord): Record<string, string> {
	const { told, attempt, named, begun_by = 1 } = record;
	return {
		...(attempt > (named ? 1 : begun_by) ? { SLUICE_PRIOR_BRANCH: record.branch } : {}),
		...(told ? { SLUICE_MERGE_STATUS: told.status, SLUICE_MERGE_FILES: told.files.join("\n"), SLUICE_MERGE_MESSAGE: told.message } : {}),
	};
}

function toldIn({ told, branch, base_branch }: WorktreeRecord): string | null {
	if (!told) return null;
	const how =
		told.status === "conflict"
			? `Your earlier work on branch ${branch} could not be merged into ${base_branch}: ${told.message}.`
			: `Your earlier work on branch ${branch}, put on top of ${base_branch}, did not pass: ${told.message}.`;
	const files = told.files.length > 0 ? `Files concerned:\n${told.files.map((file) => `- ${file}`).join("\n")}` : "";
	return [how, `Merge ${base_branch} into this branch, solve it, and commit.`, files].filter((part) => part !== "").join("\n\n");
}
