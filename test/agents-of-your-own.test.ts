// Programs that are not built in, added by the configuration of docs/agents.md alone, under a real daemon: each plays what the real one prints.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Client } from "../src/api/client.ts";
import { Player } from "./make/agents/player.ts";
import { TestHome, until } from "./make/daemons/daemon.ts";
import { makeFolder } from "./make/folder.ts";

const PAGE = readFileSync(new URL("../docs/agents.md", import.meta.url), "utf8");
/** The YAML of an example, word for word. */
const exampleOf = (title: string): string => {
	const [, text] = new RegExp(`### Example: ${title}\\n[\\s\\S]*?\`\`\`yaml\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? [];
	if (text === undefined) throw new Error(`docs/agents.md has no example ${title}`);
	return text;
};

async function stage(player: Player, title: string) {
	const home = new TestHome();
	home.make(`max_concurrent: 1
accounts: { work: {} }
lanes: { default: { accounts: [work] } }
rate_limit: { margin: 0s, stagger: 0s }
agent_retry: { base_ms: 1, max: 1 }
${exampleOf(title)}`);
	const up = await home.up({ PATH: player.path });
	const add = async (input: Record<string, unknown> = {}): Promise<number> => {
		const name = Object.keys((parse(exampleOf(title)) as { agents: Record<string, unknown> }).agents)[0] as string;
		const result = await up.client.call("job.add", { agent: name, prompt: "the task", cwd: makeFolder(), ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		return (result.job as { id: number }).id;
	};
	const accountOf = (job: number, attempt = 1) =>
		JSON.parse(readFileSync(join(home.path, "runs", String(job), String(attempt), "outcome.json"), "utf8"));
	return { home, ...up, add, accountOf };
}
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return ["succeeded", "failed", "cancelled"].includes(job.status) ? job : undefined;
	});
const account = async (client: Client) => (await client.call("account.list", {})).accounts.find(({ name }) => name === "work");
const isHeld = (client: Client, state: string) =>
	until(async () => {
		const found = await account(client);
		return found?.state === state ? found : undefined;
	});

describe("Qwen Code", () => {
	const SESSION = "3f0c9f0e-6d4f-4a51-9c66-0d0f1a2b3c4d";
	const lines = (...events: unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");
	const INIT = {
		type: "system",
		subtype: "init",
		uuid: "u1",
		session_id: SESSION,
		model: "qwen3-coder-plus",
		permission_mode: "auto-edit",
		qwen_code_version: "0.15.10",
	};
	const usage = { input_tokens: 8000, output_tokens: 137, cache_read_input_tokens: 6033, total_tokens: 8137 };
	const said = {
		type: "assistant",
		uuid: "u2",
		session_id: SESSION,
		message: {
			id: "m1",
			type: "message",
			role: "assistant",
			model: "qwen3-coder-plus",
			content: [{ type: "text", text: "All done." }],
			usage,
		},
		parent_tool_use_id: null,
	};
	const result = (more: object) => ({
		type: "result",
		uuid: "u3",
		session_id: SESSION,
		duration_ms: 1234,
		duration_api_ms: 900,
		num_turns: 1,
		usage,
		permission_denials: [],
		...more,
	});
	const OK = lines(INIT, said, result({ subtype: "success", is_error: false, result: "All done." }));
	const failed = (message: string) => ({
		stdout: lines(
			INIT,
			result({ subtype: "error_during_execution", is_error: true, usage: { input_tokens: 0, output_tokens: 0 }, error: { message } }),
		),
		stderr: `${message}\n`,
		code: 1,
	});

	test("goes well: its session, each token charged once, its options, the prompt not in its arguments", async () => {
		const player = new Player("qwen").next({ stdout: OK, code: 0 });
		const { home, client, add, accountOf } = await stage(player, "Qwen Code");
		const job = await add({ model: "qwen3-coder-plus" });
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", session: SESSION, usage: { tokens: 8137 } });
		expect(player.argv(1)).toEqual(["--output-format", "stream-json", "--model", "qwen3-coder-plus", "--approval-mode", "auto-edit"]);
		expect(accountOf(job)).toMatchObject({ outcome: "ok", last_message: "All done.", agent_version: "0.15.10" });
		expect((await home.run(["open", String(job)])).err).toMatch(new RegExp(`go on with it: cd \\S+ && qwen --resume ${SESSION}`));
	});

	test("too many requests: held for as long as was asked for, then gone on with in the same session", async () => {
		const player = new Player("qwen")
			.next(failed("[API Error: 429 Too many requests. Please retry in 1.5s.]"))
			.next({ stdout: OK, code: 0 });
		const { client, add, accountOf } = await stage(player, "Qwen Code");
		const job = await add();
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
		expect(accountOf(job)).toMatchObject({ outcome: "throttled", retry_after_ms: 1500, session: SESSION });
		expect(player.argv(2)).toEqual(expect.arrayContaining(["--resume", SESSION]));
	});

	test("its quota: held, and said which rule said so", async () => {
		const player = new Player("qwen").next(failed("Qwen OAuth quota exceeded: Your free daily quota has been reached."));
		const { home, add, accountOf } = await stage(player, "Qwen Code");
		const job = await add();
		await until(() => existsSync(join(home.path, "runs", String(job), "1", "outcome.json")));
		expect(accountOf(job)).toMatchObject({ outcome: "limited", exit_kind: "rate_limited", by: "agents.qwen.outcomes[1]" });
	});

	test("a key that is refused closes the account", async () => {
		const player = new Player("qwen").next(failed("[API Error: 401 Incorrect API key provided.]"));
		const { client, add } = await stage(player, "Qwen Code");
		await add();
		await isHeld(client, "closed");
	});

	test("a session that is gone burns nothing, and a crash is repeated afresh", async () => {
		const player = new Player("qwen")
			.next(failed("[API Error: 429 Too many requests. Please retry in 0.1s.]"))
			.next({
				stderr: `No saved session found with ID ${SESSION}. Run \`qwen --resume\` without an ID to choose from existing sessions.\n`,
				code: 1,
			})
			.next({ stdout: lines(INIT), stderr: "Segmentation fault\n", code: 139 })
			.next({ stdout: OK, code: 0 });
		const { client, add } = await stage(player, "Qwen Code");
		expect(await ended(client, await add())).toMatchObject({ status: "succeeded", attempt: 4, failures: 1 });
		expect([player.argv(2).includes("--resume"), player.argv(3).includes("--resume")]).toEqual([true, false]);
	});

	test("a version whose events have other names waits for a person", async () => {
		const player = new Player("qwen").next({ stdout: OK.replaceAll('"type":"result"', '"type":"final"'), code: 0 });
		const { client, add, accountOf } = await stage(player, "Qwen Code");
		const job = await add();
		const asked = await until(async () => (await show(client, job)).question ?? undefined);
		expect(asked).toMatch(
			new RegExp(
				`it wrote 1 line \\(\\d+ B\\) that Sluice does not understand, and did not say that it is done; this is qwen 0\\.15\\.10; see sluice logs ${job} --raw`,
			),
		);
		expect(accountOf(job)).toMatchObject({ outcome: "needs_human", not_understood: 1 });
		expect(player.starts).toBe(1);
	});
});

