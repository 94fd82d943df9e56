// Reads the rollups of a span of time, with what runs now, and makes figures of them.

import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { hasRun, type RunningJob } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { byHour, HOUR_MS, hourOf } from "../../core/rollups/cell.ts";
import { type RollupSlice, type Stats, type StatsBucket, type StatsOptions, statsOf } from "../../core/rollups/stats.ts";
import { dayStart, localDay } from "../../core/time/window.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { currentCaps, traitsOf } from "./count.ts";
import { dayKey, hourKey } from "./keys.ts";
import { DAYS_KEPT, HOURS_KEPT, openPeriods } from "./packing.ts";

const DAY_MS = 24 * HOUR_MS;
const USUAL_SPAN_MS = 7 * DAY_MS;
const HOURLY_SPAN_MS = 3 * DAY_MS;
/** Most live runs that are looked at for the slots in use. */
const LIVE_RUNS = 1000;

export function* readStats(tx: Tx, { since, until, by = "lane", bucket }: StatsOptions): Op<Stats> {
	// What happened in this very millisecond counts, too.
	const end = Math.min(until ?? tx.now + 1, tx.now + 1);
	const begin = since ?? Math.max(0, end - USUAL_SPAN_MS);
	const size = bucket ?? (end - begin <= HOURLY_SPAN_MS ? "hour" : "day");
	refuseSpan(tx, begin, end, size);
	const { timezone } = tx.config;
	const { known_since, slices } = yield* slicesFrom(tx, begin, end, size);
	const stats = statsOf(slices, { since: begin, until: end, by, bucket: size, timezone, known_since, caps: currentCaps(tx.config) });
	return { ...stats, until: Math.min(end, tx.now) };
}

function refuseSpan(tx: Tx, since: number, until: number, bucket: StatsBucket): void {
	if (since >= until)
		throw new SluiceError("invalid", "since: must be before until, and in the past", {
			field: "since",
			hint: "for example since: 7 days ago",
		});
	if (since < tx.now - (DAYS_KEPT + 1) * DAY_MS)
		throw new SluiceError("invalid", `since: rollups are kept for ${DAYS_KEPT - 1} days`, {
			field: "since",
			hint: "take a later time, 365d at most",
		});
	if (bucket === "hour" && since < tx.now - HOURS_KEPT * HOUR_MS)
		throw new SluiceError("invalid", `bucket: hours are kept for ${HOURS_KEPT / 24} days, and since is before that`, {
			field: "bucket",
			hint: "take bucket day, or a later since",
		});
}

/** Figures by day take whole days where there are any, so that a year is read as 365 records and the hours of today. */
function* slicesFrom(tx: Tx, since: number, until: number, bucket: StatsBucket): Op<{ known_since: number | null; slices: RollupSlice[] }> {
	const { timezone } = tx.config;
	const open = openPeriods(tx);
	const state = tx.memory.meta("rollups");
	const slices = [...open].map(([hour, period]): RollupSlice => ({ at: hour * HOUR_MS, period }));
	if (state) {
		const starts = new Map<string, number>();
		const last = bucket === "day" ? localDay((state.days_to - 1) * HOUR_MS, timezone) : -1;
		for (let day = Math.max(localDay(since, timezone), state.days_from); day <= last; day++)
			starts.set(dayKey(day), dayStart(day, timezone));
		const first = bucket === "day" ? state.days_to : Math.max(hourOf(since), state.hours_from);
		for (let hour = first; hour * HOUR_MS < until; hour++) starts.set(hourKey(hour), hour * HOUR_MS);
		for (const [key, period] of yield* storedRecords("rollup", [...starts.keys()])) slices.push({ at: starts.get(key) ?? 0, period });
	}
	const known_since = state ? Math.max(state.begun_at, dayStart(state.days_from, timezone)) : null;
	return { known_since, slices: [...slices, ...(yield* liveSlices(tx))] };
}

/** The slots that live runs have held so far: they are counted when the runs end, which may take hours. */
function* liveSlices(tx: Tx): Op<RollupSlice[]> {
	const slices: RollupSlice[] = [];
	for (const job of yield* liveJobs(tx)) {
		const { started_at, lent_ms = 0 } = job.run;
		const lending = tx.memory.recall("wait", String(job.id));
		const lent = lent_ms + (lending ? Math.max(0, tx.now - lending.since) : 0);
		for (const [hour, slot_ms] of byHour(started_at, tx.now, tx.now - started_at - lent))
			slices.push({ at: hour * HOUR_MS, period: { caps: {}, cells: [{ of: traitsOf(job, job.run), counts: { slot_ms } }] } });
	}
	return slices;
}

/** Jobs that hold a slot. Stops at their known number, because a store may walk all active jobs to find the running ones. */
function* liveJobs(tx: Tx): Op<RunningJob[]> {
	const live: RunningJob[] = [];
	const total = Math.min(LIVE_RUNS, tx.memory.usage.get("all") ?? 0);
	for (let after = 0; live.length < total; ) {
		const some = yield* ask({ read: "running", after, limit: LIVE_RUNS });
		for (const job of some) if (hasRun(job) && queuePolicy(job.kind).isCounted) live.push(job);
		if (some.length < LIVE_RUNS) break;
		after = nth(some, -1).id;
	}
	return live;
}
