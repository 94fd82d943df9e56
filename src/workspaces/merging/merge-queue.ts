// The merge queue: one merge at a time for each repo and base branch, in the order in which the jobs ended. Each pass reads the records and the scheduler anew,
// so a crash loses nothing, and the next pass makes up for a missed hint.
//
//   job                                   what the queue does
//   succeeded, pending or base_dirty      merges it by its strategy and reports the result to the scheduler
//   with uncommitted work                 does not merge: the job waits for a person, and its worktree stays
//   merge was asked for again             treats it like pending: the obstacle may be gone
//   merge was given up                    stops trying; the worktree may be pruned
//   a follow-up is due                    asks for another run, whose prompt says what is in the way
//   merged                                removes the worktree

import { troubleOf } from "../../contracts/disk.ts";
import { headOf, localRef } from "../../contracts/git.ts";
import { faultOf } from "../../contracts/program.ts";
import type { JobView } from "../../contracts/scheduler.ts";
import { isMergeStuck, type MergeReport, type MergeStatus } from "../../core/job.ts";
import { codeOf, createKeyedMutex, type Repo, type WorkspaceContext } from "../context.ts";
import { restorePointer, variablesOf } from "../hooks.ts";
import { workMark } from "../orphans.ts";
import { allRecords, recordOf, type WorktreeRecord, worktreeOf, writeRecord } from "../record.ts";
import { removeWorktree } from "../removal.ts";
import { keepUncommitted, type Unfinished, unfinished } from "../uncommitted.ts";
import { type MergeResult, mergeDirect } from "./merge.ts";

const LOOK_MS = 5_000;
const AGAIN_MS = 30_000;
const LONGEST_MS = 600_000;
const MOST_FOLLOW_UPS = 2;
const COMMAND_MS = 300_000;

const sentinelOf = (job: number, status: "conflict" | "verify_failed") =>
	`sentinel:${status === "conflict" ? "merge-conflict" : "verify-failed"}-${job}`;

export type MergeQueue = {
	/** Checks one job, or every job that has a worktree. */
	look(job?: number): void;
	/** Something in this repo has changed: retry the merges that wait for it at once. */
	stir(repo: string): void;
	/** Jobs whose merge cannot continue without a person. */
	stuck(): number[];
	/** Begins no further merges; resolves when the current one is over. */
	stop(): Promise<void>;
};

