// The queue as a list: ready jobs in the order of their starts, what keeps each from starting now, how many jobs there are of each status, what they cost.

import type { QueueReport, Scheduler, Spent } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { capacity } from "../../core/gates/buckets/capacity.ts";
import { askPace } from "../../core/gates/buckets/pace.ts";
import { refuse } from "../../core/gates/gate.ts";
import { heldBy } from "../../core/gates/index.ts";
import { given } from "../../core/given.ts";
import { type Job, STATUSES, type Status } from "../../core/job.ts";
import type { LimitsView } from "../../core/limits-view.ts";
import { READY } from "../../core/parked.ts";
import { dispatchOrder, type QueuedHead } from "../../core/planning/queue-order.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import type { Reason } from "../../core/reason.ts";
import type { Core } from "../operations/core.ts";
import { reading } from "../transaction/pending.ts";
import type { Tx } from "../transaction/tx.ts";
import { heldByPeople } from "./held-by-people.ts";
import { FOR_WORKERS } from "./jobs.ts";

/** Rows that are read of each bucket at least: an older job of a lower level can come first. */
const ROWS = 1000;
/** Jobs behind another one are counted up to here. */
const MOST_BEHIND = 200;

export function* queue(tx: Tx, { limit = 200, behind = [] }: NonNullable<Parameters<Scheduler["queue"]>[0]>): Op<QueueReport> {
	const world = tx.world();
	const causes: QueueReport["causes"] = [];
	const places = new Map<string, number>();
	const causeOf = new Map<number, number>();
	const [free, held]: [QueuedHead[], QueuedHead[]] = [[], []];
	let ready = 0;
	for (const bucket of tx.memory.buckets.values()) {
		if (bucket.ready === 0 || !queuePolicy(bucket.kind).isListed || bucket.stage !== undefined) continue;
		ready += bucket.ready;
		const isHeld = heldBy(bucket, world);
		const cause = isHeld ?? turnOf(bucket, world);
		if (cause) causeOf.set(bucket.id, countCause(causes, places, cause, bucket.ready));
		const rows = yield* ask({ read: "line", line: READY, bucket: bucket.id, limit: Math.max(limit, ROWS) });
		for (const head of rows) (isHeld ? held : free).push({ bucket, head });
	}
	causes.push(...(yield* heldByPeople(tx)));
	const first = dispatchOrder(free, world, limit);
	const jobs = [...first, ...dispatchOrder(held, world, limit - first.length)];
	const waiting: QueueReport["behind"] = {};
	for (const id of behind) waiting[id] = yield* countBehind(id);
	return {
		ready,
		jobs: jobs.map(({ bucket, head }) => ({ id: head.id, cause: causeOf.get(bucket.id) ?? null })),
		causes,
		behind: waiting,
	};
}

/** Why a job that nothing holds does not start now. A full cap of its own lane, account or host says more than the cap of all runs. */
function turnOf(bucket: Bucket, world: LimitsView): Reason | undefined {
	if (bucket.kind === "payload") return refuse("capacity", "worker", `lane:${bucket.lane}`, FOR_WORKERS);
	const full = capacity.ask(bucket, world) ?? [];
	return full.find(({ subject }) => subject !== "all") ?? full[0] ?? askPace(world)?.[0];
}

/** Counts jobs for a cause; its place in the list. */
function countCause(
	causes: QueueReport["causes"],
	places: Map<string, number>,
	{ code, subject, detail, clears_at }: Reason,
	jobs: number,
): number {
	const key = `${code}/${subject}`;
	const known = places.get(key);
	if (known !== undefined) {
		(causes[known] as QueueReport["causes"][number]).jobs += jobs;
		return known;
	}
	causes.push({ kind: code, subject, detail, jobs, ...given({ clears_at }) });
	places.set(key, causes.length - 1);
	return causes.length - 1;
}

/** How many active jobs come after this one, directly or through others. */
function* countBehind(id: number): Op<number> {
	const seen = new Set<number>();
	for (let front = [id]; front.length > 0 && seen.size < MOST_BEHIND; ) {
		const next: number[] = [];
		for (const { job } of yield* ask({ read: "fan", preds: front, limit: MOST_BEHIND })) {
			if (seen.has(job) || job === id) continue;
			seen.add(job);
			next.push(job);
		}
		front = next;
	}
	return seen.size === 0 ? 0 : (yield* ask({ read: "jobs", ids: [...seen] })).length;
}

/** Numbers of jobs that are counted in one read: some 20 ms. */
const COUNTED = 20_000;

/** Reads in pieces, so that a long history does not delay other work of the process. */
export async function countStatuses(core: Core): Promise<Record<Status, number>> {
	const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
	const last = await core.look(reading((tx) => tx.memory.meta("ids")?.job ?? 0));
	for (let from = 1; from <= last; from += COUNTED)
		for (const { status, count } of await core.look(() => ask({ read: "statuses", from, to: from + COUNTED - 1 }))) counts[status] += count;
	return counts;
}

const PIECE = 200;
/** Ended jobs that are looked at, newest first. */
const MOST_ENDED = 20_000;

/** What jobs cost that ended since then, as their runs reported it. */
export async function spentSince(core: Core, since: number): Promise<Spent> {
	const spent: Spent = { cost_micro: 0, jobs: 0, complete: true };
	let before = { ended_at: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
	for (let looked = 0; looked < MOST_ENDED; looked += PIECE) {
		const at = before;
		const some: Job[] = await core.look(() => ask({ read: "recent", before: at, limit: PIECE }));
		for (const { ended_at = 0, usage } of some) {
			if (ended_at < since) return spent;
			spent.jobs++;
			spent.cost_micro += usage?.cost_micro ?? 0;
		}
		const last = some.at(-1);
		if (last === undefined || some.length < PIECE) return spent;
		before = { ended_at: last.ended_at ?? 0, id: last.id };
	}
	return { ...spent, complete: false };
}
