// Agents that end oddly: text and numbers that mean something else, or cannot be stored. None of it may cost the session, the charge or the account.

import { describe, expect, test } from "vitest";
import { capture } from "../../test/make/agents/capture.ts";
import { argvOf, held, play, promptOf, stand } from "../../test/make/agents/played.ts";
import { MINUTE, NOON, SECOND } from "../../test/make/fakes.ts";

const SESSION = "a46c1682-db6b-4112-a746-a09dcd5b4627";

describe("an agent's own output is not taken for a message of the provider", () => {
	test.each([
		["a missing session, although the run resumed none", "mcp: session abc not found\nfatal\n"],
		[
			"a source position that looks like an HTTP status",
			"TypeError: x\n    at foo (file:///a/index.js:429:10)\n    at bar (/a/b.mjs:401:3)\n",
		],
	])("%s", async (_name, stderr) => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		on.processes.log("1.1", "stderr", stderr);
		on.processes.exit("1.1", 1);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "crashed", failures: 1 });
		expect((await on.sluice.status()).holds).toEqual([]);
	});
});

test("a refused login of a tool does not count as the account's, because the model has answered", async () => {
	const on = await stand();
	const job = await on.add({ agent: "claude", prompt: "x" });
	const lines = capture("claude-tool").stdout.toString().trimEnd().split("\n");
	on.processes.log("1.1", "stdout", `${lines.slice(0, -1).join("\n")}\n`);
	on.processes.log("1.1", "stderr", "mcp server tracker: 401 Unauthorized\nfatal: out of memory\n");
	on.processes.exit("1.1", 1);
	await on.settle();
	expect(await on.show(job)).toMatchObject({ exit_kind: "crashed", failures: 1, last_failure: "crashed: fatal: out of memory" });
	expect((await on.sluice.status()).holds).toEqual([]);
});

describe("what cannot be stored does not cost the rest", () => {
	test.each([1e15, 1e300, -5, NOON / 1000 + 60.1234567])("a reset at %s", async (at) => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-unirej", (text) => text.replaceAll(/"resetsAt":\d+/g, `"resetsAt":${at}`));
		await on.pass(SECOND);
		const view = await on.show(job);
		expect([view.exit_kind, view.session, await held(on, job)]).toEqual([
			"rate_limited",
			"191c7cfb-ad52-4a60-bd8b-af3be61dba6f",
			"rate_limited",
		]);
	});

	test("a wait beyond the last representable date", async () => {
		const on = await stand();
		const job = await on.add({ agent: "opencode", prompt: "x" });
		await play(on, "1.1", "opencode-429", (text) => text.replaceAll(/"retry-after":"\d+"/g, '"retry-after":"9999999999999999"'));
		await on.pass(SECOND);
		expect([(await on.show(job)).session, await held(on, job)]).toEqual([expect.stringMatching(/^ses_/), "rate_limited"]);
		expect((await on.sluice.accounts())[0]?.until).toBeLessThan(NOON + 367 * 86_400_000);
	});

	test("a question with invalid characters", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-tool-denied", (text) => text.replaceAll("hi-from-tool", "hi\\u0000\\ud800\\u001b[31mred"));
		await on.pass(SECOND);
		const { session, question } = await on.show(job);
		expect([session, question]).toEqual([SESSION, expect.stringMatching(/^it was not allowed to:\n- Bash: echo hi \ufffdred > /)]);
	});

	test("denied commands keep their line breaks, and those that are left out are counted", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		const denial = (command: string) => `{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":${JSON.stringify(command)}}}`;
		const commands = ["npm ci\nnpm test", ...Array.from({ length: 59 }, (_, index) => `make ${index}`)];
		const denials = `"permission_denials":[${commands.map(denial).join(",")}]`;
		await play(on, "1.1", "claude-tool-denied", (text) => text.replace(/"permission_denials":\[\{.*?\}\}\]/, () => denials));
		const { denied = [], question } = await on.show(job);
		expect(denied.slice(0, 2)).toEqual(["Bash: npm ci\nnpm test", "Bash: make 0"]);
		expect([denied.length, denied.at(-1)]).toEqual([21, "and 40 more"]);
		expect(question).toContain("- and 40 more\n");
	});

	test("more tokens than can be counted", async () => {
		const on = await stand();
		const job = await on.add({ agent: "codex", prompt: "x" });
		await play(on, "1.1", "codex-ok", (text) => text.replaceAll(/"((?:in|out)put_tokens)":\d+/g, '"$1":9e15'));
		await on.pass(SECOND);
		expect(await on.show(job)).toMatchObject({ status: "succeeded", usage: { tokens: Number.MAX_SAFE_INTEGER } });
	});
});

test("the prompt of the next attempt has the last output without characters that an argument cannot contain", async () => {
	const on = await stand();
	await on.add({ agent: "claude", prompt: "the task" });
	on.processes.log("1.1", "stderr", "one\u0000two\u001b[31mred\u001b[0m\n\tdone\n");
	on.processes.exit("1.1", 1);
	await on.settle();
	await on.pass(2 * MINUTE);
	expect(promptOf(on, "1.2")).toMatch(/The end of what it wrote:\n {4}one twored\n {4}\tdone$/);
});

describe("an agent that is cut off", () => {
	test("by a signal from outside is resumed", async () => {
		const on = await stand();
		await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-sig-term");
		await on.pass(2 * MINUTE);
		expect(argvOf(on, "1.2").slice(5, 7)).toEqual(["--resume", "ca225196-434b-4b98-973f-124bd334c9c2"]);
	});

	test("before it may have read the answer gets it again", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "the task" });
		await play(on, "1.1", "claude-tool-denied");
		await on.sluice.answer(job, "you may");
		await on.settle();
		on.processes.vanish("1.2");
		await on.pass(2 * MINUTE);
		expect(argvOf(on, "1.3")).toEqual(expect.arrayContaining(["--resume", SESSION]));
		expect(promptOf(on, "1.3")).toBe("you may");
	});
});

test.each([
	["Reading additional input from stdin...\n", "killed by SIGKILL"],
	[
		"Reading additional input from stdin...\nFATAL ERROR: JavaScript heap out of memory\n    at x\n",
		"killed by SIGKILL: FATAL ERROR: JavaScript heap out of memory",
	],
])("the end of a killed agent names the signal, and a fatal error that it printed: %j", async (stderr, message) => {
	const on = await stand();
	const job = await on.add({ agent: "codex", prompt: "x" });
	on.processes.log("1.1", "stdout", '{"type":"thread.started","thread_id":"01a1e2b4-fb7b-7601-b8f5-16d12805e0b8"}\n');
	on.processes.log("1.1", "stderr", stderr);
	on.processes.exit("1.1", 137);
	await on.settle();
	expect((await on.show(job)).last_failure).toBe(message);
});
