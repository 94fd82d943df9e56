// Watches the event loop from a separate thread: a stuck loop cannot report that itself, and the report is needed while it is stuck, not afterwards.

import { Worker } from "node:worker_threads";

export type LoopWatchOptions = {
	/** The file to which a line is appended. */
	path: string;
	/** The loop counts as stuck after this long without a beat. */
	stuckMs: number;
	/** How often the thread checks; a fraction of `stuckMs`. */
	lookMs: number;
	/** When the thread is created: it takes some milliseconds to create and some megabytes to keep (5 of 69). */
	startMs: number;
};

/** Cells of the shared array: the number of beats, and 1 to stop. */
const [BEATS, STOP] = [0, 1];

/** Runs in the thread, with its parameters in `workerData`. It counts checks, not time, so that a machine that slept does not count as stuck. */
const THREAD = `
const { appendFileSync } = require("node:fs");
const { workerData: { cells, path, stuckMs, lookMs } } = require("node:worker_threads");
let last = Atomics.load(cells, ${BEATS});
let missed = 0;
let isReported = false;
while (Atomics.wait(cells, ${STOP}, 0, lookMs) === "timed-out") {
	const beats = Atomics.load(cells, ${BEATS});
	missed = beats === last ? missed + 1 : 0;
	last = beats;
	if (missed === 0) isReported = false;
	if (isReported || missed * lookMs < stuckMs) continue;
	isReported = true;
	try {
		appendFileSync(path, new Date().toISOString() + " error the event loop is stuck; nothing is answered or started meanwhile ms=" + missed * lookMs + "\\n");
	} catch {}
}
`;

export function watchLoop({ startMs, ...options }: LoopWatchOptions) {
	const cells = new Int32Array(new SharedArrayBuffer(8));
	const timer = setTimeout(() => {
		// Small limits: the thread holds only a few numbers.
		const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
		const worker = new Worker(THREAD, { eval: true, workerData: { cells, ...options }, env: {}, execArgv: [], resourceLimits });
		// Ignored: without the thread the loop is just not watched.
		worker.on("error", () => {});
		worker.unref();
	}, startMs);
	timer.unref();
	return {
		/** Called on each turn of the loop. */
		beat: () => void Atomics.add(cells, BEATS, 1),
		stop(): void {
			clearTimeout(timer);
			Atomics.store(cells, STOP, 1);
			Atomics.notify(cells, STOP);
		},
	};
}
