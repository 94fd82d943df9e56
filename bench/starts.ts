// How long until a program runs: through a daemon, through task-spooler, bare. Shared by the rows that measure single starts.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { type BenchDaemon, ENV, waitFor } from "./daemon.ts";
import { announcing, type Fifo } from "./fifo.ts";
import { quantile } from "./statistics.ts";

const p50 = (values: readonly number[]) => quantile(values, 0.5);

/** From job.add to the line in the pipe, one after the other, so that the daemon is idle each time. */
export async function daemonStarts({ client }: BenchDaemon, fifo: Fifo, count: number): Promise<number> {
	const found: number[] = [];
	for (let n = 0; n < count; n++) {
		const start = performance.now();
		const adding = client.call("job.add", { command: announcing(fifo.path) });
		found.push((await fifo.next()) - start);
		const added = await adding;
		if (added.outcome === "queued") await waitFor(client, [added.job.id]);
	}
	return p50(found);
}

/** From the line of one job to the line of the next, where only one may run at a time: exit, news, transaction, start. */
export async function daemonSlots({ client }: BenchDaemon, fifo: Fifo, count: number): Promise<number> {
	const command = announcing(fifo.path);
	const { jobs } = await client.call("job.apply", { manifest: { jobs: Array.from({ length: count + 1 }, () => ({ command })) } });
	const found: number[] = [];
	let last = await fifo.next();
	for (let n = 0; n < count; n++) {
		const at = await fifo.next();
		found.push(at - last);
		last = at;
	}
	await waitFor(client, jobs);
	return p50(found);
}

export async function bareStarts(what: "starts" | "slots", path: string, count: number): Promise<number> {
	return inFolder(path, async (folder) => p50(await runChild<number[]>("spawner", [what, folder, String(count)])));
}

/** From the call of its client to the line in the pipe. */
export async function spoolerStarts(path: string, fifo: Fifo, count: number): Promise<number> {
	return inFolder(path, async (folder) => {
		const env = { ...ENV, TS_SOCKET: join(folder, "socket"), TMPDIR: folder };
		execFileSync("tsp", ["-S", "1"], { env, stdio: "ignore" });
		const found: number[] = [];
		for (let n = 0; n < count; n++) {
			const start = performance.now();
			const child = spawn("tsp", announcing(fifo.path), { env, stdio: "ignore" });
			const gone = new Promise((resolve) => child.once("exit", resolve));
			found.push((await fifo.next()) - start);
			await gone;
			execFileSync("tsp", ["-w"], { env, stdio: "ignore" });
		}
		execFileSync("tsp", ["-K"], { env, stdio: "ignore" });
		return p50(found);
	});
}

/**
 * A folder for one round. It stays until the bench is over: for some seconds ext4 passes over each inode that was just given back, so what one
 * contender deleted would cost the next.
 */
export async function inFolder<T>(path: string, run: (folder: string) => Promise<T>): Promise<T> {
	const folder = path.replace(/\.db$/, "");
	mkdirSync(folder, { recursive: true });
	return run(folder);
}
