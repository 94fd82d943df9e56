// Drain, freeze, logs, tokens and retention.

import { existsSync, utimesSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DAY, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { supervise } from "../../test/make/supervised.ts";

describe("drain", () => {
	test("starts nothing new, and leaves live runs to their shims", async () => {
		const on = await supervise({ config: { max_concurrent: 1 } });
		const job = await on.add();
		const drained = on.supervisor.drain({ graceMs: 10 * SECOND, runs: "leave" });
		const later = await on.add();
		await on.pass(11 * SECOND);
		await drained;
		expect(on.processes.machine.signals).toEqual([]);
		expect([(await on.show(job)).status, (await on.show(later)).status]).toEqual(["running", "queued"]);
		on.processes.exit("1.1", 0);
		await on.settle();
		expect((await on.show(job)).status).toBe("running");
		const again = await on.crash();
		expect((await again.show(job)).status).toBe("succeeded");
	});

	test("is over as soon as nothing runs", async () => {
		const on = await supervise();
		const job = await on.add();
		const drained = on.supervisor.drain({ graceMs: DAY, runs: "leave" });
		on.processes.exit("1.1", 0);
		await on.pass(SECOND);
		await drained;
		expect((await on.show(job)).status).toBe("succeeded");
	});

	test("stops runs as drained, which costs no retry", async () => {
		const on = await supervise();
		const job = await on.add({ retry: 0 });
		const drained = on.supervisor.drain({ graceMs: 0, runs: "stop" });
		await on.pass(SECOND);
		await drained;
		expect(on.processes.machine.signals).toEqual(["1.1 SIGTERM"]);
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "drained" });
		expect((await on.show(job)).failures).toBeUndefined();
	});
});

describe("freeze", () => {
	test("stops the whole process tree and the time limits of matching runs; thaw lets them go on", async () => {
		const on = await supervise({ config: { lanes: { a: {}, b: {} } } });
		const job = await on.add({ lane: "a", timeout: "1m" });
		await on.add({ lane: "b" });
		const child = on.processes.child("home-1.1");
		await on.supervisor.freeze({ lane: "a" });
		expect(on.processes.machine.shims.get("home-1.1")?.stopped).toBe(true);
		expect(child.stopped).toBe(true);
		expect(on.processes.machine.shims.get("home-2.1")?.stopped).toBe(false);
		await on.pass(5 * MINUTE);
		expect((await on.show(job)).status).toBe("running");
		await on.supervisor.thaw({});
		expect([on.processes.machine.shims.get("home-1.1")?.stopped, child.stopped]).toEqual([false, false]);
		expect(existsSync(on.path("1.1", "frozen"))).toBe(false);
		await on.pass(50 * SECOND);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(11 * SECOND);
		expect((await on.show(job)).exit_kind).toBe("timeout");
	});

	const stoppedOf = (on: Awaited<ReturnType<typeof supervise>>, run = "1.1") => on.processes.machine.shims.get(`home-${run}`)?.stopped;

	test("of one job, by a person: the whole process tree and the time limits; another run goes on", async () => {
		const on = await supervise();
		const [job, other] = [await on.add({ timeout: "1m" }), await on.add()];
		const child = on.processes.child("home-1.1");
		await on.sluice.freeze([job], { by: "ann", reason: "the machine is needed" });
		await on.settle();
		expect([stoppedOf(on), child.stopped, stoppedOf(on, "2.1")]).toEqual([true, true, false]);
		expect((await on.show(job)).run?.frozen).toMatchObject({ by: "ann", reason: "the machine is needed" });
		await on.pass(5 * MINUTE);
		expect((await on.show(job)).status).toBe("running");
		await on.sluice.thaw([job]);
		await on.settle();
		expect([stoppedOf(on), child.stopped]).toEqual([false, false]);
		await on.pass(50 * SECOND);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(11 * SECOND);
		expect((await on.show(job)).exit_kind).toBe("timeout");
		expect((await on.show(other)).status).toBe("running");
	});

	test("a pause and a person: it goes on when neither wants it frozen", async () => {
		const on = await supervise();
		const job = await on.add();
		await on.sluice.freeze([job]);
		await on.supervisor.freeze({});
		await on.supervisor.thaw({});
		expect(stoppedOf(on)).toBe(true);
		await on.supervisor.freeze({});
		await on.sluice.thaw([job]);
		await on.settle();
		expect(stoppedOf(on)).toBe(true);
		await on.supervisor.thaw({});
		expect(stoppedOf(on)).toBe(false);
	});

	test("stays over a restart, in which its time does not count; what was said meanwhile counts", async () => {
		const on = await supervise();
		const [kept, thawed, late] = [await on.add({ timeout: "1m" }), await on.add(), await on.add()];
		await on.sluice.freeze([kept, thawed]);
		await on.pass(5 * MINUTE);
		const again = await on.crash({ start: "later" });
		await again.sluice.thaw([thawed]);
		await again.sluice.freeze([late]);
		await again.supervisor.start();
		await again.pass(5 * MINUTE);
		expect(["1.1", "2.1", "3.1"].map((run) => stoppedOf(again, run))).toEqual([true, false, true]);
		expect((await again.show(kept)).status).toBe("running");
		await again.sluice.thaw([kept]);
		await again.pass(50 * SECOND);
		expect((await again.show(kept)).status).toBe("running");
		await again.pass(20 * SECOND);
		expect((await again.show(kept)).exit_kind).toBe("timeout");
	});

	test("an event that is lost is made up for by the next comparison", async () => {
		let deaf = false;
		const on = await supervise({
			scheduler: (real) => ({ ...real, watch: (call) => real.watch((commit) => (deaf ? undefined : call(commit))) }),
		});
		const job = await on.add();
		deaf = true;
		await on.sluice.freeze([job]);
		await on.settle();
		expect(stoppedOf(on)).toBe(false);
		await on.pass(16 * SECOND);
		expect(stoppedOf(on)).toBe(true);
		await on.sluice.thaw([job]);
		await on.pass(16 * SECOND);
		expect(stoppedOf(on)).toBe(false);
	});

	test("a frozen run can be cancelled", async () => {
		const on = await supervise();
		const job = await on.add();
		await on.sluice.freeze([job]);
		await on.settle();
		await on.sluice.cancel(job);
		await expect(on.sluice.freeze([job])).rejects.toMatchObject({ message: expect.stringContaining("is being stopped") });
		await on.pass(SECOND);
		expect(await on.show(job)).toMatchObject({ status: "cancelled" });
	});

	test("signal: to the program of a live run of this host", async () => {
		const on = await supervise();
		const job = await on.add();
		expect(on.supervisor.signal(job, "USR1")).toBe(true);
		expect(JSON.stringify(on.processes.machine.signals)).toContain("SIGUSR1");
		expect(on.supervisor.signal(99, "USR1")).toBe(false);
	});

	test("also holds a run that starts just after it", async () => {
		const on = await supervise();
		on.processes.prompt = false;
		await on.add();
		await on.supervisor.freeze({});
		on.processes.start("1.1");
		await on.pass(50);
		expect(on.processes.machine.shims.get("home-1.1")?.stopped).toBe(true);
	});
});

