// What a daemon takes that has nothing to do but 10,000 jobs that are held back: processor over half a minute, memory.

import { setTimeout as pause } from "node:timers/promises";
import { type BenchDaemon, startDaemon } from "../daemon.ts";
import { rssMb, treeCpuMs } from "../machine.ts";
import { atMost, type Row } from "../row.ts";
import { type Sample, sample } from "../statistics.ts";

const APPLY = 2000;

export const idle: Row = {
	name: "idle",
	title: "an idle daemon with 10,000 jobs that are held",
	async run(bench) {
		const jobs = bench.size(10_000, 1000);
		const seconds = bench.size(30, 3);
		const daemon = await startDaemon(bench, "idle", { max_concurrent: 4 });
		const empty = await startDaemon(bench, "idle-empty", { max_concurrent: 4 });
		try {
			await daemon.client.call("scheduler.pause", { lane: "default" });
			for (let from = 0; from < jobs; from += APPLY) {
				const some = Array.from({ length: Math.min(APPLY, jobs - from) }, (_, i) => ({ command: ["make", `target-${from + i}`] }));
				await daemon.client.call("job.apply", { manifest: { jobs: some } });
			}
			const { queued_total, running } = await daemon.client.call("scheduler.status", {});
			if (queued_total !== jobs || running !== 0) throw new Error(`${queued_total} queued and ${running} running instead of ${jobs} held`);
			// What adding them has set going (its own log line, a late commit) is over by then.
			await pause(2000);
			const [full, none] = await Promise.all([watch(daemon, seconds, bench.rounds), watch(empty, seconds, bench.rounds)]);
			return [
				{
					what: "processor of an idle daemon with 10,000 held jobs",
					bar: atMost(1),
					unit: "%",
					measured: full.percent,
					note: `over ${seconds} s a round, of one core, right after they were added.`,
				},
				{ what: "resident memory of it", bar: atMost(120), unit: "MB", measured: full.rss },
				{ what: "processor of an idle daemon without jobs", unit: "%", measured: none.percent },
				{ what: "resident memory of it without jobs", unit: "MB", measured: none.rss },
			];
		} finally {
			await Promise.all([daemon.stop(), empty.stop()]);
		}
	},
};

async function watch({ pid }: BenchDaemon, seconds: number, rounds: number): Promise<{ percent: Sample; rss: Sample }> {
	const [percents, sizes]: [number[], number[]] = [[], []];
	for (let round = 0; round < Math.min(3, rounds); round++) {
		const before = treeCpuMs(pid);
		const start = performance.now();
		await pause(seconds * 1000);
		percents.push(((treeCpuMs(pid) - before) / (performance.now() - start)) * 100);
		sizes.push(rssMb(pid));
	}
	return { percent: sample(percents), rss: sample(sizes) };
}
