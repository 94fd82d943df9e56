// What 500 live programs cost of our own memory: launcher, shims and the daemon's growth, a child.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BenchDaemon, startDaemon } from "../daemon.ts";
import { descendants, pssMb } from "../machine.ts";
import { atMost, type Row } from "../row.ts";
import { sample } from "../statistics.ts";

export const children: Row = {
	name: "children",
	title: "500 live children, our memory for each",
	async run(bench) {
		const count = bench.size(500, 40);
		const all: { shims: number; daemon: number; total: number; upMs: number }[] = [];
		for (let round = 0; round < Math.min(3, bench.rounds); round++) {
			all.push(await measure(await startDaemon(bench, "children", { max_concurrent: count, safety_cap: 0 }), count));
			bench.progress(`children ${round + 1}: ${all.at(-1)?.total.toFixed(3)} MB`);
		}
		const of = (name: keyof (typeof all)[number]) => sample(all.map((one) => one[name]));
		return [
			{
				what: "memory of ours for each of 500 live children (Pss)",
				bar: atMost(0.5),
				unit: "MB",
				measured: of("total"),
				note: "shims, launcher and what the daemon has grown by since it was empty; the programs themselves (sleep) not.",
			},
			{ what: "of that, shims and launcher", unit: "MB", measured: of("shims") },
			{ what: "of that, the daemon's growth", unit: "MB", measured: of("daemon") },
			{ what: "job.apply of 500 → all 500 live", unit: "ms", measured: of("upMs") },
		];
	},
};

async function measure(daemon: BenchDaemon, count: number): Promise<{ shims: number; daemon: number; total: number; upMs: number }> {
	try {
		const empty = pssMb(daemon.pid);
		const start = performance.now();
		await daemon.client.call("job.apply", { manifest: { jobs: Array.from({ length: count }, () => ({ command: ["sleep", "1000"] })) } });
		let shims = shimsOf(daemon.home);
		for (; shims.length < count; shims = shimsOf(daemon.home)) await pause(50);
		const upMs = performance.now() - start;
		// The launcher and the idle ones are ours too; the sleeps below them are not.
		const ours = new Set([...shims, ...descendants(daemon.pid).filter(isShell)]);
		const shimsMb = [...ours].reduce((sum, pid) => sum + pssMb(pid), 0) / count;
		const growth = (pssMb(daemon.pid) - empty) / count;
		return { shims: shimsMb, daemon: growth, total: shimsMb + growth, upMs };
	} finally {
		await daemon.stop();
	}
}

/** The first line of a run's marker names its shim; the second is there once the program is. */
function shimsOf(home: string): number[] {
	const runs = join(home, "runs");
	return readdirSync(runs).flatMap((job) => {
		try {
			const lines = readFileSync(join(runs, job, "1", "start"), "latin1").split("\n");
			return lines.length === 3 ? [Number((lines[0] as string).split(" ")[1])] : [];
		} catch {
			return [];
		}
	});
}

function isShell(pid: number): boolean {
	try {
		return /(^|\/)(sh|dash|bash)\0/.test(readFileSync(`/proc/${pid}/cmdline`, "latin1"));
	} catch {
		return false;
	}
}