describe("logs", () => {
	test("are read by attempt, stream and offset, while it runs and afterwards", async () => {
		const on = await supervise();
		await on.add();
		expect(on.supervisor.logs(1)).toEqual({
			run: "1.1",
			stream: "both",
			offset: 0,
			next_offset: 0,
			text: "",
			parts: [],
			eof: true,
			ended: false,
			output: "command",
		});
		on.processes.log("1.1", "stdout", "grün");
		expect(on.supervisor.logs(1, { limit: 4 })).toMatchObject({ text: "grü", next_offset: 4, eof: false });
		expect(on.supervisor.logs(1, { offset: 4 })).toMatchObject({ text: "n", next_offset: 5, eof: true });
		expect(on.supervisor.logs(1, { offset: 2, limit: 4 })).toMatchObject({ text: "ün", next_offset: 5 });
		expect(on.supervisor.logs(1, { offset: -1 })).toMatchObject({ offset: 4, text: "n" });
		expect(on.supervisor.logs(1, { offset: 99 })).toMatchObject({ offset: 5, text: "", eof: true });
		on.processes.log("1.1", "stderr", "x\n");
		on.processes.exit("1.1", 1);
		await on.settle();
		expect(on.supervisor.logs(1, { attempt: 1, stream: "stderr" })).toMatchObject({ text: "x\n", eof: true, ended: true });
		const both = on.supervisor.logs(1, { attempt: 1 });
		expect(both).toMatchObject({ stream: "both", text: "grünx\n", next_offset: 7, eof: true, ended: true });
		expect(both?.parts).toEqual([
			{ stream: "stdout", length: 4 },
			{ stream: "stderr", length: 2 },
		]);
		expect(on.supervisor.logs(1, { stream: "stdout", tail: 1 })).toMatchObject({ stream: "stdout", text: "grün" });
	});

	test("of a run that does not exist are null", async () => {
		const on = await supervise();
		await on.add();
		expect([on.supervisor.logs(2), on.supervisor.logs(1, { attempt: 2 })]).toEqual([null, null]);
	});

	test("an incomplete character is held back until its rest arrives; when the run has ended it is shown as it is", async () => {
		const on = await supervise();
		await on.add();
		on.processes.log("1.1", "stdout", "ab");
		const { appendFileSync } = await import("node:fs");
		appendFileSync(on.path("1.1", "stdout.log"), Buffer.from([0xe2, 0x82]));
		expect(on.supervisor.logs(1)).toMatchObject({ text: "ab", next_offset: 2, eof: false });
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(on.supervisor.logs(1)).toMatchObject({ next_offset: 4, eof: true, ended: true });
	});
});

test("a token is valid while its run is live, and no other text is a token", async () => {
	const on = await supervise();
	const job = await on.add();
	const token = on.processes.machine.launched[0]!.env.SLUICE_TOKEN!;
	expect(on.supervisor.roleOfToken(token)).toEqual({ job, run: "1.1", token: expect.any(Number) });
	expect([on.supervisor.roleOfToken(""), on.supervisor.roleOfToken("undefined")]).toEqual([null, null]);
	on.processes.exit("1.1", 0);
	await on.settle();
	expect(on.supervisor.roleOfToken(token)).toBeNull();
});

test("only the folders of jobs that ended long ago are removed", async () => {
	const on = await supervise();
	const [old, running, fresh] = [await on.add(), await on.add(), await on.add()];
	on.processes.exit(`${old}.1`, 0);
	await on.settle();
	on.clock.pass(31 * DAY);
	on.processes.exit(`${fresh}.1`, 0);
	await on.settle();
	const long = (on.clock.now() - 31 * DAY) / 1000;
	for (const job of [old, running]) utimesSync(on.path(`${job}`, ""), long, long);
	const now = on.clock.now() / 1000;
	utimesSync(on.path(`${fresh}`, ""), now, now);
	expect(await on.supervisor.dropOldFolders()).toBe(1);
	expect([old, running, fresh].map((job) => existsSync(on.path(`${job}`, "")))).toEqual([false, true, true]);
});
