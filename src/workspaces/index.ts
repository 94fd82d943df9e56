// Workspaces of jobs with a repo: a worktree each, the merge of its work, and its removal. The interface for the daemon and the supervisor.

import { troubleOf } from "../contracts/disk.ts";
import { currentBranch, headOf, limited } from "../contracts/git.ts";
import type { Claimed } from "../contracts/scheduler.ts";
import type { EnteredWorkspace, PruneReport, Workspaces, WorktreeView } from "../contracts/workspace.ts";
import { SluiceError } from "../core/errors.ts";
import { captureDiff } from "./capture.ts";
import { createClones } from "./clones.ts";
import { createKeyedMutex, type Repo, type WorkspaceContext, type WorkspaceDeps } from "./context.ts";
import { restorePointer, runHook, variablesOf } from "./hooks.ts";
import { isChanged, leaveWorktree, NO_PATCH, patchOf } from "./leaving.ts";
import { createMakers } from "./makers.ts";
import { createMergeQueue } from "./merging/merge-queue.ts";
import { prune } from "./prune.ts";
import { allRecords, readRecord, recordOf, type WorktreeRecord, worktreeOf } from "./record.ts";
import { type RemovedWorktree, type Restorable, restorable } from "./restoring.ts";
import { ensureWorktree } from "./worktree.ts";

export { CLONE_STEPS, type Repo, WORK_STEPS, type WorkStep, type WorkspaceDeps } from "./context.ts";

export type Work = Workspaces & {
	/** Starts the merge queue and the hourly removal of worktrees past their retention time. */
	start(): void;
	stop(): Promise<void>;
	/** Jobs whose merge cannot continue without a person. */
	stuckMerges(): number[];
	/** Fetches a repo that is registered by URL; failures are only logged. */
	freshen(repo: string): Promise<void>;
	/** Something in this repo has changed: retry the merges that wait for it. */
	stir(repo: string): void;
	prune(act: "remove" | "only look"): Promise<PruneReport>;
	worktrees(repo?: string): WorktreeView[];
	/** A job's worktree, for a person who is about to work there: its `.git` is put back as git made it. */
	place(job: number): Promise<WorktreeView | null>;
	/** How a person can recreate a removed worktree; null when this host cannot. */
	restorable(repo: string, past: RemovedWorktree): Promise<Restorable | null>;
	/** Worktrees of jobs that declare this file as an artifact and do not merge directly. */
	makers(repo: string, artifact: string): string[];
	/** The diff of the working tree that contains a folder, as it is now. */
	capture(folder: string, whose: "any" | "registered"): Promise<string>;
	/** What a job has changed, as a patch: from its worktree, else from the folder of its latest run that left one. */
	diff(job: number, attempt: number): Promise<{ patch: string; from: "worktree" | "run" } | null>;
	/** What a branch has that its base does not have; null when one of them does not exist. */
	branchDiff(repo: string, branch: string, base: string | undefined): Promise<{ patch: string; from: "branch" } | null>;
};

const TIDY_MS = 3_600_000;
/** At most two diffs at a time, of all callers together. */
const diffTurns = limited(2);
const MOST_PATCH = 5_000_000;

