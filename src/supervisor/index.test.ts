// The life of runs under a supervisor, on a fake machine: starting, ending, failing.

import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { type Supervised, supervise } from "../../test/make/supervised.ts";
import { SluiceError } from "../core/errors.ts";
import { localDisk } from "../host/disk.ts";

const mode = (path: string) => statSync(path).mode & 0o777;

describe("a run", () => {
	test("is claimed, gets its folder, is launched, ends, and its outcome is on disk before its job has ended", async () => {
		const on = await supervise();
		const job = await on.add({ command: ["make", "test"], cwd: "/tmp", env: { COLOUR: "blue", SLUICE_JOB_ID: "999" }, payload: { a: 1 } });
		const launch = on.processes.machine.launched[0]!;
		expect(launch).toMatchObject({
			run: "1.1",
			mark: "home-1.1",
			argv: ["make", "test"],
			cwd: "/tmp",
			dir: on.path("1.1", "").replace(/\/$/, ""),
		});
		expect(launch.env).toEqual({
			PATH: `${on.folder}/bin:/bin`,
			COLOUR: "blue",
			SLUICE_JOB_ID: "1",
			SLUICE_RUN_ID: "1.1",
			SLUICE_ATTEMPT: "1",
			SLUICE_STARTED_BY: "daemon",
			SLUICE_SOCKET: `${on.folder}/sluice.sock`,
			SLUICE_HOME: on.folder,
			SLUICE_TOKEN: expect.any(String),
			SLUICE_PAYLOAD: on.path("1.1", "payload.json"),
		});
		expect(on.file("1.1", "run.json")).toMatchObject({ version: 1, run: "1.1", argv: ["make", "test"], cwd: "/tmp", mark: "home-1.1" });
		expect(on.file("1.1", "run.json")?.env_names).toContain("COLOUR");
		expect(JSON.stringify(on.file("1.1", "run.json"))).not.toContain("blue");
		expect(on.file("1.1", "payload.json")).toEqual({ a: 1 });
		expect([mode(on.path("1.1", "")), mode(on.path("1.1", "run.json"))]).toEqual([0o700, 0o600]);
		expect(on.supervisor.live()).toEqual([
			{ run: "1.1", job, pid: expect.any(Number), since: on.clock.now(), frozen: false, attached: null, progress: null },
		]);
		await on.pass(SECOND);
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "succeeded", exit_code: 0, exit_kind: "completed" });
		expect(on.file("1.1", "outcome.json")).toMatchObject({ version: 1, exit_kind: "completed", exit_code: 0, signal: null, message: null });
		expect(on.steps.filter((step) => step.startsWith("1.1"))).toEqual(
			["claimed", "folder-made", "launched", "started", "exit-seen", "outcome-written", "completed"].map((step) => `1.1 ${step}`),
		);
		expect(on.supervisor.idle()).toBe(true);
	});

	test.each([
		[3, "warn: x\n\u001b[31merror: no such thing\u001b[0m\n\n", { exit_kind: "failed", exit_code: 3, message: "error: no such thing" }],
		[1, "", { exit_kind: "failed", exit_code: 1, message: "exit code 1" }],
		[139, "core dumped\n", { exit_kind: "crashed", exit_code: 139, signal: "SIGSEGV", message: "killed by SIGSEGV: core dumped" }],
		[1, `${"ä".repeat(5000)}\n`, { exit_kind: "failed", exit_code: 1, message: `${"ä".repeat(299)}…` }],
	])("with exit code %i and its last words", async (code, words, outcome) => {
		const on = await supervise();
		const job = await on.add();
		on.processes.log("1.1", "stderr", words);
		on.processes.exit("1.1", code);
		await on.settle();
		expect(on.file("1.1", "outcome.json")).toMatchObject(outcome);
		expect(await on.show(job)).toMatchObject({
			status: "failed",
			exit_code: code,
			exit_kind: outcome.exit_kind,
			last_failure: outcome.message,
		});
	});

	test("whose program is missing is a failed launch, which is retried and then given up", async () => {
		const on = await supervise();
		const job = await on.add();
		for (const run of ["1.1", "1.2", "1.3"]) {
			on.processes.exit(run, 127, "nosuch: not found");
			await on.pass(HOUR);
		}
		expect(await on.show(job)).toMatchObject({ status: "failed", exit_kind: "launch_failed", end_reason: "circuit-broken" });
		expect(on.file("1.3", "outcome.json")).toMatchObject({ exit_kind: "launch_failed", message: "nosuch: not found" });
	});

	test("that ended or vanished is found without a notification", async () => {
		const on = await supervise();
		on.processes.reportsExits = false;
		const [done, lost] = [await on.add(), await on.add()];
		on.processes.exit("1.1", 0);
		on.processes.vanish("2.1");
		await on.pass(6 * SECOND);
		expect((await on.show(done)).status).toBe("succeeded");
		expect(await on.show(lost)).toMatchObject({ status: "failed", exit_kind: "lost", end_reason: "scheduler recovery" });
	});

	test("is reported as launched if it lasts, not if it is short", async () => {
		const on = await supervise();
		await on.add();
		await on.add();
		on.processes.exit("1.1", 0);
		await on.pass(SECOND);
		const kinds = async (job: number) => (await on.sluice.history(job)).map((event) => event.kind);
		expect(await kinds(1)).toEqual(["added", "started", "ended"]);
		expect(await kinds(2)).toEqual(["added", "started", "launched"]);
	});

	test("that the launcher lost is handed over again, as the same attempt with the same token", async () => {
		const on = await supervise();
		on.processes.prompt = false;
		const job = await on.add();
		on.processes.machine.pending.clear();
		await on.pass(30 * SECOND);
		expect(on.processes.machine.launched.length).toBeGreaterThan(1);
		const tokens = new Set(on.processes.machine.launched.map((one) => one.env.SLUICE_TOKEN));
		expect(tokens.size).toBe(1);
		on.processes.start("1.1");
		on.processes.exit("1.1", 0);
		await on.pass(SECOND);
		expect(await on.show(job)).toMatchObject({ status: "succeeded", attempt: 1 });
	});

	test("is not claimed while the host's lease may be over, and at once when it is renewed", async () => {
		let holds = false;
		const on = await supervise({ mayLaunch: () => holds });
		const job = await on.add();
		await on.pass(5 * SECOND);
		expect((await on.show(job)).status).toBe("queued");
		holds = true;
		await on.pass(SECOND);
		expect(on.processes.machine.launched.map(({ run }) => run)).toEqual([`${job}.1`]);
	});

	test("is not started if the host's lease may have ended since the claim: only later, if it is still assigned to this host", async () => {
		let holds = true;
		const on = await supervise({ mayLaunch: () => holds, config: { max_concurrent: 2 } });
		const { claimStanding } = on.sluice;
		on.sluice.claimStanding = async (wanted) => {
			const claimed = await claimStanding(wanted);
			holds = claimed.length === 0;
			return claimed;
		};
		const [kept, taken] = (await Promise.all([on.add(), on.add()])) as [number, number];
		expect([on.processes.machine.launched, on.said]).toEqual([[], [1, 2].map(() => expect.stringContaining("the lease of this host"))]);
		const [, second] = await on.sluice.assigned("here");
		await on.sluice.complete({ job: taken, token: second?.run.token as number, exit_kind: "lost" });
		on.sluice.claimStanding = claimStanding;
		holds = true;
		await on.pass(30 * SECOND);
		expect(on.processes.machine.launched.map(({ run }) => run)).toEqual([`${kept}.1`]);
	});

	test("that never starts is given up as a failed launch, and can never start afterwards", async () => {
		const on = await supervise();
		on.processes.prompt = false;
		const job = await on.add();
		await on.pass(2 * MINUTE);
		const ends = (await on.sluice.history(job)).filter((event) => event.kind === "requeued");
		expect(ends[0]?.data).toMatchObject({
			attempt: 1,
			exit_kind: "launch_failed",
			message: "it could not be handed to the launcher: nothing came of it",
		});
		expect(on.processes.machine.launched.filter((launch) => launch.run === "1.1").length).toBe(3);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "launch_failed" });
	});

	test("does not use a folder that was there before it: that folder is moved away", async () => {
		const on = await supervise();
		localDisk.makeFolder(on.path("1.1", ""));
		localDisk.write(on.path("1.1", "start"), "1 4711\n");
		localDisk.write(on.path("1.1", "exit"), "1 0\n");
		const job = await on.add();
		await on.pass(MINUTE);
		expect((await on.show(job)).status).toBe("running");
		on.processes.exit("1.1", 3);
		await on.settle();
		expect((await on.show(job)).exit_code).toBe(3);
		expect(localDisk.list(on.path("1", "")).sort()).toEqual(["1", expect.stringMatching(/^1\.before-\d+$/)]);
	});

	test("ends in the same transaction in which the next run starts", async () => {
		const on = await supervise({ config: { max_concurrent: 1 } });
		await on.add();
		await on.add();
		on.processes.exit("1.1", 0);
		await on.settle();
		const at = async (job: number, kind: string) => (await on.sluice.history(job)).find((event) => event.kind === kind)!.seq;
		expect(await at(2, "started")).toBe((await at(1, "ended")) + 1);
		expect(on.supervisor.live().map((one) => one.run)).toEqual(["2.1"]);
	});
});

