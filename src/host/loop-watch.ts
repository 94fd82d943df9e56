// Looks at the event loop from a thread of its own: a loop that is stuck cannot say so itself, and who waits for it wants to know now, not afterwards.

import { Worker } from "node:worker_threads";

export type LoopWatch = {
	/** The loop has come round. */
	beat(): void;
	stop(): void;
};

export type LoopWatchOptions = {
	/** Where it is told: one line, appended. */
	path: string;
	/** No beat for so long is stuck. */
	stuckMs: number;
	/** How often the thread looks; a part of `stuckMs`. */
	lookMs: number;
	/** The thread takes some milliseconds to make and some megabytes to keep (5 of 69): not before this. */
	startMs: number;
};

/** Cells: how many beats there were; 1 = stop. */
const [BEATS, STOP] = [0, 1];

/** Runs in the thread; what it has is in `workerData`. It counts looks, not time: a machine that slept has not been stuck. */
const THREAD = `
const { appendFileSync } = require("node:fs");
const { workerData: { cells, path, stuckMs, lookMs } } = require("node:worker_threads");
let last = Atomics.load(cells, ${BEATS});
let missed = 0;
let told = false;
while (Atomics.wait(cells, ${STOP}, 0, lookMs) === "timed-out") {
	const beats = Atomics.load(cells, ${BEATS});
	missed = beats === last ? missed + 1 : 0;
	last = beats;
	if (missed === 0) told = false;
	if (told || missed * lookMs < stuckMs) continue;
	told = true;
	try {
		appendFileSync(path, new Date().toISOString() + " error the event loop is stuck; nothing is answered or started meanwhile ms=" + missed * lookMs + "\\n");
	} catch {}
}
`;

export function watchLoop({ startMs, ...options }: LoopWatchOptions): LoopWatch {
	const cells = new Int32Array(new SharedArrayBuffer(8));
	const timer = setTimeout(() => {
		// Small bounds: it holds nothing but three numbers.
		const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
		const worker = new Worker(THREAD, { eval: true, workerData: { cells, ...options }, env: {}, execArgv: [], resourceLimits });
		// Without it the loop only goes unwatched.
		worker.on("error", () => {});
		worker.unref();
	}, startMs);
	timer.unref();
	return {
		beat: () => void Atomics.add(cells, BEATS, 1),
		stop() {
			clearTimeout(timer);
			Atomics.store(cells, STOP, 1);
			Atomics.notify(cells, STOP);
		},
	};
}
