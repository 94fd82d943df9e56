// The peer: plainjob (npm) as its own README runs it: synchronous=NORMAL, silent, jobs added one call at a time, then worked off.

import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Connection, defineQueue, defineWorker, JobStatus, type Queue } from "plainjob";

export const SILENT = { error() {}, warn() {}, info() {}, debug() {} };

export type PeerSpeed = { addUs: number; processUs: number; totalUs: number };

/** `workers` workers in this process. Microseconds a job. */
export async function runPlainjob(connection: Connection, { jobs, workers }: { jobs: number; workers: number }): Promise<PeerSpeed> {
	const queue = defineQueue({ connection, logger: SILENT });
	const start = performance.now();
	for (let n = 0; n < jobs; n++) queue.add("bench", { n });
	const added = performance.now();
	let finished = 0;
	let allFinished = () => {};
	const all = new Promise<void>((resolve) => {
		allFinished = resolve;
	});
	const onCompleted = () => {
		finished++;
		if (finished === jobs) allFinished();
	};
	const pool = Array.from({ length: workers }, () => defineWorker("bench", async () => {}, { queue, logger: SILENT, onCompleted }));
	const running = pool.map((worker) => worker.start());
	await all;
	const end = performance.now();
	await Promise.all(pool.map((worker) => worker.stop()));
	await Promise.all(running);
	checkAllDone(queue, jobs);
	queue.close();
	return speed(jobs, start, added, end);
}

/** One worker in each of `processes` forked processes, which are up before the clock starts. Microseconds a job. */
export async function runPlainjobForked(
	connection: Connection,
	{ jobs, processes }: { jobs: number; processes: number },
): Promise<PeerSpeed> {
	const queue = defineQueue({ connection, logger: SILENT });
	const script = fileURLToPath(new URL("./plainjob-worker.js", import.meta.url));
	const pool = Array.from({ length: processes }, () => fork(script, [connection.filename], { execArgv: [] }));
	await Promise.all(pool.map((child) => once(child, "message")));
	const start = performance.now();
	for (let n = 0; n < jobs; n++) queue.add("bench", { n });
	const added = performance.now();
	for (const child of pool) child.send("go");
	// Asking costs a millisecond or so of one core: rarely enough not to be in the way.
	while (queue.countJobs({ type: "bench", status: JobStatus.Done }) < jobs) await sleep(20);
	const end = performance.now();
	const exits = pool.map((child) => once(child, "exit"));
	for (const child of pool) child.send("stop");
	await Promise.all(exits);
	checkAllDone(queue, jobs);
	queue.close();
	return speed(jobs, start, added, end);
}

function checkAllDone(queue: Queue, jobs: number): void {
	const done = queue.countJobs({ type: "bench", status: JobStatus.Done });
	if (done !== jobs) throw new Error(`plainjob ended ${done} of ${jobs} jobs`);
}

function speed(jobs: number, start: number, added: number, end: number): PeerSpeed {
	const us = (ms: number) => (ms * 1000) / jobs;
	return { addUs: us(added - start), processUs: us(end - added), totalUs: us(end - start) };
}

/** better-sqlite3 itself, when somebody installed it: plainjob's own driver, shown beside. */
export async function realBetter(path: string): Promise<Connection | null> {
	try {
		const name = "better-sqlite3";
		const { default: Database } = (await import(name)) as { default: new (path: string) => never };
		const { better } = await import("plainjob");
		return better(new Database(path));
	} catch {
		return null;
	}
}