describe("an agent", () => {
	const agents = { echo: { command: ["/bin/echo", "--", "{prompt}"] }, reader: { command: ["/bin/cat"] } };

	test("gets its prompt as an argument, or on standard input", async () => {
		const on = await supervise({ settings: { agents } });
		await on.add({ agent: "echo", prompt: "say $& 'hi'" });
		await on.add({ agent: "reader", prompt: "read this" });
		const long = await on.add({ agent: "echo", prompt: "x".repeat(200_000) });
		const [first, second] = on.processes.machine.launched;
		expect([first!.argv, first!.stdin]).toEqual([["/bin/echo", "--", "say $& 'hi'"], undefined]);
		expect([second!.argv, second!.stdin]).toEqual([["/bin/cat"], on.path("2.1", "prompt.md")]);
		expect(readFileSync(second!.stdin!, "utf8")).toBe("read this");
		expect((await on.show(long)).last_failure).toContain("take {prompt} out of agents.echo.command");
	});

	test("without a known command fails to launch, and the message says what to set", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "mine", prompt: "x" });
		expect((await on.show(job)).last_failure).toBe('nothing says how to start the agent "mine": set agents.mine.command');
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "launch_failed" });
		expect(on.supervisor.idle()).toBe(true);
	});
});

describe("a launch that fails", () => {
	const breakers = async (on: Supervised) => (await on.sluice.status()).holds.filter(({ kind }) => kind === "breaker_open");
	/** Three jobs of one repo that cannot be started. */
	async function failing(why: string, missing?: "program" | "folder"): Promise<Supervised> {
		const on = await supervise({ config: { repos: { app: {} }, max_concurrent: 10 } });
		for (let n = 1; n <= 3; n++) {
			await on.add({ command: ["nosuchprog"], repo: "app" });
			on.processes.exit(`${n}.1`, 127, why, missing);
			await on.pass(SECOND);
		}
		return on;
	}

	test("because its program or folder is missing is the job's own fault: no other job is held back", async () => {
		for (const missing of ["program", "folder"] as const) {
			const on = await failing("no such program in PATH: nosuchprog", missing);
			expect(await breakers(on)).toEqual([]);
			expect((await on.show(3)).dispatch_failures).toBe(1);
			const good = await on.add({ repo: "app" });
			expect((await on.show(good)).status).toBe("running");
		}
	});

	test("for another reason opens the repo's breaker", async () => {
		const on = await failing("cannot write the logs");
		expect(await breakers(on)).toMatchObject([{ scope: "repo:app" }]);
		expect((await on.show(3)).dispatch_failures ?? 0).toBe(0);
	});

	test("because the agent is unknown, or an argument too long, is the job's own fault", async () => {
		const on = await supervise({ config: { repos: { app: {} }, max_concurrent: 10 } });
		for (let n = 1; n <= 4; n++) await on.add({ agent: "mine", prompt: "x", repo: "app" });
		expect(await breakers(on)).toEqual([]);
		expect((await on.show(4)).dispatch_failures).toBe(1);
	});
});

