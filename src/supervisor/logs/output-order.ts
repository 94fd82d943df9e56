// Notes the order in which runs write to their two streams, for readers that want both in one.
//
// The order is only a hint: without it, stdout comes before stderr. Nothing is written for a run that uses one stream.

import type { OneStream, Segment } from "../../core/text/output-order.ts";
import { noteCut, type OrderFile, openOrder, segmentsIn, sizesIn } from "./order-file.ts";
import { OutputWatch, type OutputWatchParts, unnoted } from "./output-watch.ts";

export type OutputOrder = ReturnType<typeof createOutputOrder>;

/** `isEnding`: the run's program is gone. */
type Noted = { order: OrderFile; watch: OutputWatch; isEnding: boolean };

export function createOutputOrder(parts: OutputWatchParts) {
	const { disk, host, log } = parts;
	const noted = new Map<string, Noted>();
	return {
		/** Called before the program is started, or when a run is adopted from an earlier daemon. */
		begin(run: string, dir: string): void {
			if (noted.has(run)) return;
			try {
				const order = openOrder(disk, dir);
				noted.set(run, { order, watch: new OutputWatch(parts, order), isEnding: false });
			} catch (error) {
				unnoted(log, dir, error);
			}
		},
		/** Called when the run is over: notes the rest and drops the run. */
		end(run: string): void {
			const one = noted.get(run);
			if (!one) return;
			one.isEnding = true;
			// Two turns, for notifications that are still on their way.
			void host
				.turn()
				.then(() => host.turn())
				.then(() => {
					// Closed meanwhile: the next daemon notes the rest.
					if (noted.get(run) !== one) return;
					one.watch.sample();
					one.watch.stop();
					noted.delete(run);
				});
		},
		/** The segments so far, including everything that is in the logs now. */
		segments(run: string, dir: string): Segment[] {
			const one = noted.get(run);
			// During a burst, show only what was noted before it: its order is known a moment later.
			if (one && (one.isEnding || !one.watch.isFlushing)) one.watch.sample();
			return segmentsIn(disk, dir, one ? one.order.ends : sizesIn(disk, dir));
		},
		/** Adjusts the order around a cut in the middle of a log; `cut` makes the cut and returns the sizes. */
		around(run: string, stream: OneStream, cut: () => Parameters<typeof noteCut>[3]): void {
			const one = noted.get(run);
			one?.watch.sample();
			const moved = cut();
			if (one) noteCut(disk, one.order, stream, moved);
		},
		close(): void {
			for (const { watch } of noted.values()) watch.stop();
			noted.clear();
		},
	};
}
