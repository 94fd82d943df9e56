// Watchers beside shims, with a lease that the test writes in place of a daemon, and no guard: what they end, when, and when they end themselves.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeLaunched } from "../../../test/make/daemons/launched.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { findProcesses, watchersOf } from "../../../test/make/processes.ts";
import { until } from "../../../test/make/until.ts";
import { LEASE_NOTE } from "../../core/fleet.ts";
import { held, startWatcher } from "./lease-watcher.ts";
import { findPrograms } from "./programs.ts";
import { prelude } from "./shim.ts";

/** Seconds. The watchers send SIGTERM 3 s and SIGKILL 1 s before the end, and read the lease at least once a margin. */
const MARGIN = 4;
/** Long enough for the watchers to read it before they have to act. */
const SHORT = MARGIN + 3;
const renew = (home: string, seconds: number): number => {
	const end = uptime() + seconds;
	writeFileSync(join(home, "lease.new"), `${JSON.stringify({ id: "x", until: end, margin: MARGIN })}\n`);
	renameSync(join(home, "lease.new"), join(home, "lease"));
	return end;
};
/** Watchers and what they have started: each leads a process group. */
const inGroups = (groups: number[]): number[] =>
	findProcesses((_words, pid) => {
		const [state, , group] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
		return state !== "Z" && groups.includes(Number(group));
	});
const shimOf = (start: string) => Number(start.split(" ")[1]);

/**
 * Shims with a long lease: a test shortens it once everything that it needs is there, however long that takes. Notes are where a home has the folders of runs;
 * the runs of these tests have theirs elsewhere.
 */
async function stand() {
	const home = makeFolder();
	renew(home, 600);
	const bed = await makeLaunched({ home, leased: true });
	const noteOf = (run: string) => join(home, "runs", run.replace(".", "/"), "lease");
	return {
		...bed,
		noteOf,
		isMarked: (run: string) => bed.processes.marked(bed.markOf(run)).size === 1,
		/** Resolves when the script has set its traps. */
		async start(run: string, script: string): Promise<void> {
			mkdirSync(join(noteOf(run), ".."), { recursive: true });
			await bed.launch(run, ["sh", "-c", script]);
			await until(() => bed.read(run, "stdout.log") === "0\n");
		},
	};
}
const COUNTS = "n=0; trap 'n=$((n + 1)); echo $n' TERM; echo 0; while [ $n -lt 1 ]; do sleep 0.05; done; sleep 0.4; exit 9";
const DEAF = "trap '' TERM; setsid sleep 600 & echo 0; while :; do sleep 0.05; done";

test("each run gets one SIGTERM and a note, however many watchers there are, and its shim records its end", async () => {
	const t = await stand();
	// More runs than the pool has shims.
	const runs = Array.from({ length: 18 }, (_, n) => `${n + 1}.1`);
	for (const run of runs) await t.start(run, COUNTS);
	await until(() => watchersOf(t.home).length === runs.length);
	const end = renew(t.home, SHORT);
	for (const run of runs) {
		expect(await t.end(run)).toMatchObject({ state: "exited", code: 9 });
		expect([run, t.read(run, "stdout.log"), readFileSync(t.noteOf(run), "utf8")]).toEqual([run, "0\n1\n", `${LEASE_NOTE}\n`]);
	}
	expect(uptime()).toBeLessThan(end);
}, 60_000);

test.each([
	["there is no lease", null, true],
	["the lease is long", 600, true],
	["the guard may be ending runs", MARGIN - 1, false],
	["the lease is over", -20, false],
])("a shim starts nothing once the lease may be over: %s", (_, seconds, starts) => {
	const home = makeFolder();
	if (seconds !== null) renew(home, seconds);
	const { status } = spawnSync("sh", ["-c", `${held(join(home, "lease"))}_held`]);
	expect(status === 0).toBe(starts);
});

