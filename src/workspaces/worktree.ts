// A job's worktree: made before the job's first run, reused by later runs, repaired when a crash left it half made.

import { currentBranch, GitError, headOf, localRef, worktreesIn } from "../contracts/git.ts";
import type { Claimed } from "../contracts/scheduler.ts";
import { SluiceError } from "../core/errors.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { runHook } from "./hooks.ts";
import { includeFiles } from "./include.ts";
import { readRecord, slugOf, type WorktreeRecord, worktreeOf, writeRecord } from "./record.ts";
import { forgetWorktree, removeWorktree, saveTip } from "./removal.ts";

/** Large repositories are slow to check out, but a `git worktree add` that hangs must not block its repo for ever. */
const ADD_MS = 30 * 60_000;

/** A refusal that concerns every job of the repo. */
const refuse = (message: string, hint?: string) => new SluiceError("invalid", hint === undefined ? message : `${message}; ${hint}`);
/** A refusal that concerns this job alone: its base, its branch, or its earlier worktree. */
const refuseJob = (message: string, hint?: string) =>
	new SluiceError("invalid", hint === undefined ? message : `${message}; ${hint}`, { field: "job" });

/** Makes, repairs or reuses the job's worktree. The caller holds the repo's mutex. Rejects with a message for the job when there can be no worktree. */
export async function ensureWorktree(context: WorkspaceContext, repo: Repo, claimed: Claimed, dir: string): Promise<WorktreeRecord> {
	const { job, run } = claimed;
	let record = readRecord(context, repo.name, job.id);
	if (record && record.root !== repo.path)
		throw refuseJob(
			`its worktree belongs to ${record.root}, and repo ${repo.name} is at ${repo.path} now`,
			"prune it, or put the repo back",
		);
	const life = record === null ? "same" : await lifeOf(context, record, claimed);
	if (record && (record.state === "removing" || life === "another")) {
		await startOver(context, repo, record);
		record = null;
	}
	// After a rerun, changes count from this run on: the commits of earlier runs are not its work.
	if (record && life === "again") delete record.first_head;
	if (record?.state === "making") await scrapHalfMade(context, record);
	const known: WorktreeRecord = record ?? (await draft(context, repo, claimed));
	const isNew = record === null && !known.named;
	known.attempt = run.attempt;
	known.entered_at = context.clock.now();
	known.strategy = claimed.spec.no_merge ? "none" : (claimed.spec.merge ?? repo.merge);
	const makes = (job.produces ?? []).filter((artifact) => artifact.startsWith("file:"));
	if (makes.length > 0) known.makes = makes;
	if (known.state === "making" || !(await isThere(context, known))) await add(context, repo, known);
	if (known.state === "made") {
		const fault = await runHook(context, repo, "after_create", known, dir);
		if (fault !== null) throw refuse(fault);
		known.state = "ready";
	}
	delete known.merged;
	delete known.moving;
	delete known.follow_up_due;
	const worktree = worktreeOf(context, repo.name, job.id);
	known.entered_head = isNew ? known.base_commit : await context.git.ask(worktree, ["rev-parse", "--verify", "HEAD^{commit}"]);
	known.first_head ??= known.entered_head;
	writeRecord(context, known);
	context.step?.("worktree-ready", job.id);
	return known;
}

async function draft(context: WorkspaceContext, repo: Repo, { job, spec, run }: Claimed): Promise<WorktreeRecord> {
	const base = spec.base_branch ?? repo.base_branch ?? (await currentBranch(context.git, repo.path));
	if (base === null)
		throw refuse(`HEAD of repo ${repo.name} is detached, so there is no base to begin from`, `set repos.${repo.name}.base_branch`);
	const commit = await headOf(context.git, repo.path, base);
	if (commit === null) {
		const why = `repo ${repo.name} has no branch ${JSON.stringify(base)} to begin from`;
		throw spec.base_branch === undefined ? refuse(why) : refuseJob(why);
	}
	const asked = spec.prompt?.trim().split("\n")[0]?.trim() || undefined;
	const program = spec.command?.[0]?.split("/").at(-1) ?? `job ${job.id}`;
	// The branch is named after the job's name, which is short; the commit's subject says what the work is about.
	const slug = slugOf(spec.title ?? job.name ?? asked ?? program);
	const title = spec.title ?? asked ?? job.name ?? program;
	return {
		version: 1,
		job: job.id,
		repo: repo.name,
		root: repo.path,
		branch: spec.worktree ?? `sluice/${context.homeTag}-${job.id}-${slug}`,
		named: spec.worktree !== undefined,
		base_branch: base,
		base_commit: commit,
		state: "making",
		attempt: run.attempt,
		begun_by: run.attempt,
		title: title.slice(0, 200),
		strategy: "none",
		entered_at: context.clock.now(),
	};
}

/**
 * Compares the record with the job: a retry continues in its worktree ("same"), so does a rerun, but with a new first head ("again"); a rewind starts with a
 * new worktree ("another"). A record older than the job is "another", too: it belongs to a job of a deleted store that had the same number.
 */
