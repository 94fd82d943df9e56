// The peer: pg-boss at its quickest: insert(), fetch() and complete() of a batch; and for a single job a worker that NOTIFY wakes.

import { peerPackage, VERSIONS } from "./install.ts";
import { batches, type Peer, type PeerRun, type Starter } from "./queue.ts";

export type Boss = {
	start(): Promise<unknown>;
	stop(options?: { graceful?: boolean; close?: boolean }): Promise<void>;
	on(event: "error" | "warning", call: (error: unknown) => void): void;
	createQueue(name: string, options?: { notify?: boolean }): Promise<void>;
	insert(name: string, jobs: { data: object }[]): Promise<unknown>;
	send(name: string, data: object): Promise<unknown>;
	work(name: string, options: { batchSize: number }, fn: (jobs: unknown[]) => Promise<unknown>): Promise<string>;
	fetch(name: string, options: { batchSize: number }): Promise<{ id: string }[]>;
	complete(name: string, ids: string[]): Promise<unknown>;
};
type Module = { PgBoss: new (options: { connectionString: string; useListenNotify: boolean; schedule: boolean }) => Boss };

export const QUEUE = "bench";

export async function openBoss(url: string): Promise<Boss> {
	const found = await peerPackage<Module>("pg-boss");
	if (!found) throw new Error("pg-boss is not there");
	const boss = new found.PgBoss({ connectionString: url, useListenNotify: true, schedule: false });
	boss.on("error", (error) => console.error("pg-boss:", error));
	await boss.start();
	await boss.createQueue(QUEUE, { notify: true });
	return boss;
}

export async function pgBoss(): Promise<Peer | null> {
	if (!(await peerPackage<Module>("pg-boss"))) return null;
	return {
		name: `pg-boss ${VERSIONS["pg-boss"]}, batches of 100`,
		keeps: "insert, fetch, complete of 100; no events, no locks",
		async process(url: string, run: PeerRun) {
			const boss = await openBoss(url);
			const start = performance.now();
			for (const batch of batches(run))
				await boss.insert(
					QUEUE,
					batch.map((n) => ({ data: { n } })),
				);
			// Quicker than work(), whose worker sleeps half a second before it ends.
			for (let left = run.jobs; left > 0; ) {
				const taken = await boss.fetch(QUEUE, { batchSize: run.batch });
				await boss.complete(
					QUEUE,
					taken.map(({ id }) => id),
				);
				left -= taken.length;
			}
			const took = performance.now() - start;
			await boss.stop({ graceful: false });
			return (took * 1000) / run.jobs;
		},
		async starter(url: string): Promise<Starter> {
			const [adder, worker] = [await openBoss(url), await openBoss(url)];
			let started = () => {};
			await worker.work(QUEUE, { batchSize: 1 }, async () => started());
			return {
				add: (n) => adder.send(QUEUE, { n }),
				onStart(call) {
					started = call;
				},
				async end() {
					await Promise.all([adder.stop({ graceful: false }), worker.stop({ graceful: false })]);
				},
			};
		},
	};
}
