// The base branch in a checkout where a person works: whether it may be moved there, the move, and the repair after a killed move.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { entriesIn, type Git, localRef, worktreesIn } from "../contracts/git.ts";
import type { WorkspaceContext } from "./context.ts";

const UNDER_WAY = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
const SLOW_MS = 30 * 60_000;
/** Longer than a git command, also one of a person, holds a lock. */
const LOCK_MS = 10_000;

/** `path`: the checkout that has the branch, or null. `why`: the reason why the checkout must be left alone now, or null. */
type Busy = { path: string | null; why: string | null; cause?: "changes" };
export async function baseBusy(git: Git, root: string, branch: string): Promise<Busy> {
	const path = await checkoutOf(git, root, branch);
	if (path === null || !existsSync(path)) return { path: null, why: null };
	const own = await git.ask(path, ["rev-parse", "--absolute-git-dir"]);
	const operation = UNDER_WAY.find((file) => existsSync(join(own, file)));
	if (operation) return { path, why: `git is in the middle of something on ${branch} in ${path} (${operation})` };
	const changes = await git.ask(path, ["status", "--porcelain", "-z", "--untracked-files=no"]);
	if (changes !== "") return { path, why: `you have uncommitted changes on ${branch} in ${path}`, cause: "changes" };
	return { path, why: null };
}

async function checkoutOf(git: Git, root: string, branch: string): Promise<string | null> {
	const all = worktreesIn(await git.ask(root, ["worktree", "list", "--porcelain", "-z"]));
	return all.find(({ ref, bare }) => !bare && ref === localRef(branch))?.path ?? null;
}

/** Moves files and branch together by a fast-forward; git refuses when that would overwrite changes. */
export async function moveCheckout(git: Git, path: string, to: string): Promise<void> {
	await git.ask(path, ["merge", "--ff-only", "--quiet", "--no-autostash", "--no-verify", to], { timeoutMs: SLOW_MS });
}

/** The untracked files that git refused to overwrite, parsed from its message; empty when it refused for another reason. */
export function untrackedIn(stderr: string): string[] {
	const [, listed = ""] = /untracked working tree files would be (?:overwritten|removed) by [a-z]+:\n((?:\t.*\n)+)/.exec(stderr) ?? [];
	return listed
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");
}

/** Removes a lock that is so old that no live git can hold it; returns whether it was. */
export function dropIfOld({ disk, clock, log }: Pick<WorkspaceContext, "disk" | "clock" | "log">, lock: string): boolean {
	const since = disk.changedAt(lock);
	if (since === null || clock.now() - since < LOCK_MS) return false;
	log.warn("a lock that a killed git has left is removed", { lock });
	disk.remove(lock);
	return true;
}

/** The record's note says that a git of Sluice was moving this branch, and that git is gone, so an old lock was left by it. */
export async function dropOldLock(context: WorkspaceContext, root: string, name: string): Promise<void> {
	const common = await context.git.ask(root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
	dropIfOld(context, `${common}/${name}`);
}

/** Whether every file that differs from the old commit, or is not tracked, is one that the move writes, and is as the new commit has it. */
export function isHalfMoved(
	fromOld: ReadonlySet<string>,
	untracked: readonly string[],
	ours: ReadonlySet<string>,
	fromNew: ReadonlySet<string>,
): boolean {
	const added = new Set(untracked);
	return [...fromOld, ...added].every((one) => ours.has(one) && (!fromNew.has(one) || added.has(one)));
}

/**
 * A move killed half-way leaves files of the new commit in a checkout of the old one. They are reset only if every difference from the old commit is such a
 * file: then no change of a person can be lost.
 */
export async function repairCheckout(
	context: WorkspaceContext,
	root: string,
	branch: string,
	{ from, to }: { from: string; to: string },
): Promise<void> {
	const { git, disk } = context;
	const path = await checkoutOf(git, root, branch);
	if (path === null || !existsSync(path)) return;
	const own = await git.ask(path, ["rev-parse", "--absolute-git-dir"]);
	dropIfOld(context, `${own}/index.lock`);
	const listed = async (...args: string[]) => entriesIn(await git.ask(path, args));
	const differs = async (...commits: string[]) => new Set(await listed("diff", "--name-only", "-z", "--no-ext-diff", ...commits, "--"));
	const fromOld = await differs(from);
	const ours = await differs(from, to);
	const untracked = (await listed("ls-files", "-z", "--others")).filter((one) => ours.has(one));
	if (fromOld.size === 0 && untracked.length === 0) return;
	const fromNew = await differs(to);
	if (!isHalfMoved(fromOld, untracked, ours, fromNew)) {
		context.log.warn("a checkout has changes that are not ours; it is left as it is", { path });
		return;
	}
	for (const one of untracked) {
		const [mine, theirs] = await Promise.all([
			git.ask(path, ["hash-object", "--", one]),
			git.run(path, ["rev-parse", "--verify", "--quiet", `${to}:${one}`]),
		]);
		if (mine.trim() !== theirs.stdout.trim()) return;
	}
	context.log.warn("a merge was cut short; the checkout is put back", { path, files: fromOld.size + untracked.length });
	for (const one of untracked) disk.remove(join(path, one));
	await git.ask(path, ["reset", "--hard", "--quiet", from], { timeoutMs: SLOW_MS });
}
