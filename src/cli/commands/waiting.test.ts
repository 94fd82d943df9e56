// Waiting for jobs, a batch, a lane, everything; what Ctrl-C leaves running; what --quiet leaves out.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { job, openCommandLine, QUEUED } from "../../../test/make/daemons/command-line.ts";

const waited = (id: number, status: string, exit_code: number | null = null) => ({ id, name: null, status, exit_code, exit_kind: null });

describe("wait", () => {
	test("for a batch requests all jobs, then the open ones, then checks for new ones", async () => {
		let calls = 0;
		const line = await openCommandLine({
			"job.wait": () =>
				[
					{ done: false, jobs: [waited(1, "succeeded", 0), waited(2, "running")] },
					{ done: true, jobs: [waited(2, "succeeded", 0)] },
					// A job was added meanwhile.
					{ done: false, jobs: [waited(1, "succeeded", 0), waited(2, "succeeded", 0), waited(3, "queued")] },
					{ done: true, jobs: [waited(3, "failed", 4)] },
					{ done: true, jobs: [waited(1, "succeeded", 0), waited(2, "succeeded", 0), waited(3, "failed", 4)] },
				][calls++] as Record<string, unknown>,
		});
		const result = await line.run("wait --batch night");
		expect(result.code).toBe(1);
		expect(result.err).toContain("job 3 failed, exit code 4");
		const asked = line.asked.map(({ params: { timeout_ms: _, ...rest } }) => rest);
		expect(asked).toEqual([{ batch: "night" }, { ids: [2] }, { batch: "night" }, { ids: [3] }, { batch: "night" }]);
	});

	test("for a lane or everything; an empty scope is no failure", async () => {
		const line = await openCommandLine({ "job.wait": { done: true, jobs: [] } });
		expect(await line.run("wait --lane code")).toEqual({ code: 0, out: "", err: "nothing to wait for\n" });
		expect(await line.run("wait --all -q")).toEqual({ code: 0, out: "", err: "" });
		expect(line.asked.map(({ params }) => params)).toEqual([
			{ lane: "code", timeout_ms: 0 },
			{ all: true, timeout_ms: 0 },
		]);
	});

	test("takes exactly one scope", async () => {
		const line = await openCommandLine({});
		expect(await line.run("wait")).toMatchObject({
			code: 2,
			err: expect.stringMatching(/^sluice: wait: which job\? Give a number or a name\n/),
		});
		for (const text of ["wait 1 --all", "wait --all --lane x", "wait --all --exit-code"]) expect((await line.run(text)).code).toBe(2);
		expect(line.asked).toEqual([]);
	});

	test("clears its line before it prints an error", async () => {
		let err = "";
		const line = await openCommandLine(undefined);
		const stderr = { isTTY: true, write: (text: string) => (err += text) };
		let calls = 0;
		const connect = async () => ({
			call: async () => {
				if (calls++ === 0) return { done: false, jobs: [waited(1, "running")] };
				throw Object.assign(new Error("broken"), { code: "internal" });
			},
			close() {},
			closed: new Promise<void>(() => {}),
		});
		expect((await line.run("wait 1 --no-color", { stderr, connect: connect as never })).code).toBe(1);
		expect(err).toContain("0 of 1 ended");
		expect(err.slice(err.lastIndexOf("ended"))).toContain("\r\u001b[Ksluice: broken\n");
	});
});

describe("add", () => {
	test("that is left with Ctrl-C says that the job continues", async () => {
		let asked = () => {};
		const isAsked = new Promise<void>((resolve) => {
			asked = resolve;
		});
		const line = await openCommandLine({
			...QUEUED,
			"job.wait": () => {
				asked();
				return { done: false, jobs: [{ ...job(7, { status: "running" }) }] };
			},
		});
		const onSignal = (call: (code: number) => void) => {
			void isAsked.then(() => call(130));
			return () => {};
		};
		expect(await line.run("add --wait -- x", { onSignal })).toMatchObject({
			code: 130,
			out: "7\n",
			err: expect.stringContaining("job 7 goes on; sluice cancel 7 stops it\n"),
		});
	});

	test("mentions a long queue unless --quiet; always warns of a problem with the job", async () => {
		const warning = "Queue delayed; respecting caps (default: 17, code: 3)";
		const line = await openCommandLine({ ...QUEUED, "job.add": { outcome: "queued", job: job(7), position: 17, warning } });
		expect((await line.run("add -- x")).err).toContain(`warning: ${warning}\n`);
		expect(await line.run("add -q -- x")).toEqual({ code: 0, out: "7\n", err: "" });
		const both = await openCommandLine({ ...QUEUED, "job.add": { outcome: "queued", job: job(7), warning: `${warning}; no such agent` } });
		expect(await both.run("add -q -- x")).toEqual({ code: 0, out: "7\n", err: "warning: no such agent\n" });
	});
});

describe("a daemon that does not answer", () => {
	/** Its timers ring at once, if they are for one of these times. */
	const early =
		(...times: number[]) =>
		(ms: number, call: () => void) => {
			if (times.includes(ms)) call();
			return () => {};
		};
	/** Connects, and never answers. */
	const connect = async () => ({ call: () => new Promise<never>(() => {}), close() {}, closed: new Promise<void>(() => {}) });

	test("the caller is told once where to look and what to type, and goes on waiting", async () => {
		const { run, home } = await openCommandLine({ "scheduler.pause": {} });
		writeFileSync(join(home, "daemon.json"), '{"pid": 4711, "version": "1", "port": null, "started_at": "x"}');
		const { code, err } = await run("pause", { after: early(5000) });
		expect(code).toBe(0);
		expect(err).toContain(
			`sluice: the daemon has not answered for 5 s; it may be busy or stopped. ${home}/daemon.log says more, and sluice doctor checks it\n` +
				"        to end it: kill -9 4711 (jobs that run go on), then sluice up --detach\n",
		);
		expect(err.split("has not answered")).toHaveLength(2);
		expect((await run("pause")).err).not.toContain("has not answered");
	});

	test("inside a run, or where the pid is not known, the notice does not say how to end the daemon", async () => {
		const { run, home } = await openCommandLine({ "scheduler.pause": {} });
		expect((await run("pause", { after: early(5000) })).err).not.toContain("kill");
		writeFileSync(join(home, "daemon.json"), '{"pid": 4711, "version": "1", "port": null, "started_at": "x"}');
		expect((await run("pause", { after: early(5000), insideOf: () => 1 })).err).not.toContain("kill");
	});

	test.each(["status", "list", "show 1", "lane list", "config get env", "version"])("%s gives up after a minute", async (typed) => {
		const { run } = await openCommandLine(undefined);
		expect(await run(typed, { connect, after: early(60_000) })).toEqual({
			code: 75,
			out: "",
			err: "sluice: the daemon has not answered for 60 s\n        it may be busy or stopped; try again later\n",
		});
	});

	test.each(["wait 1", "logs 1", "pause", "add -- true", "status --watch"])("%s does not give up", async (typed) => {
		const { run } = await openCommandLine(undefined);
		let asked = () => {};
		const isAsked = new Promise<void>((resolve) => {
			asked = resolve;
		});
		const call = () => {
			asked();
			return new Promise<never>(() => {});
		};
		const hanging = async () => ({ ...(await connect()), call });
		const timers: number[] = [];
		const after = (ms: number) => {
			timers.push(ms);
			return () => {};
		};
		void run(typed, { connect: hanging, after });
		await isAsked;
		expect(timers).not.toContain(60_000);
	});
});
