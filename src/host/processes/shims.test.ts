// The daemon, the launcher and the shims are killed: runs go on, and their ends are recorded.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeLaunched } from "../../../test/make/daemons/launched.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { until } from "../../../test/make/until.ts";
import { procTable } from "./proc.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const { startOf } = procTable();

/** A minimal daemon: launches the runs it is given, and waits to be killed. */
const DAEMON = `
import { mkdirSync } from "node:fs";
import { openProcesses } from "./index.ts";
const { home, tag, runs } = JSON.parse(process.argv[2]);
const processes = await openProcesses({ home });
for (const run of Object.keys(runs)) {
	mkdirSync(home + "/" + run, { recursive: true });
	await processes.launch({ run, dir: home + "/" + run, mark: tag + "-" + run, argv: runs[run], cwd: home, env: { PATH: "/usr/bin:/bin" } });
}
console.log("launched");
setInterval(() => {}, 1000);
`;

async function startDaemon(home: string, tag: string, runs: Record<string, string[]>): Promise<ChildProcess> {
	const outfile = join(makeFolder(), "daemon.mjs");
	buildSync({
		stdin: { contents: DAEMON, resolveDir: HERE, loader: "ts" },
		outfile,
		bundle: true,
		platform: "node",
		format: "esm",
		logLevel: "silent",
	});
	const daemon = spawn(process.execPath, [outfile, JSON.stringify({ home, tag, runs })], { stdio: ["ignore", "pipe", "inherit"] });
	onTestFinished(() => void daemon.kill("SIGKILL"));
	await new Promise((resolve, reject) => {
		daemon.stdout.once("data", resolve);
		daemon.once("exit", reject);
	});
	return daemon;
}

const kill = (child: ChildProcess) =>
	new Promise((resolve) => {
		child.once("exit", resolve);
		child.kill("SIGKILL");
	});

const shimOf = (start: string) => Number(start.split(" ")[1]);
const parentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ")[1]);
const childrenOf = (pid: number) =>
	readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number);

