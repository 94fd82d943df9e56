// The library's methods that read: jobs, listings, the forecast, events.

import type { EventRow, Scheduler } from "../../contracts/scheduler.ts";
import { ask } from "../../contracts/store.ts";
import { resultsFor } from "../operations/verdicts.ts";
import { readStats } from "../rollups/read.ts";
import { mustFind } from "../transaction/find-job.ts";
import { reading } from "../transaction/pending.ts";
import { makeForecast } from "../views/forecast.ts";
import { readGraph } from "../views/graph.ts";
import * as look from "../views/jobs.ts";
import * as registers from "../views/listings.ts";
import { countStatuses, queue, spentSince } from "../views/queue.ts";
import type { LibraryParts } from "./parts.ts";

/** Events that a reader holds at most: one that does not read on keeps them in memory. */
const EVENTS_READ = 100;

export const viewMethods = (parts: LibraryParts) => {
	const { core, clock, host, config } = parts;
	return {
		show: async (at) =>
			core.look(
				function* (tx) {
					return yield* look.viewJob(tx, yield* mustFind(tx, at));
				},
				{ jobs: [at] },
			),
		list: async (filter = {}) => core.look((tx) => look.list(tx, filter)),
		why: async (at) =>
			core.look(
				function* (tx) {
					return { ...(yield* look.why(tx, at)), results: yield* resultsFor(tx, at) };
				},
				{ jobs: [at] },
			),
		history: async (at) =>
			core.look(function* (tx) {
				yield* mustFind(tx, at);
				return yield* ask({ read: "history", job: at });
			}),
		graph: async (filter = {}) => readGraph(core, filter),
		find: async (name) => core.look((tx) => registers.find(tx, name)),
		status: () => core.look((tx) => look.status(tx)),
		queue: (options = {}) => core.look((tx) => queue(tx, options)),
		counts: () => countStatuses(core),
		spent: (since) => spentSince(core, since),
		locks: () => core.look((tx) => registers.locks(tx)),
		batches: () => core.look(() => registers.batches()),
		artifacts: () => core.look(() => registers.artifacts()),
		forecast: (wanted = {}) => makeForecast({ core, config, clock, host }, wanted),
		stats: async (wanted = {}) => core.look((tx) => readStats(tx, wanted)),
		events: (from = {}) => events(parts, from.since ?? 0),
		lastEvent: () => core.look(reading(registers.lastEvent)),
	} satisfies Partial<Scheduler>;
};

async function* events({ core, waker, config, host }: LibraryParts, since: number): AsyncGenerator<EventRow> {
	let last = since;
	while (!waker.closed) {
		const heard = waker.next(config().poll_interval_ms, host);
		const some = await core.look(() => ask({ read: "events", since: last, limit: EVENTS_READ }));
		for (const event of some) {
			last = event.seq;
			yield event;
		}
		if (some.length === 0) await heard;
	}
}
