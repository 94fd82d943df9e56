// The supervisor with real processes: what programs get, how their ends are seen, that stopping reaches all of what they started and nothing else.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { SILENT } from "../../src/contracts/log.ts";
import type { Processes } from "../../src/contracts/processes.ts";
import { localDisk } from "../../src/host/disk.ts";
import { localHost, systemClock } from "../../src/host/local.ts";
import { openProcesses } from "../../src/host/processes/index.ts";
import { secret, tag } from "../../src/host/secret.ts";
import { type JobInput, type JobView, openScheduler, type Scheduler } from "../../src/index.ts";
import { createSupervisor, type Supervisor, type SupervisorSettings } from "../../src/supervisor/index.ts";
import { makeFolder } from "../make/folder.ts";
import { SETTINGS } from "../make/supervised.ts";
import { until } from "../make/until.ts";

type Home = { folder: string; homeTag: string; settings: SupervisorSettings };

class Life {
	constructor(
		readonly home: Home,
		readonly sluice: Scheduler,
		readonly processes: Processes,
		readonly supervisor: Supervisor,
	) {}

	async add(input: JobInput): Promise<number> {
		const result = await this.sluice.add({ cwd: this.home.folder, ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		return result.job.id;
	}

	/** A job of a shell script. */
	sh(script: string, more: JobInput = {}): Promise<number> {
		return this.add({ command: ["/bin/sh", "-c", script], ...more });
	}

	ended(job: number): Promise<JobView> {
		return until(async () => {
			const view = await this.sluice.show(job);
			return view.status !== "running" && view.status !== "queued" ? view : undefined;
		});
	}

	log(job: number, stream: "stdout" | "stderr" = "stdout"): string {
		return this.supervisor.logs(job, { stream })?.text ?? "";
	}

	pathOf(name: string): string {
		return join(this.home.folder, name);
	}

	/** The text of a file that a program writes in one go, with a newline at its end. */
	told(name: string): Promise<string> {
		return until(() => {
			const text = existsSync(this.pathOf(name)) ? readFileSync(this.pathOf(name), "utf8") : "";
			return text.endsWith("\n") ? text.trim() : undefined;
		});
	}

	/** Dies like a killed daemon, as far as a test can: nothing is said to anybody. */
	async die(): Promise<void> {
		await this.supervisor.drain({ graceMs: 0, runs: "leave" });
		await this.processes.close();
		await this.sluice.close();
	}
}

async function live(home: Home = makeHome()): Promise<Life> {
	const { folder, homeTag, settings } = home;
	const sluice = await openScheduler({ path: join(folder, "sluice.db"), join: { name: "here" }, config: { max_concurrent: 20 } });
	const processes = await openProcesses({ home: folder });
	const supervisor = createSupervisor({
		scheduler: sluice,
		processes,
		host: localHost,
		clock: systemClock,
		disk: localDisk,
		runs: join(folder, "runs"),
		homeTag,
		socket: join(folder, "sluice.sock"),
		home: folder,
		hostName: "here",
		secret,
		settings: () => settings,
		log: SILENT,
	});
	const life = new Life(home, sluice, processes, supervisor);
	onTestFinished(async () => {
		// Whatever a failed test left running.
		for (const [mark, pids] of processes.marked(`${homeTag}-`)) processes.signalAll(mark, pids, "SIGKILL");
		await life.die();
	});
	await supervisor.start();
	return life;
}

function makeHome(settings: Partial<SupervisorSettings> = {}): Home {
	const stop = { grace_int_ms: 100, grace_term_ms: 200 };
	return { folder: makeFolder(), homeTag: tag(), settings: { ...SETTINGS, env: { PATH: process.env.PATH ?? "" }, stop, ...settings } };
}

const isAlive = (pid: string | number): boolean => {
	try {
		return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false;
	}
};
/** T; or D: a shell between its vfork and its child's exec stands still with the child, and SIGSTOP waits for it. */
const isStopped = (pid: string | number) => /^\d+ \(.*\) [TD]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

describe("a program", () => {
	test("gets its arguments as they are, its own environment and nothing of ours", async () => {
		const on = await live();
		process.env.SLUICE_TEST_SECRET = "ours";
		onTestFinished(() => {
			delete process.env.SLUICE_TEST_SECRET;
		});
		const words = ["a b", "$(echo no)", "`no`", "'\"\\", "new\nline", "", "-n", "ü"];
		const job = await on.add({ command: ["/usr/bin/env", "printf", "[%s]", ...words] });
		const env = await on.add({ command: ["/usr/bin/env"], env: { ODD: "it's $x\n2" } });
		expect((await on.ended(job)).status).toBe("succeeded");
		expect(on.log(job)).toBe(words.map((word) => `[${word}]`).join(""));
		expect((await on.ended(env)).status).toBe("succeeded");
		const text = on.log(env);
		expect(text).toContain("ODD=it's $x\n2");
		for (const line of [`SLUICE_JOB_ID=${env}`, `SLUICE_RUN_ID=${env}.1`, "SLUICE_ATTEMPT=1", `SLUICE_HOME=${on.home.folder}`])
			expect(text).toContain(`${line}\n`);
		expect(text).toMatch(/SLUICE_TOKEN=.{20,}\n/);
		expect(text).not.toContain("ours");
	});

	test.each([
		["exit 0", { status: "succeeded", exit_code: 0 }],
		["echo so it goes >&2; exit 3", { status: "failed", exit_code: 3, exit_kind: "failed", last_failure: "so it goes" }],
		["kill -SEGV $$", { status: "failed", exit_kind: "crashed", exit_code: 139, last_failure: "killed by SIGSEGV" }],
		["kill -KILL $$", { status: "failed", exit_kind: "crashed", exit_code: 137 }],
	])("%s", async (script, end) => {
		const on = await live();
		expect(await on.ended(await on.sh(script))).toMatchObject(end);
	});

	test("that is not there, or has no folder to run in, is a failed launch", async () => {
		const on = await live();
		const jobs = [await on.add({ command: ["no-such-program-x"] }), await on.add({ command: ["true"], cwd: "/no/such/folder" })];
		const failed = (job: number) => until(async () => (await on.sluice.history(job)).find((event) => event.kind === "requeued"));
		for (const job of jobs) expect((await failed(job)).data.exit_kind).toBe("launch_failed");
	});

	test("many of them", async () => {
		const on = await live();
		const { jobs } = await on.sluice.apply({
			jobs: Array.from({ length: 60 }, (_, index) => ({ command: ["/bin/sh", "-c", `exit ${index % 2}`] })),
		});
		for (const job of jobs) await on.ended(job);
		const views = await on.sluice.list({ all: true, limit: 100 });
		expect(views.filter((view) => view.status === "succeeded").length).toBe(30);
		expect(views.every((view) => view.attempt === 1)).toBe(true);
		await until(() => on.supervisor.idle());
	});
});

describe("stopping", () => {
	test("reaches children in sessions of their own, and nobody else; locks are freed only then", async () => {
		const on = await live();
		const decoy: ChildProcess = spawn("/bin/sh", ["-c", "sleep 600"], {
			env: { SLUICE_MARK: `${on.home.homeTag}-1.11`, PATH: process.env.PATH },
		});
		onTestFinished(() => void decoy.kill("SIGKILL"));
		const job = await on.sh(
			`setsid sh -c 'trap "" TERM; echo $$ >child; while :; do sleep 0.05; done' &
			 trap "" TERM INT; echo $$ >parent; while :; do sleep 0.05; done`,
			{ locks: ["db"] },
		);
		const next = await on.sh("true", { locks: ["db"] });
		const [child, parent] = [await on.told("child"), await on.told("parent")];
		await on.sluice.cancel(job, { reason: "enough" });
		expect(await on.ended(job)).toMatchObject({ status: "cancelled", exit_code: 143, end_reason: "enough" });
		expect([isAlive(child), isAlive(parent)]).toEqual([false, false]);
		expect(isAlive(decoy.pid!)).toBe(true);
		expect((await on.ended(next)).status).toBe("succeeded");
	});

	test("an agent hears SIGINT first and may still say its last word", async () => {
		const on = await live(makeHome({ agents: { a: { command: ["/bin/sh", "-c", "{prompt}"] } } }));
		const job = await on.add({ agent: "a", prompt: `trap 'echo last word; exit 9' INT; echo $$ >here; while :; do sleep 0.05; done` });
		await on.told("here");
		await on.sluice.cancel(job);
		expect(await on.ended(job)).toMatchObject({ status: "cancelled", raw_exit_code: 9 });
		expect(on.log(job)).toBe("last word\n");
	});

	test("a timeout", async () => {
		const on = await live();
		const job = await on.sh("sleep 600", { timeout: 100 });
		expect(await on.ended(job)).toMatchObject({ status: "failed", exit_kind: "timeout" });
	});

	test("a drain that stops runs puts their jobs back", async () => {
		const on = await live();
		const job = await on.sh("echo $$ >here; sleep 600");
		const pid = await on.told("here");
		await on.supervisor.drain({ graceMs: 0, runs: "stop" });
		expect(isAlive(pid)).toBe(false);
		expect(await on.sluice.show(job)).toMatchObject({ status: "queued", exit_kind: "drained" });
	});

	test("what a program leaves behind is ended after it", async () => {
		const on = await live();
		const job = await on.sh("setsid sh -c 'echo $$ >here; exec sleep 600' & while ! [ -s here ]; do sleep 0.01; done");
		const pid = await on.told("here");
		expect((await on.ended(job)).status).toBe("succeeded");
		await until(() => !isAlive(pid));
	});

	test("freezing stops the clock of everything that a run has started", async () => {
		const on = await live();
		const job = await on.sh("setsid sh -c 'echo $$ >child; while :; do sleep 0.05; done' & echo $$ >parent; while :; do sleep 0.05; done");
		const pids = [await on.told("child"), await on.told("parent")];
		await on.supervisor.freeze({});
		await until(() => pids.every(isStopped));
		await on.supervisor.thaw({});
		await until(() => !pids.some(isStopped));
		await on.supervisor.freeze({});
		await on.sluice.cancel(job);
		expect((await on.ended(job)).status).toBe("cancelled");
		expect(pids.map(isAlive)).toEqual([false, false]);
	});
});

describe("another life of the daemon", () => {
	test("adopts what runs, reads what has ended, and carries on", async () => {
		const first = await live();
		const [long, short] = [
			await first.sh("echo $$ >here; while ! [ -e go ]; do sleep 0.02; done; echo done; exit 4"),
			await first.sh("while ! [ -e dead ]; do sleep 0.02; done; echo x >was; exit 0"),
		];
		const pid = await first.told("here");
		await until(() => first.supervisor.live().every((run) => run.pid !== null));
		await first.die();
		localDisk.write(first.pathOf("dead"), "");
		await first.told("was");
		const second = await live(first.home);
		expect((await second.ended(short)).status).toBe("succeeded");
		expect(isAlive(pid)).toBe(true);
		localDisk.write(second.pathOf("go"), "");
		expect(await second.ended(long)).toMatchObject({ status: "failed", exit_code: 4, attempt: 1 });
		expect(second.log(long)).toBe("done\n");
	});

	test("a run killed together with its shim is lost", async () => {
		const first = await live();
		const job = await first.sh("echo $$ >here; sleep 600", { retry: 0 });
		await first.told("here");
		const shim = Number(readFileSync(first.pathOf(`runs/${job}/1/start`), "utf8").split(" ")[1]);
		await first.die();
		process.kill(-shim, "SIGKILL");
		const second = await live(first.home);
		expect((await second.ended(job)).exit_kind).toBe("lost");
	});
});