export function createMergeQueue(context: WorkspaceContext): MergeQueue {
	const { scheduler, log, host, clock } = context;
	const line = createKeyedMutex();
	/** Merges that are queued or under way. */
	const busy = new Map<number, Promise<void>>();
	/** Busy jobs that were asked for once more: the merge under way may have read the state before that, so they are enqueued again afterwards. */
	const asked = new Set<number>();
	/** Jobs with nothing to do until an event changes them. */
	const settled = new Set<number>();
	/** Jobs that wait for a person. */
	const stuck = new Set<number>();
	const waits = new Map<number, { tries: number; until: number; repo: string }>();
	let closed = false;
	let cancel = () => {};

	function enqueue(record: WorktreeRecord): void {
		if (closed || busy.has(record.job)) return;
		asked.delete(record.job);
		const task = line(`${record.root}\0${record.base_branch}`, () => attend(record.job)).catch((error) =>
			log.error("the merge queue failed", { job: record.job, error: troubleOf(error) }),
		);
		busy.set(record.job, task);
		void task.then(() => {
			busy.delete(record.job);
			if (asked.has(record.job)) enqueue(record);
		});
	}

	async function attend(id: number): Promise<void> {
		const record = recordOf(context, id);
		if (closed || !record) return;
		const repo = context.repo(record.repo);
		const job = await shown(id);
		if (job && isMergeStuck(job) && !record.follow_up_due) stuck.add(id);
		else stuck.delete(id);
		if (job?.status !== "succeeded" || !job.will_merge) return void settled.add(id);
		// A later attempt ran on another host, and its work is there.
		if (job.attempt > record.attempt) return void settled.add(id);
		if (job.merge_report?.given_up) return giveUp(record);
		if (record.follow_up_due) return followUp(record);
		if (job.merge_status === "merged") return clear(repo, record);
		// A stuck merge is not resumed just because the worktree is clean again: a person may have stashed the changes for a moment. Check now and then all
		// the same, since a person may have asked another host to continue.
		if (stuck.has(id) && job.merge_status !== "base_dirty") return wait(record, AGAIN_MS);
		if (job.merge_status !== "pending" && job.merge_status !== "base_dirty") return void settled.add(id);
		try {
			if (!repo) throw new Error(`no folder is known of repo ${record.repo}: set repos.${record.repo}.path, or its url`);
			const merges = record.strategy === "direct" || record.strategy === "mr";
			const missing = merges ? await unfinished(context, record, job) : null;
			if (missing) return await hold(record, missing);
			const result = await merge(repo, record, job);
			// null: the merge is no longer wanted. Closed: the daemon's stop has cut the merge short, so the result means nothing, and the next daemon tries
			// again.
			if (result === null || (closed && result.status !== "merged")) return;
			waits.delete(id);
			await tell(repo, record, job, result);
		} catch (error) {
			await postpone(record, job, error);
		}
	}

	async function hold(record: WorktreeRecord, { message, files }: Unfinished): Promise<void> {
		const path = worktreeOf(context, record.repo, record.job);
		log.warn("a job's work is not committed; its merge waits for a person", { job: record.job, repo: record.repo, message });
		await told(record, "pending", { message: message.slice(0, 1000), files, path, uncommitted: true });
		stick(record);
	}

	function stick(record: WorktreeRecord): void {
		stuck.add(record.job);
		wait(record, AGAIN_MS);
	}

	/** Drops the obstacle from the record, so that no later run is asked to fix it, and the markers that other jobs may wait for. */
	async function giveUp(record: WorktreeRecord): Promise<void> {
		if (record.told) await dropSentinels(record.job);
		delete record.told;
		delete record.follow_up_due;
		writeRecord(context, record);
		waits.delete(record.job);
		settled.add(record.job);
	}

	/** Whether the merge is still wanted: the job was not rewound or run again, and its merge was not given up. */
	async function wanted({ job, attempt }: { job: number; attempt: number }): Promise<boolean> {
		const now = await shown(job);
		return now?.status === "succeeded" && now.attempt === attempt && !now.merge_report?.given_up;
	}

	/** null: the merge is no longer wanted. */
	async function merge(repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult | null> {
		if (record.strategy === "direct") {
			const dir = `${context.runs}/${record.job}/${job.attempt}`;
			const result = await mergeDirect(context, repo, record, { dir, wanted: () => wanted({ job: job.id, attempt: job.attempt }) });
			const left = result?.status === "merged" ? await keepUncommitted(context, record) : null;
			return result?.status === "merged" && left !== null ? { ...result, message: `what was not committed is kept on ${left}` } : result;
		}
		if (record.strategy === "mr") return request(repo, record, job);
		return { status: "kept", message: `its work is on ${record.branch}` };
	}

	/** Pushes the branch once, then runs the command that opens the merge request. A retry runs the command again, so it must be idempotent. */
	async function request(repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult> {
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

	async function tell(repo: Repo, record: WorktreeRecord, job: JobView, result: MergeResult): Promise<void> {
		const { status, ...rest } = result;
		const message = result.message?.slice(0, 1000);
		const unchanged = job.merge_status === status && job.merge_report?.message === message;
		if (status === "conflict" || status === "verify_failed") {
			await scheduler.mark(sentinelOf(record.job, status), { by: "merge" });
			const due = repo.on_conflict === "follow_up" && (record.follow_ups ?? 0) < MOST_FOLLOW_UPS;
			record.told = { status, files: result.files, message: result.message };
			if (due) record.follow_up_due = true;
			writeRecord(context, record);
		}
		const more = { ...(message === undefined ? {} : { message }), ...(record.follow_up_due ? { follow_up: true } : {}) };
		if (!unchanged) await told(record, status, { ...rest, ...more });
		context.step?.("merge-told", record.job);
		if (status === "merged") {
			log.info("merged", { job: record.job, repo: record.repo, base: record.base_branch, commit: result.commit });
			stuck.delete(record.job);
			await dropSentinels(record.job);
			await clear(repo, record);
		} else if (status === "base_dirty") {
			stuck.add(record.job);
			wait(record, LOOK_MS);
		} else if (record.follow_up_due) await followUp(record);
		else if (status === "conflict" || status === "verify_failed") stick(record);
		else settled.add(record.job);
	}

	async function told(record: WorktreeRecord, status: MergeStatus, report: MergeReport): Promise<void> {
		try {
			await scheduler.merged(record.job, status, { ...report, target: record.base_branch });
		} catch (error) {
			// The job was rewound meanwhile: its next run starts with a new worktree.
			if (codeOf(error) !== "illegal_transition" && codeOf(error) !== "not_found") throw error;
		}
	}

	async function dropSentinels(job: number): Promise<void> {
		for (const status of ["conflict", "verify_failed"] as const)
			await scheduler.mark(sentinelOf(job, status), { by: "merge", absent: true });
	}

	async function followUp(record: WorktreeRecord): Promise<void> {
		record.follow_ups = (record.follow_ups ?? 0) + 1;
		delete record.follow_up_due;
		try {
			await scheduler.rerun(record.job, { by: "merge", reason: record.told?.message ?? "" });
			settled.add(record.job);
		} catch (error) {
			log.warn("a follow-up run is not possible", { job: record.job, error: troubleOf(error) });
			stick(record);
		}
		writeRecord(context, record);
	}

	async function clear(repo: Repo | null, record: WorktreeRecord): Promise<void> {
		const { why } = await context.line(record.root, () => removeWorktree(context, repo, record));
		if (why === null) return;
		log.info("a merged job's worktree stays for now", { job: record.job, why });
		wait(record, AGAIN_MS);
	}

	/** The merge could not be tried. Record the reason with the job and retry later, with exponential back-off. */
	async function postpone(record: WorktreeRecord, job: JobView, error: unknown): Promise<void> {
		const message = troubleOf(error).slice(0, 1000);
		const tries = (waits.get(record.job)?.tries ?? 0) + 1;
		wait(record, Math.min(LONGEST_MS, AGAIN_MS * 2 ** (tries - 1)), tries);
		log.warn("a merge could not be tried; it is tried again", { job: record.job, repo: record.repo, error: message });
		if (job.merge_report?.message !== message) await told(record, "pending", { message });
	}

	function wait(record: WorktreeRecord, ms: number, tries = 0): void {
		waits.set(record.job, { tries, until: clock.monotonic() + ms, repo: record.repo });
	}

	async function shown(id: number): Promise<JobView | null> {
		try {
			return await scheduler.show(id);
		} catch (error) {
			if (codeOf(error) === "not_found") return null;
			throw error;
		}
	}

	function lookAll(): void {
		for (const record of allRecords(context)) {
			if (settled.has(record.job)) continue;
			const wait = waits.get(record.job);
			if (!wait || wait.until <= clock.monotonic()) enqueue(record);
		}
	}

	const unwatch = scheduler.watch(({ events, heard }) => {
		const ended: number[] = [];
		for (const { kind, job, data } of [...events, ...heard]) {
			if (job === null) continue;
			const again = kind === "merge_asked" || (kind === "merge" && data.given_up === true);
			if (kind === "reset" || kind === "ended" || kind === "merge" || again) settled.delete(job);
			if (kind === "reset" || kind === "ended" || again) stuck.delete(job);
			if (again) waits.delete(job);
			if (kind === "ended" || again) ended.push(job);
		}
		// Without any worktree, skip the search for a record, which would read the disk for every job that ends.
		if (ended.length > 0 && context.disk.list(context.worktrees).length > 0) for (const job of ended) look(job);
	});

	function look(job?: number): void {
		if (closed) return;
		if (job !== undefined) {
			const record = recordOf(context, job);
			if (busy.has(job)) asked.add(job);
			else if (record) enqueue(record);
			return;
		}
		cancel();
		try {
			lookAll();
		} catch (error) {
			log.warn("worktrees could not be looked at", { error: troubleOf(error) });
		}
		cancel = host.after(LOOK_MS, () => look());
	}

	return {
		look,
		stuck: () => [...stuck],
		stir(repo) {
			for (const [job, wait] of waits) {
				if (wait.repo !== repo || wait.tries > 0) continue;
				waits.delete(job);
				look(job);
			}
		},
		async stop() {
			closed = true;
			cancel();
			unwatch();
			await Promise.all(busy.values());
		},
	};
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
