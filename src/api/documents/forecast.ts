// A forecast as clients see it: moments in RFC 3339.

import type { Forecast, Percentiles } from "../../core/forecast/forecast.ts";
import { rfc3339, type Timestamp } from "../documents.ts";

export type RangeDocument = { p50: Timestamp; p90: Timestamp };
export type ForecastDocument = ReturnType<typeof forecastDocument>;

export const rangeDocument = (one: Percentiles | null): RangeDocument | null => one && { p50: rfc3339(one.p50), p90: rfc3339(one.p90) };

export const forecastDocument = (found: Forecast) => ({
	schema_version: 1,
	now: rfc3339(found.now),
	runs: found.runs,
	plays: found.plays,
	jobs: found.jobs.map((job) => ({ ...job, start: rangeDocument(job.start), end: rangeDocument(job.end) })),
	batches: found.batches.map((batch) => ({ ...batch, end: rangeDocument(batch.end) })),
	end: rangeDocument(found.end),
	critical_path: found.critical_path.map((step) => ({ ...step, start: rfc3339(step.start), end: rfc3339(step.end) })),
	caps: found.caps,
	binding: found.binding,
	notes: found.notes,
});
