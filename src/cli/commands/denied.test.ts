// What an agent was not allowed to do, and the question in its last words: in list, show, why and status.

import { expect, test } from "vitest";
import { ago, job, openCommandLine, STATUS } from "../../../test/make/daemons/command-line.ts";

const DENIED = { agent: "claude", denied: ["Bash: python3 -m pytest", "WebFetch: https://x.test"] };
const DONE = { ...DENIED, status: "succeeded" as const, ended_at: "2026-01-05T12:00:00.000Z", closing_question: "Shall I push it?" };

test("of a job that succeeded", async () => {
	const line = await openCommandLine({
		"job.list": { jobs: [job(7, DONE)], seq: 1 },
		"job.show": { job: job(7, DONE) },
		"job.why": { job: job(7, DONE), reasons: [], position: null, priority: { total: 0, terms: [] }, waiters: [] },
	});
	expect((await line.run("list --all")).out).toContain("was not allowed Bash: python3 -m pytest and 1 more");
	const { out } = await line.run("show 7");
	expect(out).toMatch(/not allowed +Bash: python3 -m pytest; WebFetch: https:\/\/x\.test/);
	expect(out).toMatch(/last words ask +Shall I push it\?/);
	const why = (await line.run("why 7")).out;
	expect(why).toContain("was not allowed Bash: python3 -m pytest\n");
	expect(why).toContain("its last words ask: Shall I push it?\n");
});

test.each([
	["claude", "to allow what it was denied: sluice answer 7 --permission asked"],
	["codex", "to allow it everything: sluice answer 7 --permission full"],
	["opencode", "to allow it everything: sluice answer 7 --permission full", ["bash: npm test | tail"]],
])("of one of %s that waits for a person, with how to allow it", async (agent, advice, denied = DENIED.denied) => {
	const asks = { ...DENIED, agent, denied, status: "queued" as const, question: "may I?" };
	const reason = {
		gate: "approval",
		code: "needs_human",
		detail: "may I?",
		subject: "job:7",
		since: null,
		clears_at: null,
		observed_at: null,
	};
	const why = { job: job(7, asks), reasons: [reason], position: null, priority: { total: 0, terms: [] }, waiters: [] };
	const needs_human = [{ job: 7, name: null, agent, question: "may I?", denied, since: ago(60) }];
	const line = await openCommandLine({ "job.why": why, "scheduler.status": { ...STATUS, needs_human } });
	expect((await line.run("why 7")).out).toContain(advice);
	expect((await line.run("status")).out).toContain(`→ sluice answer 7 TEXT; ${advice}\n`);
});

test("of several in status: a command for each", async () => {
	const denied = [34, 35, 36, 37, 38].map((id) => ({ job: id, name: null, denied: DENIED.denied }));
	const line = await openCommandLine({ "scheduler.status": { ...STATUS, denied } });
	const { out } = await line.run("status");
	for (const id of [34, 35, 36])
		expect(out).toContain(`job ${id} was not allowed Bash: python3 -m pytest and 1 more\n  → sluice show ${id}\n`);
	expect(out).toContain("2 more jobs were not allowed something\n");
});

test("of more than are kept", async () => {
	const many = { ...DONE, denied: [...Array.from({ length: 20 }, (_, index) => `Bash: make ${index}`), "and 40 more"] };
	const line = await openCommandLine({ "job.list": { jobs: [job(7, many)], seq: 1 }, "job.show": { job: job(7, many) } });
	expect((await line.run("list --all")).out).toContain("was not allowed Bash: make 0 and 59 more");
	expect((await line.run("show 7")).out).toContain("Bash: make 19; and 40 more");
});
