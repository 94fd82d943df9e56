// One of several processes on one file: claims and completes until nothing is left, and says which jobs it got.

import { openEngine, success } from "../engine.ts";

const [path, worker, max] = process.argv.slice(2) as [string, string, string];
const engine = await openEngine(path);
const jobs: number[] = [];
for (;;) {
	const claimed = await engine.claim({ worker, max: Number(max) });
	if (claimed.length === 0) break;
	await Promise.all(claimed.map((one) => engine.complete(success(one))));
	jobs.push(...claimed.map((one) => one.job.id));
}
await engine.close();
console.log(JSON.stringify(jobs));