export function createWork(parts: WorkspaceDeps): Work {
	const context: WorkspaceContext = { ...parts, ...createClones(parts), line: createKeyedMutex() };
	const merges = createMergeQueue(context);
	const makers = createMakers(context);
	let cancelTidy = () => {};
	let looks = 0;
	const repoOf = (name: string | undefined) => (name === undefined ? null : context.repo(name));

	async function enter(claimed: Claimed, dir: string): Promise<EnteredWorkspace | { refused: string; fault?: "job" }> {
		const repo = repoOf(claimed.job.repo);
		if (!repo) return { refused: `no folder is known of repo ${claimed.job.repo}: set repos.${claimed.job.repo}.path, or its url` };
		try {
			await bringUpToDate(repo, claimed.job.id);
			const record = await context.line(repo.path, () => ensureWorktree(context, repo, claimed, dir));
			makers.note(record);
			const fault = await runHook(context, repo, "before_run", record, dir);
			if (fault !== null) return { refused: fault };
			return {
				cwd: worktreeOf(context, record.repo, record.job),
				env: { ...variablesOf(context, record), ...priorOf(record), SLUICE_ATTEMPT: String(claimed.run.attempt) },
				told: toldIn(record),
				allow: repo.allow,
				verify: repo.verify,
			};
		} catch (error) {
			const refused = `no worktree in repo ${repo.name}: ${troubleOf(error)}`;
			return error instanceof SluiceError && error.field === "job" ? { refused, fault: "job" } : { refused };
		}
	}

	/** An existing worktree can continue when origin cannot be reached; a new one must not start from an outdated base. */
	async function bringUpToDate(repo: Repo, job: number): Promise<void> {
		try {
			await context.freshen(repo);
		} catch (error) {
			if (readRecord(context, repo.name, job)?.state !== "ready") throw error;
			context.log.warn("a run goes on with what was fetched before", { job, error: troubleOf(error) });
		}
	}

	function tidy(): void {
		prune(context, { what: "long over", act: "remove" }).catch((error) =>
			context.log.warn("old worktrees could not be looked for", { error: troubleOf(error) }),
		);
		cancelTidy = context.host.after(TIDY_MS, tidy);
	}

	return {
		has: ({ repo }) => repoOf(repo) !== null,
		enter,
		async changed(job) {
			const record = recordOf(context, job);
			return record === null ? null : isChanged(context, record, worktreeOf(context, record.repo, job)).catch(() => null);
		},
		async leave({ job, dir }, ending) {
			const record = recordOf(context, job);
			const repo = record && context.repo(record.repo);
			if (!record || !repo) return ending;
			try {
				return await leaveWorktree(context, repo, record, dir, ending);
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
			const repo = context.repo(name);
			if (repo) await context.freshen(repo).catch((error) => context.log.warn(troubleOf(error)));
		},
		stir: (repo) => merges.stir(repo),
		stuckMerges: () => merges.stuck(),
		makers: makers.of,
		capture: (folder, whose) => captureDiff(context, folder, whose),
		prune: (act) => prune(context, { what: "ended", act }),
		worktrees: (repo) =>
			allRecords(context)
				.filter((record) => repo === undefined || record.repo === repo)
				.map((record) => viewOf(context, record)),
		place: (job) => placeOf(context, job),
		async branchDiff(name, branch, base) {
			const repo = context.repo(name);
			if (repo === null) return null;
			context.disk.makeFolder(context.worktrees);
			const into = `${context.worktrees}/branch.diff-${++looks}`;
			try {
				return await diffTurns(() => branchPatch(context, repo, { branch, base }, into));
			} finally {
				context.disk.remove(into);
			}
		},
		async restorable(name, past) {
			const repo = context.repo(name);
			return repo === null ? null : restorable(context, repo, past).catch(() => null);
		},
		diff: (job, attempt) => diffTurns(() => diffOf(context, { job, attempt, look: ++looks })),
	};
}

/** `look`: a number of its own for each call, because calls may overlap and each writes to files of its own. */
async function diffOf(
	context: WorkspaceContext,
	{ job, attempt, look }: { job: number; attempt: number; look: number },
): Promise<{ patch: string; from: "worktree" | "run" } | null> {
	const record = recordOf(context, job);
	const path = record && worktreeOf(context, record.repo, job);
	if (record && path && record.state === "ready" && context.disk.size(`${path}/.git`) !== null) {
		const into = `${path}.diff-${look}`;
		try {
			await patchOf(context, { path, from: record.base_commit, index: `${into}-index`, into, untouched: false }).catch((error) => {
				throw noDiff(job, troubleOf(error));
			});
			return { patch: readPatch(context, into) ?? "", from: "worktree" };
		} finally {
			context.disk.remove(into);
		}
	}
	for (let at = attempt; at > 0; at--) {
		const dir = `${context.runs}/${job}/${at}`;
		const patch = readPatch(context, `${dir}/output.patch`);
		if (patch !== null) return { patch, from: "run" };
		const why = context.disk.read(`${dir}/${NO_PATCH}`);
		if (why !== null) throw noDiff(job, why);
	}
	return null;
}

/** The person who goes there runs git, which a `.git` that the run has put there could make run a program of the run. */
async function placeOf(context: WorkspaceContext, job: number): Promise<WorktreeView | null> {
	const record = recordOf(context, job);
	if (record === null) return null;
	const view = viewOf(context, record);
	if (view.there && record.state === "ready")
		await restorePointer(context, view.path).catch((error) =>
			context.log.warn("a worktree's .git cannot be put back", { job, error: troubleOf(error) }),
		);
	return view;
}

const noDiff = (job: number, why: string): SluiceError =>
	new SluiceError("invalid", `the diff of job ${job} cannot be made: ${why}`, {
		field: "id",
		hint: `look at its branch yourself: sluice open ${job} shows the folder`,
	});

/** The diff from the commit where the branch left its base. */
async function branchPatch(context: WorkspaceContext, repo: Repo, names: { branch: string; base: string | undefined }, into: string) {
	const base = names.base ?? repo.base_branch ?? (await currentBranch(context.git, repo.path));
	const from = base === null ? null : await headOf(context.git, repo.path, base);
	const to = await headOf(context.git, repo.path, names.branch);
	if (from === null || to === null) return null;
	const plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${into}`];
	await context.git.ask(repo.path, ["diff", ...plain, `${from}...${to}`, "--"]);
	return { patch: readPatch(context, into) ?? "", from: "branch" as const };
}

function readPatch(context: WorkspaceContext, path: string): string | null {
	const size = context.disk.size(path);
	if (size === null) return null;
	if (size > MOST_PATCH)
		throw new SluiceError("limit", `the patch has ${size} bytes, at most ${MOST_PATCH} can be shown`, { hint: `it is ${path}` });
	return context.disk.read(path);
}

const viewOf = (context: WorkspaceContext, record: WorktreeRecord): WorktreeView => {
	const path = worktreeOf(context, record.repo, record.job);
	const { job, repo, branch, base_branch } = record;
	return { job, repo, path, branch, base_branch, there: context.disk.changedAt(path) !== null };
};

/** Variables about the past: the branch of the previous run, unless this run starts with a new worktree, and what blocked the merge. */
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
