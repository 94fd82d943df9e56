// Answers that grant: what may be granted, by whom, and what is kept of it.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

async function asking(agent: string, more: Record<string, unknown> = {}, denied: string[] = ["Bash: npm test", "Write: a.txt"]) {
	const desk = await openDesk();
	desk.pretended.agents = {};
	await desk.t.sluice.add({ agent, prompt: "x", ...more });
	await desk.t.sluice.claim({ kinds: ["agent"], worker: "w" });
	const token = (await desk.t.sluice.show(1)).run?.token as number;
	await desk.t.sluice.complete({ job: 1, token, exit_kind: "needs_human", question: "may I?", denied });
	return desk;
}

describe("job.answer with a permission", () => {
	test("grants it for all further runs, and records the person", async () => {
		const desk = await asking("claude");
		const { job } = await desk.call("job.answer", { id: 1, permission: "full" });
		expect(job).toMatchObject({
			granted: { permission: "full", allow: [] },
			permission: "edit",
			question: null,
			answer: "You may do that now. Go on.",
			denied: ["Bash: npm test", "Write: a.txt"],
		});
		const { events } = await desk.call("job.history", { id: 1 });
		expect(events.find(({ kind }) => kind === "answered")).toMatchObject({ by: "ann", data: { granted: { permission: "full" } } });
	});

	test("asked: exactly what was denied, together with a text", async () => {
		const desk = await asking("claude");
		const { job } = await desk.call("job.answer", { id: 1, text: "yes", permission: "asked" });
		expect(job).toMatchObject({ granted: { permission: null, allow: ["Bash: npm test", "Write: a.txt"] }, answer: "yes" });
	});

	test("is dropped when the job is started anew", async () => {
		const desk = await asking("claude");
		await desk.call("job.answer", { id: 1, permission: "full" });
		await desk.call("job.cancel", { id: 1 });
		await desk.call("job.retry", { id: 1 });
		expect((await desk.call("job.show", { id: 1 })).job).toMatchObject({ granted: null, denied: [] });
	});

	test.each([
		["codex", {}, undefined, "asked", /codex cannot be allowed single commands or tools/, /--permission full/],
		["claude", {}, [], "asked", /nothing was denied in its last run/, /edit or full/],
		["claude", {}, ["Bash: echo a), Bash(curl"], "asked", /Bash: echo a\), Bash\(curl cannot be allowed alone/, /--permission full/],
		["claude", { permission: "full" }, undefined, "edit", /it has permission full already/, /leave --permission out/],
	])("%s %o %o %s is refused, and the question stays", async (agent, more, denied, permission, message, hint) => {
		const desk = await asking(agent, more, denied);
		const refusal = await desk.refused("job.answer", { id: 1, permission });
		expect(refusal.message).toMatch(message);
		expect(refusal.data?.hint).toMatch(hint);
		expect((await desk.call("job.show", { id: 1 })).job).toMatchObject({ question: "may I?", granted: null });
	});

	test("needs a text or a permission", async () => {
		const desk = await asking("claude");
		expect((await desk.refused("job.answer", { id: 1 })).message).toBe("text: is missing");
	});

	test("is not for a run: it cannot grant itself anything", async () => {
		const desk = await asking("claude");
		const run = { role: "run" as const, by: "job:1", channel: "socket" as const, job: 1 };
		const refusal = await desk.refused("job.answer", { id: 1, permission: "full" }, run);
		expect(refusal.data).toMatchObject({ code: "unauthorised" });
		expect((await desk.call("job.show", { id: 1 })).job.granted).toBe(null);
	});
});

test("denied calls of the last runs are in the status, also for succeeded jobs", async () => {
	const desk = await asking("claude");
	await desk.call("job.answer", { id: 1, text: "no" });
	await desk.t.sluice.claim({ kinds: ["agent"], worker: "w" });
	const token = (await desk.t.sluice.show(1)).run?.token as number;
	const ending = { job: 1, token, exit_kind: "completed" as const, denied: ["Bash: npm test"], closing_question: "Shall I push it?" };
	await desk.t.sluice.complete(ending);
	expect((await desk.call("scheduler.status", {})).denied).toEqual([{ job: 1, name: null, denied: ["Bash: npm test"] }]);
	expect((await desk.call("job.show", { id: 1 })).job).toMatchObject({ denied: ["Bash: npm test"], closing_question: "Shall I push it?" });
});

describe("job.add", () => {
	test("warns of an allow that its agent does not support, and refuses an invalid command prefix", async () => {
		const desk = await openDesk();
		desk.pretended.agents = { mine: { command: [process.execPath] } };
		const added = await desk.call("job.add", { agent: "mine", prompt: "x", allow: ["npm test"] });
		expect(added).toMatchObject({ outcome: "queued", warning: 'agent mine cannot be allowed single commands: "allow" does nothing' });
		desk.pretended.agents = { claude: { allow: ["--allow={command}"], command: [process.execPath, "{options}"], output: "claude" } };
		const asks = await desk.call("job.add", { agent: "claude", prompt: "x", permission: "ask", allow: ["npm test"] });
		expect(asks).toMatchObject({ warning: 'at permission ask only what a person grants is allowed: "allow" does nothing' });
		const refusal = await desk.refused("job.add", { agent: "claude", prompt: "x", allow: ["npm test; rm x"] });
		expect(refusal.message).toBe('allow[0]: "npm test; rm x" is not the beginning of a command');
	});

	test("expect is for agents, and a change for those with a repo", async () => {
		const desk = await openDesk();
		expect((await desk.refused("job.add", { command: ["true"], expect: "none" })).message).toBe(
			"expect: is for agents, and this is a command",
		);
		expect((await desk.refused("job.add", { agent: "claude", prompt: "x", expect: "change" })).message).toBe(
			"expect: a change can be told only in a repo",
		);
	});
});
