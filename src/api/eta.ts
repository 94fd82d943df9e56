// When a job or a batch is likely to be done, for whoever asks about something else. Rests on a forecast of the whole queue, which is made now and then.

import type { Forecast } from "../core/forecast.ts";
import { isTerminal } from "../core/job.ts";
import type { JobView } from "../scheduler.ts";
import { type Context, frozenIn } from "./context.ts";
import { type RangeDocument, rangeDocument } from "./forecast-document.ts";

/** Without times: `stuck` says why there are none. */
export type EtaDocument = {
	start: RangeDocument | null;
	end: RangeDocument | null;
	basis: { runs: number; of: string } | null;
	stuck: string | null;
};

/**
 * A forecast serves all questions for ten times what it took: many questions cost little more than one, and in a queue of the usual size whoever asks
 * after an act of theirs is not told how it was before.
 */
const TIMES = 10;
/** A long queue takes longer to play: the answer goes without, and the next one has it. */
const PATIENCE_MS = 500;

type Kept = { forecast: Promise<Forecast | null>; until: number };
const kept = new WeakMap<Context, Kept>();

/** Undefined where there is nothing to foresee, or not in time. */
export async function etaOf(
	context: Context,
	{ id, kind, status }: Pick<JobView, "id" | "kind" | "status">,
): Promise<EtaDocument | undefined> {
	if (isTerminal(status) || kind === "kernel") return undefined;
	let forecast = await recent(context);
	if (forecast && !forecast.jobs.some((job) => job.id === id)) {
		// It came after the last one was made.
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

/** By name; a batch for which no time can be told is not among them. */
export async function batchEtas(context: Context): Promise<Map<string, RangeDocument>> {
	const forecast = await recent(context);
	return new Map((forecast?.batches ?? []).flatMap(({ name, end }) => (end === null ? [] : [[name, rangeDocument(end) as RangeDocument]])));
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
	// Too many jobs to play: then there is none.
	entry.forecast = context.scheduler.forecast({ frozen: frozenIn(context) }).catch(() => null);
	void entry.forecast.then(() => {
		const end = context.clock.monotonic();
		entry.until = end + TIMES * (end - now);
	});
	kept.set(context, entry);
	return entry;
}
