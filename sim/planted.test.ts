// The planted bugs as a test: each can be planted into the built engine, and the simulator finds a few of them.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { BUGS } from "./planted/bugs.ts";

const PROGRAM = fileURLToPath(new URL("../dist/sim/planted.js", import.meta.url));
const run = (...args: string[]) => spawnSync(process.execPath, [PROGRAM, ...args], { encoding: "utf8" });

it("each bug finds its function in the build, and in the build as another compiler writes it", { timeout: 120_000 }, () => {
	const { stdout, stderr, status } = run("--check");
	expect(stdout + stderr).toBe(`planted: ${BUGS.length} bugs, each finds its function\n`);
	expect(status).toBe(0);
});

it("no two bugs have the same name", () => {
	expect(BUGS.length).toBe(new Set(BUGS.map(({ name }) => name)).size);
});

// One of each kind: a function that is wrong everywhere, one within another, a method, one that only a fleet meets.
const SAMPLE = [
	"one retry too many",
	"a slot of a lane is not given back",
	"an ended job still counts as waiting",
	"a lost host burns a retry",
];

it("the simulator finds one bug of each kind", { timeout: 300_000 }, () => {
	const { stdout, status } = run("--seeds", "60", ...SAMPLE.flatMap((name) => ["--only", name]));
	expect(SAMPLE.filter((name) => !stdout.includes(`caught  ${name} `))).toEqual([]);
	expect(stdout).toMatch(/\nplanted: 4 bugs, 4 caught, 0 missed, 0 broken\n$/);
	expect(status).toBe(0);
});

it("--only with a name that no bug has is refused", () => {
	const { stderr, status } = run("--only", "no such bug");
	expect([stderr, status]).toEqual(['sim:planted: no bug is called "no such bug"; --list names them\n', 2]);
});
