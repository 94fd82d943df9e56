// The merge queue: one merge at a time for each repo and base branch, in the order in which the jobs ended. merge-step.ts does what is due for one job,
// merge-times.ts says when it is looked at again. The next pass makes up for a missed hint.

import { messageOf } from "../../core/errors.ts";
import { isMergeStuck } from "../../core/job.ts";
import { createKeyedMutex, type WorkspaceContext } from "../context.ts";
import { allRecords, recordOf, type WorktreeRecord } from "../record.ts";
import { jobOf, mergeStep } from "./merge-step.ts";
import { MergeTimes } from "./merge-times.ts";

const LOOK_MS = 5_000;

export function createMergeQueue(context: WorkspaceContext) {
	const { scheduler, log, host } = context;
	const line = createKeyedMutex();
	const times = new MergeTimes(context.clock);
	/** Merges that are queued or under way. */
	const busy = new Map<number, Promise<void>>();
	/** Busy jobs that were asked for once more: the merge under way may have read the state before that, so they are enqueued again afterwards. */
	const asked = new Set<number>();
	let closed = false;
	let cancel = () => {};

	function enqueue(record: WorktreeRecord): void {
		if (closed || busy.has(record.job)) return;
		asked.delete(record.job);
		const task = line(`${record.root}\0${record.base_branch}`, () => attend(record.job)).catch((error) =>
			log.error("the merge queue failed", { job: record.job, error: messageOf(error) }),
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
		const job = await jobOf(context, id);
		const stuck = job !== null && isMergeStuck(job) && !record.follow_up_due;
		times.set(record, { next: "nothing", stuck });
		times.set(record, await mergeStep(context, record, job, stuck, () => closed));
	}

	function look(job: number): void {
		if (busy.has(job)) asked.add(job);
		else {
			const record = recordOf(context, job);
			if (record) enqueue(record);
		}
	}

	function lookAtAll(): void {
		cancel();
		try {
			for (const record of allRecords(context)) if (times.isDue(record.job)) enqueue(record);
		} catch (error) {
			log.warn("worktrees could not be looked at", { error: messageOf(error) });
		}
		cancel = host.after(LOOK_MS, lookAtAll);
	}

	const stopWatching = scheduler.watch(({ events, heard }) => {
		const changed = [...events, ...heard].flatMap((event) => (event.job !== null && times.hear(event.job, event) ? [event.job] : []));
		// Without any worktree, skip the search for a record, which would read the disk for every job that ends.
		if (!closed && changed.length > 0 && context.disk.list(context.worktrees).length > 0) for (const job of changed) look(job);
	});

	return {
		/** Checks every job that has a worktree. */
		look(): void {
			if (!closed) lookAtAll();
		},
		/** Jobs whose merge cannot continue without a person. */
		stuck: () => [...times.stuck],
		/** Something in this repo has changed: retry the merges that wait for it at once. */
		stir(repo: string): void {
			if (!closed) for (const job of times.stir(repo)) look(job);
		},
		/** Begins no further merges; resolves when the current one is over. */
		async stop(): Promise<void> {
			closed = true;
			cancel();
			stopWatching();
			await Promise.all(busy.values());
		},
	};
}
