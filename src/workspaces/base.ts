// The base branch where a person has it checked out: whether it may be moved there, moving it, and mending what a killed move has left.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Git, localRef } from "../git.ts";
import type { Yard } from "./parts.ts";

const UNDER_WAY = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
const SLOW_MS = 30 * 60_000;
/** Longer than any git of a person's holds one. */
const LOCK_MS = 10_000;

/** `path`: the checkout that has the branch, or null; `why` it must be left alone now. */
export async function baseBusy(git: Git, root: string, branch: string): Promise<{ path: string | null; why: string | null }> {
	const path = await checkoutOf(git, root, branch);
	if (path === null || !existsSync(path)) return { path: null, why: null };
	const own = await git.ask(path, ["rev-parse", "--absolute-git-dir"]);
	const operation = UNDER_WAY.find((file) => existsSync(join(own, file)));
	if (operation) return { path, why: `git is in the middle of something on ${branch} in ${path} (${operation})` };
	const changes = await git.ask(path, ["status", "--porcelain", "-z", "--untracked-files=no"]);
	if (changes !== "") return { path, why: `you have uncommitted changes on ${branch} in ${path}` };
	return { path, why: null };
}

async function checkoutOf(git: Git, root: string, branch: string): Promise<string | null> {
	const all = await git.ask(root, ["worktree", "list", "--porcelain", "-z"]);
	for (const block of all.split("\0\0")) {
		const lines = block.split("\0");
		if (lines.includes("bare") || !lines.includes(`branch ${localRef(branch)}`)) continue;
		return lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length) ?? null;
	}
	return null;
}

/** Files and branch together; git refuses when that would overwrite anything. */
export async function moveCheckout(git: Git, path: string, to: string): Promise<void> {
	await git.ask(path, ["merge", "--ff-only", "--quiet", "--no-autostash", "--no-verify", to], { timeoutMs: SLOW_MS });
}

/** The untracked files that git refused to overwrite, in its own words; empty when it refused for another reason. */
export function untrackedIn(stderr: string): string[] {
	const [, listed = ""] = /untracked working tree files would be (?:overwritten|removed) by [a-z]+:\n((?:\t.*\n)+)/.exec(stderr) ?? [];
	return listed
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "");
}

/** The note of a move says that a git of ours was at work; none is left, so a lock that does not go was left by it. */
function dropIfOld({ disk, clock, log }: Yard, lock: string): void {
	const since = disk.changedAt(lock);
	if (since === null || clock.now() - since < LOCK_MS) return;
	log.warn("a lock that a killed git has left is removed", { lock });
	disk.remove(lock);
}

export async function dropOldLock(yard: Yard, root: string, name: string): Promise<void> {
	const common = await yard.git.ask(root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
	dropIfOld(yard, `${common}/${name}`);
}

/**
 * A move that was killed half-way leaves files of the new commit under the old one. They are put back only if every difference is exactly that: then
 * nothing of a person's is among them.
 */
export async function repairCheckout(yard: Yard, root: string, branch: string, { from, to }: { from: string; to: string }): Promise<void> {
	const { git, disk } = yard;
	const path = await checkoutOf(git, root, branch);
	if (path === null || !existsSync(path)) return;
	const own = await git.ask(path, ["rev-parse", "--absolute-git-dir"]);
	dropIfOld(yard, `${own}/index.lock`);
	const listed = async (...args: string[]) => (await git.ask(path, args)).split("\0").filter((one) => one !== "");
	const differs = async (...commits: string[]) => new Set(await listed("diff", "--name-only", "-z", "--no-ext-diff", ...commits, "--"));
	const fromOld = await differs(from);
	const ours = await differs(from, to);
	const untracked = (await listed("ls-files", "-z", "--others")).filter((one) => ours.has(one));
	if (fromOld.size === 0 && untracked.length === 0) return;
	const fromNew = await differs(to);
	const half = [...fromOld, ...untracked];
	const isOurs = half.every((one) => ours.has(one) && (!fromNew.has(one) || untracked.includes(one)));
	if (!isOurs) {
		yard.log.warn("a checkout has changes that are not ours; it is left as it is", { path });
		return;
	}
	for (const one of untracked) {
		const [mine, theirs] = await Promise.all([
			git.ask(path, ["hash-object", "--", one]),
			git.tell(path, ["rev-parse", "--verify", "--quiet", `${to}:${one}`]),
		]);
		if (mine.trim() !== theirs.stdout.trim()) return;
	}
	yard.log.warn("a merge was cut short; the checkout is put back", { path, files: half.length });
	for (const one of untracked) disk.remove(join(path, one));
	await git.ask(path, ["reset", "--hard", "--quiet", from], { timeoutMs: SLOW_MS });
}
