// Upkeep: forgets old jobs, and matches a host's runs with the processes that it finds.

import type { Claimed, GcReport, Scheduler } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { never, nth } from "../../core/errors.ts";
import { jobOfArtifact } from "../../core/fact.ts";
import { isMerging, isTerminal, type Job, runId } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { type FoundRun, reconcile } from "../../core/reconcile.ts";
import { copy } from "../../core/text/copy.ts";
import { forgetReview } from "../limits/reviews.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Core } from "./core.ts";
import { finish, started } from "./finish.ts";
import { dropName } from "./names.ts";
import { dropOutputs } from "./outputs.ts";

const PIECE = 200;
const KEPT_BUCKETS = 100;

export type GcCursor = { ended_at: number; id: number };

/** Forgets jobs that ended before a time and that no active job refers to any more, piece by piece. */
export async function forgetBefore(core: Core, before: number): Promise<GcReport> {
	const total = { deleted: 0, kept: 0, unmerged: 0 };
	for (let cursor: GcCursor | null = { ended_at: -1, id: 0 }; cursor; ) {
		const at: GcCursor = cursor;
		const some: GcPiece = await core.call("gc", { before, after: at });
		total.deleted += some.deleted;
		total.kept += some.kept;
		total.unmerged += some.unmerged;
		cursor = some.next;
	}
	const { unmerged, ...rest } = total;
	return unmerged > 0 ? total : rest;
}

type GcPiece = { deleted: number; kept: number; unmerged: number; next: GcCursor | null };

/** Forgets the next jobs that ended before a time, that no active job refers to and whose merge is over. */
export function* gcSome(tx: Tx, before: number, after: GcCursor): Op<GcPiece> {
	const old = yield* ask({ read: "old", before, after, limit: PIECE });
	let deleted = 0;
	let unmerged = 0;
	for (const job of old) {
		// Keep a job whose merge is still open: without it, its work could no longer be found, merged or shown as needing a human.
		if (isMerging(job)) {
			unmerged++;
			continue;
		}
		if (yield* isReferred(tx, job)) continue;
		yield* dropName(tx, job);
		tx.put("family", String(job.id), null);
		dropOutputs(tx, job.id, job.attempt);
		forgetReview(tx, job);
		tx.forget(job.id);
		deleted++;
	}
	if (deleted > 0) tx.event("gc", null, { deleted });
	const last = old[old.length - 1];
	const next = last && old.length === PIECE ? { ended_at: last.ended_at ?? 0, id: last.id } : null;
	return { deleted, kept: old.length - deleted, unmerged, next };
}

/** True if an active job refers to this one: it has an edge from it, needs an artifact of it, or is its descendant. */
function* isReferred(tx: Tx, job: Job): Op<boolean> {
	for (let after = 0; job.dependents; ) {
		const edges = yield* ask({ read: "edges", pred: job.id, after, limit: 1000 });
		yield* tx.load(edges.map((edge) => edge.job));
		if (edges.some((edge) => isActive(tx.peek(edge.job)))) return true;
		if (edges.length < 1000) break;
		after = nth(edges, -1).job;
	}
	const keys = [
		`artifact:job:${job.id}`,
		`artifact:patch:${job.id}`,
		...(job.produces ?? [])
			.filter((one) => jobOfArtifact(one) === undefined)
			.map((one) => (job.repo === undefined ? `artifact:${one}` : `artifact:${one}@${job.repo}`)),
	];
	for (const key of keys) {
		const needing = yield* ask({ read: "links", key, role: "needs", after: 0, limit: 1000 });
		yield* tx.load(needing);
		if (needing.some((id) => isActive(tx.peek(id)))) return true;
	}
	if ((yield* tx.get("family", String(job.id))) !== null || job.path) {
		const relatives = yield* ask({ read: "active", filter: {}, after: job.id, limit: 100_000 });
		return relatives.some((one) => one.path?.includes(job.id));
	}
	return false;
}

const isActive = (job: Job | undefined): boolean => job !== undefined && !isTerminal(job.status);

/**
 * The running jobs of a host, except kernel entries, which the host does not run itself. Stops at the known total, because a store without an index on status
 * walks the jobs by id; running jobs are mostly among the oldest.
 */
function* runningOn(tx: Tx, host: string): Op<Job[]> {
	const running: Job[] = [];
	const total = tx.memory.usage.get(`host:${host}`) ?? 0;
	for (let after = 0; running.length < total; ) {
		const limit = Math.min(1000, total - running.length);
		const some = yield* ask({ read: "running", host, after, limit });
		for (const job of some) if (queuePolicy(job.kind).isCounted) running.push(job);
		if (some.length < limit) break;
		after = nth(some, -1).id;
	}
	return running;
}

export function* assigned(tx: Tx, host: string): Op<Claimed[]> {
	const jobs = yield* runningOn(tx, host);
	const specs = yield* tx.specs(jobs.map((job) => job.id));
	return copy(
		jobs.flatMap((job) => {
			const spec = specs.get(job.id);
			return job.run && spec ? [{ job, spec, run: job.run }] : [];
		}),
	);
}

type Found = Parameters<Scheduler["recover"]>[0];

const asSeen = ({ run, state, exit_code = 1 }: Found[number]): FoundRun => ({
	run,
	seen: state === "exited" ? { state, code: exit_code, signal: null, launch_failed: null } : SEEN[state],
});
const SEEN = {
	alive: { state: "alive", pid: 0, started: "" },
	gone: { state: "gone", reboot: false },
	unstarted: { state: "unstarted" },
} as const;

/** Matches what a host finds when it comes back with the runs that it was assigned. */
export function* recover(tx: Tx, host: string, found: Found, reboot: boolean): Op<Awaited<ReturnType<Scheduler["recover"]>>> {
	const report: Record<"adopted" | "ended" | "lost" | "start", string[]> = { adopted: [], ended: [], lost: [], start: [] };
	const assigned = (yield* runningOn(tx, host)).flatMap(({ id, run }) =>
		run ? [{ run: runId(id, run.attempt), ref: { job: id, token: run.token } }] : [],
	);
	for (const duty of reconcile(assigned, found.map(asSeen))) {
		switch (duty.do) {
			case "adopt":
				// The process runs, but the daemon that started it died before it could report the start.
				yield* started(tx, duty.assigned.ref);
				report.adopted.push(duty.assigned.run);
				break;
			case "start":
				report.start.push(duty.assigned.run);
				break;
			case "end": {
				const { code } = duty.seen;
				yield* finish(tx, { ...duty.assigned.ref, exit_kind: code === 0 ? "completed" : "failed", exit_code: code });
				report.ended.push(duty.assigned.run);
				break;
			}
			case "lost":
				yield* finish(tx, { ...duty.assigned.ref, exit_kind: "lost", message: "scheduler recovery", ...(reboot ? { reboot: true } : {}) });
				report.lost.push(duty.assigned.run);
				break;
			// Processes without an assigned run, stops and freezes are the supervisor's duties.
			case "abandon":
			case "clear":
			case "forbid":
			case "pass_stop":
			case "freeze":
			case "thaw":
				break;
			default:
				never(duty);
		}
	}
	return report;
}

/** Drops buckets without ready jobs. A bucket that is needed again is created again. */
export function dropEmptyBuckets(tx: Tx): void {
	if (tx.memory.buckets.size < KEPT_BUCKETS) return;
	let left = PIECE;
	for (const [key, id] of [...tx.memory.bucketIds]) {
		const bucket = tx.memory.buckets.get(id);
		if (bucket && bucket.ready === 0 && bucket.stage === undefined && left-- > 0) tx.put("bucket", key, null);
	}
}
