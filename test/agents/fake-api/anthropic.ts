// Anthropic Messages, as Claude Code uses it: `POST /v1/messages` answered with server-sent events.

import {
	type Asked,
	type Dialect,
	eventsReply,
	type Failure,
	type Handed,
	jsonReply,
	parse,
	type Reply,
	retryAfter,
	shellTool,
} from "./turn.ts";

type Tool = { name: string; input_schema?: { properties?: Record<string, unknown> } };

const error = (status: number, type: string, message: string, headers: Record<string, string> = {}): Reply =>
	jsonReply(status, { type: "error", error: { type, message }, request_id: "req_fake" }, { "request-id": "req_fake", ...headers });

/** What a subscription's answers carry; resets in unix seconds. */
function unified(status: "rejected" | "allowed", reset: number): Record<string, string> {
	const prefix = "anthropic-ratelimit-unified";
	return {
		[`${prefix}-status`]: status,
		[`${prefix}-reset`]: String(reset),
		[`${prefix}-representative-claim`]: "five_hour",
		[`${prefix}-fallback-percentage`]: "0.5",
		[`${prefix}-overage-status`]: "rejected",
		[`${prefix}-overage-disabled-reason`]: "org_level_disabled",
		[`${prefix}-5h-status`]: status,
		[`${prefix}-5h-reset`]: String(reset),
		[`${prefix}-5h-utilization`]: status === "rejected" ? "1.0" : "0.4",
		[`${prefix}-7d-status`]: "allowed",
		[`${prefix}-7d-reset`]: String(reset + 86_400),
		[`${prefix}-7d-utilization`]: "0.31",
	};
}

function fail(failure: Failure, resetsAt: number): Reply {
	switch (failure.fail) {
		case "throttled":
			return error(429, "rate_limit_error", "This request would exceed your account's rate limit.", retryAfter(failure.retryAfterS));
		case "limited":
			return error(429, "rate_limit_error", "You have reached your limit.", unified("rejected", resetsAt));
		case "overloaded":
			return error(529, "overloaded_error", "Overloaded");
		case "unavailable":
			return error(503, "api_error", "Service unavailable");
		case "internal":
			return error(500, "api_error", "Internal server error");
		case "auth":
			return error(401, "authentication_error", "invalid x-api-key");
		case "billing":
			return error(
				400,
				"invalid_request_error",
				"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
			);
		case "context":
			return error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
	}
}

function stream(
	asked: Asked,
	block: Record<string, unknown>,
	delta: Record<string, unknown>,
	stop: string,
	usage: Handed,
	id: number,
): Reply {
	const tokens = {
		input_tokens: usage.input,
		cache_read_input_tokens: usage.cacheRead,
		cache_creation_input_tokens: usage.cacheWrite,
		output_tokens: usage.output,
	};
	const message = { id: `msg_${id}`, type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null };
	return eventsReply([
		{
			type: "message_start",
			message: { ...message, stop_sequence: null, usage: { ...tokens, output_tokens: Math.min(1, usage.output) } },
		} as { type: string },
		{ type: "content_block_start", index: 0, content_block: block } as { type: string },
		{ type: "content_block_delta", index: 0, delta } as { type: string },
		{ type: "content_block_stop", index: 0 } as { type: string },
		{ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: tokens } as { type: string },
		{ type: "message_stop" },
	]);
}

export const anthropic: Dialect = {
	name: "anthropic",
	read({ method, path, headers, body }) {
		if (method !== "POST" || !path.startsWith("/v1/messages")) return undefined;
		const asked = parse(body);
		const key = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "") ?? "";
		// The turns of a session offer tools; what offers none is housekeeping.
		const side = !Array.isArray(asked.tools) || asked.tools.length === 0;
		return { key, model: String(asked.model), side, body: asked };
	},
	say: (asked, text, usage, id) => stream(asked, { type: "text", text: "" }, { type: "text_delta", text }, "end_turn", usage, id),
	tool(asked, name, input, usage, id) {
		const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
		return stream(asked, { type: "tool_use", id: `toolu_${id}`, name, input: {} }, delta, "tool_use", usage, id);
	},
	offered: ({ body }) =>
		((body.tools ?? []) as Tool[]).map(({ name, input_schema }) => ({ name, properties: input_schema?.properties ?? {} })),
	shell(asked, command) {
		const { name, argument } = shellTool(anthropic.offered(asked), "Bash");
		return { name, input: { [argument]: command, description: "do as told" } };
	},
	fail,
};
