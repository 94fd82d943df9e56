// A forecast as clients see it: moments in RFC 3339.

import type { CapForecast, Forecast, JobForecast, Percentiles } from "../../core/forecast/forecast.ts";
import { rfc3339, type Timestamp } from "../documents.ts";

export type RangeDocument = { p50: Timestamp; p90: Timestamp };
export type ForecastDocument = {
	schema_version: number;
	now: Timestamp;
	runs: number;
	plays: number;
	jobs: (Omit<JobForecast, "start" | "end"> & { start: RangeDocument | null; end: RangeDocument | null })[];
	batches: { name: string; jobs: number; stuck: number; end: RangeDocument | null }[];
	end: RangeDocument | null;
	critical_path: { job: number; because: string; start: Timestamp; end: Timestamp }[];
	caps: CapForecast[];
	binding: CapForecast | null;
	notes: string[];
};

export const rangeDocument = (one: Percentiles | null): RangeDocument | null => one && { p50: rfc3339(one.p50), p90: rfc3339(one.p90) };

export const forecastDocument = (found: Forecast): ForecastDocument => ({
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