describe("Aider", () => {
	const HEAD = "Aider v0.86.1\nModel: gpt-5 with diff edit format\nGit repo: .git with 3 files\n\n";
	const DONE = `${HEAD}I will talk of rate limits: the API provider may answer with 429.\n\nTokens: 4.5k sent, 1.2k cache hit, 431 received. Cost: $0.0042 message, $0.0042 session.\nApplied edit to app.py\nTokens: 8,975 sent, 69 received. Cost: $0.01 message, $0.0142 session.\nCommit 1a2b3c4 fix: the parser\n`;
	const LIMITED = `${HEAD}litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-5. Please try again in 1.5s.\nThe API provider has rate limited you. Try again later or check your quotas.\nRetrying in 0.2 seconds...\n`;

	test("goes well: what it says of tokens and cost is charged, the prompt is in a file", async () => {
		const player = new Player("aider").next({ stdout: DONE, code: 0 });
		const { client, add, accountOf } = await stage(player, "Aider");
		const cwd = makeFolder();
		const job = await add({ cwd });
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", usage: { tokens: 4500 + 431 + 8975 + 69, cost_micro: 14200 } });
		const argv = player.argv(1);
		expect(argv.slice(0, -1)).toEqual(["--yes-always", "--no-pretty", "--no-check-update", "--message-file"]);
		expect(readFileSync(argv.at(-1) as string, "utf8")).toBe("the task");
		expect(accountOf(job)).toMatchObject({ outcome: "ok" });
	});

	test("exit code 0 after a limit that it gave up on: throttled; one that it got over: done", async () => {
		const player = new Player("aider").next({ stdout: LIMITED.repeat(2), code: 0 }).next({ stdout: LIMITED + DONE, code: 0 });
		const { client, add, accountOf } = await stage(player, "Aider");
		const job = await add();
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", attempt: 2, failures: 0 });
		expect(accountOf(job)).toMatchObject({ outcome: "throttled", retry_after_ms: 1500, by: "agents.aider.outcomes[3]" });
		expect(accountOf(job, 2)).not.toHaveProperty("by");
	});

	test("a usage limit with its reset", async () => {
		const words =
			"litellm.BadRequestError: AnthropicException - You have reached your specified API usage limits. You will regain access on 2126-12-01 at 00:00 UTC.\n";
		const { client, add, accountOf } = await stage(new Player("aider").next({ stdout: HEAD + words, code: 0 }), "Aider");
		const job = await add();
		expect(await isHeld(client, "rate_limited")).toMatchObject({ until: "2126-12-01T00:00:00.000Z" });
		expect(accountOf(job)).toMatchObject({ outcome: "limited", until: Date.UTC(2126, 11, 1) });
	});

	test("a key that is refused closes the account", async () => {
		const words =
			"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided: sk-x.\nThe API provider is not able to authenticate you. Check your API key.\n";
		const { client, add } = await stage(new Player("aider").next({ stdout: HEAD + words, code: 0 }), "Aider");
		await add();
		await isHeld(client, "closed");
	});

	test("an overload is repeated; a failure of its own is not", async () => {
		const player = new Player("aider")
			.next({
				stdout: `${HEAD}litellm.InternalServerError: OpenAIException\nThe API provider's servers are down or overloaded.\n`,
				code: 0,
			})
			.next({ stdout: HEAD, stderr: "aider: error: unrecognized arguments: --nonsense\n", code: 2 });
		const { client, add } = await stage(player, "Aider");
		expect(await ended(client, await add())).toMatchObject({ status: "failed", attempt: 2, exit_kind: "failed", exit_code: 2 });
	});
});

