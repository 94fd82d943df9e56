// npm run bench: runs the rows, prints the table of ratios, and writes bench/latest.md.
//
//   node dist/bench/main.js [--row NAME[,NAME]] [--quick] [--rounds N] [--dir FOLDER] [--out FILE]
//
// --row and --quick print but write nothing, unless --out says where. Exit 1 when a bar is not met (not under --quick).

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { readArguments, wholeNumber } from "../scripts/arguments.ts";
import { conditions } from "./conditions.ts";
import { conditionLines, type RowResult, resultsText, writeResults } from "./results.ts";
import { type Bench, passes, type Row } from "./row.ts";
import { browser } from "./rows/browser.ts";
import { callers } from "./rows/callers.ts";
import { calls } from "./rows/calls.ts";
import { cards } from "./rows/cards.ts";
import { children } from "./rows/children.ts";
import { cli } from "./rows/cli.ts";
import { cycle } from "./rows/cycle.ts";
import { dag } from "./rows/dag.ts";
import { depth } from "./rows/depth.ts";
import { graph } from "./rows/graph.ts";
import { idle } from "./rows/idle.ts";
import { memory } from "./rows/memory.ts";
import { peer } from "./rows/peer.ts";
import { pgAdds } from "./rows/postgres/adds.ts";
import { pgBloat } from "./rows/postgres/bloat.ts";
import { pgDepth } from "./rows/postgres/depth.ts";
import { pgHosts } from "./rows/postgres/hosts.ts";
import { pgLives } from "./rows/postgres/lives.ts";
import { pgNoops } from "./rows/postgres/noops.ts";
import { pgStart } from "./rows/postgres/start.ts";
import { pgTakeover } from "./rows/postgres/takeover.ts";
import { processes } from "./rows/processes.ts";
import { rollups } from "./rows/rollups.ts";
import { shapes } from "./rows/shapes.ts";
import { slot } from "./rows/slot.ts";
import { spawn } from "./rows/spawn.ts";
import { start } from "./rows/start.ts";
import { worktree } from "./rows/worktree.ts";
import { notes, table } from "./table.ts";

const ROWS: readonly Row[] = [
	depth,
	cycle,
	callers,
	peer,
	dag,
	graph,
	memory,
	calls,
	processes,
	spawn,
	start,
	cli,
	slot,
	idle,
	shapes,
	rollups,
	children,
	worktree,
	cards,
	browser,
	pgNoops,
	pgAdds,
	pgStart,
	pgDepth,
	pgBloat,
	pgHosts,
	pgLives,
	pgTakeover,
];

async function main(): Promise<number> {
	const values = readArguments("bench", {
		row: { type: "string" },
		quick: { type: "boolean", default: false },
		rounds: { type: "string" },
		dir: { type: "string" },
		out: { type: "string" },
	});
	const only = values.row?.split(",");
	const unknown = only?.find((name) => !ROWS.some((row) => row.name === name));
	if (unknown !== undefined) {
		console.error(`no row "${unknown}"; there are: ${ROWS.map((row) => row.name).join(", ")}`);
		return 2;
	}
	const rows = ROWS.filter((row) => only === undefined || only.includes(row.name));
	exposeGarbageCollector();
	if (values.dir !== undefined) mkdirSync(values.dir, { recursive: true });
	const folder = mkdtempSync(join(values.dir ?? tmpdir(), "sluice-bench-"));
	process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
	for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
	const bench = makeBench(folder, values.quick, wholeNumber("bench", "rounds", values.rounds ?? (values.quick ? "2" : "5"), 1));

	const surroundings = conditions(folder, bench.rounds);
	for (const line of conditionLines(surroundings)) console.log(line);
	if (!surroundings.onDisk) {
		console.error(`${folder} is on ${surroundings.fileSystem}, where nothing is ever durable: give a folder on a disk with --dir`);
		return 2;
	}
	const results: RowResult[] = [];
	for (const row of rows) {
		console.log(`\n${row.name}: ${row.title}`);
		const start = performance.now();
		const measures = await row.run(bench);
		results.push({ row, measures, seconds: (performance.now() - start) / 1000 });
		bench.progress("");
		console.log(table(measures));
		for (const note of notes(measures)) console.log(`  ${note}`);
	}
	const out = values.out ?? (only === undefined && !values.quick ? "bench/latest.md" : undefined);
	if (out !== undefined) {
		writeResults(resolve(out), resultsText(surroundings, results));
		console.log(`\nwritten: ${out}`);
	}
	const failed = results.flatMap(({ measures }) => measures).filter((measure) => !passes(measure));
	console.log(
		`\n${failed.length === 0 ? "every bar is met" : `${failed.length} bars are not met: ${failed.map((measure) => measure.what).join("; ")}`}${values.quick ? " (quick: means little)" : ""}`,
	);
	return failed.length === 0 || values.quick ? 0 : 1;
}

function makeBench(folder: string, quick: boolean, rounds: number): Bench {
	let files = 0;
	return {
		rounds,
		quick,
		size: (full, small) => (quick ? small : full),
		freshFile: (name) => join(folder, `${++files}-${name.replaceAll(/[^a-z0-9]+/gi, "-")}.db`),
		progress: (line) => {
			if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K  ${line}`);
		},
	};
}

function exposeGarbageCollector(): void {
	setFlagsFromString("--expose-gc");
	(globalThis as { gc?: () => void }).gc ??= runInNewContext("gc") as () => void;
}

process.exitCode = await main();
