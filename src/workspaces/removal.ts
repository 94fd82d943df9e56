// The end of a worktree. Work is never thrown away: what is not committed goes to a rescue ref first, and nothing is forced.
//
//   1. nobody works in it                else it stays
//   2. before_remove
//   3. uncommitted work, and commits that no branch has → refs/sluice/rescue/<job>-<attempt>
//   4. the record says `removing`: from here on all of it is safe, and a crash is gone on with
//   5. cleaned, then `git worktree remove`, without force
//   6. a branch of ours that is merged goes; any other stays

import { troubleOf } from "../disk.ts";
import { GitError, headOf, isAncestor, isCommit, localRef } from "../git.ts";
import { runHook } from "./hooks.ts";
import type { Repo, Yard } from "./parts.ts";
import { dropRecord, rescueRef, type WorktreeRecord, worktreeOf, writeRecord } from "./record.ts";
import { STATUS, stageAll } from "./staging.ts";

export type Removed = { rescued: string | null; why: string | null };
const MOST_RESCUES = 1000;
const SLOW_MS = 30 * 60_000;

/** `why` it is still there; null when it is gone. In the repo's line. */
export async function removeWorktree(yard: Yard, repo: Repo | null, record: WorktreeRecord): Promise<Removed> {
	const path = worktreeOf(yard, record.repo, record.job);
	let rescued: string | null = null;
	try {
		const users = yard.usersOf(path);
		if (users.length > 0) return { rescued, why: `a process works in it: ${users.slice(0, 5).join(", ")}` };
		if ((record.state === "made" || record.state === "ready") && yard.disk.size(`${path}/.git`) === null && yard.disk.list(path).length > 0)
			return { rescued, why: "it is no longer a worktree, but there is something in it" };
		yard.step?.("removal-begun", record.job);
		if (record.state !== "removing" && yard.disk.size(`${path}/.git`) !== null) {
			const fault = repo && record.state === "ready" ? await runHook(yard, repo, "before_remove", record, null) : null;
			if (fault !== null) yard.log.warn(fault, { job: record.job, repo: record.repo });
			rescued = await rescue(yard, record, path);
			yard.step?.("removal-rescued", record.job);
		}
		record.state = "removing";
		writeRecord(yard, record);
		await takeAway(yard, record, path);
		await dropBranch(yard, record);
		dropRecord(yard, record);
		yard.step?.("removal-done", record.job);
		return { rescued, why: null };
	} catch (error) {
		return { rescued, why: troubleOf(error) };
	}
}

/** The ref on which what no branch has is kept; null when there is no such work. */
export async function rescue(yard: Yard, record: WorktreeRecord, path: string): Promise<string | null> {
	const { git } = yard;
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	const changes = await git.ask(path, [...STATUS, "--untracked-files=all"]);
	if (changes === "") {
		const holders = await git.ask(path, ["for-each-ref", "--count=1", `--contains=${head}`, "--format=%(refname)", "refs/"]);
		return holders.trim() === "" ? keep(yard, record, head) : null;
	}
	// An index of its own: nothing of the worktree is touched, whatever state it is in.
	const index = `${yard.worktrees}/${record.repo}/${record.job}.rescue-index`;
	const env = { GIT_INDEX_FILE: index };
	try {
		yard.disk.remove(index);
		await git.ask(path, ["read-tree", "HEAD"], { env });
		await stageAll(git, path, { env, timeoutMs: SLOW_MS });
		const tree = await git.ask(path, ["write-tree"], { env });
		const who = await identityArgs(yard, path);
		const message = `rescued from job ${record.job}, attempt ${record.attempt}: ${record.title}`;
		const commit = await git.ask(path, [...who, "commit-tree", tree, "-p", head], { input: `${message}\n` });
		return await keep(yard, record, commit);
	} finally {
		yard.disk.remove(index);
		yard.disk.remove(`${index}.lock`);
	}
}

