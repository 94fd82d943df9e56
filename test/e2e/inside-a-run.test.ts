// A program that a run has started is that run to the daemon, also where SLUICE_TOKEN is missing from its environment: by its process and those above it.

import { existsSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";

const SLUICE = [process.execPath, TestHome.command()];
const OVER = ["succeeded", "failed", "cancelled", "awaiting_human"];

async function open() {
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	/** What it printed, once it has ended. */
	const run = async (command: string[]) => {
		const added = await client.call("job.add", { command });
		const { id } = (added as { job: { id: number } }).job;
		const job = await until(async () => {
			const { job } = await client.call("job.show", { id });
			return OVER.includes(job.status) ? job : undefined;
		});
		const read = (stream: string) => readFileSync(join(home.path, "runs", String(id), "1", `${stream}.log`), "utf8");
		return { id, job, out: read("stdout"), err: read("stderr") };
	};
	const isPaused = async () => (await client.call("scheduler.status", {})).paused;
	return { home, client, run, isPaused };
}

/** The environment of a run without its token, as Codex hands it on; without anything but the way to the daemon; and the same as the run's own program. */
const WITHOUT_TOKEN: [string, (home: string, ...words: string[]) => string[]][] = [
	["env -u SLUICE_TOKEN", (_, ...words) => ["sh", "-c", '"$@"; exit $?', "sh", "env", "-u", "SLUICE_TOKEN", ...SLUICE, ...words]],
	["env -i, below a shell", (home, ...words) => ["sh", "-c", '"$@"; exit $?', "sh", "env", "-i", ...SLUICE, "--home", home, ...words]],
	["env -i, as the run's own program", (home, ...words) => ["env", "-i", ...SLUICE, "--home", home, ...words]],
	[
		"env -i, in a session of its own",
		(home, ...words) => ["sh", "-c", 'setsid -w "$@"; exit $?', "sh", "env", "-i", ...SLUICE, "--home", home, ...words],
	],
];

test.skipIf(!existsSync("/proc/self/stat"))(
	"inside a run without its token, reading and adding work; what only an operator may do is refused, with the run and what to do",
	{ timeout: 120_000 },
	async () => {
		const { home, client, run, isPaused } = await open();
		await Promise.all(
			WITHOUT_TOKEN.map(async ([how, command]) => {
				const { id, job, err } = await run(command(home.path, "pause"));
				expect([how, job.status]).toEqual([how, "failed"]);
				expect([how, err]).toEqual([
					how,
					expect.stringContaining(`sluice pause is not allowed inside a job: this program was started by run ${id}.1 of job ${id}`),
				]);
				for (const words of ["SLUICE_TOKEN is missing", "in a shell that no run has started"])
					expect([how, err]).toEqual([how, expect.stringContaining(words)]);
				expect([how, (await run(command(home.path, "status"))).job.status]).toEqual([how, "succeeded"]);
				const added = await run(command(home.path, "add", "-q", "--", "true"));
				const child = (await client.call("job.show", { id: Number(added.out) })).job;
				expect([how, child.parent]).toEqual([how, added.id]);
			}),
		);
		expect(await isPaused()).toBe(false);
	},
);

describe.skipIf(!existsSync("/proc/self/stat"))("inside a run", () => {
	test("without SLUICE_TOKEN a verdict counts", async () => {
		const { home, run } = await open();
		const command = WITHOUT_TOKEN[0]?.[1](home.path, "verdict", "fail", "it deletes all users") as string[];
		expect((await run(command)).job).toMatchObject({ status: "failed", end_reason: "it deletes all users" });
	});

	test.each(["hook", "git", "work", "99.1"])("the mark %s does not make it an operator, nor another run", async (mark) => {
		const { home, run, isPaused } = await open();
		const tag = readFileSync(join(home.path, "tag"), "utf8").trim();
		const marked = ["sh", "-c", '"$@"; exit $?', "sh", "env", "-u", "SLUICE_TOKEN", `SLUICE_MARK=${tag}-${mark}`, ...SLUICE, "pause"];
		const { id, err } = await run(marked);
		expect(err).toContain(`sluice pause is not allowed inside a job: this program was started by run ${id}.1 of job ${id}`);
		expect(await isPaused()).toBe(false);
	});

	test("with its token it is refused the same, in fewer words", async () => {
		const { run } = await open();
		const { err } = await run([...SLUICE, "pause"]);
		expect(err).toContain("sluice pause is not allowed inside a job");
		expect(err).not.toContain("SLUICE_TOKEN");
	});

	test("what an ended run has left behind may read, and no more; a hook is an operator", async () => {
		const { home, isPaused } = await open();
		// What carries the mark of a run that has just ended is stopped soon, and any stranger when a daemon starts: this one has started.
		const id = 99;
		await until(() => existsSync(join(home.path, "daemon.json")));
		const tag = readFileSync(join(home.path, "tag"), "utf8").trim();
		const left = { env: { SLUICE_MARK: `${tag}-${id}.1` } };
		expect(await home.run(["status"], left)).toMatchObject({ code: 0 });
		const refused = await home.run(["pause"], left);
		expect(refused.code).not.toBe(0);
		expect(refused.err).toContain(`sluice pause is not allowed here: this program was started by run ${id}.1, which is over`);
		expect(await isPaused()).toBe(false);
		expect(await home.run(["pause"], { env: { SLUICE_MARK: "another-1.1" } })).toMatchObject({ code: 0 });
		expect(await home.run(["resume"], { env: { SLUICE_MARK: `${tag}-work` } })).toMatchObject({ code: 0 });
	});
});

describe("outside of runs", () => {
	test("commands work as ever while runs are live", async () => {
		const { home, client, isPaused } = await open();
		await client.call("job.add", { command: ["sleep", "600"] });
		await until(async () => (await client.call("job.show", { id: 1 })).job.run?.pid);
		expect(await home.run(["pause"])).toMatchObject({ code: 0 });
		expect(await isPaused()).toBe(true);
		expect(await home.run(["cancel", "1"])).toMatchObject({ code: 0 });
	});

	test("a client that does not say its process works as ever; one that names another process, too; nonsense is refused", async () => {
		const { home, client } = await open();
		await client.call("job.add", { command: ["sleep", "600"] });
		const pid = await until(async () => (await client.call("job.show", { id: 1 })).job.run?.pid);
		const ask = (process?: unknown) =>
			new Promise<string>((resolve, reject) => {
				const socket = createConnection(home.socket).on("error", reject);
				let said = "";
				socket.on("data", (chunk) => {
					said += chunk;
					if (said.endsWith("\n")) resolve(said);
				});
				socket.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "scheduler.version", params: {}, process })}\n`);
			});
		expect(await ask()).toContain('"role":"admin"');
		// The pid of a run's program, as it may be in a container that numbers its processes by itself: the start time is another one.
		expect(await ask({ pid, start: "1" })).toContain('"role":"admin"');
		const start = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/.*\) /, "").split(" ")[19];
		expect(await ask({ pid, start })).toContain('"role":"run"');
		for (const wrong of [7, "x", null, {}, { pid: -1 }, { pid: 1.5 }, { pid, start: 7 }, []])
			expect(await ask(wrong)).toContain("process: must be");
		await home.run(["cancel", "1"]);
	});
});
