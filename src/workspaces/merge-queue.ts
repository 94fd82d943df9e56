// The merge queue: one merge at a time for each repo and base, in the order in which the jobs ended. What is to be merged is read from the records and from
// the scheduler each time, so a crash loses nothing and a hint that is missed is made up for by the next look.
//
//   job                                   does
//   succeeded, pending or base_dirty      is merged by its strategy, and what came of it is told
//   with work that is not committed       is not tried: it waits for a person, and the worktree stays
//   asked for again                       the same as pending: what stood in its way may be mended
//   given up                              is let go of; its worktree may be pruned
//   a follow-up is due                    runs again, told what is in the way
//   merged                                its worktree goes

import { isMergeStuck, type MergeReport, type MergeStatus } from "../core/job.ts";
import { troubleOf } from "../disk.ts";
import { headOf, localRef } from "../git.ts";
import { faultOf } from "../program.ts";
import type { JobView } from "../scheduler.ts";
import { variablesOf } from "./hooks.ts";
import { type MergeResult, mergeDirect } from "./merge.ts";
import { workMark } from "./orphans.ts";
import { codeOf, createLine, type Repo, type Yard } from "./parts.ts";
import { allRecords, recordOf, type WorktreeRecord, worktreeOf, writeRecord } from "./record.ts";
import { removeWorktree } from "./removal.ts";
import { keepUncommitted, type Unfinished, unfinished } from "./uncommitted.ts";

const LOOK_MS = 5_000;
const AGAIN_MS = 30_000;
const LONGEST_MS = 600_000;
const MOST_FOLLOW_UPS = 2;
const COMMAND_MS = 300_000;

export const sentinelOf = (job: number, status: "conflict" | "verify_failed") =>
	`sentinel:${status === "conflict" ? "merge-conflict" : "verify-failed"}-${job}`;

export type MergeQueue = {
	/** Looks at one job, or at all that have a worktree. */
	look(job?: number): void;
	/** Something in this repo has changed: what waits for it is tried at once. */
	stir(repo: string): void;
	/** Jobs whose merge goes on only if a person sees to it. */
	stuck(): number[];
	/** No new merges; resolves when the one under way is over. */
	stop(): Promise<void>;
};

