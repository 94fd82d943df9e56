// From job.add to a program that runs, on a daemon that has nothing else to do, beside a bare spawn of the same.

import { startDaemon } from "../daemon.ts";
import { openFifo } from "../fifo.ts";
import { type Contender, interleave } from "../interleave.ts";
import { installedStarters } from "../peer/starters.ts";
import { atMost, type Measure, type Row } from "../row.ts";
import { bareStarts, daemonStarts, spoolerStarts } from "../starts.ts";
import { ratio } from "../statistics.ts";

type Name = "ours" | "bare" | "tsp";

export const start: Row = {
	name: "start",
	title: "add → process running on an idle daemon, over bare spawn",
	async run(bench) {
		const count = bench.size(60, 10);
		const daemon = await startDaemon(bench, "start", { max_concurrent: 4 });
		const fifo = openFifo(bench.freshFile("running"));
		const contenders: Contender<Name>[] = [
			{ name: "ours", round: () => daemonStarts(daemon, fifo, count) },
			{ name: "bare", round: (path) => bareStarts("starts", path, count) },
		];
		const hasSpooler = installedStarters().there.some(({ name }) => name === "tsp");
		if (hasSpooler) contenders.push({ name: "tsp", round: (path) => spoolerStarts(path, fifo, count) });
		try {
			const { ours, bare, tsp } = await interleave(bench, contenders);
			const beside: Measure[] = hasSpooler
				? [
						{ what: "add → running, p50 ÷ tsp", unit: "×", measured: ratio(ours, tsp) },
						{ what: "add → running, p50, tsp", unit: "ms", measured: tsp },
					]
				: [];
			return [
				{
					what: "add → running, p50 ÷ bare spawn",
					bar: atMost(3),
					unit: "×",
					measured: ratio(ours, bare),
					note: `running: a shell has written to a pipe; the add is durable before.${hasSpooler ? "" : " tsp is not installed here."}`,
				},
				{ what: "add → running, p50, ours over the socket", unit: "ms", measured: ours },
				{ what: "spawn → running, p50, bare Node", unit: "ms", measured: bare },
				...beside,
			];
		} finally {
			fifo.close();
			await daemon.stop();
		}
	},
};
