// Gets a checkout ready, then runs one thing: `node scripts/bootstrap.mjs start|test|test-agents|check|demo|sim|bench|chaos [args…]`. Needs Node and
// npm, nothing else; writes only inside the repository; says nothing when nothing is to be done.
//
//   install   node_modules is missing, or package-lock.json is not the one it was made from   → npm ci
//   build     a source is newer than the last good build                                     → tsc, bundle.mjs
//   run       vitest, the checks, or a built program; its exit code is ours

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAMS = {
	demo: "dist/scripts/demo.js",
	sim: "dist/sim/main.js",
	"sim-planted": "dist/sim/planted.js",
	"sim-night": "dist/sim/night/main.js",
	bench: "dist/bench/main.js",
	"bench-compare": "dist/bench/compare.js",
	chaos: "dist/chaos/main.js",
	"chaos-fleet": "dist/chaos/fleet/main.js",
	measure: "dist/scripts/measure.js",
};
/** The daemon and its page in the foreground, with the link to open. */
const START = ["bin/sluice.js", "up"];
const BUILT_FROM = ["src", "web", "sim", "bench", "chaos", "test", "scripts", "tsconfig.json", "package.json"];
/** Types of the page, formatting and lint, what no file uses, and what `npm publish` would send. */
const CHECKS = [
	["node_modules/typescript/bin/tsc", "-p", "web"],
	["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
	["node_modules/knip/bin/knip.js", "--treat-config-hints-as-errors"],
	["node_modules/publint/src/cli.js", "--strict", "--pack", "npm"],
];
/** Real agent programs, from npm into a cache; not part of `test`. */
const AGENT_TESTS = ["--config=test/agents/vitest.config.ts", "--reporter=default", "--reporter=./test/agents/table.ts"];
const INSTALL_STAMP = "node_modules/.sluice-install";
const BUILD_STAMP = "dist/.sluice-build";
const NEEDS_NODE = [20, 19];

const inRoot = (path) => join(ROOT, path);
const say = (line) => process.stderr.write(`${line}\n`);

function fail(...lines) {
	for (const line of lines) say(line);
	process.exit(1);
}

function checkNode() {
	const [major, minor] = process.versions.node.split(".").map(Number);
	if (major > NEEDS_NODE[0] || (major === NEEDS_NODE[0] && minor >= NEEDS_NODE[1])) return;
	fail(`Sluice needs Node ${NEEDS_NODE.join(".")} or newer; this is ${process.versions.node}. See https://nodejs.org/en/download`);
}

/** Runs to the end with its output held back. */
function runQuietly(command, args) {
	const result = spawnSync(command, args, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
	const how = result.error?.message ?? (result.signal ? `signal ${result.signal}` : `exit code ${result.status}`);
	return { ok: result.status === 0, how, line: [command, ...args].join(" "), output: `${result.stdout ?? ""}${result.stderr ?? ""}` };
}

function mustSucceed(result) {
	if (!result.ok) fail(...result.output.trimEnd().split("\n").slice(-40), `failed (${result.how}) in ${ROOT}: ${result.line}`);
}

function install() {
	const lock = readFileSync(inRoot("package-lock.json"), "utf8");
	// The platform counts: a node_modules carried to another machine has the wrong binaries.
	const stamp = createHash("sha256").update(`${process.platform} ${process.arch}\n${lock}`).digest("hex");
	const path = inRoot(INSTALL_STAMP);
	if (existsSync(path) && readFileSync(path, "utf8") === stamp) return;
	if (existsSync(path) || !isInstalled(lock)) {
		say("installing dependencies (npm ci) …");
		// Scripts stay off: no dependency needs one. Dev dependencies come even where NODE_ENV=production, log lines even under `npm --silent`.
		const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--include=dev", "--loglevel=warn"];
		mustSucceed(runQuietly("npm", ["ci", ...flags]));
		if (!isInstalled(lock)) fail("package.json and package-lock.json disagree: run `npm install` and look at what it changes");
	}
	writeFileSync(path, stamp);
}

/** npm's own record says what is in node_modules, whoever ran it. */
function isInstalled(lock) {
	const record = inRoot("node_modules/.package-lock.json");
	if (!existsSync(record)) return false;
	const there = JSON.parse(readFileSync(record, "utf8")).packages;
	return Object.entries(JSON.parse(lock).packages).every(
		([path, wanted]) => path === "" || there[path]?.version === wanted.version || (wanted.optional && !there[path]),
	);
}

function build() {
	const stamp = inRoot(BUILD_STAMP);
	const builtAt = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
	if (newest(BUILT_FROM.map(inRoot)) < builtAt) return;
	say("building (tsc) …");
	mkdirSync(dirname(stamp), { recursive: true });
	// The stamp carries the time of the build's beginning: what is edited meanwhile is newer.
	writeFileSync(`${stamp}.new`, "");
	mustSucceed(runQuietly(process.execPath, [inRoot("node_modules/typescript/bin/tsc"), "-p", inRoot("tsconfig.json")]));
	mustSucceed(runQuietly(process.execPath, [inRoot("scripts/bundle.mjs")]));
	renameSync(`${stamp}.new`, stamp);
}

/** Latest change of sources and folders; a folder changes when a file in it comes, goes or is renamed. */
function newest(paths) {
	let latest = 0;
	for (const path of paths) {
		const stat = statSync(path, { throwIfNoEntry: false });
		if (!stat) continue;
		latest = Math.max(latest, stat.mtimeMs);
		if (!stat.isDirectory()) continue;
		const below = readdirSync(path, { withFileTypes: true }).filter(
			(entry) => entry.isDirectory() || /\.(?:tsx?|css|html)$/.test(entry.name),
		);
		latest = Math.max(latest, newest(below.map((entry) => join(path, entry.name))));
	}
	return latest;
}

/** Runs a Node program in the foreground; resolves with its exit code. */
function runNode(args) {
	return new Promise((resolve) => {
		const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
		// Ctrl-C reaches the child from the terminal; the other two may have been sent to us alone.
		process.on("SIGINT", () => {});
		for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
		child.on("error", (error) => fail(`cannot start ${args[0]}: ${error.message}`));
		child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
	});
}

/** Every test, or those that the arguments name. The last line is `N passed, N failed`; before it stand the names of the tests that failed. */
async function test(args) {
	const { code, report } = await vitest(args);
	const { passed, failed, skipped } = count(report ?? { testResults: [] });
	if (!report) say("vitest left no report: it ended before any test did");
	else if (code !== 0 && failed.length === 0) say(`vitest ended with code ${code} though no test failed: see above`);
	for (const title of failed) say(`failed: ${title}`);
	console.log(`${passed} passed, ${failed.length} failed${skipped ? `, ${skipped} skipped` : ""}`);
	return code || (report ? 0 : 1);
}

async function vitest(args) {
	const file = inRoot(`dist/.sluice-tests-${process.pid}.json`);
	const reporters = args.some((arg) => arg.startsWith("--reporter")) ? [] : ["--reporter=default"];
	const program = inRoot("node_modules/vitest/vitest.mjs");
	const code = await runNode([program, "run", ...reporters, "--reporter=json", `--outputFile.json=${file}`, ...args]);
	const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
	rmSync(file, { force: true });
	return { code, report };
}

/** The seed with which a property failed, as fast-check tells it in its message. */
function seedOf({ failureMessages = [] }) {
	const [, seed] = /\{ (seed: -?\d+, path: "[\d:]*")/.exec(failureMessages.join("\n")) ?? [];
	return seed === undefined ? "" : ` (${seed})`;
}

/** How many tests passed and were skipped, and the titles of those that failed. A file that cannot be loaded has no tests: it counts as one that failed. */
function count({ testResults }) {
	const tests = testResults.flatMap((file) =>
		file.assertionResults.map((one) => ({ ...one, title: `${file.name}: ${one.fullName}${seedOf(one)}` })),
	);
	const of = (...wanted) => tests.filter(({ status }) => wanted.includes(status));
	const unloaded = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).map((file) => file.name);
	return {
		passed: of("passed").length,
		failed: [...of("failed").map(({ title }) => title), ...unloaded],
		skipped: of("pending", "skipped", "todo", "disabled").length,
	};
}

/** All checks, also after one that failed, so that one run names everything that is wrong. (The build has checked the types of all but the page.) */
async function check(args) {
	if (args.length > 0) fail(`check takes no arguments, got: ${args.join(" ")}`);
	const failed = [];
	for (const [program, ...rest] of CHECKS) {
		if ((await runNode([inRoot(program), ...rest])) !== 0) failed.push([program.replace(/^node_modules\//, ""), ...rest].join(" "));
	}
	for (const line of failed) say(`failed: ${line}`);
	return failed.length > 0 ? 1 : 0;
}

async function main([what, ...args]) {
	checkNode();
	if (!["start", "test", "test-agents", "check"].includes(what) && !Object.hasOwn(PROGRAMS, what ?? "")) {
		say(`usage: node scripts/bootstrap.mjs start|test|test-agents|check|${Object.keys(PROGRAMS).join("|")} [args…]`);
		return 2;
	}
	install();
	build();
	if (what === "start") return runNode([inRoot(START[0]), ...START.slice(1), ...args]);
	if (what === "test") return test(args);
	if (what === "check") return check(args);
	if (what === "test-agents") return test([...AGENT_TESTS, ...args]);
	if (!existsSync(inRoot(PROGRAMS[what]))) fail(`nothing to run: the build made no ${PROGRAMS[what]}`);
	return runNode([inRoot(PROGRAMS[what]), ...args]);
}

process.exitCode = await main(process.argv.slice(2));
