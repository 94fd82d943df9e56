// 1,000 × /bin/true, ten at a time, through a daemon: durable, logs kept, from the call until all have ended; beside bare Node and other starters.

import { runChild } from "../child.ts";
import type { Spawned } from "../children/spawner.ts";
import { startDaemon, waitFor } from "../daemon.ts";
import { type Contender, interleave } from "../interleave.ts";
import { treeCpuMs } from "../machine.ts";
import { installedStarters } from "../peer/starters.ts";
import { atMost, type Measure, type Row } from "../row.ts";
import { inFolder } from "../starts.ts";
import { ratio, type Sample, sample } from "../statistics.ts";

const CAP = 10;

export const spawn: Row = {
	name: "spawn",
	title: "1,000 × /bin/true, cap 10, end to end, over bare Node spawn",
	async run(bench) {
		const jobs = bench.size(1000, 100);
		const daemon = await startDaemon(bench, "spawn", { max_concurrent: CAP, safety_cap: 0 });
		const cpu = { apply: [] as number[], add: [] as number[], bare: [] as number[] };
		const through = (name: "apply" | "add", submit: () => Promise<number[]>) => ({
			name,
			async round() {
				const before = treeCpuMs(daemon.pid);
				const start = performance.now();
				await waitFor(daemon.client, await submit());
				const ms = performance.now() - start;
				cpu[name].push(treeCpuMs(daemon.pid) - before);
				return ms;
			},
		});
		const command = ["/bin/true"];
		const { there, absent } = installedStarters();
		const contenders: Contender[] = [
			through("apply", async () => {
				const { jobs: ids } = await daemon.client.call("job.apply", {
					manifest: { jobs: Array.from({ length: jobs }, () => ({ command })) },
				});
				return ids;
			}),
			through("add", async () => {
				const added = await Promise.all(Array.from({ length: jobs }, () => daemon.client.call("job.add", { command })));
				return added.map((one) => (one.outcome === "queued" ? one.job.id : Number.NaN));
			}),
			{
				name: "bare",
				round: (path) =>
					inFolder(path, async (folder) => {
						const { ms, cpuMs } = await runChild<Spawned>("spawner", ["many", folder, String(jobs), String(CAP)]);
						cpu.bare.push(cpuMs);
						return ms;
					}),
			},
			...there.map(({ name, run }) => ({ name, round: (path: string) => inFolder(path, (folder) => run(folder, jobs, CAP)) })),
		];
		let found: Record<string, Sample>;
		try {
			found = await interleave(bench, contenders);
		} finally {
			await daemon.stop();
		}
		const { apply, add, bare } = found as { apply: Sample; add: Sample; bare: Sample };
		const used = (values: number[]): Sample => sample(values.slice(-bench.rounds));
		const beside: Measure[] = there.flatMap(({ name, keeps }) => [
			{
				what: `1,000 × true ÷ ${name}`,
				...(name === "tsp" ? { bar: atMost(1) } : {}),
				unit: "×",
				measured: ratio(apply, found[name] as Sample),
				note: `${name} keeps ${keeps}.`,
			},
			{ what: `1,000 × true, ${name}`, unit: "ms", measured: found[name] as Sample },
		]);
		return [
			{
				what: "1,000 × true through the daemon ÷ bare Node spawn",
				bar: atMost(1),
				unit: "×",
				measured: ratio(apply, bare),
				note: `one job.apply; both with a folder and two logs a run; bare Node in a small process of its own.${absent.length > 0 ? ` Not installed here: ${absent.join(", ")}.` : ""}`,
			},
			{ what: "the same with 1,000 × job.add on one connection", unit: "×", measured: ratio(add, bare) },
			{ what: "processor time of the daemon and all below it ÷ bare Node's", unit: "×", measured: ratio(used(cpu.apply), used(cpu.bare)) },
			{ what: "1,000 × true, ours, one apply", unit: "ms", measured: apply },
			{ what: "1,000 × true, ours, 1,000 adds", unit: "ms", measured: add },
			{ what: "1,000 × true, bare Node", unit: "ms", measured: bare },
			{ what: "processor time, ours, one apply", unit: "ms", measured: used(cpu.apply) },
			{ what: "processor time, ours, 1,000 adds", unit: "ms", measured: used(cpu.add) },
			{ what: "processor time, bare Node", unit: "ms", measured: used(cpu.bare) },
			...beside,
		];
	},
};
