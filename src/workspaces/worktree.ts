// A job's worktree: made before its first run, found again by the later ones, repaired when a crash has left it half made.

import { SluiceError } from "../core/errors.ts";
import { currentBranch, GitError, headOf, localRef } from "../git.ts";
import type { Claimed } from "../scheduler.ts";
import { runHook } from "./hooks.ts";
import { includeFiles } from "./include.ts";
import type { Repo, Yard } from "./parts.ts";
import { readRecord, slugOf, type WorktreeRecord, worktreeOf, writeRecord } from "./record.ts";
import { forgetWorktree, removeWorktree, saveTip } from "./removal.ts";

/** Big repositories take their time; one that hangs must not hold up its repo for ever. */
const ADD_MS = 30 * 60_000;

/** Concerns every job of the repo. */
const refuse = (message: string, hint?: string) => new SluiceError("invalid", hint === undefined ? message : `${message}; ${hint}`);
/** Concerns this job alone: its base, its branch, the worktree that it had. */
const refuseJob = (message: string, hint?: string) =>
	new SluiceError("invalid", hint === undefined ? message : `${message}; ${hint}`, { field: "job" });

/** One at a time for a repo. Rejects with words for the job when it cannot be had. */
export async function ensureWorktree(yard: Yard, repo: Repo, claimed: Claimed, dir: string): Promise<WorktreeRecord> {
	const { job, run } = claimed;
	let record = readRecord(yard, repo.name, job.id);
	if (record && record.root !== repo.path)
		throw refuseJob(
			`its worktree belongs to ${record.root}, and repo ${repo.name} is at ${repo.path} now`,
			"prune it, or put the repo back",
		);
	const life = record === null ? "same" : await lifeOf(yard, record, claimed);
	if (record && (record.state === "removing" || life === "another")) {
		await startOver(yard, repo, record);
		record = null;
	}
	// What the runs before it did is not the doing of this one.
	if (record && life === "again") delete record.first_head;
	if (record?.state === "making") await scrapHalfMade(yard, record);
	const known: WorktreeRecord = record ?? (await draft(yard, repo, claimed));
	const isNew = record === null && !known.named;
	known.attempt = run.attempt;
	known.entered_at = yard.clock.now();
	known.strategy = claimed.spec.no_merge ? "none" : (claimed.spec.merge ?? repo.merge);
	const makes = (job.produces ?? []).filter((artifact) => artifact.startsWith("file:"));
	if (makes.length > 0) known.makes = makes;
	if (known.state === "making" || !(await isThere(yard, known))) await add(yard, repo, known);
	if (known.state === "made") {
		const fault = await runHook(yard, repo, "after_create", known, dir);
		if (fault !== null) throw refuse(fault);
		known.state = "ready";
	}
	delete known.merged;
	delete known.moving;
	delete known.follow_up_due;
	const worktree = worktreeOf(yard, repo.name, job.id);
	known.entered_head = isNew ? known.base_commit : await yard.git.ask(worktree, ["rev-parse", "--verify", "HEAD^{commit}"]);
	known.first_head ??= known.entered_head;
	writeRecord(yard, known);
	yard.step?.("worktree-ready", job.id);
	return known;
}

async function draft(yard: Yard, repo: Repo, { job, spec, run }: Claimed): Promise<WorktreeRecord> {
	const base = spec.base_branch ?? repo.base_branch ?? (await currentBranch(yard.git, repo.path));
	if (base === null)
		throw refuse(`HEAD of repo ${repo.name} is detached, so there is no base to begin from`, `set repos.${repo.name}.base_branch`);
	const commit = await headOf(yard.git, repo.path, base);
	if (commit === null) {
		const why = `repo ${repo.name} has no branch ${JSON.stringify(base)} to begin from`;
		throw spec.base_branch === undefined ? refuse(why) : refuseJob(why);
	}
	const asked = spec.prompt?.trim().split("\n")[0]?.trim() || undefined;
	const program = spec.command?.[0]?.split("/").at(-1) ?? `job ${job.id}`;
	// A branch is called after the job's name, which is short; the subject of a commit says what the work is about.
	const slug = slugOf(spec.title ?? job.name ?? asked ?? program);
	const title = spec.title ?? asked ?? job.name ?? program;
	return {
		version: 1,
		job: job.id,
		repo: repo.name,
		root: repo.path,
		branch: spec.worktree ?? `sluice/${yard.homeTag}-${job.id}-${slug}`,
		named: spec.worktree !== undefined,
		base_branch: base,
		base_commit: commit,
		state: "making",
		attempt: run.attempt,
		begun_by: run.attempt,
		title: title.slice(0, 200),
		strategy: "none",
		entered_at: yard.clock.now(),
	};
}

/** A rewind begins anew; a rerun and a retry go on where the last run was. A job of a store that was deleted had the same number, perhaps. */
async function lifeOf(yard: Yard, record: WorktreeRecord, { job }: Claimed): Promise<"same" | "again" | "another"> {
	if (record.entered_at < job.created_at) return "another";
	if (job.attempt <= 1 || record.state === "making") return "same";
	const events = await yard.scheduler.history(job.id);
	const last = events.findLastIndex((event) => event.kind === "reset" && event.at >= record.entered_at);
	if (last < 0) return "same";
	return events.slice(last).some((event) => event.kind === "rerun") ? "again" : "another";
}

