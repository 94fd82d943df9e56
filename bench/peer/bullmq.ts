// The peer: BullMQ on a Redis that syncs its log at every write (appendfsync always), where redis-server is installed.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerPackage, VERSIONS } from "./install.ts";
import { batches, countdown, type Peer, type PeerRun } from "./queue.ts";

type Connection = { path: string; maxRetriesPerRequest: null };
type Module = {
	Queue: new (
		name: string,
		options: { connection: Connection },
	) => {
		addBulk(jobs: { name: string; data: object }[]): Promise<unknown>;
		getCompletedCount(): Promise<number>;
		waitUntilReady(): Promise<unknown>;
		close(): Promise<void>;
	};
	Worker: new (
		name: string,
		fn: () => Promise<void>,
		options: { connection: Connection; concurrency: number; autorun: boolean },
	) => {
		on(event: "completed", call: () => void): void;
		run(): Promise<void>;
		waitUntilReady(): Promise<unknown>;
		close(): Promise<void>;
	};
};

const CONCURRENCY = 100;

export async function bullmq(): Promise<Peer | null> {
	try {
		execFileSync("redis-server", ["--version"], { stdio: "ignore" });
	} catch {
		return null;
	}
	const found = await peerPackage<Module>("bullmq");
	if (!found) return null;
	return {
		name: `BullMQ ${VERSIONS.bullmq} on Redis, appendfsync always`,
		keeps: "no locks, no dependencies across queues; another database",
		async process(_url: string, run: PeerRun) {
			const redis = await startRedis();
			const connection = { path: redis.path, maxRetriesPerRequest: null };
			try {
				const queue = new found.Queue("bench", { connection });
				const worker = new found.Worker("bench", async () => {}, { connection, concurrency: CONCURRENCY, autorun: false });
				const all = countdown(run.jobs);
				worker.on("completed", () => all.call());
				await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
				const start = performance.now();
				for (const batch of batches(run)) await queue.addBulk(batch.map((n) => ({ name: "bench", data: { n } })));
				worker.run().catch(() => {});
				await all.done;
				const took = performance.now() - start;
				const completed = await queue.getCompletedCount();
				if (completed !== run.jobs) throw new Error(`BullMQ completed ${completed} of ${run.jobs}`);
				await worker.close();
				await queue.close();
				return (took * 1000) / run.jobs;
			} finally {
				await redis.end();
			}
		},
	};
}

async function startRedis(): Promise<{ path: string; end(): Promise<void> }> {
	const folder = mkdtempSync(join(tmpdir(), "sluice-redis-"));
	const path = join(folder, "socket");
	const args = ["--port", "0", "--unixsocket", path, "--dir", folder, "--appendonly", "yes", "--appendfsync", "always", "--save", ""];
	const server: ChildProcess = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
	await new Promise<void>((resolve, reject) => {
		server.stdout?.on("data", (chunk) => String(chunk).includes("ready to accept connections") && resolve());
		server.once("error", reject);
		server.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
	});
	return {
		path,
		async end() {
			const gone = new Promise((resolve) => server.once("exit", resolve));
			server.kill("SIGKILL");
			await gone;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}