describe("the daemon is killed", () => {
	test("programs go on, their ends are recorded, and the next daemon is notified", async () => {
		const home = makeFolder();
		const tag = `out${process.pid}`;
		const gate = join(home, "gate");
		const waits = ["sh", "-c", `while [ ! -e '${gate}' ]; do sleep 0.01; done; echo done; exit 5`];
		// More runs than the pool has shims, so that the launcher starts some, too.
		const runs = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.1`, waits]));
		const daemon = await startDaemon(home, tag, { ...runs, "99.1": ["sh", "-c", "exit 7"] });
		const bed = await makeLaunched({ home, tag });
		await until(() => Object.keys(runs).every((run) => bed.look(run).state === "alive"));
		const before = Object.keys(runs).map((run) => bed.look(run));
		await kill(daemon);
		expect(Object.keys(runs).map((run) => bed.look(run))).toEqual(before);
		expect(await bed.end("99.1")).toMatchObject({ state: "exited", code: 7 });
		const shims = Object.keys(runs).map((run) => shimOf(bed.read(run, "start")));
		writeFileSync(gate, "");
		for (const run of Object.keys(runs)) {
			expect(await bed.end(run)).toMatchObject({ state: "exited", code: 5 });
			expect(bed.read(run, "stdout.log")).toBe("done\n");
		}
		await until(() => Object.keys(runs).every((run) => bed.exits.includes(run)));
		// All shims of the killed daemon are gone by then.
		await until(() => shims.every((pid) => startOf(pid) === null));
	});
});

describe("the launcher is killed", () => {
	test("its runs go on, and the next start has a new one", async () => {
		const bed = await makeLaunched();
		for (let i = 0; i < 16; i++) await bed.launch(`9.${i}`, ["sleep", "1000"]);
		await bed.launch("1.1", ["sleep", "1000"]);
		const all = ["1.1", ...Array.from({ length: 16 }, (_, i) => `9.${i}`)];
		await until(() => all.every((run) => bed.look(run).state === "alive"));
		const shims = Array.from({ length: 16 }, (_, i) => shimOf(bed.read(`9.${i}`, "start")));
		const launchers = () =>
			childrenOf(process.pid).filter((pid) => /\/sh\0$/.test(readFileSync(`/proc/${pid}/cmdline`, "latin1")) && !shims.includes(pid));
		expect(launchers()).toHaveLength(1);
		const [launcher] = launchers() as [number];
		process.kill(launcher, "SIGKILL");
		// Handed over while the launcher dies: the run must start all the same, and only once.
		await bed.launch("1.2", ["sh", "-c", "echo x; exec sleep 1000"]);
		await until(() => bed.look("1.2").state === "alive" && bed.read("1.2", "stdout.log") === "x\n");
		await until(() => launchers().length === 1 && launchers()[0] !== launcher);
		expect(bed.look("1.1").state).toBe("alive");
		for (let i = 0; i < 16; i++) expect(bed.look(`9.${i}`).state).toBe("alive");
	});
});

describe("a shim is killed", () => {
	test("its program goes on and is then seen as gone; other runs are not affected", async () => {
		const bed = await makeLaunched();
		const gate = join(bed.home, "gate");
		await bed.launch("1.1", ["sh", "-c", `while [ ! -e '${gate}' ]; do sleep 0.01; done`]);
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).size === 1);
		const before = bed.look("1.1");
		process.kill(shimOf(bed.read("1.1", "start")), "SIGKILL");
		await until(() => bed.exits.length > 0);
		expect(bed.look("1.1")).toEqual(before);
		await bed.launch("1.2", ["true"]);
		expect(await bed.end("1.2")).toMatchObject({ code: 0 });
		writeFileSync(gate, "");
		expect(await bed.end("1.1")).toEqual({ state: "gone", reboot: false });
	});

	test("its program can still be stopped, with what is below it", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sh", "-c", "sleep 1000 & wait"]);
		await until(() => bed.processes.sweep([bed.markOf("1.1")]).get(bed.markOf("1.1"))?.length === 2);
		process.kill(shimOf(bed.read("1.1", "start")), "SIGKILL");
		await until(() => bed.exits.length > 0);
		expect(bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGKILL")).toBe(true);
		expect(await bed.end("1.1")).toEqual({ state: "gone", reboot: false });
		expect(bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGKILL")).toBe(false);
	});

	test("SIGTERM to a shim has no effect: it stays for the end of its program", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["sleep", "1000"]);
		await until(() => bed.look("1.1").state === "alive");
		for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.kill(shimOf(bed.read("1.1", "start")), signal);
		bed.processes.signal("1.1", bed.dirOf("1.1"), "SIGKILL");
		expect(await bed.end("1.1")).toMatchObject({ state: "exited", signal: "SIGKILL" });
	});

	test("an idle shim is replaced, and a run that was written to it is handed over again", async () => {
		const bed = await makeLaunched();
		await bed.launch("1.1", ["true"]);
		await bed.end("1.1");
		const shim = shimOf(bed.read("1.1", "start"));
		process.kill(shim, "SIGSTOP");
		await bed.launch("1.2", ["true"]);
		expect(bed.look("1.2")).toEqual({ state: "unstarted" });
		process.kill(shim, "SIGKILL");
		expect(await bed.end("1.2")).toMatchObject({ state: "exited", code: 0 });
	});
});

test("closing leaves runs alone, and ends idle shims", async () => {
	const home = makeFolder();
	const first = await makeLaunched({ home, tag: `first${process.pid}` });
	await first.launch("1.1", ["sleep", "1000"]);
	await first.launch("1.2", ["true"]);
	await first.end("1.2");
	await until(() => first.look("1.1").state === "alive");
	await first.processes.close();
	expect(first.look("1.1").state).toBe("alive");
	await until(() => startOf(shimOf(first.read("1.2", "start"))) === null);
	const second = await makeLaunched({ home, tag: `first${process.pid}` });
	expect(second.look("1.1")).toEqual(first.look("1.1"));
	expect(parentOf(shimOf(first.read("1.1", "start")))).toBe(process.pid);
	expect(second.processes.signal("1.1", second.dirOf("1.1"), "SIGTERM")).toBe(true);
	expect(await second.end("1.1")).toMatchObject({ signal: "SIGTERM" });
	await until(() => second.exits.includes("1.1"));
});
