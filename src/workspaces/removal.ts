// Removal of a worktree. Work is never lost: uncommitted changes are saved on a rescue ref first, and git is forced only where a
// worktree has submodules.
//
//   1. no process may be working in it   otherwise the worktree stays
//   2. run the hook before_remove
//   3. save uncommitted work, and commits that no ref contains, on refs/sluice/rescue/<job>-<attempt>
//   4. write `removing` into the record: all work is saved by now, and after a crash the next daemon continues from here
//   5. clean the folder, then `git worktree remove` without force
//   6. delete the branch if Sluice named it and it is merged; keep it otherwise

import { type Git, GitError, headOf, isAncestor, isCommit, localRef } from "../contracts/git.ts";
import { messageOf } from "../core/errors.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { replacedGit, restorePointer, runHook } from "./hooks.ts";
import { STATUS, stageAll, withSeparateIndex } from "./merging/staging.ts";
import { dropRecord, rescueRef, type WorktreeRecord, worktreeOf, writeRecord } from "./record.ts";

export type Removed = { rescued: string | null; why: string | null };
const MOST_RESCUES = 1000;
const SLOW_MS = 30 * 60_000;

/** `why`: the reason why the worktree is still there; null when it is gone. The caller holds the repo's mutex. */
export async function removeWorktree(context: WorkspaceContext, repo: Repo | null, record: WorktreeRecord): Promise<Removed> {
	const path = worktreeOf(context, record.repo, record.job);
	let rescued: string | null = null;
	try {
		const users = context.usersOf(path);
		if (users.length > 0) return { rescued, why: `a process works in it: ${users.slice(0, 5).join(", ")}` };
		if (
			(record.state === "made" || record.state === "ready") &&
			context.disk.size(`${path}/.git`) === null &&
			context.disk.list(path).length > 0
		)
			return { rescued, why: "it is no longer a worktree, but there is something in it" };
		context.step?.("removal-begun", record.job);
		if (record.state !== "removing" && context.disk.size(`${path}/.git`) !== null) {
			const fault = repo && record.state === "ready" ? await runHook(context, repo, "before_remove", record, null) : null;
			if (fault !== null) context.log.warn(fault, { job: record.job, repo: record.repo });
			rescued = await rescue(context, record, path);
			context.step?.("removal-rescued", record.job);
		}
		record.state = "removing";
		writeRecord(context, record);
		await takeAway(context, record, path);
		await dropBranch(context, record);
		dropRecord(context, record);
		context.step?.("removal-done", record.job);
		return { rescued, why: null };
	} catch (error) {
		return { rescued, why: messageOf(error) };
	}
}

/** Saves uncommitted changes, or a HEAD that no ref contains, and returns the rescue ref; null when there was nothing to save. */
export async function rescue(context: WorkspaceContext, record: WorktreeRecord, path: string): Promise<string | null> {
	const { git } = context;
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	const changes = await git.ask(path, [...STATUS, "--untracked-files=all"]);
	if (changes === "") {
		return (await isHeld(git, path, head, "refs/")) ? null : keep(context, record, head);
	}
	return withSeparateIndex(context.disk, `${context.worktrees}/${record.repo}/${record.job}.rescue-index`, async (env) => {
		await git.ask(path, ["read-tree", "HEAD"], { env });
		await stageAll(git, path, { env, timeoutMs: SLOW_MS });
		const tree = await git.ask(path, ["write-tree"], { env });
		const who = await identityArgs(context, path);
		const message = `rescued from job ${record.job}, attempt ${record.attempt}: ${record.title}`;
		const commit = await git.ask(path, [...who, "commit-tree", tree, "-p", head], { input: `${message}\n` });
		return keep(context, record, commit);
	});
}

/** Whether a ref under `refs` contains the commit. */
const isHeld = async (git: Git, folder: string, commit: string, refs: string): Promise<boolean> =>
	(await git.ask(folder, ["for-each-ref", "--count=1", `--contains=${commit}`, "--format=%(refname)", refs])) !== "";

