// A job that looks like the next to start but is held back: how status and list show it.

import { expect, test } from "vitest";
import { job, openCommandLine, STATUS } from "../../../test/make/daemons/command-line.ts";

test("status counts ready jobs that are held, and names the cause", async () => {
	const held = (jobs: number, subject: string, detail: string) => ({ kind: "paused", subject, detail, jobs });
	const line = await openCommandLine({
		"scheduler.status": {
			...STATUS,
			queued_held: 2,
			held: [held(2, "lane:x", "lane x paused by bo"), held(1, "all", "everything paused")],
		},
	});
	const { out } = await line.run("status");
	expect(out).toContain("Queued: 12 total, 3 ready, 2 of them held\nRunning: 2 of 4\nHeld: 2 jobs, lane x paused by bo\n");
	expect(out).not.toContain("everything");
	const many = Array.from({ length: 7 }, (_, index) => held(1, `lane:${index}`, `lane ${index} paused`));
	const crowd = await openCommandLine({ "scheduler.status": { ...STATUS, queued_held: 7, held: many } });
	expect((await crowd.run("status")).out).toContain("Held: 1 job, lane 4 paused\nHeld: 2 jobs for other reasons; sluice why ID tells\n");
});

test("list marks held jobs, and names the cause", async () => {
	const held = { kind: "paused", detail: "lane x paused by bo" };
	const line = await openCommandLine({ "job.list": { jobs: [job(5, { held }), job(6)] } });
	const { out } = await line.run("list");
	expect(out).toMatch(/^ 5 +!queued .* lane x paused by bo$/m);
	expect(out).toMatch(/^ 6 +queued +make test +default +3m$/m);
});
