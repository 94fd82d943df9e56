// A program for the races: opens the file, says `ready`, waits for `go`, takes jobs in competition with its like, and reports which it got.
//
//   take        until it ends                                            reports
//   payload     nothing is left to claim                                 { got: numbers }
//   kernel      nothing is left to claim                                 { got: numbers }
//   work        it is told to `stop`; each job is run and completed      each number as it is done, then { got: numbers }

import { openScheduler } from "../../src/index.ts";

type Task = { path: string; worker: string; take: "payload" | "kernel" | "work"; max: number; config: Record<string, unknown> };

const task = JSON.parse(process.argv[2] ?? "{}") as Task;
const sluice = await openScheduler({ path: task.path, config: task.config, join: { name: task.worker } });
const told = (word: string) =>
	new Promise<void>((resolve) => {
		process.on("message", (message) => {
			if (message === word) resolve();
		});
	});
const tell = (message: unknown) => new Promise<void>((resolve) => process.send?.(message, () => resolve()));

async function claim(): Promise<number[]> {
	if (task.take === "kernel") {
		const { entries } = await sluice.kernel.claim({ worker_id: task.worker, max_n: task.max });
		return entries.map((entry) => entry.sched_id);
	}
	const claimed = await sluice.claim({ worker: task.worker, max: task.max, kinds: ["payload"] });
	return claimed.map((one) => one.job.id);
}

async function work(): Promise<number[]> {
	const got: number[] = [];
	const workers = Object.keys(sluice.config().lanes).map((lane) =>
		sluice.work(
			lane,
			async ({ job }) => {
				got.push(job.id);
				await tell(job.id);
			},
			{ concurrency: task.max, worker: task.worker },
		),
	);
	await stop;
	await Promise.all(workers.map((worker) => worker.stop()));
	return got;
}

const [go, stop] = [told("go"), told("stop")];
await tell("ready");
await go;
const got: number[] = [];
if (task.take === "work") got.push(...(await work()));
else
	for (let some = await claim(); some.length > 0; some = await claim()) {
		got.push(...some);
	}
await sluice.close();
await tell({ got });
process.disconnect();
