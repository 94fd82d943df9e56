// Plants bugs into a copy of the built engine, switches on one at a time and expects the simulator to find it:
// node dist/sim/planted.js [--seeds N] [--seed FIRST] [--only NAME]… [--parallel P]; --list prints the bugs; --check plants them all and runs none.

import { type ChildProcess, fork } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { readArguments, wholeNumber } from "../scripts/arguments.ts";
import { type Bug, placeOf } from "./planted/bug.ts";
import { BUGS } from "./planted/bugs.ts";
import type { Catch, Hunt } from "./planted/hunt.ts";
import { plant, readEngine } from "./planted/plant.ts";

const DIST = dirname(dirname(fileURLToPath(import.meta.url)));
const ROOT = dirname(DIST);

/** The double of the database is part of it: where it breaks a rule that the statements on PostgreSQL keep, the simulator has to notice, too. */
const engine = readEngine(DIST, ROOT, ["src", "sim/engine"]);

/** A copy of the build with these texts in it. */
function copyWith(texts: ReadonlyMap<string, string>): string {
	const folder = mkdtempSync(join(tmpdir(), "sluice-planted-"));
	for (const part of ["src", "sim", "scripts", "test/make"]) cpSync(join(DIST, part), join(folder, "dist", part), { recursive: true });
	cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	for (const [path, text] of texts) writeFileSync(join(folder, "dist", path), text);
	return folder;
}

/** A process dies with a bug that stops it; the next bug gets another one. */
function ask(hunter: ChildProcess, hunt: Hunt): Promise<Catch> {
	return new Promise((done) => {
		const died = (code: number | null) => done({ outcome: "broken", said: `the simulator ended with ${code}` });
		hunter.once("exit", died);
		hunter.once("message", (found: Catch) => {
			hunter.off("exit", died);
			done(found);
		});
		hunter.send(hunt);
	});
}

async function huntAll(bugs: readonly Bug[], { first, seeds, parallel }: Record<"first" | "seeds" | "parallel", number>): Promise<void> {
	const { texts, places, faults } = await plant(bugs, engine);
	for (const fault of faults) console.log(`BROKEN  ${fault}`);
	const folder = copyWith(texts);
	const counts = { caught: 0, missed: 0, broken: faults.length };
	const queue = [...places];
	const worker = async () => {
		let hunter: ChildProcess | undefined;
		for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
			const [bug, place] = next;
			if (hunter?.connected !== true) hunter = fork(join(folder, "dist/sim/planted/hunt.js"));
			const began = performance.now();
			const { outcome, said } = await ask(hunter, { bug, place, first, seeds });
			counts[outcome] += 1;
			const [word, seconds] = [outcome === "caught" ? outcome : outcome.toUpperCase(), (performance.now() - began) / 1000];
			console.log(`${word}  ${bug.padEnd(70)} ${seconds.toFixed(1).padStart(6)} s  ${said.slice(0, 160)}`);
		}
		hunter?.disconnect();
	};
	try {
		await Promise.all(Array.from({ length: parallel }, worker));
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	console.log(`planted: ${bugs.length} bugs, ${counts.caught} caught, ${counts.missed} missed, ${counts.broken} broken`);
	process.exitCode = counts.caught < bugs.length ? 1 : 0;
}

/** As another compiler would write it: other layout, other syntax, other local names. Names of a module's own functions stay, for `eval` could use them. */
const writtenAnew = (text: string) => transformSync(`${text}\neval("");`, { minify: true, target: "es2023", logLevel: "silent" }).code;

/** Whether each bug finds its function in the build, and in the build written anew. */
async function check(bugs: readonly Bug[]): Promise<void> {
	const { faults } = await plant(bugs, engine);
	for (const fault of (await plant(bugs, engine, writtenAnew)).faults) if (!faults.includes(fault)) faults.push(`written anew: ${fault}`);
	for (const fault of faults) console.log(fault);
	console.log(`planted: ${bugs.length} bugs, ${faults.length === 0 ? "each finds its function" : `${faults.length} faults`}`);
	process.exitCode = faults.length > 0 ? 1 : 0;
}

function list(bugs: readonly Bug[]): void {
	for (const rule of new Set(bugs.map((bug) => bug.rule))) {
		console.log(rule);
		for (const bug of bugs.filter((one) => one.rule === rule)) console.log(`  ${bug.name.padEnd(70)} ${placeOf(bug)}`);
	}
}

const values = readArguments("sim:planted", {
	seeds: { type: "string", default: "400" },
	seed: { type: "string", default: "1" },
	only: { type: "string", multiple: true, default: [] },
	parallel: { type: "string", default: "2" },
	list: { type: "boolean", default: false },
	check: { type: "boolean", default: false },
});
const whole = (name: "seed" | "seeds" | "parallel") => wholeNumber("sim:planted", name, values[name], 1);
const bugs = BUGS.filter(({ name }) => values.only.length === 0 || values.only.some((part) => name.includes(part)));
if (bugs.length === 0) {
	console.error(`sim:planted: no bug is called "${values.only.join('" or "')}"; --list names them`);
	process.exitCode = 2;
} else if (values.list) list(bugs);
else if (values.check) await check(bugs);
else await huntAll(bugs, { first: whole("seed"), seeds: whole("seeds"), parallel: whole("parallel") });
