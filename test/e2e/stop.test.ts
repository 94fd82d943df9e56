// Stopping for real: everything that a run has started goes, wherever it went; nothing else is touched; locks are freed only when the last one is gone.

import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

const GRACES = "stop: {grace_int: 100ms, grace_term: 300ms}\nmax_concurrent: 8\n";

/** Writes its pid, starts the next generation in a session of its own, and will not hear of SIGTERM. */
const STUBBORN = `#!/bin/sh
trap "" TERM INT HUP
echo $$ >"$1.new" && mv "$1.new" "$1"
if [ "$2" -gt 0 ]; then setsid "$0" "$1x" $(($2 - 1)) & fi
while :; do sleep 0.05; done
`;

const isAlive = (pid: number): boolean => {
	try {
		return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false;
	}
};
const pidIn = (path: string): Promise<number> => until(() => (existsSync(path) ? Number(readFileSync(path, "utf8")) : 0));

async function open(): Promise<{ home: TestHome; client: Client; program: string; path(name: string): string }> {
	const home = new TestHome();
	home.make(GRACES);
	const { client } = await home.up();
	const program = join(home.path, "stubborn");
	writeFileSync(program, STUBBORN, { mode: 0o755 });
	return { home, client, program, path: (name) => join(home.path, name) };
}

const add = async (client: Client, command: string[], more: Record<string, unknown> = {}): Promise<number> => {
	const { job } = (await client.call("job.add", { command, ...more })) as { job: { id: number } };
	return job.id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return ["succeeded", "failed", "cancelled"].includes(job.status) ? job : undefined;
	});

/** A process of the same user that only looks like a run's. */
function decoy(command: string[], env: Record<string, string>, cwd: string): ChildProcess {
	const [program = "", ...args] = command;
	const child = spawn(program, args, { env: { PATH: process.env.PATH ?? "", ...env }, cwd, stdio: "ignore", detached: true });
	onTestFinished(() => {
		try {
			process.kill(-(child.pid as number), "SIGKILL");
		} catch {
			// It has gone.
		}
	});
	return child;
}

describe("cancel", () => {
	test("of a run whose children called setsid: all gone, nothing else touched, locks freed only then", async () => {
		const { home, client, program, path } = await open();
		const tag = readFileSync(path("tag"), "utf8").trim();
		const job = await add(client, [program, path("pid"), "3"], { locks: ["db"], cwd: home.path });
		// Whoever gets the lock next looks for itself whether anybody of the run before is left.
		// (A zombie that nobody has buried yet is dead.)
		const look = `for f in pid pidx pidxx pidxxx; do case $(sed 's/.*) //' "/proc/$(cat $f)/stat" 2>/dev/null) in [RSDTt]*) echo "$f lives"; esac; done; echo looked`;
		const next = await add(client, ["/bin/sh", "-c", look], { locks: ["db"], cwd: home.path });
		const pids = await Promise.all(["pid", "pidx", "pidxx", "pidxxx"].map((name) => pidIn(path(name))));

		// The same program under the same name; marks that begin alike, end alike, or stand in another variable; a run of another home.
		copyFileSync(program, path("stubborn-2"));
		const decoys = [
			decoy([program, path("decoy-a"), "1"], {}, home.path),
			decoy([path("stubborn-2"), path("decoy-b"), "0"], { SLUICE_MARK: `${tag}-${job}.11` }, home.path),
			decoy([program, path("decoy-c"), "0"], { SLUICE_MARK: `${tag}-${job}1.1` }, home.path),
			decoy([program, path("decoy-d"), "0"], { SLUICE_MARK: `x${tag}-${job}.1` }, home.path),
			decoy([program, path("decoy-e"), "0"], { OTHER_SLUICE_MARK: `${tag}-${job}.1`, SLUICE_JOB_ID: String(job) }, home.path),
		];
		const decoyPids = await Promise.all(["a", "ax", "b", "c", "d", "e"].map((name) => pidIn(path(`decoy-${name}`))));
		onTestFinished(() => {
			for (const pid of decoyPids.filter(isAlive)) process.kill(pid, "SIGKILL");
		});
		expect(decoyPids.slice(0, 1)).toEqual([decoys[0]?.pid]);

		expect((await show(client, next)).status).toBe("waiting_on_locks");
		expect(await home.run(["cancel", String(job), "--reason", "enough"])).toMatchObject({ code: 0 });
		expect(await ended(client, job)).toMatchObject({ status: "cancelled", exit_kind: "cancelled", end_reason: "enough", attempt: 1 });
		expect(pids.filter(isAlive)).toEqual([]);
		expect((await ended(client, next)).status).toBe("succeeded");
		expect((await client.call("job.logs", { id: next })).text).toBe("looked\n");
		expect(decoyPids.filter((pid) => !isAlive(pid))).toEqual([]);
	});

	test("of a run whose child threw its environment away and left the session: it goes as well, before the lock does", async () => {
		const { home, client, program, path } = await open();
		const script = `trap "exit 0" TERM INT; env -i /bin/sh -c 'PATH=/usr/bin:/bin exec setsid "$0" "$1" 0' "${program}" "${path("pid")}" & while :; do sleep 0.05; done`;
		const job = await add(client, ["/bin/sh", "-c", script], { locks: ["db"], cwd: home.path });
		const pid = await pidIn(path("pid"));
		expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("SLUICE_MARK");
		const look = `case $(sed 's/.*) //' "/proc/$(cat pid)/stat" 2>/dev/null) in [RSDTt]*) echo lives; esac; echo looked`;
		const next = await add(client, ["/bin/sh", "-c", look], { locks: ["db"], cwd: home.path });
		await client.call("job.cancel", { id: job });
		expect((await ended(client, job)).status).toBe("cancelled");
		expect(isAlive(pid)).toBe(false);
		expect((await ended(client, next)).status).toBe("succeeded");
		expect((await client.call("job.logs", { id: next })).text).toBe("looked\n");
	});

	test("the lock stays with a run for as long as one of its processes lives, also over the daemon's death", async () => {
		const { home, client, program, path } = await open();
		const daemon = home.daemons[0] as ChildProcess;
		// The run's own program obeys at once; only its grandchild stays.
		const script = `trap "exit 0" TERM; setsid "${program}" pid 0 & while :; do sleep 0.05; done`;
		const job = await add(client, ["/bin/sh", "-c", script], { locks: ["db"], cwd: home.path });
		const pid = await pidIn(path("pid"));
		const next = await add(client, ["true"], { locks: ["db"], cwd: home.path });
		// The grace is long enough for the daemon to be killed within it.
		await client.call("config.set", { key: "stop.grace_term", value: "10m" });
		await client.call("job.cancel", { id: job });
		await until(() => existsSync(path(`runs/${job}/1/exit`)));
		expect([isAlive(pid), (await show(client, job)).status, (await show(client, next)).status]).toEqual([
			true,
			"running",
			"waiting_on_locks",
		]);
		await home.kill(daemon);
		const second = await home.up();
		expect([isAlive(pid), (await show(second.client, job)).status]).toEqual([true, "running"]);
		expect((await second.client.call("lock.list", {})).locks).toMatchObject([{ key: "db" }]);
		await second.client.call("config.set", { key: "stop.grace_term", value: "10ms" });
		process.kill(pid, "SIGKILL");
		expect((await ended(second.client, job)).status).toBe("cancelled");
		expect((await ended(second.client, next)).status).toBe("succeeded");
		expect((await second.client.call("lock.list", {})).locks).toEqual([]);
	});
});