export function createMergeQueue(yard: Yard): MergeQueue {
	const { scheduler, log, host, clock } = yard;
	const line = createLine();
	/** Queued or under way. */
	const busy = new Map<number, Promise<void>>();
	/** Busy, and somebody has asked meanwhile: what is under way may not know. */
	const asked = new Set<number>();
	/** Nothing to do until something happens to it. */
	const settled = new Set<number>();
	/** Waiting for a person. */
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
		const record = recordOf(yard, id);
		if (closed || !record) return;
		const repo = yard.repo(record.repo);
		const job = await shown(id);
		if (job && isMergeStuck(job) && !record.follow_up_due) stuck.add(id);
		else stuck.delete(id);
		if (job?.status !== "succeeded" || !job.will_merge) return void settled.add(id);
		// A later attempt ran on another host: what counts is there.
		if (job.attempt > record.attempt) return void settled.add(id);
		if (job.merge_report?.given_up) return giveUp(record);
		if (record.follow_up_due) return followUp(record);
		if (job.merge_status === "merged") return clear(repo, record);
		// Nothing goes on by itself here, though the worktree may be clean again: what was there may have been stashed for a moment. Looked at now and then,
		// since another host may have been asked to go on.
		if (stuck.has(id) && job.merge_status !== "base_dirty") return wait(record, AGAIN_MS);
		if (job.merge_status !== "pending" && job.merge_status !== "base_dirty") return void settled.add(id);
		try {
			if (!repo) throw new Error(`no folder is known of repo ${record.repo}: set repos.${record.repo}.path, or its url`);
			const merges = record.strategy === "direct" || record.strategy === "mr";
			const missing = merges ? await unfinished(yard, record, job) : null;
			if (missing) return await hold(record, missing);
			const result = await merge(repo, record, job);
			// Cut short by our own going: it says nothing, and the next life tries again. Or nobody wants it any more.
			if (result === null || (closed && result.status !== "merged")) return;
			waits.delete(id);
			await tell(repo, record, job, result);
		} catch (error) {
			await postpone(record, job, error);
		}
	}

	async function hold(record: WorktreeRecord, { message, files }: Unfinished): Promise<void> {
		const path = worktreeOf(yard, record.repo, record.job);
		log.warn("a job's work is not committed; its merge waits for a person", { job: record.job, repo: record.repo, message });
		await told(record, "pending", { message: message.slice(0, 1000), files, path, uncommitted: true });
		stick(record);
	}

	function stick(record: WorktreeRecord): void {
		stuck.add(record.job);
		wait(record, AGAIN_MS);
	}

	/** Nothing is left to mend, for a run or for whoever waits for the marker. */
	async function giveUp(record: WorktreeRecord): Promise<void> {
		if (record.told) await dropSentinels(record.job);
		delete record.told;
		delete record.follow_up_due;
		writeRecord(yard, record);
		waits.delete(record.job);
		settled.add(record.job);
	}

	/** Whether the job still is what the merge began with: not rewound, its merge not given up. */
	async function wanted({ job, attempt }: { job: number; attempt: number }): Promise<boolean> {
		const now = await shown(job);
		return now?.status === "succeeded" && now.attempt === attempt && !now.merge_report?.given_up;
	}

	/** null: nobody wants it any more. */
	async function merge(repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult | null> {
		if (record.strategy === "direct") {
			const dir = `${yard.runs}/${record.job}/${job.attempt}`;
			const result = await mergeDirect(yard, repo, record, { dir, wanted: () => wanted({ job: job.id, attempt: job.attempt }) });
			const left = result?.status === "merged" ? await keepUncommitted(yard, record) : null;
			return result?.status === "merged" && left !== null ? { ...result, message: `what was not committed is kept on ${left}` } : result;
		}
		if (record.strategy === "mr") return request(repo, record, job);
		return { status: "kept", message: `its work is on ${record.branch}` };
	}

	/** Pushed once, then the command that opens the request: it has to bear being called again. */
	async function request(repo: Repo, record: WorktreeRecord, job: JobView): Promise<MergeResult> {
		const tip = await headOf(yard.git, repo.path, record.branch);
		if (tip !== null && record.pushed !== tip) {
			const ref = localRef(record.branch);
			await yard.git.ask(repo.path, ["push", "--quiet", "--no-verify", "origin", `${ref}:${ref}`], { timeoutMs: COMMAND_MS });
			record.pushed = tip;
			writeRecord(yard, record);
		}
		if (repo.merge_command.length > 0) {
			const dir = `${yard.runs}/${record.job}/${job.attempt}`;
			const end = await yard.run(repo.merge_command, {
				cwd: worktreeOf(yard, record.repo, record.job),
				env: { ...yard.env(), ...variablesOf(yard, record), SLUICE_TITLE: record.title, SLUICE_MARK: workMark(yard.homeTag) },
				timeoutMs: COMMAND_MS,
				keep: 10_000,
				...(yard.disk.changedAt(dir) === null ? {} : { log: `${dir}/merge.log` }),
			});
			const fault = faultOf(end);
			if (fault !== null) throw new Error(`merge_command failed: ${fault}`);
		}
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
			writeRecord(yard, record);
		}
		const more = { ...(message === undefined ? {} : { message }), ...(record.follow_up_due ? { follow_up: true } : {}) };
		if (!unchanged) await told(record, status, { ...rest, ...more });
		yard.step?.("merge-told", record.job);
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
			// Rewound meanwhile: its next run begins anew.
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
		writeRecord(yard, record);
	}

	async function clear(repo: Repo | null, record: WorktreeRecord): Promise<void> {
		const { why } = await yard.line(record.root, () => removeWorktree(yard, repo, record));
		if (why === null) return;
		log.info("a merged job's worktree stays for now", { job: record.job, why });
		wait(record, AGAIN_MS);
	}

	/** It could not be tried. Said with the job, and tried again. */
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
		for (const record of allRecords(yard)) {
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
		// Where no job works in a repo, an end costs no look at the disk for each of them.
		if (ended.length > 0 && yard.disk.list(yard.worktrees).length > 0) for (const job of ended) look(job);
	});

	function look(job?: number): void {
		if (closed) return;
		if (job !== undefined) {
			const record = recordOf(yard, job);
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
