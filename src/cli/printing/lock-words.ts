// Which lock a job waits for, and which job holds it: the job's document only says that it waits.

import type { LockDocument } from "../../api/protocol/lock.ts";
import type { Io } from "../io.ts";
import type { ShownJob } from "./job-lines.ts";
import { printable } from "./sequences.ts";

const waitsForLocks = (job: ShownJob) => job.status === "waiting_on_locks" && job.wait_reason?.kind === "locks";

/** Only for people: `--json` shows the daemon's text. If the locks were released meanwhile, or the daemon cannot list them, the job is shown unchanged. */
export async function withLockWords(io: Io, jobs: readonly ShownJob[]): Promise<ShownJob[]> {
	if (!jobs.some(waitsForLocks)) return [...jobs];
	const answer = await io.ask("lock.list").catch(() => ({ locks: [] }));
	const byKey = new Map(answer.locks.map((lock): [string, LockDocument] => [lock.key, lock]));
	return jobs.map((job) => {
		const detail = waitsForLocks(job) ? wordsOf(job, byKey) : undefined;
		return detail === undefined ? job : { ...job, wait_reason: { kind: "locks", detail } };
	});
}

/** The first of its locks that it cannot take: `lock db, held by job 3`. */
function wordsOf(job: ShownJob, byKey: ReadonlyMap<string, LockDocument>): string | undefined {
	for (const { key, mode } of job.locks ?? []) {
		const { holders = [], reserved_for = null } = byKey.get(key) ?? {};
		const inTheWay = holders.filter((holder) => holder.job !== job.id && (mode === "exclusive" || holder.mode === "exclusive"));
		if (inTheWay.length > 0) return `lock ${printable(key)}, held by ${jobsWords(inTheWay.map((holder) => holder.job))}`;
		if (reserved_for !== null && reserved_for !== job.id) return `lock ${printable(key)}, kept for job ${reserved_for}`;
	}
	return undefined;
}

const jobsWords = ([first, ...others]: readonly number[]): string =>
	`job ${first}${others.length > 0 ? ` and ${others.length} other${others.length > 1 ? "s" : ""}` : ""}`;