test("a run that ignores SIGTERM is killed before the lease is over, with its child in another session", async () => {
	const t = await stand();
	await t.start("7.2", DEAF);
	const end = renew(t.home, SHORT);
	await until(() => !t.isMarked("7.2"));
	expect(uptime()).toBeLessThan(end);
	expect(await t.end("7.2")).toMatchObject({ state: "exited", signal: "SIGKILL" });
	expect(existsSync(t.noteOf("7.2"))).toBe(true);
}, 60_000);

test("a run that the guard has noted gets no second SIGTERM", async () => {
	const t = await stand();
	await t.start("7.1", COUNTS);
	writeFileSync(t.noteOf("7.1"), "");
	renew(t.home, SHORT);
	expect(await t.end("7.1")).toMatchObject({ state: "exited", signal: "SIGKILL" });
	expect(t.read("7.1", "stdout.log")).toBe("0\n");
}, 60_000);

test("nothing is ended while the lease is renewed; a lease that can no longer be read holds as long as it did", async () => {
	const t = await stand();
	await t.start("7.1", DEAF);
	const first = renew(t.home, SHORT);
	await until(() => renew(t.home, SHORT) > first + SHORT);
	expect([t.look("7.1").state, existsSync(t.noteOf("7.1"))]).toEqual(["alive", false]);
	const last = renew(t.home, 2 * MARGIN + 2);
	await until(() => uptime() > last - MARGIN - 1);
	writeFileSync(join(t.home, "lease"), '{"id":"x","until":');
	await until(() => uptime() > last - MARGIN);
	expect(t.look("7.1").state).toBe("alive");
	rmSync(join(t.home, "lease"));
	await t.end("7.1");
	expect(uptime()).toBeLessThan(last);
}, 60_000);

test("when its shim was killed, a watcher still ends the run, then itself", async () => {
	const t = await stand();
	await t.start("7.1", DEAF);
	const watchers = await until(() => (watchersOf(t.home).length === 1 ? watchersOf(t.home) : undefined));
	process.kill(shimOf(t.read("7.1", "start")), "SIGKILL");
	expect(t.isMarked("7.1")).toBe(true);
	const end = renew(t.home, SHORT);
	await until(() => !t.isMarked("7.1"));
	expect(uptime()).toBeLessThan(end);
	await until(() => inGroups(watchers).length === 0);
}, 60_000);

test("a watcher ends with its shim", async () => {
	const t = await stand();
	await t.launch("7.1", ["true"]);
	await t.end("7.1");
	const watchers = await until(() => (inGroups(watchersOf(t.home)).length === 2 ? watchersOf(t.home) : undefined));
	// Neither Sluice nor the home is named, so that `pkill -f sluice`, which ends daemon and guard, leaves it.
	expect(readFileSync(`/proc/${watchers[0]}/cmdline`, "utf8").split("\0").slice(1)).toEqual([
		"-c",
		'eval "$LEASE_WATCHER"',
		"lease-watcher",
		"",
	]);
	await t.processes.close();
	await until(() => inGroups(watchers).length === 0);
});

test("without setsid, and in bash, a watcher has a process group of its own and ends with its shim", async () => {
	const home = makeFolder();
	renew(home, 600);
	const programs = { ...findPrograms(), sh: "/bin/bash", setsid: null };
	const shim: ChildProcess = spawn("/bin/bash", ["--posix"], { env: {}, stdio: ["pipe", "ignore", "ignore"], detached: true });
	onTestFinished(() => void shim.kill("SIGKILL"));
	shim.stdin?.write(prelude(programs, { boot: "b", fifo: join(home, "exits"), self: "proc", nice: 0 }));
	shim.stdin?.write(startWatcher(programs, "proc", { file: join(home, "lease"), prefix: "none-" }));
	const [watcher = 0] = await until(() => (inGroups(watchersOf(home)).length === 2 ? watchersOf(home) : undefined));
	expect(readFileSync(`/proc/${shim.pid}/task/${shim.pid}/children`, "latin1")).toBe("");
	shim.stdin?.end();
	await until(() => inGroups([watcher]).length === 0);
});
