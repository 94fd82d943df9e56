// The peer: graphile-worker, as it comes and with its local queue (jobs taken and completed in batches, which it then has to itself).

import { Pool } from "pg";
import { peerPackage, VERSIONS } from "./install.ts";
import { batches, countdown, type Peer, type PeerRun, type Starter } from "./queue.ts";

type Runner = { stop(): Promise<void> };
type Task = (payload: unknown) => Promise<void>;
type Job = { identifier: string; payload: object };
type Module = {
	run(options: { preset: object; pgPool: Pool; taskList: Record<string, Task> }): Promise<Runner>;
	makeWorkerUtils(options: { pgPool: Pool; logger: unknown }): Promise<{
		migrate(): Promise<void>;
		addJob(identifier: string, payload: object): Promise<unknown>;
		addJobs(jobs: Job[]): Promise<unknown>;
		release(): Promise<void>;
	}>;
	Logger: new (factory: () => () => void) => unknown;
	WorkerPreset: object;
};

/** Its manual's numbers for much work: as many at a time as half its pool can serve, and a local queue of some hundreds. */
const CONCURRENCY = 24;
const LOCAL = { concurrentJobs: CONCURRENCY, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

export async function graphile(): Promise<{ plain: Peer; local: Peer } | null> {
	const imported = await peerPackage<Module & { default?: Module }>("graphile-worker");
	if (!imported) return null;
	const found = imported.default ?? imported;
	const logger = new found.Logger(() => () => {});
	const presetOf = (worker: object) => ({
		extends: [found.WorkerPreset],
		worker: {
			logger,
			taskDirectory: "/nonexistent",
			crontabFile: "/nonexistent",
			...worker,
		},
	});
	/** Its own pools outlive its stop, and the database does not. */
	const open = async (url: string) => {
		const pgPool = new Pool({ connectionString: url, max: CONCURRENCY + 4 });
		pgPool.on("error", () => {});
		pgPool.on("connect", (client) => client.on("error", () => {}));
		const adding = await found.makeWorkerUtils({ pgPool, logger });
		await adding.migrate();
		return {
			adding,
			run: (worker: object, task: Task) => found.run({ preset: presetOf(worker), pgPool, taskList: { bench: task } }),
			async end() {
				await adding.release();
				await pgPool.end();
			},
		};
	};
	const process = (worker: object) => async (url: string, run: PeerRun) => {
		const { adding, run: start, end } = await open(url);
		const begun = performance.now();
		for (const batch of batches(run)) await adding.addJobs(batch.map((n) => ({ identifier: "bench", payload: { n } })));
		const all = countdown(run.jobs);
		const runner = await start(worker, async () => all.call());
		await all.done;
		await runner.stop();
		const took = performance.now() - begun;
		await end();
		return (took * 1000) / run.jobs;
	};
	const version = VERSIONS["graphile-worker"];
	return {
		plain: {
			name: `graphile-worker ${version}`,
			keeps: `no events, no global caps; ${CONCURRENCY} at a time`,
			process: process({ concurrentJobs: CONCURRENCY }),
			async starter(url: string): Promise<Starter> {
				const { adding, run: start, end } = await open(url);
				let started = () => {};
				const runner = await start({ concurrentJobs: 1 }, async () => started());
				return {
					add: (n) => adding.addJob("bench", { n }),
					onStart(call) {
						started = call;
					},
					async end() {
						await runner.stop();
						await end();
					},
				};
			},
		},
		local: {
			name: `graphile-worker ${version}, local queue`,
			keeps: "no events, no global caps; takes 500 jobs to itself, whoever else is idle",
			process: process(LOCAL),
		},
	};
}
