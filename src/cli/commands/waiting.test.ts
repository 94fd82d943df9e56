// Staying: wait for jobs, a batch, a lane, everything; what Ctrl-C leaves behind; what quiet leaves out.

import { describe, expect, test } from "vitest";
import { job, openCommandLine, QUEUED } from "../../../test/make/command-line.ts";

const waited = (id: number, status: string, exit_code: number | null = null) => ({ id, name: null, status, exit_code, exit_kind: null });

describe("wait", () => {
	test("for a batch asks for all of it, then for what is open, then whether more has come", async () => {
		let calls = 0;
		const line = await openCommandLine({
			"job.wait": () =>
				[
					{ done: false, jobs: [waited(1, "succeeded", 0), waited(2, "running")] },
					{ done: true, jobs: [waited(2, "succeeded", 0)] },
					// One was added meanwhile.
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

	test("for a lane or everything; nothing there is no failure", async () => {
		const line = await openCommandLine({ "job.wait": { done: true, jobs: [] } });
		expect(await line.run("wait --lane code")).toEqual({ code: 0, out: "", err: "nothing to wait for\n" });
		expect(await line.run("wait --all -q")).toEqual({ code: 0, out: "", err: "" });
		expect(line.asked.map(({ params }) => params)).toEqual([
			{ lane: "code", timeout_ms: 0 },
			{ all: true, timeout_ms: 0 },
		]);
	});

	test("is told what to wait for, in one way", async () => {
		const line = await openCommandLine({});
		expect(await line.run("wait")).toMatchObject({
			code: 2,
			err: expect.stringMatching(/^sluice: wait: which job\? Give a number or a name\n/),
		});
		for (const text of ["wait 1 --all", "wait --all --lane x", "wait --all --exit-code"]) expect((await line.run(text)).code).toBe(2);
		expect(line.asked).toEqual([]);
	});

	test("clears its line before it says what went wrong", async () => {
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
		expect((await line.run("wait 1 --no-color", { stderr, connect })).code).toBe(1);
		expect(err).toContain("0 of 1 ended");
		expect(err.slice(err.lastIndexOf("ended"))).toContain("\r\u001b[Ksluice: broken\n");
	});
});

describe("add", () => {
	test("that is left with Ctrl-C says that the job goes on", async () => {
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

	test("tells of a long queue, unless it is to be quiet; of what is wrong with the job in any case", async () => {
		const warning = "Queue delayed; respecting caps (default: 17, code: 3)";
		const line = await openCommandLine({ ...QUEUED, "job.add": { outcome: "queued", job: job(7), position: 17, warning } });
		expect((await line.run("add -- x")).err).toContain(`warning: ${warning}\n`);
		expect(await line.run("add -q -- x")).toEqual({ code: 0, out: "7\n", err: "" });
		const both = await openCommandLine({ ...QUEUED, "job.add": { outcome: "queued", job: job(7), warning: `${warning}; no such agent` } });
		expect(await both.run("add -q -- x")).toEqual({ code: 0, out: "7\n", err: "warning: no such agent\n" });
	});
});

test("a daemon that does not answer: the caller is told where to look, and goes on waiting", async () => {
	const { run, home } = await openCommandLine({ "scheduler.pause": {} });
	const early = (_ms: number, call: () => void) => {
		call();
		return () => {};
	};
	const { code, err } = await run("pause", { after: early });
	expect(code).toBe(0);
	expect(err).toContain(`sluice: the daemon has not answered for 5 s; it may be busy or stopped. ${home}/daemon.log says more`);
	expect((await run("pause")).err).not.toContain("has not answered");
});
