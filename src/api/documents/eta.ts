// Expected end of a job or a batch, for answers about other things. Uses a forecast of the whole queue, which is renewed now and then.

import type { JobView } from "../../contracts/scheduler.ts";
import type { Forecast } from "../../core/forecast/forecast.ts";
import { isTerminal } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { type Context, frozenIn } from "../context.ts";
import { type RangeDocument, rangeDocument } from "./forecast.ts";

/** Without times: `stuck` says why. */
export type EtaDocument = {
	start: RangeDocument | null;
	end: RangeDocument | null;
	/** `usual`: how long such runs took; `like`: `same` if they are of the same kind. */
	basis: { runs: number; of: string; like?: "same" | "any"; usual?: { p50_ms: number; p90_ms: number } } | null;
	stuck: string | null;
};

/**
 * A forecast is reused for ten times as long as it took to make: many requests cost little more than one, and in a queue of usual size a caller that has
 * just changed something gets a forecast from after the change.
 */
const TIMES = 10;
/** A long queue takes longer to simulate: this answer goes out without times, and the next one has them. */
const PATIENCE_MS = 500;

/** The last forecast that was finished, also if a newer one is being made. */
const finished = new WeakMap<Context, Forecast>();

type Kept = { forecast: Promise<Forecast | null>; until: number };
const kept = new WeakMap<Context, Kept>();

/** Undefined if there is nothing to forecast, or the forecast was not ready in time. */
export async function etaOf(
	context: Context,
	{ id, kind, status }: Pick<JobView, "id" | "kind" | "status">,
): Promise<EtaDocument | undefined> {
	if (isTerminal(status) || !queuePolicy(kind).isListed) return undefined;
	let forecast = await recent(context);
	if (forecast && !forecast.jobs.some((job) => job.id === id)) {
		// The job was added after the last forecast.
		kept.delete(context);
		forecast = await recent(context);
	}
	const job = forecast?.jobs.find((one) => one.id === id);
	if (!forecast || !job) return undefined;
	const { start, end, basis, stuck } = job;
	return {
		start: rangeDocument(start),
		end: rangeDocument(end),
		basis,
		stuck: stuck ?? (end === null ? (forecast.notes[0] ?? null) : null),
	};
}

/** By name; a batch without a forecast is left out. */
export async function batchEtas(context: Context): Promise<Map<string, RangeDocument>> {
	const forecast = await recent(context);
	return new Map((forecast?.batches ?? []).flatMap(({ name, end }) => (end === null ? [] : [[name, rangeDocument(end) as RangeDocument]])));
}

/** With more jobs than this, the first forecast is begun a little later, so that a page that has just been opened gets its lists first. */
const LONG_QUEUE = 1000;
const LATER_MS = 3000;
const begun = new WeakSet<Context>();

/** The last forecast, without a wait for a newer one, which is begun if it is time; null before the first one, or with too many jobs. */
export async function lastForecast(context: Context, jobs: number): Promise<Forecast | null> {
	const known = finished.get(context);
	if (known === undefined && jobs <= LONG_QUEUE) return recent(context);
	if (known === undefined) {
		if (!begun.has(context)) context.host.after(LATER_MS, () => void make(context, context.clock.monotonic()));
		begun.add(context);
		return null;
	}
	const entry = kept.get(context);
	if (!entry || entry.until <= context.clock.monotonic()) make(context, context.clock.monotonic());
	return known;
}

async function recent(context: Context): Promise<Forecast | null> {
	const { clock, host } = context;
	const known = kept.get(context);
	const now = clock.monotonic();
	const entry = known && known.until > now ? known : make(context, now);
	let cancel = () => {};
	const late = new Promise<null>((resolve) => {
		cancel = host.after(PATIENCE_MS, () => resolve(null), "hold");
	});
	try {
		return await Promise.race([entry.forecast, late]);
	} finally {
		cancel();
	}
}

function make(context: Context, now: number): Kept {
	const entry: Kept = { forecast: Promise.resolve(null), until: Number.POSITIVE_INFINITY };
	// Too many jobs to simulate: no forecast.
	entry.forecast = context.scheduler.forecast({ frozen: frozenIn(context) }).catch(() => null);
	void entry.forecast.then((forecast) => {
		if (forecast) finished.set(context, forecast);
		else finished.delete(context);
		const end = context.clock.monotonic();
		entry.until = end + TIMES * (end - now);
	});
	kept.set(context, entry);
	return entry;
}
