// Reports what one pass started, or would start, and what limited it.

import type { Cycled, PlanReport } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { isDirect } from "../../core/config.ts";
import { freeSlots } from "../../core/gates/buckets/capacity.ts";
import { pausedReason } from "../../core/gates/buckets/holds.ts";
import { askPace } from "../../core/gates/buckets/pace.ts";
import { shut } from "../../core/gates/index.ts";
import { stamp } from "../../core/gates/time.ts";
import type { Job } from "../../core/job.ts";
import { READY } from "../../core/parked.ts";
import { boundOf } from "../../core/planning/bound.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { hasCycles, openCycle } from "../limits/cycle.ts";
import { type Claimer, dispatch, handOut, refuseLostName } from "../operations/claim.ts";
import type { Tx } from "../transaction/tx.ts";
import { FOR_WORKERS } from "./jobs.ts";

const SHOWN = 1000;

/** A cycle by hand: opens one now, starts what it may start, and reports what limited it. */
export function* runCycle(tx: Tx, claimer: Claimer): Op<Cycled> {
	refuseLostName(tx, claimer);
	openCycle(tx, "run");
	const { jobs, report } = yield* reportPass(tx, { ...claimer, by_hand: true });
	const claimed = yield* handOut(tx, jobs);
	return { claimed, report: { ...report, dispatch: claimed.map(({ job }) => job.id) } };
}

/** What the next cycle would start, or one that began now; for a dry run. */
export function* planCycle(tx: Tx, { cycle, ...claimer }: Claimer & { cycle: "next" | "now" }): Op<PlanReport> {
	if (cycle === "now") openCycle(tx, "run");
	return (yield* reportPass(tx, cycle === "now" ? { ...claimer, unspaced: true } : claimer)).report;
}

/** Runs the planner and starts what it picks. For a dry run, the caller throws the transaction away. */
function* reportPass(tx: Tx, claimer: Claimer): Op<{ jobs: Job[]; report: PlanReport }> {
	const world = tx.world(claimer.host);
	const isMeant = (bucket: Bucket) => claimer.kinds.includes(bucket.kind);
	const ready = [...tx.memory.buckets.values()].reduce(
		(sum, bucket) => sum + (bucket.stage === undefined && isMeant(bucket) ? bucket.ready : 0),
		0,
	);
	const free = freeSlots(world);
	const batch = tx.config.batch_size > 0 && !isDirect(tx.config) ? tx.config.batch_size : Number.POSITIVE_INFINITY;
	const paused = pausedReason("all", world) !== undefined;
	const refusals = askPace(world) ?? [];
	const jobs = yield* dispatch(tx, claimer);
	const spaced = spacing(tx, claimer, jobs.length);
	const skipped: PlanReport["skipped"] = [];
	for (const bucket of tx.memory.buckets.values()) {
		if (bucket.ready === 0 || !queuePolicy(bucket.kind).isListed || bucket.stage !== undefined || skipped.length >= SHOWN) continue;
		const waiting = spaced === "" ? "not its turn in this cycle" : "starts are spaced by spawn_delay";
		const reason = shut(bucket, world)?.detail ?? (isMeant(bucket) ? waiting : FOR_WORKERS);
		const rest = yield* ask({ read: "line", line: READY, bucket: bucket.id, limit: SHOWN - skipped.length });
		for (const head of rest) skipped.push({ job: head.id, reason });
	}
	// A pass that only the pace holds up is limited by what its cycle may start (`batch`): `detail` says which of the two settings it is.
	const isPaced = jobs.length === 0 && refusals.length > 0 && free > 0;
	const nothing = isPaced ? "batch" : "capacity";
	const bound = paused && ready > 0 ? "paused" : jobs.length === 0 && ready > 0 ? nothing : boundOf(free, batch, ready);
	const reason = jobs.length === ready && ready > 0 && bound !== "batch" ? "ready" : bound;
	const detail = jobs.length > 0 ? spaced : refusals.map((one) => `${one.detail}, at ${stamp(one.clears_at ?? tx.now)}`).join("; ");
	return { jobs, report: { dispatch: jobs.map(({ id }) => id), skipped, reason, ...(detail === "" || ready === 0 ? {} : { detail }) } };
}

/** Says how many starts spawn_delay puts off; empty if none. */
function spacing(tx: Tx, { unspaced }: Claimer, starts: number): string {
	const delay = tx.config.spawn_delay_ms;
	if (delay === 0 || isDirect(tx.config)) return "";
	if (unspaced) return starts > 1 ? `spawn_delay: ${delay} ms between two starts` : "";
	const left = hasCycles(tx) ? (tx.getPace().cycle_left ?? 0) : tx.memory.ready;
	return left > 0 ? `spawn_delay: ${left} more can start in this cycle, ${delay} ms apart` : "";
}
