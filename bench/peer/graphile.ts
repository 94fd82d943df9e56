// The peer: graphile-worker, as it comes and with its local queue (jobs taken and completed in batches, which it then has to itself).

import { peerPackage, VERSIONS } from "./install.ts";
import { batches, countdown, type Peer, type PeerRun, type Starter } from "./queue.ts";

type Runner = { stop(): Promise<void> };
type Task = (payload: unknown) => Promise<void>;
type Job = { identifier: string; payload: object };
type Module = {
	run(options: { preset: object; taskList: Record<string, Task> }): Promise<Runner>;
	makeWorkerUtils(options: { connectionString: string; logger: unknown }): Promise<{
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
	const presetOf = (url: string, worker: object) => ({
		extends: [found.WorkerPreset],
		worker: {
			connectionString: url,
			maxPoolSize: CONCURRENCY + 2,
			logger,
			taskDirectory: "/nonexistent",
			crontabFile: "/nonexistent",
			...worker,
		},
	});
	const adder = async (url: string) => {
		const made = await found.makeWorkerUtils({ connectionString: url, logger });
		await made.migrate();
		return made;
	};
	const process = (worker: object) => async (url: string, run: PeerRun) => {
		const adding = await adder(url);
		const start = performance.now();
		for (const batch of batches(run)) await adding.addJobs(batch.map((n) => ({ identifier: "bench", payload: { n } })));
		const all = countdown(run.jobs);
		const runner = await found.run({ preset: presetOf(url, worker), taskList: { bench: async () => all.call() } });
		await all.done;
		await runner.stop();
		const took = performance.now() - start;
		await adding.release();
		return (took * 1000) / run.jobs;
	};
	const version = VERSIONS["graphile-worker"];
	return {
		plain: {
			name: `graphile-worker ${version}`,
			keeps: `no events, no global caps; ${CONCURRENCY} at a time`,
			process: process({ concurrentJobs: CONCURRENCY }),
			async starter(url: string): Promise<Starter> {
				const adding = await adder(url);
				let started = () => {};
				const runner = await found.run({ preset: presetOf(url, { concurrentJobs: 1 }), taskList: { bench: async () => started() } });
				return {
					add: (n) => adding.addJob("bench", { n }),
					onStart(call) {
						started = call;
					},
					async end() {
						await runner.stop();
						await adding.release();
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
