// One look at a job's merge: what is due is done and reported to the scheduler. Reads the records and the scheduler anew, so a crash loses nothing.
//
//   job                                   what is done
//   succeeded, pending or base_dirty      merges it by its strategy and reports the result to the scheduler
//   with uncommitted work                 does not merge: the job waits for a person, and its worktree stays
//   merge was asked for again             treats it like pending: the obstacle may be gone
//   merge was given up                    stops trying; the worktree may be pruned
//   a follow-up is due                    asks for another run, whose prompt says what is in the way
//   merged                                removes the worktree

import { headOf, localRef } from "../../contracts/git.ts";
import { faultOf } from "../../contracts/program.ts";
import type { JobView } from "../../contracts/scheduler.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import type { MergeReport, MergeStatus } from "../../core/job.ts";
import type { Repo, WorkspaceContext } from "../context.ts";
import { restorePointer, variablesOf } from "../hooks.ts";
import { workMark } from "../orphans.ts";
import { type WorktreeRecord, worktreeOf, writeRecord } from "../record.ts";
import { removeWorktree } from "../removal.ts";
import { keepUncommitted, type Unfinished, unfinished } from "../uncommitted.ts";
import { type MergeResult, mergeDirect } from "./merge.ts";
import type { NextLook } from "./merge-times.ts";

/** A dirty base is looked at often: a person is at work there. */
const DIRTY_MS = 5_000;
const AGAIN_MS = 30_000;
const MOST_FOLLOW_UPS = 2;
const COMMAND_MS = 300_000;

const REST: NextLook = { next: "rest" };
const AGAIN: NextLook = { next: "look", inMs: AGAIN_MS };
/** A person has to act. Check now and then all the same, since the person may have asked another host to continue. */
const STUCK: NextLook = { ...AGAIN, stuck: true };

/** `job`: null if the scheduler has forgotten it. `isStopping`: the daemon stops, which cuts a merge short. */
export async function mergeStep(
	context: WorkspaceContext,
	record: WorktreeRecord,
	job: JobView | null,
	isStuck: boolean,
	isStopping: () => boolean,
): Promise<NextLook> {
	if (job?.status !== "succeeded" || !job.will_merge) return REST;
	// A later attempt ran on another host, and its work is there.
	if (job.attempt > record.attempt) return REST;
	if (job.merge_report?.given_up) return giveUp(context, record);
	if (record.follow_up_due) return followUp(context, record);
	const repo = context.repo(record.repo);
	if (job.merge_status === "merged") return clear(context, repo, record);
	// A stuck merge is not resumed just because the worktree is clean again: a person may have stashed the changes for a moment.
	if (isStuck && job.merge_status !== "base_dirty") return AGAIN;
	if (job.merge_status !== "pending" && job.merge_status !== "base_dirty") return REST;
	try {
		if (!repo) throw new Error(`no folder is known of repo ${record.repo}: set repos.${record.repo}.path, or its url`);
		const merges = record.strategy === "direct" || record.strategy === "mr";
		const missing = merges ? await unfinished(context, record, job) : null;
		if (missing) return await hold(context, record, missing);
		const result = await merge(context, repo, record, job);
		// null: the merge is no longer wanted. Stopping: the result means nothing, and the next daemon tries again.
		if (result === null || (isStopping() && result.status !== "merged")) return { next: "nothing" };
		return await conclude(context, repo, record, job, result);
	} catch (error) {
		return postpone(context, record, job, error);
	}
}

/** The job; null if the scheduler has forgotten it. */
export async function jobOf({ scheduler }: WorkspaceContext, id: number): Promise<JobView | null> {
	try {
		return await scheduler.show(id);
	} catch (error) {
		if (codeOf(error) === "not_found") return null;
		throw error;
	}
}

async function hold(context: WorkspaceContext, record: WorktreeRecord, { message, files }: Unfinished): Promise<NextLook> {
	const path = worktreeOf(context, record.repo, record.job);
	context.log.warn("a job's work is not committed; its merge waits for a person", { job: record.job, repo: record.repo, message });
	await report(context, record, "pending", { message: message.slice(0, 1000), files, path, uncommitted: true });
	return STUCK;
}

/** Drops the obstacle from the record, so that no later run is asked to fix it, and the markers that other jobs may wait for. */
async function giveUp(context: WorkspaceContext, record: WorktreeRecord): Promise<NextLook> {
	if (record.told) await dropSentinels(context, record.job);
	delete record.told;
	delete record.follow_up_due;
	writeRecord(context, record);
	return REST;
}

/** Whether the merge is still wanted: the job was not rewound or run again, and its merge was not given up. */
async function isWanted(context: WorkspaceContext, { id, attempt }: JobView): Promise<boolean> {
	const now = await jobOf(context, id);
	return now?.status === "succeeded" && now.attempt === attempt && !now.merge_report?.given_up;
}

