// A run that ends with a question, or that was not allowed what it wanted: a person is asked, answers, and it goes on.

import { expect, test } from "vitest";
import { usageFor } from "../charges.ts";
import { bodiesOf, openStand, REPO, type Tried } from "./stand.ts";

const QUESTION = "I have changed nothing yet. Which database should I use: staging or production?";

export function questions(tried: Tried): void {
	const usage = usageFor(tried.agent);

	test("nothing changed and a question in its last words: a person is asked, the answer goes on in its session", async () => {
		const { api, daemon, repo, expectCharged } = await openStand(tried);
		api.script("key-a", [], { say: QUESTION, usage });
		const id = await daemon.add("a", "write the settings", { repo: REPO });
		expect(await daemon.asks(id)).toMatchObject({ run: null, attempt: 1, failures: 0, question: expect.stringContaining(QUESTION) });
		const first = await daemon.outcome(id, 1);
		expect(first).toMatchObject({ outcome: "needs_human", exit_kind: "needs_human" });
		expect(await daemon.reasons(id)).toContain("needs_human");
		expect(await daemon.say("status")).toContain("staging or production?");
		api.script("key-a", [{ shell: "echo production > settings.txt", usage }], { say: "all done", usage });
		await daemon.say("answer", String(id), "production, please");
		expect(await daemon.merged(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
		expect(repo.git("show", "main:settings.txt")).toBe("production");
		expect((await daemon.outcome(id, 2)).session).toBe(first.session);
		const told = bodiesOf(api, "key-a")[1];
		expect(told).toContain("production, please");
		expect(told).toContain("write the settings");
		await expectCharged();
	});

	test("a denied tool: a person is asked, grants it with the answer, and it is done", async () => {
		const { api, daemon, repo } = await openStand(tried, { allowed: "nothing" });
		const write = { write: "settings.txt", content: "granted" };
		api.script("key-a", [write], { say: "I could not write the file.", usage });
		const id = await daemon.add("a", "write the settings", { repo: REPO, permission: "ask" });
		expect(await daemon.asks(id)).toMatchObject({ run: null, attempt: 1, failures: 0 });
		const first = await daemon.outcome(id, 1);
		expect(first).toMatchObject({ outcome: "needs_human", exit_kind: "needs_human" });
		expect(repo.head()).toBe(repo.head("main"));
		api.script("key-a", [write], { say: "all done", usage });
		await daemon.say("answer", String(id), "Yes, you may.", "--permission", "edit");
		expect(await daemon.merged(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
		expect(repo.git("show", "main:settings.txt")).toBe("granted");
		expect((await daemon.outcome(id, 2)).session).toBe(first.session);
	});
}
