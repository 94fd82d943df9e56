// Timeouts, silence, and logs that grow too long.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { supervise } from "../../test/make/supervised.ts";

describe("clocks", () => {
	test("a run over its time is stopped as timeout, and the stop is recorded first", async () => {
		const on = await supervise();
		const job = await on.add({ timeout: "90s" });
		await on.pass(89 * SECOND);
		expect(on.processes.machine.signals).toEqual([]);
		await on.pass(2 * SECOND);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGTERM"]);
		expect(await on.show(job)).toMatchObject({ status: "failed", exit_kind: "timeout", end_reason: "timeout after 1m30s" });
		expect((await on.sluice.history(job)).map((event) => event.kind)).toContain("stop_asked");
	});

	test("the default timeout applies to jobs that set none", async () => {
		const on = await supervise({ settings: { timeout_ms: 1000 } });
		const job = await on.add();
		await on.pass(1500);
		expect((await on.show(job)).exit_kind).toBe("timeout");
	});

	test("a wall clock that jumps a day stops nothing", async () => {
		const on = await supervise();
		const job = await on.add({ timeout: "1h" });
		(on.clock as unknown as { wall: number }).wall += 24 * HOUR;
		await on.pass(MINUTE);
		expect((await on.show(job)).status).toBe("running");
		(on.clock as unknown as { wall: number }).wall -= 48 * HOUR;
		await on.pass(MINUTE);
		expect((await on.show(job)).status).toBe("running");
	});

	test("silence ends a run only if a stall timeout is set, and output resets it", async () => {
		const on = await supervise();
		const silent = await on.add({ stall_timeout: "1m" });
		const loud = await on.add({ stall_timeout: "1m" });
		const patient = await on.add();
		for (let minute = 0; minute < 4; minute++) {
			on.processes.log("2.1", "stderr", "still here\n");
			await on.pass(30 * SECOND);
		}
		expect(await on.show(silent)).toMatchObject({ exit_kind: "stalled", end_reason: "no output for 1m" });
		expect([(await on.show(loud)).status, (await on.show(patient)).status]).toEqual(["running", "running"]);
		await on.pass(3 * MINUTE);
		expect((await on.show(loud)).exit_kind).toBe("stalled");
	});

	test("a log that grows fast is cut within a second of what it writes", async () => {
		const [max, piece] = [1_000_000, 50_000];
		const on = await supervise({ settings: { max_log_bytes: max } });
		await on.add();
		let largest = 0;
		for (let step = 0; step < 120; step++) {
			on.processes.log("1.1", "stdout", "y".repeat(piece));
			largest = Math.max(largest, readFileSync(on.path("1.1", "stdout.log")).length);
			await on.pass(SECOND / 10);
		}
		// 6 MB were written, 500 kB a second.
		expect(largest).toBeGreaterThan(max / 2);
		expect(largest).toBeLessThanOrEqual(max + 10 * piece);
	});

	test("a log over max_log keeps its beginning and its end", async () => {
		const on = await supervise({ settings: { max_log_bytes: 1000 } });
		await on.add();
		on.processes.log("1.1", "stdout", `first${"a".repeat(3000)}last`);
		await on.pass(6 * SECOND);
		const text = readFileSync(on.path("1.1", "stdout.log"), "utf8");
		expect(text.length).toBeLessThan(1000);
		expect(text).toMatch(/^firsta{495}\n\[sluice: 2259 bytes left out: the log was longer than 1000 bytes\]\na+last$/);
		on.processes.log("1.1", "stdout", "!");
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(on.supervisor.logs(1)?.text.endsWith("last!")).toBe(true);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ logs_cut: ["stdout"] });
	});
});
