// npm run bench:compare -- --before FOLDER: the engine of another build (a checkout with its dist/) beside this one, in turns and in processes of their own.
// Prints throughput of this build ÷ the other's. Exit 1 when a kind of work is below 0.95 for sure: the best of its rounds, too.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, wholeNumber } from "../scripts/arguments.ts";
import { runChild } from "./child.ts";
import { ratio, sample } from "./statistics.ts";

const BAR = 0.95;
const HERE = fileURLToPath(new URL("../..", import.meta.url));

const options = readArguments("bench:compare", { before: { type: "string" }, rounds: { type: "string", default: "7" } });
if (options.before === undefined) {
	console.error("bench:compare: --before FOLDER names the checkout to compare with; build it first (npm run build)");
	process.exit(2);
}
const rounds = wholeNumber("bench:compare", "rounds", options.rounds, 1);
const builds = { before: resolve(options.before), now: HERE };
const took: Record<"before" | "now", Record<string, number>[]> = { before: [], now: [] };

for (let round = 0; round < rounds; round++)
	for (const name of ["before", "now"] as const) {
		const folder = mkdtempSync(join(tmpdir(), "sluice-compare-"));
		try {
			took[name].push(await runChild<Record<string, number>>("work-of-build", [builds[name], join(folder, "queue")]));
		} finally {
			rmSync(folder, { recursive: true });
		}
	}

let slower = 0;
console.log("| work | this build ÷ before (throughput) | rounds | µs a job now | before |\n|---|---|---|---|---|");
for (const kind of Object.keys(took.now[0] ?? {})) {
	const of = (name: "before" | "now") => sample(took[name].map((round) => round[kind] ?? Number.NaN));
	const { median, min, max } = ratio(of("before"), of("now"));
	if (median < BAR && max < BAR) slower++;
	const cells = [
		kind,
		median.toFixed(2),
		`${min.toFixed(2)} … ${max.toFixed(2)}`,
		of("now").median.toFixed(1),
		of("before").median.toFixed(1),
	];
	console.log(`| ${cells.join(" | ")} |`);
}
process.exitCode = slower > 0 ? 1 : 0;
