// job.tell: what is recorded, and what the caller learns about when the agent gets it.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

test("says when the agent gets the text, and why then", async () => {
	const desk = await openDesk();
	desk.pretended.agents = { mine: { command: ["mine", "{prompt}"] } };
	const { t } = desk;
	const job = await t.add({ agent: "claude", prompt: "x" });
	expect(await desk.call("job.tell", { id: job, text: "Be brief." })).toMatchObject({
		how: "next",
		detail: "it has not started: the prompt of its first run has it",
		job: { id: job, told: [{ number: 1, text: "Be brief.", by: "ann", attempt: null }] },
	});
	await t.start();
	expect(await desk.call("job.tell", { id: job, text: "Use it." })).toMatchObject({ how: "turn" });
	const own = await t.add({ agent: "mine", prompt: "x" });
	await t.start();
	expect(await desk.call("job.tell", { id: own, text: "Use it." })).toMatchObject({
		how: "next",
		detail: expect.stringMatching(/^mine cannot be resumed/),
	});
});

test("refuses what cannot be told, with what to do instead", async () => {
	const desk = await openDesk();
	const command = await desk.t.add();
	expect((await desk.refused("job.tell", { id: command, text: "x" })).message).toContain("runs no agent");
	const job = await desk.t.add({ agent: "claude", prompt: "x" });
	expect((await desk.refused("job.tell", { id: job, text: " \n" })).message).toContain("is empty");
	expect((await desk.refused("job.tell", { id: job, text: "x".repeat(10_001) })).message).toContain("text");
	expect((await desk.refused("job.tell", { id: job, text: "x" }, { role: "viewer", by: "v", channel: "http" })).message).toContain(
		"not allowed",
	);
	await desk.t.sluice.cancel(job);
	expect((await desk.refused("job.tell", { id: job, text: "x" })).data?.hint).toContain(`sluice retry ${job}`);
});

test("attach: asked for, opened when the run is stopped, given back", async () => {
	const desk = await openDesk();
	desk.pretended.agents = { mine: { command: ["mine", "{prompt}"] } };
	const job = await desk.t.add({ agent: "claude", prompt: "x" });
	expect((await desk.refused("job.attach", { id: job })).message).toContain("only a running job can be attached");
	await desk.t.start();
	expect(await desk.call("job.attach", { id: job })).toEqual({ schema_version: 1, job, key: "key-1", state: "waiting", open: null });
	expect(await desk.call("job.attach", { id: job, key: "key-1" })).toMatchObject({
		state: "ready",
		open: { path: "/work", session: "s-1", argv: ["claude", "--resume", "s-1"], env: {} },
	});
	expect(await desk.call("job.detach", { id: job, key: "key-1", done: true })).toMatchObject({ job, released: true });
	expect(await desk.call("job.detach", { id: job, key: "other" })).toMatchObject({ released: false });
	expect(desk.pretended.attached).toEqual([`${job} ann null`, `${job} ann key-1`, `${job} key-1 done`, `${job} other goes on`]);
	const command = await desk.t.add();
	expect((await desk.refused("job.attach", { id: command })).message).toContain("runs no agent");
	const own = await desk.t.add({ agent: "mine", prompt: "x" });
	await desk.t.start();
	expect((await desk.refused("job.attach", { id: own })).message).toContain("no session that a person can open");
});
