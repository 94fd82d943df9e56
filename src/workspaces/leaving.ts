// After a run: the hook after_run, the commit of what a successful run left uncommitted, and the patch of what the run changed.

import { currentBranch } from "../contracts/git.ts";
import type { RunEnd } from "../contracts/scheduler.ts";
import { messageOf } from "../core/errors.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { runHook } from "./hooks.ts";
import { patchOptions, STATUS, stageAll, withSeparateIndex } from "./merging/staging.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";
import { identityArgs } from "./removal.ts";

const SLOW_MS = 30 * 60_000;

/** The file in a run's folder that says why there is no output.patch. */
export const NO_PATCH = "output.patch.error";

/** Returns the effective ending: a successful run whose work could not be committed counts as failed. */
export async function leaveWorktree(
	context: WorkspaceContext,
	repo: Repo,
	record: WorktreeRecord,
	dir: string,
	ending: RunEnd,
): Promise<RunEnd> {
	const path = worktreeOf(context, record.repo, record.job);
	const fault = await runHook(context, repo, "after_run", record, dir);
	if (fault !== null) context.log.warn(fault, { job: record.job, repo: record.repo });
	let counts = ending;
	if (ending.exit_kind === "completed") {
		const wrong = await collect(context, record, path).catch(messageOf);
		if (wrong !== null) counts = { ...ending, exit_kind: "failed", message: wrong.slice(0, 1000) };
		context.step?.("run-committed", record.job);
	}
	await writePatch(context, record, path, dir).catch((error) => {
		context.log.warn("output.patch could not be written", { job: record.job, error: messageOf(error) });
		context.disk.write(`${dir}/${NO_PATCH}`, messageOf(error).slice(0, 1000));
	});
	return counts;
}

/** Commits the changes if the job asks for it. Returns why the work cannot be merged; null when it can be, or is not meant to be. */
async function collect(context: WorkspaceContext, record: WorktreeRecord, path: string): Promise<string | null> {
	const { git } = context;
	const { spec, kind, will_merge } = await context.scheduler.show(record.job);
	const commit = spec.commit ?? (kind === "agent" ? "auto" : "never");
	const branch = await currentBranch(git, path);
	if (branch !== record.branch && (will_merge || commit === "auto")) {
		const where = branch === null ? "at a commit without a branch, perhaps in the middle of a rebase" : `on branch ${branch}`;
		return `the run left its worktree ${where}, not on ${record.branch}`;
	}
	if (commit !== "auto") return null;
	await stageAll(git, path, { timeoutMs: SLOW_MS });
	const { code } = await git.run(path, ["diff", "--cached", "--quiet"]);
	if (code === 0) return null;
	const who = await identityArgs(context, path);
	// The message goes through standard input: a title is often the first words of the prompt, and every user of the machine can read arguments.
	await git.ask(path, [...who, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-"], {
		input: `${record.title}\n\nSluice-Job: ${record.job}\n`,
		timeoutMs: SLOW_MS,
	});
	return null;
}

/** Whether the worktree differs from its state when the job's first run began, committed or not. */
export async function isChanged({ git }: Pick<WorkspaceContext, "git">, record: WorktreeRecord, path: string): Promise<boolean> {
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	if (head !== (record.first_head ?? record.entered_head ?? record.base_commit)) return true;
	return (await git.ask(path, [...STATUS, "--untracked-files=normal"])) !== "";
}

/** Writes `output.patch`: all that the run changed, committed or not, including new files. */
async function writePatch(context: WorkspaceContext, record: WorktreeRecord, path: string, dir: string): Promise<void> {
	const { git } = context;
	const from = record.entered_head ?? record.base_commit;
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	const changes = await git.ask(path, [...STATUS, "--untracked-files=normal"]);
	if (head === from && changes === "") return;
	await patchOf(context, { path, from, index: `${dir}/patch-index`, into: `${dir}/output.patch`, untouched: changes === "" });
}

type PatchWish = { path: string; from: string; index: string; into: string; untouched: boolean };

/** Writes the diff from a commit to the files as they are now. */
export async function patchOf(
	context: Pick<WorkspaceContext, "git" | "disk">,
	{ path, from, index, into, untouched }: PatchWish,
): Promise<void> {
	const { git, disk } = context;
	try {
		if (untouched) await git.ask(path, ["diff", ...patchOptions(into), from, "HEAD", "--"], { timeoutMs: SLOW_MS });
		else
			await withSeparateIndex(disk, index, async (env) => {
				await git.ask(path, ["read-tree", "HEAD"], { env });
				await stageAll(git, path, { env, timeoutMs: SLOW_MS });
				await git.ask(path, ["diff", "--cached", ...patchOptions(into), from, "--"], { env, timeoutMs: SLOW_MS });
			});
	} catch (error) {
		// git makes the file before it reads what goes into it: what is there now is empty or a part.
		disk.remove(into);
		throw error;
	}
}