/** Under the first name that is free, or that has it already. */
async function keep(yard: Yard, record: WorktreeRecord, commit: string): Promise<string> {
	if (!isCommit(commit)) throw new GitError(`git gave ${JSON.stringify(commit)} for a commit`, null, "");
	for (let nth = 1; nth <= MOST_RESCUES; nth++) {
		const ref = rescueRef(record, nth);
		const { code, stdout } = await yard.git.tell(record.root, ["rev-parse", "--verify", "--quiet", `${ref}^{tree}`]);
		if (code === 0) {
			const tree = await yard.git.ask(record.root, ["rev-parse", "--verify", `${commit}^{tree}`]);
			if (stdout.trim() === tree) return ref;
			continue;
		}
		await yard.git.ask(record.root, ["update-ref", "--create-reflog", "-m", "sluice: rescued", ref, commit, ""]);
		yard.log.warn("uncommitted work was saved", { job: record.job, repo: record.repo, ref });
		return ref;
	}
	throw new GitError(`more than ${MOST_RESCUES} rescue refs of job ${record.job}`, null, "");
}

/** What its branch has goes to a rescue ref, and the branch goes. */
export async function saveTip(yard: Yard, record: WorktreeRecord): Promise<void> {
	const tip = await headOf(yard.git, record.root, record.branch);
	if (tip === null) return;
	const saved = await yard.git.ask(record.root, [
		"for-each-ref",
		"--count=1",
		`--contains=${tip}`,
		"--format=%(refname)",
		"refs/sluice/rescue/",
	]);
	if (saved === "" && !(await isAncestor(yard.git, record.root, tip, record.base_commit))) await keep(yard, record, tip);
	await yard.git.ask(record.root, ["update-ref", "-d", localRef(record.branch), tip]);
}

async function takeAway(yard: Yard, record: WorktreeRecord, path: string): Promise<void> {
	const { git, disk } = yard;
	if (disk.size(`${path}/.git`) !== null) {
		const { code } = await git.tell(path, ["reset", "--hard", "--quiet", "HEAD"]);
		if (code === 0) await git.tell(path, ["clean", "-ffdq"], { timeoutMs: SLOW_MS });
		await restorePointer(yard, path);
		yard.step?.("removal-cleaned", record.job);
		await git.ask(record.root, ["worktree", "unlock", "--", path]).catch(() => {});
		if (code === 0) await git.ask(record.root, ["worktree", "remove", "--", path], { timeoutMs: SLOW_MS });
	}
	// A removal that was cut short has left the rest: it is saved already, and no longer a worktree.
	disk.remove(path);
	await forgetWorktree(yard, record);
}

/** git removes only a worktree whose `.git` points back to it; a run may have put something else there. */
async function restorePointer({ git, disk }: Yard, path: string): Promise<void> {
	const { code, stdout } = await git.tell(path, ["rev-parse", "--absolute-git-dir"]);
	const pointer = `gitdir: ${stdout.trim()}\n`;
	if (code !== 0 || disk.read(`${path}/.git`) === pointer) return;
	disk.remove(`${path}/.git`);
	disk.write(`${path}/.git`, pointer);
}

/** git's own entry of a worktree whose folder is gone. Only this one: others' may be on a disk that is not mounted. */
export async function forgetWorktree(yard: Yard, record: WorktreeRecord): Promise<void> {
	const path = worktreeOf(yard, record.repo, record.job);
	const all = await yard.git.ask(record.root, ["worktree", "list", "--porcelain", "-z"]);
	if (!all.split("\0").includes(`worktree ${path}`)) return;
	await yard.git.tell(record.root, ["worktree", "unlock", "--", path]);
	await yard.git.ask(record.root, ["worktree", "remove", "--", path]);
}

async function dropBranch(yard: Yard, record: WorktreeRecord): Promise<void> {
	if (record.named) return;
	const tip = await headOf(yard.git, record.root, record.branch);
	if (tip === null) return;
	const base = await headOf(yard.git, record.root, record.base_branch);
	const merged = record.merged?.tip === tip ? record.merged.commit : tip;
	if (base === null || !(await isAncestor(yard.git, record.root, merged, base))) return;
	await yard.git.ask(record.root, ["update-ref", "-d", localRef(record.branch), tip]);
}

/** For commits of ours: the user's own name where git knows one. */
export async function identityArgs(yard: Pick<Yard, "git">, folder: string): Promise<string[]> {
	const { stdout } = await yard.git.tell(folder, ["config", "--get-regexp", "^user\\.(name|email)$"]);
	return /^user\.name ./m.test(stdout) && /^user\.email ./m.test(stdout)
		? []
		: ["-c", "user.name=Sluice", "-c", "user.email=sluice@localhost"];
}
