// From the end of a job to the next one running in its slot, beside a start on an idle daemon and beside bare Node's next spawn.

import { startDaemon } from "../daemon.ts";
import { openFifo } from "../fifo.ts";
import { interleave } from "../interleave.ts";
import type { Row } from "../row.ts";
import { bareStarts, daemonSlots, daemonStarts } from "../starts.ts";
import { ratio } from "../statistics.ts";

export const slot: Row = {
	name: "slot",
	title: "slot freed → next job running",
	async run(bench) {
		const count = bench.size(100, 10);
		const daemon = await startDaemon(bench, "slot", { max_concurrent: 1 });
		const fifo = openFifo(bench.freshFile("running"));
		try {
			const { slots, starts, bare } = await interleave(bench, [
				{ name: "slots", round: () => daemonSlots(daemon, fifo, count) },
				{ name: "starts", round: () => daemonStarts(daemon, fifo, Math.ceil(count / 2)) },
				{ name: "bare", round: (path) => bareStarts("slots", path, count) },
			]);
			return [
				{
					what: "slot freed → next running, p50 ÷ add → running",
					unit: "×",
					measured: ratio(slots, starts),
					note: "one slot; from the line that one job writes to the line of the next, so the first one's own exit is in it.",
				},
				{ what: "slot freed → next running, p50 ÷ bare Node, exit → spawn", unit: "×", measured: ratio(slots, bare) },
				{ what: "slot freed → next running, p50, ours", unit: "ms", measured: slots },
				{ what: "add → running, p50, the same daemon", unit: "ms", measured: starts },
				{ what: "exit → next running, p50, bare Node", unit: "ms", measured: bare },
			];
		} finally {
			fifo.close();
			await daemon.stop();
		}
	},
};
