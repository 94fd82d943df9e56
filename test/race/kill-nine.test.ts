// kill -9 of a process in a loop of `add`: every job that it was told of is there when the file is opened again.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openScheduler } from "../../src/index.ts";
import { Child } from "../make/daemons/child.ts";
import { makeFolder } from "../make/folder.ts";
import { pragma } from "../make/stores/store-file.ts";

/** Lets the adder run until it has acknowledged so many jobs, kills it, and gives their numbers. */
async function addUntilKilled(path: string, burst: number, enough: number): Promise<number[]> {
	const child = new Child("adder", { path, burst });
	let text = "";
	child.process.stdout?.on("data", (chunk) => {
		text += chunk;
		if (text.split("\n").length > enough) child.process.kill("SIGKILL");
	});
	expect(await child.ended).toMatchObject({ signal: "SIGKILL" });
	// What stands before the last end of line was written whole.
	return text.split("\n").slice(0, -1).map(Number);
}

describe("kill -9 in a loop of add", () => {
	test("every acknowledged job is there, round after round", async () => {
		const path = join(makeFolder(), "sluice.db");
		const acknowledged: number[] = [];
		// One call at a time, and bursts that share a commit; killed early and late.
		for (const [burst, enough] of [
			[1, 20],
			[1, 150],
			[7, 60],
			[64, 500],
			[64, 70],
			[300, 900],
		] as const) {
			const told = await addUntilKilled(path, burst, enough);
			expect(told.length).toBeGreaterThanOrEqual(enough);
			// Numbers are never given out twice, not even those of jobs that nobody was told of.
			const before = acknowledged.at(-1) ?? 0;
			expect(told.filter((id) => id <= before)).toEqual([]);
			acknowledged.push(...told.sort((a, b) => a - b));

			const sluice = await openScheduler({ path, drive: "manual" });
			const jobs = await sluice.list({ limit: 1_000_000 });
			const status = await sluice.status();
			await sluice.close();
			const there = new Map(jobs.map((job) => [job.id, job]));
			expect(acknowledged.filter((id) => there.get(id)?.status !== "queued")).toEqual([]);
			// And the counts agree with what is there.
			expect([status.queued_total, status.queued_ready]).toEqual([jobs.length, jobs.length]);
			expect(pragma(path, "integrity_check")).toBe("ok");
		}
		expect(new Set(acknowledged).size).toBe(acknowledged.length);

		// They are not only there, they run.
		const sluice = await openScheduler({ path, drive: "manual", config: { max_concurrent: -1, safety_cap: 0 } });
		const claimed = new Set<number>();
		for (;;) {
			const some = await sluice.claim({ worker: "w", max: 1000 });
			if (some.length === 0) break;
			for (const { job } of some) claimed.add(job.id);
		}
		await sluice.close();
		expect(acknowledged.filter((id) => !claimed.has(id))).toEqual([]);
	}, 120_000);
});