/** null: the merge is no longer wanted. */
async function merge(context: WorkspaceContext, repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult | null> {
	if (record.strategy === "direct") {
		const dir = `${context.runs}/${record.job}/${job.attempt}`;
		const result = await mergeDirect(context, repo, record, { dir, wanted: () => isWanted(context, job) });
		const left = result?.status === "merged" ? await keepUncommitted(context, record) : null;
		return result?.status === "merged" && left !== null ? { ...result, message: `what was not committed is kept on ${left}` } : result;
	}
	if (record.strategy === "mr") return request(context, repo, record, job);
	return { status: "kept", message: `its work is on ${record.branch}` };
}

/** Pushes the branch once, then runs the command that opens the merge request. A retry runs the command again, so it must be idempotent. */
async function request(context: WorkspaceContext, repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult> {
	const tip = await headOf(context.git, repo.path, record.branch);
	if (tip !== null && record.pushed !== tip) {
		const ref = localRef(record.branch);
		await context.git.ask(repo.path, ["push", "--quiet", "--no-verify", "origin", `${ref}:${ref}`], { timeoutMs: COMMAND_MS });
		record.pushed = tip;
		writeRecord(context, record);
	}
	if (repo.merge_command.length > 0) await runMergeCommand(context, repo, record, job.attempt);
	return { status: "requested", message: `${record.branch} is pushed` };
}

/** Rejects when the command fails. */
async function runMergeCommand(context: WorkspaceContext, repo: Repo, record: WorktreeRecord, attempt: number): Promise<void> {
	const [cwd, dir] = [worktreeOf(context, record.repo, record.job), `${context.runs}/${record.job}/${attempt}`];
	await restorePointer(context, cwd);
	const end = await context.run(repo.merge_command, {
		cwd,
		env: { ...context.env(), ...variablesOf(context, record), SLUICE_TITLE: record.title, SLUICE_MARK: workMark(context.homeTag) },
		timeoutMs: COMMAND_MS,
		keep: 10_000,
		...(context.disk.changedAt(dir) === null ? {} : { log: `${dir}/merge.log` }),
	});
	const fault = faultOf(end);
	if (fault !== null) throw new Error(`merge_command failed: ${fault}`);
}

/** Reports the result of a merge that was tried. */
async function conclude(
	context: WorkspaceContext,
	repo: Repo,
	record: WorktreeRecord,
	job: JobView,
	result: MergeResult,
): Promise<NextLook> {
	const { status, ...rest } = result;
	const message = result.message?.slice(0, 1000);
	const unchanged = job.merge_status === status && job.merge_report?.message === message;
	if (status === "conflict" || status === "verify_failed") {
		await context.scheduler.mark(sentinelOf(record.job, status), { by: "merge" });
		const due = repo.on_conflict === "follow_up" && (record.follow_ups ?? 0) < MOST_FOLLOW_UPS;
		record.told = { status, files: result.files, message: result.message };
		if (due) record.follow_up_due = true;
		writeRecord(context, record);
	}
	const more = { ...(message === undefined ? {} : { message }), ...(record.follow_up_due ? { follow_up: true } : {}) };
	if (!unchanged) await report(context, record, status, { ...rest, ...more });
	context.step?.("merge-told", record.job);
	if (status === "merged") {
		context.log.info("merged", { job: record.job, repo: record.repo, base: record.base_branch, commit: result.commit });
		await dropSentinels(context, record.job);
		return { ...(await clear(context, repo, record)), stuck: false };
	}
	if (status === "base_dirty") return { next: "look", inMs: DIRTY_MS, stuck: true };
	if (record.follow_up_due) return followUp(context, record);
	return status === "conflict" || status === "verify_failed" ? STUCK : REST;
}

async function report(context: WorkspaceContext, record: WorktreeRecord, status: MergeStatus, about: MergeReport): Promise<void> {
	try {
		await context.scheduler.merged(record.job, status, { ...about, target: record.base_branch });
	} catch (error) {
		// The job was rewound meanwhile: its next run starts with a new worktree.
		if (codeOf(error) !== "illegal_transition" && codeOf(error) !== "not_found") throw error;
	}
}

const sentinelOf = (job: number, status: "conflict" | "verify_failed") =>
	`sentinel:${status === "conflict" ? "merge-conflict" : "verify-failed"}-${job}`;

async function dropSentinels({ scheduler }: WorkspaceContext, job: number): Promise<void> {
	for (const status of ["conflict", "verify_failed"] as const) await scheduler.mark(sentinelOf(job, status), { by: "merge", absent: true });
}

async function followUp(context: WorkspaceContext, record: WorktreeRecord): Promise<NextLook> {
	record.follow_ups = (record.follow_ups ?? 0) + 1;
	delete record.follow_up_due;
	let then = REST;
	try {
		await context.scheduler.rerun(record.job, { by: "merge", reason: record.told?.message ?? "" });
	} catch (error) {
		context.log.warn("a follow-up run is not possible", { job: record.job, error: messageOf(error) });
		then = STUCK;
	}
	writeRecord(context, record);
	return then;
}

async function clear(context: WorkspaceContext, repo: Repo | null, record: WorktreeRecord): Promise<NextLook> {
	const { why } = await context.line(record.root, () => removeWorktree(context, repo, record));
	if (why === null) return { next: "nothing" };
	context.log.info("a merged job's worktree stays for now", { job: record.job, why });
	return AGAIN;
}

/** The merge could not be tried: records the reason with the job. */
async function postpone(context: WorkspaceContext, record: WorktreeRecord, job: JobView, error: unknown): Promise<NextLook> {
	const message = messageOf(error).slice(0, 1000);
	context.log.warn("a merge could not be tried; it is tried again", { job: record.job, repo: record.repo, error: message });
	if (job.merge_report?.message !== message) await report(context, record, "pending", { message });
	return { next: "retry" };
}