describe("a cycle by hand", () => {
	test("starts its jobs and returns which; the runs' environment says what started them", async () => {
		const on = await supervise({ config: { max_concurrent: 5, cycle_interval: "3m", batch_size: 2 } });
		const jobs = [await on.add(), await on.add(), await on.add()];
		expect(on.processes.machine.launched).toEqual([]);
		expect(await on.supervisor.runCycle()).toMatchObject({ dispatch: jobs.slice(0, 2), reason: "batch" });
		expect(on.processes.machine.launched.map(({ run, env }) => [run, env.SLUICE_STARTED_BY])).toEqual([
			["1.1", "run"],
			["2.1", "run"],
		]);
		await on.pass(3 * 60 * SECOND);
		expect(on.processes.machine.launched.at(-1)?.env).toMatchObject({ SLUICE_JOB_ID: "3", SLUICE_STARTED_BY: "daemon" });
	});

	test("is refused while this host may start nothing", async () => {
		const on = await supervise({ mayLaunch: () => false });
		await expect(on.supervisor.runCycle()).rejects.toMatchObject({ code: "conflict" });
	});
});

test("a claim that does not come back is abandoned after five minutes, loudly, and the next one starts what waits", async () => {
	const on = await supervise();
	const { claimStanding } = on.sluice;
	let hangs = true;
	on.sluice.claimStanding = (wanted) => (hangs ? new Promise(() => {}) : claimStanding(wanted));
	const job = await on.add();
	expect((await on.show(job)).status).toBe("queued");
	hangs = false;
	await on.pass(5 * 60 * SECOND);
	expect(on.said.join("\n")).toContain("a pass took longer than 5 minutes");
	expect((await on.show(job)).status).toBe("running");
});

