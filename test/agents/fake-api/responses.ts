// OpenAI Responses, as Codex uses it: `POST /v1/responses` answered with server-sent events.

import {
	type Dialect,
	eventsReply,
	type Failure,
	type Handed,
	jsonReply,
	type Offered,
	parse,
	type Reply,
	retryAfter,
	shellTool,
} from "./turn.ts";

type Tool = { type: string; name?: string; parameters?: { properties?: Record<string, unknown> }; tools?: Tool[] };

/** A function, or those of a server, which come in a namespace of its name. */
function functionsOf({ type, name = "", parameters, tools = [] }: Tool): Offered[] {
	if (type === "namespace") return tools.flatMap(functionsOf).map((tool) => ({ ...tool, name: `${name}__${tool.name}` }));
	return type === "function" ? [{ name, properties: parameters?.properties ?? {} }] : [];
}

const error = (status: number, body: Record<string, unknown>, headers: Record<string, string> = {}): Reply =>
	jsonReply(status, { error: body }, { "x-request-id": "req_fake", ...headers });

function fail(failure: Failure, resetsAt: number): Reply {
	switch (failure.fail) {
		case "throttled":
			return error(
				429,
				{ type: "requests", code: "rate_limit_exceeded", message: "Rate limit reached for requests." },
				retryAfter(failure.retryAfterS),
			);
		case "limited": {
			const left = Math.max(0, resetsAt - Math.floor(Date.now() / 1000));
			const body = { type: "usage_limit_reached", message: "The usage limit has been reached", plan_type: "plus" };
			return error(
				429,
				{ ...body, resets_at: resetsAt, resets_in_seconds: left },
				{
					"x-codex-primary-used-percent": "100",
					"x-codex-primary-window-minutes": "300",
					"x-codex-primary-reset-at": String(resetsAt),
					"x-codex-secondary-used-percent": "31",
					"x-codex-secondary-window-minutes": "10080",
					"x-codex-secondary-reset-at": String(resetsAt + 86_400),
				},
			);
		}
		case "overloaded":
			return error(503, { type: "server_error", code: "server_is_overloaded", message: "The server is overloaded." });
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
			return eventsReply([
				{ type: "response.created", response: { id: "resp_fake" } } as { type: string },
				{
					type: "response.failed",
					response: { id: "resp_fake", error: { code: "context_length_exceeded", message: "Your input exceeds the context window." } },
				} as { type: string },
			]);
	}
}

function stream(item: Record<string, unknown>, usage: Handed, id: number): Reply {
	const input = usage.input + usage.cacheRead;
	const tokens = {
		input_tokens: input,
		input_tokens_details: { cached_tokens: usage.cacheRead },
		output_tokens: usage.output,
		output_tokens_details: { reasoning_tokens: usage.reasoning },
		total_tokens: input + usage.output,
	};
	return eventsReply([
		{ type: "response.created", response: { id: `resp_${id}` } } as { type: string },
		{ type: "response.output_item.done", output_index: 0, item } as { type: string },
		{ type: "response.completed", response: { id: `resp_${id}`, usage: tokens } } as { type: string },
	]);
}

export const responses: Dialect = {
	name: "responses",
	read({ method, path, headers, body }) {
		if (method !== "POST" || !path.startsWith("/v1/responses")) return undefined;
		const asked = parse(body);
		return { key: headers.authorization?.replace(/^Bearer /, "") ?? "", model: String(asked.model), side: false, body: asked };
	},
	say(_asked, text, usage, id) {
		return stream({ type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text }] }, usage, id);
	},
	tool(asked, name, input, usage, id) {
		// Tools of a server are offered under its name, and called so.
		const within = ((asked.body.tools ?? []) as Tool[]).find(
			(tool) => tool.type === "namespace" && name.startsWith(`${tool.name}__`),
		)?.name;
		const own = within === undefined ? { name } : { namespace: within, name: name.slice(within.length + 2) };
		const call = { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, ...own, arguments: JSON.stringify(input) };
		return stream(call, usage, id);
	},
	offered: ({ body }) => ((body.tools ?? []) as Tool[]).flatMap(functionsOf),
	shell(asked, command) {
		const { name, argument } = shellTool(responses.offered(asked), "exec_command");
		// The oldest of these tools takes the words of a command line.
		return { name, input: { [argument]: name === "shell" ? ["bash", "-lc", command] : command } };
	},
	fail,
};
