// Plants one bug at a time into a copy of the compiled engine and expects the simulator to find it: node dist/sim/planted.js [--seeds N] [--only NAME]

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, wholeNumber } from "../scripts/arguments.ts";
import { BUGS, type Bug } from "./planted-bugs.ts";

type Result = { bug: Bug; caught: boolean; said: string; seconds: number };

const DIST = dirname(dirname(fileURLToPath(import.meta.url)));
const ROOT = dirname(DIST);

/** A copy of the build with the bug in it. */
function plant(bug: Bug): string {
	const folder = mkdtempSync(join(tmpdir(), "sluice-planted-"));
	for (const part of ["src", "sim", "scripts", "test/make"]) cpSync(join(DIST, part), join(folder, "dist", part), { recursive: true });
	cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	const path = join(folder, "dist/src", bug.file);
	const text = readFileSync(path, "utf8");
	const places = text.split(bug.find).length - 1;
	if (places !== 1) throw new Error(`${bug.name}: "${bug.find}" is ${places} times in ${bug.file}, expected once`);
	writeFileSync(
		path,
		text.replace(bug.find, () => bug.replace),
	);
	return folder;
}

async function hunt(bug: Bug, seeds: number): Promise<Result> {
	const folder = plant(bug);
	const began = performance.now();
	try {
		const { code, out } = await run([
			join(folder, "dist/sim/main.js"),
			...(bug.fleet ? ["--fleet"] : []),
			"--seeds",
			String(seeds),
			"--stop-after",
			"1",
		]);
		// One that does not even start has not missed anything.
		if (!/^(seed|sim:) \d+/m.test(out)) throw new Error(`${bug.name}: the simulator did not run: ${out.trim().slice(0, 500)}`);
		const said = out.split("\n").find((line) => line.startsWith("seed ")) ?? out.trim().split("\n").at(-1) ?? "";
		return { bug, caught: code !== 0 && /^seed /m.test(out), said, seconds: (performance.now() - began) / 1000 };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function run(args: string[]): Promise<{ code: number | null; out: string }> {
	return new Promise((done) => {
		const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
		let out = "";
		for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
		child.on("close", (code) => done({ code, out }));
	});
}

const values = readArguments("sim:planted", {
	seeds: { type: "string", default: "400" },
	only: { type: "string" },
	parallel: { type: "string", default: "2" },
});
const seeds = wholeNumber("sim:planted", "seeds", values.seeds, 1);
const parallel = wholeNumber("sim:planted", "parallel", values.parallel, 1);
const queue = BUGS.filter((bug) => values.only === undefined || bug.name.includes(values.only));
const results: Result[] = [];

async function worker(): Promise<void> {
	for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) {
		const result = await hunt(bug, seeds);
		results.push(result);
		console.log(
			`${result.caught ? "caught" : "MISSED"}  ${bug.name.padEnd(34)} ${result.seconds.toFixed(1).padStart(6)} s  ${result.said.slice(0, 160)}`,
		);
	}
}

await Promise.all(Array.from({ length: parallel }, worker));
const missed = results.filter((result) => !result.caught);
console.log(`planted: ${results.length} bugs, ${results.length - missed.length} caught, ${missed.length} missed`);
process.exitCode = missed.length > 0 ? 1 : 0;