describe("trouble", () => {
	const refusal = (code: string) => Object.assign(new Error(`${code}: the disk says no`), { code });

	test("a disk that refuses the run's folder is a failed launch", async () => {
		const on = await supervise({
			disk: {
				makeFolder() {
					throw refusal("ENOSPC");
				},
			},
		});
		const job = await on.add();
		expect(await on.show(job)).toMatchObject({
			status: "queued",
			exit_kind: "launch_failed",
			last_failure: "the run's folder could not be made: ENOSPC: the disk says no",
		});
		expect(on.processes.machine.launched).toEqual([]);
	});

	test("a disk that refuses outcome.json does not hold up the end", async () => {
		const on = await supervise({
			disk: {
				replace(path, text) {
					if (path.endsWith("outcome.json")) throw refusal("EROFS");
					localDisk.replace(path, text);
				},
			},
		});
		const job = await on.add();
		on.processes.exit("1.1", 0);
		await on.settle();
		expect((await on.show(job)).status).toBe("succeeded");
		expect(on.said).toEqual(["outcome.json could not be written"]);
	});

	test("an unavailable launcher is a failed launch, and the attempt can never start afterwards", async () => {
		const on = await supervise();
		on.processes.refuses = new Error("no launcher");
		const job = await on.add();
		expect(await on.show(job)).toMatchObject({
			exit_kind: "launch_failed",
			last_failure: "it could not be handed to the launcher: no launcher",
		});
		expect(existsSync(on.path("1.1", "start"))).toBe(true);
	});

	test("an end that the store refuses is retried until it is recorded", async () => {
		let refusals = 4;
		const on = await supervise({
			scheduler: (real) => ({
				...real,
				complete: async (ending) => {
					if (refusals-- > 0) throw new SluiceError("store", "database is full");
					return real.complete(ending);
				},
			}),
		});
		const job = await on.add();
		on.processes.exit("1.1", 0);
		await on.settle();
		expect((await on.show(job)).status).toBe("running");
		await on.pass(10 * SECOND);
		expect((await on.show(job)).status).toBe("succeeded");
		expect(on.supervisor.idle()).toBe(true);
	});

	test("a claim that the store refuses is retried", async () => {
		let refusals = 2;
		const on = await supervise({
			scheduler: (real) => ({
				...real,
				claimStanding: async (options) => {
					if (refusals-- > 0) throw new SluiceError("store", "database is locked");
					return real.claim(options);
				},
			}),
		});
		const job = await on.add();
		await on.pass(5 * SECOND);
		expect((await on.show(job)).status).toBe("running");
	});
});
