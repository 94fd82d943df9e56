// The method of statistics: figures from the rollups.

import { STATS_BUCKETS, STATS_BY, type Stats, type StatsBy } from "../../core/rollups/stats.ts";
import type { Doc, Timed, Timestamp } from "../documents.ts";
import { choice, maybe, time, viewerMethod } from "../fields.ts";

/** `per`: what the groups are made by. Parameters cannot call it `by`: that names the caller in every method. */
export type StatsDocument = Omit<Timed<Stats, "since" | "until" | "known_since">, "times" | "by"> & { per: StatsBy; times: Timestamp[] };

export const STATS_METHODS = {
	"stats.show": viewerMethod<Doc<StatsDocument>>()({
		about:
			"Figures of a span of time, by hour or day: jobs that ended, waits by cause, cost, slots in use; for all work, and by one of its traits. From rollups, which are kept for a year, hours for 31 days. Kernel entries are not counted.",
		params: {
			since: maybe(time("from then on (seven days ago)")),
			until: maybe(time("until then (now)")),
			per: maybe(choice("a group for each (lane)", STATS_BY)),
			bucket: maybe(choice("figures over time by (hour for three days or less, else day)", STATS_BUCKETS)),
		},
		result:
			"{since, until, per, bucket, timezone, known_since, times, total, waits: {CODE: ms}, series: {FIGURE: [one for each of `times`], waits: {CODE: […]}}, groups: [{name, total, series}]}; `total`: {started, ended, succeeded, failed, cancelled, blocked_by_dependency, expired, runs, requeued, retried, retry_rate, wait_ms, start_p50_ms, start_p90_ms, slot_ms, slots_used, slots, utilisation, cost_micro, tokens}",
	}),
} as const;
