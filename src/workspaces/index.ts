// Workspaces of jobs with a repo: a worktree each, the merge of its work, and its removal. The interface for the daemon and the supervisor.

import type { Workspaces, WorktreeView } from "../contracts/workspace.ts";
import { messageOf } from "../core/errors.ts";
import { captureDiff } from "./capture.ts";
import { createClones } from "./clones.ts";
import { createKeyedMutex, type WorkspaceContext, type WorkspaceDeps } from "./context.ts";
import { createDiffs } from "./diffs.ts";
import { enterWorktree } from "./entering.ts";
import { restorePointer } from "./hooks.ts";
import { isChanged, leaveWorktree } from "./leaving.ts";
import { changedLines } from "./lines.ts";
import { createMakers, type Makers } from "./makers.ts";
import { createMergeQueue } from "./merging/merge-queue.ts";
import { prune } from "./prune.ts";
import { allRecords, recordOf, type WorktreeRecord, worktreeOf } from "./record.ts";
import { type RemovedWorktree, type Restorable, restorable } from "./restoring.ts";

export { CLONE_STEPS, type Repo, WORK_STEPS, type WorkStep, type WorkspaceDeps } from "./context.ts";

export type Work = ReturnType<typeof createWork>;

const TIDY_MS = 3_600_000;

export function createWork(parts: WorkspaceDeps) {
	const context: WorkspaceContext = { ...parts, ...createClones(parts), line: createKeyedMutex() };
	const merges = createMergeQueue(context);
	const makers = createMakers(context);
	let cancelTidy = () => {};

	function tidy(): void {
		prune(context, { what: "long over", act: "remove" }).catch((error) =>
			context.log.warn("old worktrees could not be looked for", { error: messageOf(error) }),
		);
		cancelTidy = context.host.after(TIDY_MS, tidy);
	}

	return {
		...workspacesOf(context, makers),
		...createDiffs(context),
		/** Starts the merge queue and the hourly removal of worktrees past their retention time. */
		start(): void {
			merges.look();
			tidy();
		},
		async stop(): Promise<void> {
			cancelTidy();
			await merges.stop();
		},
		/** Fetches a repo that is registered by URL; failures are only logged. */
		async freshen(name: string): Promise<void> {
			const repo = context.repo(name);
			if (repo) await context.freshen(repo).catch((error) => context.log.warn(messageOf(error)));
		},
		stir: merges.stir,
		stuckMerges: merges.stuck,
		/** Worktrees of jobs that declare this file as an artifact and do not merge directly. */
		makers: makers.of,
		/** The diff of the working tree that contains a folder, as it is now. */
		capture: (folder: string, whose: "any" | "registered") => captureDiff(context, folder, whose),
		prune: (act: "remove" | "only look") => prune(context, { what: "ended", act }),
		worktrees: () => allRecords(context).map((record) => viewOf(context, record)),
		/** A job's worktree, for a person who is about to work there: its `.git` is put back as git made it. */
		place: (job: number) => placeOf(context, job),
		/** How a person can recreate a removed worktree; null when this host cannot. */
		async restorable(name: string, past: RemovedWorktree): Promise<Restorable | null> {
			const repo = context.repo(name);
			return repo === null ? null : restorable(context, repo, past).catch(() => null);
		},
	};
}

const workspacesOf = (context: WorkspaceContext, makers: Makers): Workspaces => ({
	has: ({ repo }) => repo !== undefined && context.repo(repo) !== null,
	async enter(claimed, dir) {
		const { repo: name } = claimed.job;
		const repo = name === undefined ? null : context.repo(name);
		if (!repo) return { refused: `no folder is known of repo ${name}: set repos.${name}.path, or its url` };
		return enterWorktree(context, repo, claimed, dir, makers);
	},
	async changed(job) {
		const record = recordOf(context, job);
		return record === null ? null : isChanged(context, record, worktreeOf(context, record.repo, job)).catch(() => null);
	},
	lines: (job) => changedLines(context, job).catch(() => null),
	async leave({ job, dir }, ending) {
		const record = recordOf(context, job);
		const repo = record && context.repo(record.repo);
		if (!record || !repo) return ending;
		try {
			return await leaveWorktree(context, repo, record, dir, ending);
		} catch (error) {
			if (ending.exit_kind !== "completed") return ending;
			return { ...ending, exit_kind: "failed", message: `its worktree cannot be read: ${messageOf(error)}`.slice(0, 1000) };
		}
	},
});

/** The person who goes there runs git, which a `.git` that the run has put there could make run a program of the run. */
async function placeOf(context: WorkspaceContext, job: number): Promise<WorktreeView | null> {
	const record = recordOf(context, job);
	if (record === null) return null;
	const view = viewOf(context, record);
	if (view.there && record.state === "ready")
		await restorePointer(context, view.path).catch((error) =>
			context.log.warn("a worktree's .git cannot be put back", { job, error: messageOf(error) }),
		);
	return view;
}

const viewOf = (context: WorkspaceContext, record: WorktreeRecord): WorktreeView => {
	const path = worktreeOf(context, record.repo, record.job);
	const { job, repo, branch, base_branch } = record;
	return { job, repo, path, branch, base_branch, there: context.disk.changedAt(path) !== null };
};
