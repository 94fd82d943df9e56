// What must not break it, with a real daemon and real processes: reused pids, leftovers, half-written files, absence, reboots, full and read-only disks,
// clocks that jump. docs/operating.md states what becomes of each.

import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { mountSmallDisk } from "../make/daemons/mounted.ts";

const HOUR = 3_600_000;

const add = async (client: Client, home: TestHome, script: string, more: Record<string, unknown> = {}): Promise<number> => {
	const { job } = (await client.call("job.add", { command: ["/bin/sh", "-c", script], cwd: home.path, ...more })) as {
		job: { id: number };
	};
	return job.id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return ["succeeded", "failed", "cancelled"].includes(job.status) ? job : undefined;
	});
const isAlive = (pid: number): boolean => {
	try {
		return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false;
	}
};
const startTime = (pid: number) =>
	readFileSync(`/proc/${pid}/stat`, "utf8")
		.replace(/^.*\) /, "")
		.split(" ")[19] as string;
const OTHER_BOOT = "00000000-1111-2222-3333-444444444444";

/** The marker of a run, its shim and the shim's program. */
async function markerOf(home: TestHome, job: number): Promise<{ path: string; shim: number; program: number }> {
	const path = join(home.path, "runs", String(job), "1", "start");
	const shim = await until(() => Number((existsSync(path) ? readFileSync(path, "utf8") : "").split(" ")[1]) || undefined);
	const program = await until(() => Number.parseInt(readFileSync(`/proc/${shim}/task/${shim}/children`, "utf8"), 10) || undefined);
	return { path, shim, program };
}

/** A process of ours that is no run. */
function stranger(): number {
	const child = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
	onTestFinished(() => void child.kill("SIGKILL"));
	return child.pid as number;
}

/** A run that was there when its daemon was killed, and is now dead itself, shim and all. */
async function deadRun(more: Record<string, unknown> = {}) {
	const home = new TestHome();
	const first = await home.up();
	const job = await add(first.client, home, "[ -e again ] && exit 0; echo >begun; sleep 600", { retry: 0, locks: ["db"], ...more });
	const marker = await markerOf(home, job);
	await until(() => existsSync(join(home.path, "begun")));
	await home.kill(first.child);
	// All that it has started is in its shim's group.
	process.kill(-marker.shim, "SIGKILL");
	await until(() => !isAlive(marker.shim) && !isAlive(marker.program));
	return { home, job, marker };
}

/** Makes a daemon's wall clock wrong by what a file says, at any time. */
function wrongClock(home: TestHome): { env: Record<string, string>; by(ms: number): void } {
	const [file, patch] = [`${home.path}-clock`, `${home.path}-clock.cjs`];
	writeFileSync(file, "0");
	const read = `() => Number(require("node:fs").readFileSync(${JSON.stringify(file)}, "utf8"))`;
	writeFileSync(patch, `const real = Date.now; const off = ${read}; Date.now = () => real() + off();\n`);
	return { env: { NODE_OPTIONS: `--require=${patch}` }, by: (ms) => writeFileSync(file, String(ms)) };
}

