// Stopping runs, and what they leave behind.

import { describe, expect, test } from "vitest";
import { MINUTE, SECOND } from "../../test/make/fakes.ts";
import { supervise } from "../../test/make/supervised.ts";

describe("a stop", () => {
	test("climbs: SIGTERM, SIGKILL; ends only when everything with the mark is gone, and then frees the locks", async () => {
		const on = await supervise();
		on.processes.prompt = false;
		const job = await on.add({ locks: ["db"] });
		const next = await on.add({ locks: ["db"] });
		on.processes.start("1.1", ["SIGTERM"]);
		const child = on.processes.child("home-1.1", ["SIGTERM"]);
		const other = on.processes.child("home-11.1");
		await on.settle();
		await on.sluice.cancel(job, { reason: "enough", by: "ann" });
		await on.settle();
		expect(on.processes.machine.signals).toEqual(["1.1 SIGTERM"]);
		await on.pass(9 * SECOND);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGTERM"]);
		await on.pass(2 * SECOND);
		expect(on.processes.machine.signals).toEqual([
			"1.1 SIGTERM",
			"1.1 SIGKILL",
			`home-1.1/${child.pid} SIGTERM`,
			`home-1.1/${child.pid} SIGCONT`,
		]);
		expect([(await on.show(job)).status, (await on.show(next)).status]).toEqual(["running", "waiting_on_locks"]);
		await on.pass(11 * SECOND);
		expect(on.processes.machine.signals.at(-1)).toBe(`home-1.1/${child.pid} SIGKILL`);
		expect(await on.show(job)).toMatchObject({ status: "cancelled", exit_code: 143, end_reason: "enough" });
		expect((await on.show(next)).status).toBe("running");
		expect(other.got).toEqual([]);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "cancelled", stopped: { kind: "cancelled", reason: "enough" } });
	});

	test("of an agent begins with SIGINT, and an agent that obeys ends at once", async () => {
		const on = await supervise({ settings: { agents: { a: { command: ["a"] } } } });
		const job = await on.add({ agent: "a", prompt: "x" });
		await on.sluice.cancel(job);
		await on.settle();
		expect(on.processes.machine.signals).toEqual(["1.1 SIGINT"]);
		expect(await on.show(job)).toMatchObject({ status: "cancelled", exit_code: 143, raw_exit_code: 130 });
	});

	test("before the start keeps the run from ever starting", async () => {
		const on = await supervise();
		on.processes.prompt = false;
		const job = await on.add();
		await on.sluice.cancel(job);
		await on.settle();
		expect((await on.show(job)).status).toBe("cancelled");
		on.processes.start("1.1");
		expect(on.processes.machine.shims.size).toBe(0);
	});

	test("at the moment of the end decides the exit kind, on disk too", async () => {
		const on = await supervise();
		const job = await on.add();
		on.processes.exit("1.1", 0);
		await on.sluice.cancel(job, { reason: "late" });
		await on.settle();
		expect((await on.show(job)).status).toBe("cancelled");
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "cancelled", exit_code: 0 });
	});

	test("of a run whose job was reassigned ends its processes and reports nothing", async () => {
		const on = await supervise();
		const job = await on.add();
		const [assigned] = await on.sluice.assigned("here");
		await on.sluice.complete({ job, token: assigned!.run.token, exit_kind: "failed", message: "by somebody else" });
		await on.pass(20 * SECOND);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGTERM"]);
		expect(on.supervisor.idle()).toBe(true);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ fenced: true });
		expect(await on.show(job)).toMatchObject({ status: "failed", end_reason: "by somebody else" });
	});
});

describe("what a run leaves behind", () => {
	test("is ended after the run, without holding up its end", async () => {
		const on = await supervise();
		const job = await on.add();
		const [meek, stubborn] = [on.processes.child("home-1.1"), on.processes.child("home-1.1", ["SIGTERM"])];
		on.processes.exit("1.1", 0);
		await on.settle();
		expect((await on.show(job)).status).toBe("succeeded");
		await on.pass(SECOND);
		expect([meek.got, stubborn.got]).toEqual([["SIGTERM"], ["SIGTERM", "SIGCONT"]]);
		await on.pass(10 * SECOND);
		expect(stubborn.got.at(-1)).toBe("SIGKILL");
		expect(on.processes.sweep(["home-1.1"]).size).toBe(0);
		const waiting = on.host.waiting;
		await on.pass(MINUTE);
		// Only the retention timer is left: without runs, the supervisor sets no other timer.
		expect([waiting, on.host.waiting]).toEqual([1, 1]);
	});
});
