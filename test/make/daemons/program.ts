// Programs of this repository for tests that need real processes: bundled from the sources as they are now, so that no test runs an old build.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The path of a file that node can run; `entry` is a source, from the root. */
export function makeProgram(entry: string): string {
	const outfile = join(ROOT, "dist", "programs", `${entry.replaceAll(/[/.]/g, "-")}-${process.pid}.mjs`);
	buildSync({
		entryPoints: [join(ROOT, entry)],
		outfile,
		bundle: true,
		platform: "node",
		format: "esm",
		target: "node20",
		packages: "external",
		logLevel: "silent",
	});
	process.once("exit", () => rmSync(outfile, { force: true }));
	return outfile;
}

/** The same program as a build that speaks later messages of a fleet. */
export function makeLaterProgram(entry: string): string {
	const path = makeProgram(entry);
	const text = readFileSync(path, "utf8");
	const later = text.replace(/\bMESSAGES = (\d+);/, (_, version: string) => `MESSAGES = ${Number(version) + 1};`);
	if (later === text) throw new Error("the version of the messages was not found in the bundle");
	const outfile = path.replace(/\.mjs$/, "-later.mjs");
	writeFileSync(outfile, later);
	process.once("exit", () => rmSync(outfile, { force: true }));
	return outfile;
}