describe("processes and files that are not what they seem", () => {
	test("a pid that somebody else has by now: the run is lost, the other is left alone", async () => {
		const { home, job, marker } = await deadRun();
		const other = stranger();
		writeFileSync(marker.path, readFileSync(marker.path, "utf8").replace(/^1 \d+/, `1 ${other}`));
		const { client } = await home.up();
		expect(await ended(client, job)).toMatchObject({ status: "failed", exit_kind: "lost", end_reason: "scheduler recovery" });
		expect(isAlive(other)).toBe(true);
		expect((await client.call("lock.list", {})).locks).toEqual([]);
	});

	test("a reboot: what ran burns no retry, and whoever has its pid and start time now is left alone", async () => {
		const { home, job, marker } = await deadRun();
		const pid = stranger();
		writeFileSync(marker.path, `1 ${pid} ${startTime(pid)} ${OTHER_BOOT}\n${pid} ${startTime(pid)}\n`);
		writeFileSync(join(home.path, "again"), "");
		const { client } = await home.up();
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", attempt: 2 });
		expect(isAlive(pid)).toBe(true);
		const { events } = await client.call("job.history", { id: job });
		expect(events.find(({ kind }) => kind === "requeued")?.data).toMatchObject({ exit_kind: "lost" });
	});

	test.each([
		["", "lost"],
		["1 ", "lost"],
		["1 0", "lost"],
		["1 0\n", "completed"],
		["1 3\n", "failed"],
	])("an exit line of %j is %s", async (line, kind) => {
		const { home, job, marker } = await deadRun();
		writeFileSync(marker.path.replace(/start$/, "exit"), line);
		const { client } = await home.up();
		expect((await ended(client, job)).exit_kind).toBe(kind);
	});

	test("a stale socket, a stale lock, a record that names a stranger: nothing is in the way, nobody is hurt", async () => {
		const home = new TestHome();
		const first = await home.up();
		await home.kill(first.child);
		expect(existsSync(home.socket)).toBe(true);
		const pid = stranger();
		const record = { pid, version: "0.0.1", port: 1, started_at: new Date().toISOString() };
		writeFileSync(join(home.path, "daemon.json"), JSON.stringify(record));
		appendFileSync(join(home.path, "lock.db"), "no database at all");
		expect(await home.run(["status"])).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/^No daemon is running\.\n/) });
		expect(await home.run(["down"])).toMatchObject({ code: 0 });
		expect(isAlive(pid)).toBe(true);
		const { client, child } = await home.up();
		expect((await client.call("scheduler.version", {})).pid).toBe(child.pid);
		expect(isAlive(pid)).toBe(true);
	});

	test("something else where the socket should be is left, and named", async () => {
		const home = new TestHome();
		home.make();
		writeFileSync(home.socket, "precious");
		const child = home.spawn();
		await home.gone(child);
		expect([child.exitCode, child.said().split("\n")[0]]).toEqual([1, `sluice: ${home.socket} is a file, and should be a socket`]);
		expect(readFileSync(home.socket, "utf8")).toBe("precious");
	});
});

describe("time", () => {
	test("a daemon that was away past a timeout stops the run when it is back", async () => {
		const home = new TestHome();
		const clock = wrongClock(home);
		const first = await home.up(clock.env);
		const job = await add(first.client, home, "sleep 600", { timeout: "1h", retry: 0 });
		const other = await add(first.client, home, "while [ ! -e go ]; do sleep 0.02; done", { timeout: "3h" });
		const marker = await markerOf(home, job);
		await markerOf(home, other);
		await home.kill(first.child);
		expect(isAlive(marker.program)).toBe(true);
		clock.by(2 * HOUR);
		const { client } = await home.up(clock.env);
		expect(await ended(client, job)).toMatchObject({ status: "failed", exit_kind: "timeout" });
		expect(isAlive(marker.program)).toBe(false);
		expect((await show(client, other)).status).toBe("running");
		writeFileSync(join(home.path, "go"), "");
		expect(await ended(client, other)).toMatchObject({ status: "succeeded", attempt: 1 });
	});

	test.each([24 * HOUR, -24 * HOUR])("a clock that jumps by %d ms: runs, locks and leases stay, delays follow it", async (jump) => {
		const home = new TestHome();
		home.make("poll_interval: 1s\n");
		const clock = wrongClock(home);
		const { client } = await home.up(clock.env);
		const job = await add(client, home, "while [ ! -e go ]; do sleep 0.02; done", { timeout: "1h", locks: ["db"] });
		const next = await add(client, home, "true", { locks: ["db"] });
		const later = await add(client, home, "true", { runnable_at: new Date(Date.now() + HOUR).toISOString() });
		const { job: payload } = (await client.call("job.add", { payload: 1 })) as { job: { id: number } };
		const { claimed } = await client.call("job.claim", { worker: "w" });
		await markerOf(home, job);
		clock.by(jump);
		await until(() => home.log().includes("the clock jumped"));
		if (jump > 0) expect((await ended(client, later)).status).toBe("succeeded");
		const after = await add(client, home, "true");
		expect((await ended(client, after)).status).toBe("succeeded");
		expect((await show(client, job)).status).toBe("running");
		expect((await show(client, next)).status).toBe("waiting_on_locks");
		if (jump < 0) expect((await show(client, later)).status).toBe("queued");
		const token = claimed[0]?.run.token as number;
		expect(await client.call("job.extend", { job: payload.id, token })).toMatchObject({ cancel_requested: false });
		writeFileSync(join(home.path, "go"), "");
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", attempt: 1 });
		expect((await ended(client, next)).status).toBe("succeeded");
	});
});

