// After a run: the last hook, the commit of what a good run left, and the patch of what it changed.

import { troubleOf } from "../disk.ts";
import { currentBranch } from "../git.ts";
import type { Ending } from "../scheduler.ts";
import { runHook } from "./hooks.ts";
import type { Repo, Yard } from "./parts.ts";
import { type WorktreeRecord, worktreeOf } from "./record.ts";
import { identityArgs } from "./removal.ts";
import { STATUS, stageAll } from "./staging.ts";

const SLOW_MS = 30 * 60_000;

/** The end as it counts: a good one whose work cannot be had is none. */
export async function leaveWorktree(yard: Yard, repo: Repo, record: WorktreeRecord, dir: string, ending: Ending): Promise<Ending> {
	const path = worktreeOf(yard, record.repo, record.job);
	const fault = await runHook(yard, repo, "after_run", record, dir);
	if (fault !== null) yard.log.warn(fault, { job: record.job, repo: record.repo });
	let counts = ending;
	if (ending.exit_kind === "completed") {
		const wrong = await collect(yard, record, path).catch(troubleOf);
		if (wrong !== null) counts = { ...ending, exit_kind: "failed", message: wrong.slice(0, 1000) };
		yard.step?.("run-committed", record.job);
	}
	await writePatch(yard, record, path, dir).catch((error) =>
		yard.log.warn("output.patch could not be written", { job: record.job, error: troubleOf(error) }),
	);
	return counts;
}

/** Commits if the job asks for it. Why its work cannot be merged; null when it can, or when it is not to be. */
async function collect(yard: Yard, record: WorktreeRecord, path: string): Promise<string | null> {
	const { git } = yard;
	const { spec, kind, will_merge } = await yard.scheduler.show(record.job);
	const commit = spec.commit ?? (kind === "agent" ? "auto" : "never");
	const branch = await currentBranch(git, path);
	if (branch !== record.branch && (will_merge || commit === "auto")) {
		const where = branch === null ? "at a commit without a branch, perhaps in the middle of a rebase" : `on branch ${branch}`;
		return `the run left its worktree ${where}, not on ${record.branch}`;
	}
	if (commit !== "auto") return null;
	await stageAll(git, path, { timeoutMs: SLOW_MS });
	const { code } = await git.tell(path, ["diff", "--cached", "--quiet"]);
	if (code === 0) return null;
	const who = await identityArgs(yard, path);
	// By standard input: a title is often the first words of the prompt, and every user of the machine can read arguments.
	await git.ask(path, [...who, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-"], {
		input: `${record.title}\n\nSluice-Job: ${record.job}\n`,
		timeoutMs: SLOW_MS,
	});
	return null;
}

/** Whether anything is other than when the job's first run began, committed or not. */
export async function isChanged({ git }: Pick<Yard, "git">, record: WorktreeRecord, path: string): Promise<boolean> {
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	if (head !== (record.first_head ?? record.entered_head ?? record.base_commit)) return true;
	return (await git.ask(path, [...STATUS, "--untracked-files=normal"])) !== "";
}

/** All that the run changed, committed or not, new files too. */
async function writePatch(yard: Yard, record: WorktreeRecord, path: string, dir: string): Promise<void> {
	const { git, disk } = yard;
	const from = record.entered_head ?? record.base_commit;
	const head = await git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
	const changes = await git.ask(path, [...STATUS, "--untracked-files=normal"]);
	if (head === from && changes === "") return;
	await patchOf(yard, { path, from, index: `${dir}/patch-index`, into: `${dir}/output.patch`, untouched: changes === "" });
	disk.remove(`${dir}/patch-index`);
}

type PatchWish = { path: string; from: string; index: string; into: string; untouched: boolean };

/** From a commit to the files as they stand, through an index of its own; into a file, since patches may be large. */
export async function patchOf(yard: Pick<Yard, "git" | "disk">, { path, from, index, into, untouched }: PatchWish): Promise<void> {
	const plain = ["--binary", "--no-ext-diff", "--no-textconv", "--no-color", `--output=${into}`];
	if (untouched) {
		await yard.git.ask(path, ["diff", ...plain, from, "HEAD", "--"], { timeoutMs: SLOW_MS });
		return;
	}
	const env = { GIT_INDEX_FILE: index };
	try {
		await yard.git.ask(path, ["read-tree", "HEAD"], { env });
		await stageAll(yard.git, path, { env, timeoutMs: SLOW_MS });
		await yard.git.ask(path, ["diff", "--cached", ...plain, from, "--"], { env, timeoutMs: SLOW_MS });
	} finally {
		yard.disk.remove(index);
		yard.disk.remove(`${index}.lock`);
	}
}