async function lifeOf(context: WorkspaceContext, record: WorktreeRecord, { job }: Claimed): Promise<"same" | "again" | "another"> {
	if (record.entered_at < job.created_at) return "another";
	if (job.attempt <= 1 || record.state === "making") return "same";
	const events = await context.scheduler.history(job.id);
	const last = events.findLastIndex((event) => event.kind === "reset" && event.at >= record.entered_at);
	if (last < 0) return "same";
	return events.slice(last).some((event) => event.kind === "rerun") ? "again" : "another";
}

/** Removes the old worktree, saving its uncommitted work, and moves the commits of its branch to a rescue ref. */
async function startOver(context: WorkspaceContext, repo: Repo, record: WorktreeRecord): Promise<void> {
	const { why } = await removeWorktree(context, repo, record);
	if (why !== null) throw refuseJob(`its worktree cannot be made anew: ${why}`);
	if (!record.named) await saveTip(context, record);
}

/** Discards a worktree that was being added at the time of a crash. No run has used it yet, so no work is lost. */
async function scrapHalfMade(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	context.log.warn("a worktree was left half made; it is made anew", { job: record.job, repo: record.repo });
	const path = worktreeOf(context, record.repo, record.job);
	// git keeps a worktree locked while it adds it.
	await context.git.run(record.root, ["worktree", "unlock", "--", path]).catch(() => {});
	context.disk.remove(path);
	await forgetWorktree(context, record);
	await unlockBranch(context, record);
}

/**
 * Removes a stale ref lock of the job's own branch. Only Sluice writes branches with its prefix while no run of the job is live, so the lock was left by a
 * killed git.
 */
async function unlockBranch(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	if (record.named) return;
	const common = await context.git.ask(record.root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
	context.disk.remove(`${common}/${localRef(record.branch)}.lock`);
}

async function isThere(context: WorkspaceContext, record: WorktreeRecord): Promise<boolean> {
	const path = worktreeOf(context, record.repo, record.job);
	if (context.disk.size(`${path}/.git`) === null) return false;
	const { code, stdout } = await context.git.run(path, ["rev-parse", "--absolute-git-dir"]);
	if (code !== 0) throw refuseJob(`${path} is no longer a worktree of ${record.root}`, "move it away, then retry");
	// No run is live in this worktree now, so an index lock was left by a git that was killed during the last run.
	context.disk.remove(`${stdout.trim()}/index.lock`);
	return true;
}

async function add(context: WorkspaceContext, repo: Repo, record: WorktreeRecord): Promise<void> {
	const path = worktreeOf(context, record.repo, record.job);
	if (context.disk.changedAt(path) !== null && context.disk.list(path).length > 0)
		throw refuseJob(`${path} is there already, and nothing says whose it is`, "move it away, then retry");
	const again = record.state !== "making";
	if (again) await forgetWorktree(context, record);
	record.state = "making";
	writeRecord(context, record);
	context.step?.("worktree-noted", record.job);
	const existing = again || record.named ? await headOf(context.git, repo.path, record.branch) : null;
	if (existing !== null && record.named) await freeBranch(context, record);
	const fresh = ["-b", record.branch, "--", path, record.base_commit];
	const adding = addOnce(context, repo, existing === null ? fresh : ["--", path, record.branch]).catch(async (error: unknown) => {
		// The branch was left by a killed attempt to add, or by a job of a deleted store. Save its commits, then take over its name.
		if (existing !== null || !(error instanceof GitError) || !/already exists/.test(error.stderr)) throw error;
		const tip = await headOf(context.git, repo.path, record.branch);
		if (tip !== record.base_commit) await saveTip(context, record);
		else return addOnce(context, repo, ["--", path, record.branch]);
		return addOnce(context, repo, fresh);
	});
	context.step?.("worktree-adding", record.job);
	await adding;
	context.step?.("worktree-added", record.job);
	await includeFiles(context, repo, path);
	record.state = "made";
	writeRecord(context, record);
}

const addOnce = (context: WorkspaceContext, repo: Repo, args: readonly string[]): Promise<string> =>
	context.git.ask(repo.path, ["worktree", "add", "--quiet", ...(args[0] === "-b" ? ["--no-track"] : []), ...args], { timeoutMs: ADD_MS });

/**
 * Detaches HEAD in the worktree that still has a shared branch checked out, so that the next job can check it out. That worktree keeps its commit and files.
 */
async function freeBranch(context: WorkspaceContext, record: WorktreeRecord): Promise<void> {
	for (const { path, ref } of worktreesIn(await context.git.ask(record.root, ["worktree", "list", "--porcelain", "-z"]))) {
		if (ref !== localRef(record.branch)) continue;
		const job = path.startsWith(`${context.worktrees}/${record.repo}/`) ? Number(path.split("/").at(-1)) : Number.NaN;
		if (!Number.isInteger(job)) throw refuseJob(`branch ${record.branch} is checked out in ${path}`, "check out another one there");
		if (context.isLive(job)) throw refuseJob(`branch ${record.branch} is in use by job ${job}`);
		const head = await context.git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
		await context.git.ask(path, ["update-ref", "--no-deref", "HEAD", head]);
	}
}
