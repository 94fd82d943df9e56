// Bare Node as a starter of programs, in a process of its own: `node spawner.js many FOLDER COUNT CAP` | `starts FOLDER COUNT` | `slots FOLDER COUNT`.
// Prints the milliseconds it took and its processor time, or the milliseconds of each start.

import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { announcing, openFifo } from "../fifo.ts";
import { ownCpuMs } from "../machine.ts";

export type Spawned = { ms: number; cpuMs: number };

const [, , what, folder, count, cap] = process.argv as unknown as [string, string, string, string, string, string | undefined];
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: "/", USER: "bench", LANG: "C" };
let runs = 0;

/** With logs in a folder of its own, as ours have them. Resolves when it has ended. */
function run(argv: readonly string[]): Promise<void> {
	const dir = join(folder, `run-${++runs}`);
	mkdirSync(dir);
	const out = openSync(join(dir, "stdout.log"), "a");
	const err = openSync(join(dir, "stderr.log"), "a");
	const child = spawn(argv[0] as string, argv.slice(1), { stdio: ["ignore", out, err], env, cwd: "/" });
	closeSync(out);
	closeSync(err);
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${argv[0]} ended with ${code}`))));
	});
}

async function many(jobs: number, width: number): Promise<Spawned> {
	let left = jobs;
	const worker = async () => {
		while (left-- > 0) await run(["/bin/true"]);
	};
	const cpu = ownCpuMs();
	const start = performance.now();
	await Promise.all(Array.from({ length: width }, worker));
	return { ms: performance.now() - start, cpuMs: ownCpuMs() - cpu };
}

/** From the call to the line in the pipe, one after the other. */
async function starts(jobs: number): Promise<number[]> {
	const fifo = openFifo(join(folder, "running"));
	const found: number[] = [];
	for (let n = 0; n < jobs; n++) {
		const start = performance.now();
		const ended = run(announcing(fifo.path));
		found.push((await fifo.next()) - start);
		await ended;
	}
	fifo.close();
	return found;
}

/** From the line of one to the line of the next, which is started when the first has ended. */
async function slots(jobs: number): Promise<number[]> {
	const fifo = openFifo(join(folder, "running"));
	const found: number[] = [];
	let last = Number.NaN;
	for (let n = 0; n <= jobs; n++) {
		await run(announcing(fifo.path));
		const at = await fifo.next();
		if (n > 0) found.push(at - last);
		last = at;
	}
	fifo.close();
	return found;
}

if (what === "many") {
	// The compiler is warm afterwards, as that of a daemon is.
	await many(100, Number(cap));
	console.log(JSON.stringify(await many(Number(count), Number(cap))));
} else if (what === "starts") {
	await starts(10);
	console.log(JSON.stringify(await starts(Number(count))));
} else {
	await slots(10);
	console.log(JSON.stringify(await slots(Number(count))));
}
