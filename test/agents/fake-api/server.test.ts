// The fake API itself: each dialect answers what it was told to, and counts what it hands out.

import { describe, expect, onTestFinished, test } from "vitest";
import { FakeApi } from "./server.ts";
import type { Turn } from "./turn.ts";

const DIALECTS = {
	anthropic: {
		path: "/v1/messages?beta=true",
		headers: { "x-api-key": "k" },
		body: {
			model: "m",
			tools: [{ name: "Bash", input_schema: { properties: { command: {} } } }, { name: "Write" }, { name: "mcp__sluice__run_fail" }],
		},
		written: '{\\"file_path\\":\\"/tmp/a\\",\\"content\\":\\"x\\"}',
		served: '"name":"mcp__sluice__run_fail"',
		said: '"text_delta","text":"hello"',
		called: '"name":"Bash"',
	},
	responses: {
		path: "/v1/responses",
		headers: { authorization: "Bearer k" },
		body: {
			model: "m",
			tools: [
				{ type: "function", name: "exec_command", parameters: { properties: { cmd: {} } } },
				{ type: "namespace", name: "mcp__sluice", tools: [{ type: "function", name: "run_fail" }] },
			],
		},
		written: "printf %s 'x' > '/tmp/a'",
		served: '"namespace":"mcp__sluice","name":"run_fail"',
		said: '"output_text","text":"hello"',
		called: '\\"cmd\\":\\"ls\\"',
	},
	gemini: {
		path: "/v1beta/models/m:streamGenerateContent?alt=sse",
		headers: { "x-goog-api-key": "k" },
		body: {
			tools: [
				{ functionDeclarations: [{ name: "run_shell_command", parametersJsonSchema: { properties: { command: {} } } }] },
				{ functionDeclarations: [{ name: "write_file" }, { name: "mcp_sluice_run_fail" }] },
			],
		},
		written: '"args":{"file_path":"/tmp/a","content":"x"}',
		served: '"name":"mcp_sluice_run_fail"',
		said: '{"text":"hello"}',
		called: '"name":"run_shell_command"',
	},
	chat: {
		path: "/v1/chat/completions",
		headers: { authorization: "Bearer k" },
		body: {
			model: "m",
			tools: [
				{ function: { name: "bash", parameters: { properties: { command: {} } } } },
				{ function: { name: "write", parameters: { properties: { filePath: {} } } } },
				{ function: { name: "sluice_run_fail" } },
			],
		},
		written: '{\\"filePath\\":\\"/tmp/a\\",\\"content\\":\\"x\\"}',
		served: '"name":"sluice_run_fail"',
		said: '"content":"hello"',
		called: '"name":"bash"',
	},
};

describe.each(Object.entries(DIALECTS))("%s", (_name, dialect) => {
	const open = async (turns: Turn[], then?: Turn) => {
		const api = await FakeApi.open();
		onTestFinished(() => api.close());
		api.script("k", turns, then);
		const ask = async () => {
			const answer = await fetch(api.url + dialect.path, {
				method: "POST",
				headers: { "content-type": "application/json", ...(dialect.headers as Record<string, string>) },
				body: JSON.stringify(dialect.body),
			});
			return { status: answer.status, text: await answer.text(), headers: answer.headers };
		};
		return { api, ask };
	};

	test("says, calls the shell that was offered, and counts", async () => {
		const usage = { input: 10, cacheRead: 20, cacheWrite: 0, output: 5, reasoning: 0 };
		const { api, ask } = await open([{ shell: "ls", usage }], { say: "hello", usage });
		expect((await ask()).text).toContain(dialect.called);
		expect((await ask()).text).toContain(dialect.said);
		expect(api.handed("k")).toEqual({ input: 20, cacheRead: 40, cacheWrite: 0, output: 10, reasoning: 0 });
		expect(api.handed("somebody else")).toMatchObject({ input: 0, output: 0 });
	});

	test("a quota that is used up stays so until its reset", async () => {
		const { api, ask } = await open([{ fail: "limited", resetsInS: 3600 }], { say: "hello" });
		expect((await ask()).status).toBe(429);
		expect((await ask()).status).toBe(429);
		expect(api.resetOf("k")).toBeGreaterThan(Date.now() + 3_500_000);
		api.reset("k");
		expect((await ask()).text).toContain(dialect.said);
		expect(api.turnsOf("k")).toHaveLength(3);
	});

	test("calls the tool that writes files, and a server's by its own name", async () => {
		const { ask } = await open([
			{ write: "/tmp/a", content: "x" },
			{ mcp: "run_fail", input: { text: "no" } },
		]);
		expect((await ask()).text).toContain(dialect.written);
		expect((await ask()).text).toContain(dialect.served);
	});

	test("looks around until a server's tool is offered, for a while", async () => {
		const { api, ask } = await open([{ mcp: "job_add", input: {} }], { say: "hello" });
		for (let count = 0; count < 20; count++) expect((await ask()).text).not.toContain("job_add");
		expect((await ask()).text).toContain("no_job_add_was_offered");
		expect((await ask()).text).toContain(dialect.said);
		expect(api.turnsOf("k")).toHaveLength(22);
	});

	test("breaks off in the middle, and hangs there", async () => {
		const { api, ask } = await open([{ drop: "midway" }, { hang: "midway" }]);
		await expect(ask()).rejects.toThrow();
		const begun = await fetch(api.url + dialect.path, {
			method: "POST",
			headers: dialect.headers as Record<string, string>,
			body: JSON.stringify(dialect.body),
		});
		const reader = begun.body!.getReader();
		expect((await reader.read()).value?.length).toBeGreaterThan(10);
		await reader.cancel();
		expect(api.handed("k")).toMatchObject({ input: 0, output: 0 });
	});

	test("every failure is an error, none costs anything", async () => {
		for (const fail of ["throttled", "overloaded", "unavailable", "internal", "auth", "billing", "context"] as const) {
			const { api, ask } = await open([{ fail }]);
			const { status, text } = await ask();
			if (status === 200) expect(text, fail).toContain("response.failed");
			else expect(status, fail).toBeGreaterThanOrEqual(400);
			expect(api.handed("k").output).toBe(0);
		}
	});
});

test("what would leave loopback is refused, and told of", async () => {
	const api = await FakeApi.open();
	onTestFinished(() => api.close());
	const { request } = await import("node:http");
	const status = await new Promise((resolve) => {
		const asked = request({ host: "127.0.0.1", port: api.port, method: "CONNECT", path: "elsewhere.example:443" });
		asked.once("connect", (answer) => resolve(answer.statusCode));
		asked.end();
	});
	expect(status).toBe(403);
	expect(api.strange).toEqual(["CONNECT elsewhere.example:443"]);
});