/** The old worktree goes under the rule that nothing is lost; what its branch had stays on a rescue ref. */
async function startOver(yard: Yard, repo: Repo, record: WorktreeRecord): Promise<void> {
	const { why } = await removeWorktree(yard, repo, record);
	if (why !== null) throw refuseJob(`its worktree cannot be made anew: ${why}`);
	if (!record.named) await saveTip(yard, record);
}

/** Nothing has run in it yet, so nothing of anybody's is lost with it. */
async function scrapHalfMade(yard: Yard, record: WorktreeRecord): Promise<void> {
	yard.log.warn("a worktree was left half made; it is made anew", { job: record.job, repo: record.repo });
	const path = worktreeOf(yard, record.repo, record.job);
	// git keeps one that it is still adding locked.
	await yard.git.tell(record.root, ["worktree", "unlock", "--", path]).catch(() => {});
	yard.disk.remove(path);
	await forgetWorktree(yard, record);
	await unlockBranch(yard, record);
}

/** Nobody but us writes branches of our own names while no run of theirs is live: a lock that is there was left by a killed git. */
async function unlockBranch(yard: Yard, record: WorktreeRecord): Promise<void> {
	if (record.named) return;
	const common = await yard.git.ask(record.root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
	yard.disk.remove(`${common}/${localRef(record.branch)}.lock`);
}

async function isThere(yard: Yard, record: WorktreeRecord): Promise<boolean> {
	const path = worktreeOf(yard, record.repo, record.job);
	if (yard.disk.size(`${path}/.git`) === null) return false;
	const { code, stdout } = await yard.git.tell(path, ["rev-parse", "--absolute-git-dir"]);
	if (code !== 0) throw refuseJob(`${path} is no longer a worktree of ${record.root}`, "move it away, then retry");
	// A git that was killed in the last run: nobody works here now.
	yard.disk.remove(`${stdout.trim()}/index.lock`);
	return true;
}

async function add(yard: Yard, repo: Repo, record: WorktreeRecord): Promise<void> {
	const path = worktreeOf(yard, record.repo, record.job);
	if (yard.disk.changedAt(path) !== null && yard.disk.list(path).length > 0)
		throw refuseJob(`${path} is there already, and nothing says whose it is`, "move it away, then retry");
	const again = record.state !== "making";
	if (again) await forgetWorktree(yard, record);
	record.state = "making";
	writeRecord(yard, record);
	yard.step?.("worktree-noted", record.job);
	const existing = again || record.named ? await headOf(yard.git, repo.path, record.branch) : null;
	if (existing !== null && record.named) await freeBranch(yard, record);
	const fresh = ["-b", record.branch, "--", path, record.base_commit];
	const adding = addOnce(yard, repo, existing === null ? fresh : ["--", path, record.branch]).catch(async (error: unknown) => {
		// Left by an earlier try that was killed, or by a job of an earlier life: its work is kept, its name is ours.
		if (existing !== null || !(error instanceof GitError) || !/already exists/.test(error.stderr)) throw error;
		const tip = await headOf(yard.git, repo.path, record.branch);
		if (tip !== record.base_commit) await saveTip(yard, record);
		else return addOnce(yard, repo, ["--", path, record.branch]);
		return addOnce(yard, repo, fresh);
	});
	yard.step?.("worktree-adding", record.job);
	await adding;
	yard.step?.("worktree-added", record.job);
	await includeFiles(yard, repo, path);
	record.state = "made";
	writeRecord(yard, record);
}

const addOnce = (yard: Yard, repo: Repo, args: readonly string[]): Promise<string> =>
	yard.git.ask(repo.path, ["worktree", "add", "--quiet", ...(args[0] === "-b" ? ["--no-track"] : []), ...args], { timeoutMs: ADD_MS });

/** A branch that jobs share is still checked out in the worktree of the one before: that one lets go of it, and keeps what it has. */
async function freeBranch(yard: Yard, record: WorktreeRecord): Promise<void> {
	const all = await yard.git.ask(record.root, ["worktree", "list", "--porcelain", "-z"]);
	for (const block of all.split("\0\0")) {
		const lines = block.split("\0");
		if (!lines.includes(`branch ${localRef(record.branch)}`)) continue;
		const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length) ?? "";
		const job = path.startsWith(`${yard.worktrees}/${record.repo}/`) ? Number(path.split("/").at(-1)) : Number.NaN;
		if (!Number.isInteger(job)) throw refuseJob(`branch ${record.branch} is checked out in ${path}`, "check out another one there");
		if (yard.isLive(job)) throw refuseJob(`branch ${record.branch} is in use by job ${job}`);
		const head = await yard.git.ask(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
		await yard.git.ask(path, ["update-ref", "--no-deref", "HEAD", head]);
	}
}
