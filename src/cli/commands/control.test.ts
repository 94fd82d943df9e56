// Commands that control the scheduler and its daemon: what they send and print.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ago, openCommandLine, Refusal, STATUS } from "../../../test/make/daemons/command-line.ts";
import { SPEAKS } from "../../api/client.ts";
import { PROTOCOL } from "../../api/protocol.ts";

describe("controlling", () => {
	test("pause and resume", async () => {
		const line = await openCommandLine({ "scheduler.pause": { scope: "lane:code" }, "scheduler.resume": { scope: "all" } });
		expect((await line.run("pause --lane code --freeze --reason r --for 2h")).err).toBe("paused: lane code for 2h; what runs is frozen\n");
		expect(line.asked.at(-1)?.params).toEqual({ lane: "code", freeze: true, reason: "r", until: "2030-01-31T14:00:00.000Z" });
		expect((await line.run("resume")).err).toBe("resumed: everything\n");
		expect(line.asked.at(-1)?.params).toEqual({});
	});

	test("resume without a pause says so, and lists what is still paused", async () => {
		const line = await openCommandLine({
			"scheduler.resume": ({ lane }) => ({
				scope: "x",
				was_paused: lane === "x",
				still_paused: lane === "x" ? [] : ["lane:x", "repo:app"],
			}),
		});
		expect((await line.run("resume --lane x")).err).toBe("resumed: lane x\n");
		expect(await line.run("resume --lane y")).toMatchObject({ code: 0, err: "lane y was not paused; still paused: lane x, repo app\n" });
		expect((await line.run("resume")).err).toBe("the queue as a whole was not paused; still paused: lane x, repo app\n");
	});

	test("resume of an agent closes its breaker, or says that none is open", async () => {
		const line = await openCommandLine({ "scheduler.resume": ({ agent }) => ({ scope: "x", breaker_closed: agent === "claude" }) });
		expect((await line.run("resume --agent claude")).err).toBe("resumed: agent claude, and its breaker is closed\n");
		expect((await line.run("resume --agent codex")).err).toBe("nothing to resume: agent codex has no open breaker\n");
		expect((await line.run("resume --repo app")).err).toBe("resumed: repo app\n");
		expect((await line.run("resume --repo app --agent codex")).code).toBe(2);
	});

	test("clear asks for confirmation, and refuses without a terminal", async () => {
		const line = await openCommandLine({ "scheduler.clear": { cleared: [1, 2] }, "scheduler.status": STATUS });
		const says = (text: string) =>
			Object.assign(
				(async function* () {
					yield text;
				})(),
				{ isTTY: true },
			);
		expect(await line.run("clear")).toMatchObject({ code: 2, err: expect.stringContaining("sluice clear --yes") });
		expect(await line.run("clear", { stdin: says("n\n") })).toMatchObject({
			code: 1,
			err: expect.stringContaining("End all 12 jobs that do not run? [y/N] nothing was ended"),
		});
		expect(line.asked.some(({ method }) => method === "scheduler.clear")).toBe(false);
		expect(await line.run("clear", { stdin: says("y\n") })).toMatchObject({ code: 0, err: expect.stringContaining("ended: 2 jobs") });
		expect(await line.run("clear --yes --item A-1")).toEqual({ code: 0, out: "", err: "ended: 2 jobs\n" });
		expect(line.asked.at(-1)?.params).toEqual({ item: "A-1" });
		expect((await line.run("clear --item A-1")).err).toContain("if you are sure: sluice clear --item A-1 --yes");
	});

	test("run --dry-run", async () => {
		const line = await openCommandLine({
			"scheduler.run": { dispatch: [3, 4], skipped: [{ job: 5, reason: "lane code is full" }], reason: "capacity" },
		});
		expect((await line.run("run --dry-run")).out).toBe(
			"Would start: 3, 4\nBound: a cap is full\n\nSKIPPED  WHY\n      5  lane code is full\n",
		);
		expect(line.asked.at(-1)?.params).toEqual({ dry_run: true });
		// Jobs may still wait, for other jobs or for their time.
		const idle = await openCommandLine({ "scheduler.run": { dispatch: [], skipped: [], reason: "none" } });
		expect((await idle.run("run")).out).toBe("Started: nothing\nBound: nothing is ready\n");
	});

	test("config", async () => {
		const settings = [
			{ key: "max_concurrent", value: 4, origin: "default" },
			{ key: "timezone", value: "UTC", origin: "config.yml:3:1" },
		];
		const line = await openCommandLine({
			"config.get": ({ key }) => ({ settings: settings.filter((one) => one.key === key) }),
			"config.list": { settings },
			"config.set": { settings: settings.slice(0, 1) },
			"config.check": {
				ok: false,
				problems: [
					{ code: "unknown_key", message: "config.yml:3:1: lans: there is no such key", field: "lans", hint: 'did you mean "lanes"?' },
				],
			},
		});
		expect((await line.run("config get max_concurrent")).out).toBe("4\n");
		expect((await line.run("config list --origin")).out).toBe(
			"KEY             VALUE  FROM\nmax_concurrent  4      default\ntimezone        UTC    config.yml:3:1\n",
		);
		expect((await line.run("config list")).out).toBe("KEY             VALUE\nmax_concurrent  4\ntimezone        UTC\n");
		expect(await line.run("config set max_concurrent 4")).toEqual({ code: 0, out: "", err: "max_concurrent is 4\n" });
		expect(line.asked.at(-1)?.params).toEqual({ key: "max_concurrent", value: "4" });
		expect(await line.run("config check")).toEqual({
			code: 2,
			out: 'config.yml:3:1: lans: there is no such key\n  did you mean "lanes"?\n',
			err: "",
		});
	});

	test("doctor, also without a daemon", async () => {
		const checks = [
			{ name: "sqlite", ok: true, detail: "3.51.3" },
			{ name: "git", ok: false, detail: "not found", hint: "install git" },
			{ name: "agent x", ok: true, optional: true, detail: "not installed", hint: "only if you want it" },
		];
		const daemonModule = { doctor: async () => ({ schema_version: 1, ok: false, checks }) };
		const line = await openCommandLine(undefined);
		expect(await line.run("doctor", { daemon: async () => daemonModule as never })).toEqual({
			code: 1,
			out: "ok   sqlite   3.51.3\nBAD  git      not found\n              → install git\n–    agent x  not installed\n              → only if you want it\n",
			err: "",
		});
	});

	test("init writes a file once", async () => {
		const line = await openCommandLine(undefined);
		const home = join(line.home, "new");
		expect(await line.run(["init", "--preset", "loops", "--home", home])).toMatchObject({ code: 0, out: `${join(home, "config.yml")}\n` });
		const text = readFileSync(join(home, "config.yml"), "utf8");
		expect(text).toContain("\npreset: loops\n");
		expect(text).toContain("# max_concurrent: 50\n");
		expect(await line.run(["init", "--home", home])).toMatchObject({ code: 4, err: expect.stringContaining("is there already") });
		expect(await line.run(["init", "--home", join(home, "config.yml")])).toMatchObject({
			code: 1,
			err: expect.stringContaining("cannot write"),
		});
		expect(await line.run("init --preset loop")).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "loops"?') });
	});

	test("up and down", async () => {
		const started: unknown[] = [];
		const daemonModule = { start: async (options: unknown) => started.push(options), serve: async () => 0, install: async () => ["done"] };
		const line = await openCommandLine({ "scheduler.version": { version: "1.2.3", pid: 77, home: "/h", started_at: ago(1000) } });
		expect((await line.run("up --detach", { daemon: async () => daemonModule as never })).err).toBe("the daemon runs already, pid 77\n");
		expect(await line.run("up", { daemon: async () => daemonModule as never })).toEqual({
			code: 4,
			out: "",
			err: "sluice: the daemon runs already, pid 77\n        sluice status talks to it, sluice down stops it\n",
		});
		expect((await line.run("up --port 99999")).code).toBe(2);
		const none = await openCommandLine(undefined);
		expect(await none.run("down")).toEqual({ code: 0, out: "", err: "no daemon is running\n" });
		// A home that never had a daemon has no runs either.
		expect((await none.run("down --stop-runs")).err).toBe("no daemon is running, and no run is left\n");
		const down = async (running: number, options = "") => {
			const leaving = { call: async () => ({ schema_version: 1, stopping: true, running }), close() {}, closed: Promise.resolve() };
			return (await none.run(`down ${options}`, { connect: async () => leaving as never })).err;
		};
		expect(await down(0)).toBe("stopping …\nstopped\n");
		expect(await down(0, "--stop-runs")).toBe("stopping …\nstopped\n");
		expect(await down(2)).toBe("stopping …\nstopped; what runs goes on, and is found again by the next daemon\n");
		expect(await down(2, "--stop-runs")).toBe("stopping …\nstopped, and all that ran with it\n");
		expect((await none.run("up --install", { daemon: async () => daemonModule as never })).err).toBe("done\n");
		expect(started).toEqual([]);
	});

	test("up prints a link that signs in to a terminal only; elsewhere the address, and how to get a link", async () => {
		let codes = 0;
		const signInCode = () => `code-${++codes}`;
		const serving = { port: 7420, httpProblem: null, signInCode };
		const daemonModule = {
			start: async () => {},
			serve: async ({ ready }: { ready: (daemon: typeof serving) => void }) => {
				ready(serving);
				return 0;
			},
		};
		const asked: string[] = [];
		const started = {
			call: async (method: string) => {
				asked.push(method);
				return method === "session.code"
					? { code: signInCode() }
					: { version: "1.2.3", pid: 77, home: "/h", port: 7420, http_problem: null };
			},
			close() {},
			closed: new Promise<void>(() => {}),
		};
		const line = await openCommandLine(undefined);
		const up = async (words: string, isTTY: boolean) => {
			let err = "";
			await line.run(words, {
				daemon: async () => daemonModule as never,
				connect: async (_home, how) => (how === "if_running" ? undefined : (started as never)),
				stderr: { isTTY, write: (text) => (err += text) },
			});
			return err;
		};
		const address = "dashboard: http://127.0.0.1:7420/";
		expect(await up("up", true)).toBe(`${address}#code=code-1\n`);
		expect(await up("up --detach", true)).toBe(`the daemon runs, pid 77, home /h\n${address}#code=code-2\n`);
		expect(await up("up", false)).toBe(`${address} (sluice open prints a link that signs in)\n`);
		expect(await up("up --detach", false)).toBe(`the daemon runs, pid 77, home /h\n${address} (sluice open prints a link that signs in)\n`);
		await up("up --detach --json", true);
		expect([codes, asked.filter((method) => method === "session.code").length]).toEqual([2, 1]);
	});

	test("open prints a link with a code for the requested role; an older daemon is an error", async () => {
		const version = { version: "1.2.3", pid: 77, home: "/h", port: 7420, http_problem: null };
		const line = await openCommandLine({
			"scheduler.version": version,
			"session.code": ({ role }) => ({ code: `for-${role}`, role, expires_at: "2030-01-31T12:10:00.000Z" }),
		});
		expect(await line.run("open")).toEqual({
			code: 0,
			out: "http://127.0.0.1:7420/#code=for-admin\n",
			err: "this link signs in one page, without a password, within 10 minutes: keep it to yourself\n",
		});
		expect(JSON.parse((await line.run("open --viewer --json")).out)).toEqual({
			schema_version: 1,
			link: "http://127.0.0.1:7420/#code=for-viewer",
			role: "viewer",
			expires_at: "2030-01-31T12:10:00.000Z",
		});
		const refuse = () => {
			throw new Refusal("there is no method session.code", { code: "unknown_method" });
		};
		const old = await openCommandLine({ "scheduler.version": version, "session.code": refuse });
		expect(await old.run("open")).toMatchObject({
			code: 4,
			out: "",
			err: expect.stringContaining("the daemon is of an earlier version"),
		});
	});

	test("a daemon of another protocol refuses the command; only version and down work", async () => {
		const refuse = () => {
			throw new Refusal("the daemon is of version 9.0.0, and this command of another", { code: "conflict", hint: "sluice down" });
		};
		const version = { version: "9.0.0", protocol: 9, pid: 1, home: "/h", started_at: ago(0) };
		const line = await openCommandLine({ "job.list": refuse, "scheduler.version": version });
		expect(await line.run("list")).toEqual({
			code: 4,
			out: "",
			err: "sluice: the daemon is of version 9.0.0, and this command of another\n        sluice down\n",
		});
		expect((await line.run("version")).code).toBe(0);
		expect(SPEAKS).toBe(PROTOCOL);
	});

	test("version", async () => {
		const line = await openCommandLine({
			"scheduler.version": { version: "1.2.2", protocol: 1, pid: 77, home: "/h", started_at: ago(120_000) },
		});
		const { out, err } = await line.run("version");
		expect(out).toBe("sluice 1.2.3\ndaemon 1.2.2, pid 77, started 2m ago, home /h\n");
		expect(err).toContain("another version");
		expect((await line.run("--version")).out).toBe("1.2.3\n");
	});
});