describe("Cursor CLI", () => {
	const SESSION = "7a9963b5-a319-41aa-938f-8a1f9171c3d8";
	const lines = (...events: object[]) => events.map((event) => `${JSON.stringify({ ...event, session_id: SESSION })}\n`).join("");
	const OK = lines(
		{ type: "system", subtype: "init", apiKeySource: "login", cwd: "/x", model: "Auto", permissionMode: "default" },
		{ type: "user", message: { role: "user", content: [{ type: "text", text: "the task" }] } },
		{ type: "tool_call", subtype: "started", call_id: "c1", tool_call: { readToolCall: { args: { path: "README.md" } } } },
		{
			type: "tool_call",
			subtype: "completed",
			call_id: "c1",
			tool_call: { readToolCall: { args: { path: "README.md" }, result: { success: { content: "# Title", totalLines: 1 } } } },
		},
		{ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "Read it." }] } },
		{
			type: "result",
			subtype: "success",
			duration_ms: 7656,
			duration_api_ms: 7656,
			is_error: false,
			result: "Read it.",
			request_id: "r",
			usage: { inputTokens: 1200, outputTokens: 30, cacheReadTokens: 900, cacheWriteTokens: 0 },
		},
	);

	test("goes well: usage and tools in its own words", async () => {
		const player = new Player("cursor-agent").next({ stdout: OK, code: 0 });
		const { home, client, add } = await stage(player, "Cursor CLI");
		const job = await add({ permission: "full" });
		expect(await ended(client, job)).toMatchObject({ status: "succeeded", session: SESSION, usage: { tokens: 2130 } });
		expect(player.argv(1)).toEqual(["-p", "--trust", "--output-format", "stream-json", "--force", "the task"]);
		expect((await home.run(["logs", String(job)])).out).toBe("▸ read README.md\n  # Title\nRead it.\n· 2130 tokens\n");
	});

	test("its monthly limit: held until the day that it names", async () => {
		const words =
			"Error: You've hit your usage limit\nfallbackModel:\nchatMessage: *You've hit your free requests limit. Your usage limits will reset when your monthly cycle ends on 11/17/2126.*\n";
		const { client, add } = await stage(new Player("cursor-agent").next({ stderr: words, code: 1 }), "Cursor CLI");
		await add();
		expect(await isHeld(client, "rate_limited")).toMatchObject({ until: "2126-11-17T00:00:00.000Z" });
	});
});
