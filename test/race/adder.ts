// A program that is killed: adds jobs one after the other and in bursts, for ever, and writes the number of each one as soon as it is acknowledged.

import { writeSync } from "node:fs";
import { openScheduler } from "../../src/index.ts";

const { path, burst } = JSON.parse(process.argv[2] ?? "{}") as { path: string; burst: number };
const sluice = await openScheduler({ path });

async function add(n: number): Promise<void> {
	const result = await sluice.add({ payload: { n } });
	if (result.outcome !== "queued") throw new Error(result.outcome);
	// At once and without a buffer: a number that stands in the pipe was acknowledged, whatever happens to us next.
	writeSync(1, `${result.job.id}\n`);
}

for (let n = 0; ; n += burst) await Promise.all(Array.from({ length: burst }, (_, index) => add(n + index)));
