// OpenAI chat completions, as opencode uses it for a provider of one's own: `POST /v1/chat/completions`.

import { type Asked, type Dialect, type Failure, type Handed, jsonReply, parse, type Reply, retryAfter, SSE, shellTool } from "./turn.ts";

type Tool = { function?: { name: string; parameters?: { properties?: Record<string, unknown> } } };

const error = (status: number, body: Record<string, unknown>, headers: Record<string, string> = {}): Reply =>
	jsonReply(status, { error: body }, { "x-request-id": "req_fake", ...headers });

function fail(failure: Failure, resetsAt: number): Reply {
	switch (failure.fail) {
		case "throttled":
			return error(429, { type: "tokens", code: "rate_limit_exceeded", message: "Rate limit reached" }, retryAfter(failure.retryAfterS));
		case "limited":
			// The one way in which this dialect can tell when.
			return error(
				429,
				{ type: "usage_limit", code: "usage_limit_reached", message: "Usage limit reached" },
				retryAfter(Math.max(1, Math.ceil(resetsAt - Date.now() / 1000))),
			);
		case "overloaded":
			return error(529, { type: "overloaded_error", message: "Overloaded" });
		case "unavailable":
			return error(503, { type: "server_error", message: "Service unavailable" });
		case "internal":
			return error(500, { type: "server_error", message: "The server had an error" });
		case "auth":
			return error(401, { type: "invalid_request_error", code: "invalid_api_key", message: "Incorrect API key provided." });
		case "billing":
			return error(429, {
				type: "insufficient_quota",
				code: "insufficient_quota",
				message: "You exceeded your current quota, please check your plan and billing details.",
			});
		case "context":
			return error(400, {
				type: "invalid_request_error",
				code: "context_length_exceeded",
				message: "This model's maximum context length is 128000 tokens.",
			});
	}
}

function stream(asked: Asked, delta: Record<string, unknown>, finish: string, usage: Handed, id: number): Reply {
	const chunk = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created: 1_700_000_000, model: asked.model };
	const prompt = usage.input + usage.cacheRead;
	const tokens = {
		prompt_tokens: prompt,
		prompt_tokens_details: { cached_tokens: usage.cacheRead },
		completion_tokens: usage.output,
		completion_tokens_details: { reasoning_tokens: usage.reasoning },
		total_tokens: prompt + usage.output,
	};
	const chunks = [
		{ ...chunk, choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] },
		{ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
		{ ...chunk, choices: [], usage: tokens },
	];
	return { status: 200, headers: SSE, body: `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n` };
}

export const chat: Dialect = {
	name: "chat",
	read({ method, path, headers, body }) {
		if (method !== "POST" || !path.startsWith("/v1/chat/completions")) return undefined;
		const asked = parse(body);
		// The title of a session is asked for without tools.
		const side = !Array.isArray(asked.tools) || asked.tools.length === 0;
		return { key: headers.authorization?.replace(/^Bearer /, "") ?? "", model: String(asked.model), side, body: asked };
	},
	say: (asked, text, usage, id) => stream(asked, { content: text }, "stop", usage, id),
	tool(asked, name, input, usage, id) {
		const call = { index: 0, id: `call_${id}`, type: "function", function: { name, arguments: JSON.stringify(input) } };
		return stream(asked, { tool_calls: [call] }, "tool_calls", usage, id);
	},
	offered: ({ body }) =>
		((body.tools ?? []) as Tool[])
			.flatMap((tool) => (tool.function ? [tool.function] : []))
			.map(({ name, parameters }) => ({ name, properties: parameters?.properties ?? {} })),
	shell(asked, command) {
		const { name, argument } = shellTool(chat.offered(asked), "bash");
		return { name, input: { [argument]: command, description: "do as told" } };
	},
	fail,
};
