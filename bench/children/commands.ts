// Runs command lines in turns in a small process of its own, whose size is not in what a fork costs: `node commands.js ROUNDS JSON`.
// Prints for each of them the milliseconds of every round, and its processor time on average.

import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { ownCpuMs } from "../machine.ts";

export type Timed = { ms: number[]; cpuMs: number };
/** Between two of them, so that what one set going elsewhere is over. */
const REST_MS = 25;

const [rounds, lines] = [Number(process.argv[2]), JSON.parse(process.argv[3] as string) as string[][]];
const found: Timed[] = lines.map(() => ({ ms: [], cpuMs: 0 }));
for (let round = -2; round < rounds; round++) {
	for (const [index, [program, ...args]] of lines.entries()) {
		await pause(REST_MS);
		const cpu = ownCpuMs();
		const start = performance.now();
		const { status, stderr } = spawnSync(program as string, args, { stdio: ["ignore", "pipe", "pipe"] });
		const ms = performance.now() - start;
		if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`);
		if (round < 0) continue;
		found[index]?.ms.push(ms);
		(found[index] as Timed).cpuMs += (ownCpuMs() - cpu) / rounds;
	}
}
console.log(JSON.stringify(found));
