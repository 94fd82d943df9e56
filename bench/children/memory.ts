// A process that opens a database (filling it first when a number is given), claims and completes one job if there is one, and says how much memory it holds.

import { fill } from "../backlog.ts";
import { openEngine, success } from "../engine.ts";
import { collectGarbage } from "../interleave.ts";
import type { Memory } from "../rows/memory.ts";

const [path, jobs] = process.argv.slice(2) as [string, string | undefined];
const engine = await openEngine(path);
if (jobs !== undefined) await fill(engine, Number(jobs));
for (let i = 0; i < 100; i++) {
	const claimed = await engine.claim({ worker: "bench", max: 1 });
	for (const one of claimed) await engine.complete(success(one));
}
for (let i = 0; i < 3; i++) collectGarbage();
const answer: Memory = {
	rssMb: process.memoryUsage.rss() / 2 ** 20,
	peakMb: process.resourceUsage().maxRSS / 2 ** 10,
};
console.log(JSON.stringify(answer));
await engine.close();
