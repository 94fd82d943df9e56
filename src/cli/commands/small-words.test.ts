// Small phrases about jobs, each of which was wrong once.

import { expect, test } from "vitest";
import { ago, job, NOW, openCommandLine, SETTINGS } from "../../../test/make/daemons/command-line.ts";

const ahead = (ms: number) => new Date(NOW + ms).toISOString();
const PRIORITY = { total: 0, terms: [] };

test("why names the lock, whatever it is called", async () => {
	const reason = {
		gate: "locks",
		code: "locks",
		detail: "waiting on locks",
		holder: ["job:58"],
		since: null,
		clears_at: null,
		observed_at: null,
	};
	for (const key of ["db", "k", "on", "locks"]) {
		const why = {
			job: job(7, { status: "waiting_on_locks" }),
			reasons: [{ ...reason, subject: `lock:${key}` }],
			position: null,
			priority: PRIORITY,
		};
		const line = await openCommandLine({ "job.why": why });
		expect((await line.run("why 7")).out).toContain(`\n  waiting on locks: ${key}, held by job 58\n`);
	}
});

test("a job that was cancelled without a reason shows that once", async () => {
	const waited = job(7, { status: "cancelled", end_reason: "cancelled", exit_code: 143, exit_kind: "cancelled" });
	const ran = { ...waited, id: 8, started_at: ago(60_000), ended_at: ago(20_000) };
	const said = async (one: ReturnType<typeof job>) => {
		const line = await openCommandLine({ "job.why": { job: one, reasons: [], position: null, priority: PRIORITY } });
		return (await line.run(`why ${one.id}`)).out.split("\n")[0];
	};
	expect(await said(waited)).toBe("Job 7 has ended: cancelled.");
	expect(await said(ran)).toBe("Job 8 has ended: cancelled, after 40s.");
	expect(await said(job(7, { status: "cancelled", end_reason: "too late" }))).toBe("Job 7 has ended: cancelled, too late.");
});

test("a job that starts in less than a second has not started; a job that needs approval does not start by itself", async () => {
	const said = async (more: Record<string, unknown>) => {
		const line = await openCommandLine({
			...SETTINGS,
			"job.add": { outcome: "queued", job: job(7, { blocked: true, ...more }), position: null },
		});
		return (await line.run("add -- true")).err;
	};
	expect(await said({ runnable_at: ahead(600) })).toBe("queued: starts in 1s\n");
	expect(await said({ runnable_at: ahead(600), approval: "needed" })).toBe("queued: needs approval, starts in 1s at the earliest\n");
	expect(await said({ runnable_at: ahead(120_000) })).toBe("queued: starts in 2m\n");
});

test("a number that no job can have is not treated as a name", async () => {
	const line = await openCommandLine({});
	for (const text of ["show 0", "why 00", "cancel 1 0", "logs 9999999999999999"]) {
		const { code, out, err } = await line.run(text);
		expect([code, out, err]).toEqual([3, "", expect.stringMatching(/^sluice: there is no job \d+\n +jobs are numbered from 1/)]);
	}
	expect(line.asked).toEqual([]);
});