test("an exit that a run wrote by itself does not free its lock: the next holder starts when the run is gone", async () => {
	const { home, client, path } = await open();
	const script = `printf '1 0\\n' >runs/1/1/exit; echo $$ >pid.new; mv pid.new pid; while ! [ -e go ]; do sleep 0.05; done; exit 3`;
	const job = await add(client, ["/bin/sh", "-c", script], { locks: ["db"], cwd: home.path, retry: 0 });
	const pid = await pidIn(path("pid"));
	const look = `case $(sed 's/.*) //' "/proc/$(cat pid)/stat" 2>/dev/null) in [RSDTt]*) echo lives; esac; echo looked`;
	const next = await add(client, ["/bin/sh", "-c", look], { locks: ["db"], cwd: home.path });
	// The next daemon reads the folders of all runs before it starts any job.
	await home.kill(home.daemons[0] as ChildProcess);
	const second = await home.up();
	const states = [isAlive(pid), (await show(second.client, job)).status, (await show(second.client, next)).status];
	expect(states).toEqual([true, "running", "waiting_on_locks"]);
	writeFileSync(path("go"), "");
	expect(await ended(second.client, job)).toMatchObject({ status: "failed", exit_code: 3 });
	expect((await ended(second.client, next)).status).toBe("succeeded");
	expect((await second.client.call("job.logs", { id: next })).text).toBe("looked\n");
});

test.each([
	["a timeout", { timeout: "2s" }, { status: "failed", exit_kind: "timeout" }],
	["silence", { stall_timeout: "2s" }, { status: "failed", exit_kind: "stalled" }],
])("%s stops the whole tree as well", async (_what, limits, end) => {
	const { home, client, program, path } = await open();
	const job = await add(client, [program, path("pid"), "1"], { cwd: home.path, retry: 0, ...limits });
	const pids = await Promise.all(["pid", "pidx"].map((name) => pidIn(path(name))));
	expect(await ended(client, job)).toMatchObject(end);
	expect(pids.filter(isAlive)).toEqual([]);
});

test("down --stop-runs leaves no process behind", async () => {
	const { home, client, program, path } = await open();
	const job = await add(client, [program, path("pid"), "2"], { cwd: home.path });
	const pids = await Promise.all(["pid", "pidx", "pidxx"].map((name) => pidIn(path(name))));
	await client.call("config.set", { key: "down_grace", value: "0s" });
	expect(await home.run(["down", "--stop-runs"])).toMatchObject({ code: 0 });
	expect([pids.filter(isAlive), home.leftovers()]).toEqual([[], []]);
	const second = await home.up();
	await until(async () => (await show(second.client, job)).status === "running");
	expect(await show(second.client, job)).toMatchObject({ attempt: 2 });
	await second.client.call("job.cancel", { id: job });
	expect((await ended(second.client, job)).status).toBe("cancelled");
});