/** Creates the first free rescue ref for the commit, or returns an existing one that has the same tree. */
async function keep(context: WorkspaceContext, record: WorktreeRecord, commit: string): Promise<string> {
	if (!isCommit(commit)) throw new GitError(`git gave ${JSON.stringify(commit)} for a commit`, null, "");
	for (let nth = 1; nth <= MOST_RESCUES; nth++) {
		const ref = rescueRef(record, nth);
		const { code, stdout } = await context.git.run(record.root, ["rev-parse", "--verify", "--quiet", `${ref}^{tree}`]);
		if (code === 0) {
			const tree = await context.git.ask(record.root, ["rev-parse", "--verify", `${commit}^{tree}`]);
			if (stdout.trim() === tree) return ref;
			continue;
		}
		await context.git.ask(record.root, ["update-ref", "--create-reflog", "-m", "sluice: rescued", ref, commit, ""]);
		context.log.warn("uncommitted work was saved", { job: record.job, repo: record.repo, ref });
		return ref;
	}
	throw new GitError(`more than ${MOST_RESCUES} rescue refs of job ${record.job}`, null, "");
}

/** Saves the branch's commits on a rescue ref unless one contains them already, then deletes the branch. */
export async function saveTip(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	const tip = await headOf(context.git, record.root, record.branch);
	if (tip === null) return;
	const isSaved = await isHeld(context.git, record.root, tip, "refs/sluice/rescue/");
	if (!isSaved && !(await isAncestor(context.git, record.root, tip, record.base_commit))) await keep(context, record, tip);
	await context.git.ask(record.root, ["update-ref", "-d", localRef(record.branch), tip]);
}

async function takeAway(context: WorkspaceContext, record: WorktreeRecord, path: string): Promise<void> {
	const { git, disk } = context;
	if (disk.size(`${path}/.git`) !== null) {
		const { code } = await git.run(path, ["reset", "--hard", "--quiet", "HEAD"]);
		if (code === 0) await git.run(path, ["clean", "-ffdq"], { timeoutMs: SLOW_MS });
		// git removes only a worktree whose `.git` points back to its entry.
		await restorePointer(context, path).catch(() => {});
		context.step?.("removal-cleaned", record.job);
		await git.ask(record.root, ["worktree", "unlock", "--", path]).catch(() => {});
		if (code === 0) await removeFolder(context, record.root, path);
	}
	// Files may be left here by a removal that was cut short. They are saved already, and the folder is no longer a worktree.
	disk.remove(path);
	disk.remove(replacedGit(path));
	await forgetWorktree(context, record);
}

/** git removes a worktree with submodules only by force. What the worktree itself holds is saved by now. */
async function removeFolder({ git, log }: WorkspaceContext, root: string, path: string): Promise<void> {
	const remove = (...force: string[]) => git.ask(root, ["worktree", "remove", ...force, "--", path], { timeoutMs: SLOW_MS });
	await remove().catch(async (error) => {
		if (!(error instanceof GitError) || !/containing submodules/.test(error.stderr)) throw error;
		log.warn("a worktree with submodules is removed; commits that only its submodules have go with it", { path });
		await remove("--force");
	});
}

/**
 * Drops git's entry of a worktree whose folder is gone. Not `git worktree prune`: entries of other worktrees may belong to a disk that is not mounted now.
 */
export async function forgetWorktree(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	const path = worktreeOf(context, record.repo, record.job);
	const all = await context.git.ask(record.root, ["worktree", "list", "--porcelain", "-z"]);
	if (!all.split("\0").includes(`worktree ${path}`)) return;
	await context.git.run(record.root, ["worktree", "unlock", "--", path]);
	await context.git.ask(record.root, ["worktree", "remove", "--", path]);
}

async function dropBranch(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	if (record.named) return;
	const tip = await headOf(context.git, record.root, record.branch);
	if (tip === null) return;
	const base = await headOf(context.git, record.root, record.base_branch);
	const merged = record.merged?.tip === tip ? record.merged.commit : tip;
	if (base === null || !(await isAncestor(context.git, record.root, merged, base))) return;
	await context.git.ask(record.root, ["update-ref", "-d", localRef(record.branch), tip]);
}

/** Arguments that name the author of Sluice's commits: none where git knows the user's name and address, a generic identity otherwise. */
export async function identityArgs(context: Pick<WorkspaceContext, "git">, folder: string): Promise<string[]> {
	const { stdout } = await context.git.run(folder, ["config", "--get-regexp", "^user\\.(name|email)$"]);
	return /^user\.name ./m.test(stdout) && /^user\.email ./m.test(stdout)
		? []
		: ["-c", "user.name=Sluice", "-c", "user.email=sluice@localhost"];
}