describe("the disk", () => {
	/** The home on a disk of its own. */
	function small(size: string) {
		const home = new TestHome();
		mkdirSync(home.path, { mode: 0o700 });
		return { home, disk: mountSmallDisk(home.path, size) };
	}

	test("full: new jobs are refused, what runs goes on, what was accepted is done once there is room", async ({ skip }) => {
		const { home, disk } = small("4m");
		if (!disk) return skip("only root may mount a disk of its own");
		const { client, child } = await home.up();
		// What the jobs themselves wait for is elsewhere.
		const go = `${home.path}-go`;
		onTestFinished(() => rmSync(go, { force: true }));
		const job = await add(client, home, `while [ ! -e ${go} ]; do sleep 0.02; done; exit 7`, { retry: 0 });
		const waiting = await add(client, home, "echo done", { after: [{ job, policy: "any" }] });
		const marker = await markerOf(home, job);
		disk.fill();
		await expect(add(client, home, "true")).rejects.toMatchObject({ code: "store", hint: expect.stringContaining("free some space") });
		expect(await home.run(["add", "--", "true"])).toMatchObject({ code: 1, out: "", err: expect.stringContaining("the disk is full") });
		expect((await client.call("job.list", {})).jobs).toHaveLength(2);
		// The run ends while there is no room for its exit code.
		writeFileSync(go, "");
		await until(() => !isAlive(marker.program));
		expect((await show(client, job)).status).toBe("running");
		disk.free();
		expect(await ended(client, job)).toMatchObject({ status: "failed", exit_kind: "failed", exit_code: 7, attempt: 1 });
		expect((await ended(client, waiting)).status).toBe("succeeded");
		expect([child.exitCode, (await client.call("job.list", { all: true })).jobs.length]).toEqual([null, 2]);
	});

	test("full when it starts: it says so, loses nothing, and starts when there is room", async ({ skip }) => {
		const { home, disk } = small("4m");
		if (!disk) return skip("only root may mount a disk of its own");
		const first = await home.up();
		const job = await add(first.client, home, "[ -e go ]", { runnable_at: new Date(Date.now() + HOUR).toISOString() });
		await home.kill(first.child);
		disk.fill();
		const second = home.spawn();
		await home.gone(second);
		expect([second.exitCode, second.said()]).toEqual([1, expect.stringMatching(/^sluice: .*full.*\n {8}.*\n$/)]);
		disk.free();
		const { client } = await home.up();
		expect((await show(client, job)).status).toBe("queued");
	});

	test("read-only when it starts: one clear message, exit code 1", async ({ skip }) => {
		const { home, disk } = small("4m");
		if (disk) disk.readOnly();
		else if (process.getuid?.() === 0) return skip("no disk can be mounted, and modes mean nothing to root");
		else {
			chmodSync(home.path, 0o500);
			onTestFinished(() => chmodSync(home.path, 0o700));
		}
		const child = home.spawn();
		await home.gone(child);
		const why = disk ? "is on a read-only file system" : "may not be written by this user";
		expect([child.exitCode, child.said()]).toEqual([
			1,
			expect.stringMatching(new RegExp(`^sluice: the home ${home.path} ${why}\n {8}set SLUICE_HOME.*\n$`)),
		]);
	});
});
