// Claude Code: `claude -p --output-format stream-json --verbose`. One object per line; the order of keys is not stable, so no code matches a line by its
// prefix.

import type { Adapter } from "../adapter.ts";
import { causeIn, causeOfStatus, causeOfText, firstKnown, isDenial } from "../stream/causes.ts";
import { type Cause, type Happening, type Json, NOTHING, type Used } from "../stream/happening.ts";
import { countIn, isObject, listIn, microIn, numberIn, objectIn, secondsIn, sessionIn, short, textIn, toolText } from "../stream/json.ts";
import { plus } from "../stream/usage.ts";
import { CLAUDE_TRANSCRIPT, usedByCall } from "./claude-transcript.ts";
import { COMMAND } from "./command.ts";

export const CLAUDE: Adapter = {
	profile: {
		...COMMAND.profile,
		output: "claude",
		command: ["claude", "-p", "--output-format", "stream-json", "--verbose", "{options}"],
		resume: ["claude", "-p", "--output-format", "stream-json", "--verbose", "--resume", "{session}", "{options}"],
		open: ["claude", "--resume", "{session}"],
		model: ["--model", "{model}"],
		permissions: {
			ask: ["--permission-mode", "default"],
			edit: ["--permission-mode", "acceptEdits"],
			full: ["--permission-mode", "bypassPermissions"],
		},
		allow: ["--allowedTools=Bash({command}:*)"],
		allow_tool: ["--allowedTools={tool}"],
		mcp: "run",
		// On SIGINT it still prints its result.
		stop_signal: "SIGINT",
		// The default of 10 retries would occupy a slot for three minutes.
		env: { CLAUDE_CODE_MAX_RETRIES: "2", DISABLE_AUTOUPDATER: "1" },
		home_variable: "CLAUDE_CONFIG_DIR",
	},
	known: {
		tested: "2.1.326",
		tested_older: "2.1.212",
		home: ".claude",
		logins: {
			files: [".credentials.json"],
			variables: [
				"ANTHROPIC_API_KEY",
				"ANTHROPIC_AUTH_TOKEN",
				"CLAUDE_CODE_OAUTH_TOKEN",
				"CLAUDE_CODE_USE_BEDROCK",
				"CLAUDE_CODE_USE_VERTEX",
			],
		},
		install: "npm install -g @anthropic-ai/claude-code, then claude and /login",
	},
	interpret,
	// Other formats also end with a `result`, of a different shape.
	knows: ({ type, subtype, is_error }) =>
		EVENTS.has(type) || (type === "result" && (typeof subtype === "string" || typeof is_error === "boolean")),
	tools: { shell: ["Bash"], file: ["Write", "Edit", "MultiEdit", "NotebookEdit", "Read"], web: ["WebFetch"] },
	mcp(server) {
		const config = { mcpServers: { sluice: { type: "stdio", ...server } } };
		return { options: [`--mcp-config=${JSON.stringify(config)}`, "--allowedTools=mcp__sluice"] };
	},
	readsGit: true,
	record: CLAUDE_TRANSCRIPT,
};

const EVENTS = new Set<unknown>([
	...["system", "assistant", "user", "rate_limit_event", "stream_event"],
	...["control_request", "control_response", "control_cancel_request", "auth_status", "keep_alive"],
	...["tool_progress", "tool_use_summary"],
	// Other programs with Claude Code's output format.
	...["tool_call", "thinking"],
]);

const ERRORS: Record<string, Cause> = {
	authentication_failed: "auth",
	oauth_org_not_allowed: "auth",
	account_on_hold: "auth",
	verification_required: "auth",
	cloud_credential_error: "auth",
	billing_error: "billing",
	rate_limit: "throttled",
	overloaded: "transient",
	server_error: "transient",
};
const ENDS: Record<string, Cause> = {
	error_max_turns: "budget",
	error_max_budget_usd: "budget",
	max_turns: "budget",
	budget_exhausted: "budget",
	prompt_too_long: "context",
	aborted_streaming: "aborted",
	aborted_tools: "aborted",
	usage_limit_reached: "limited",
};
const causeOfWord = (word: unknown): Cause => causeIn(ERRORS, word);
const endOfWord = (word: unknown): Cause => causeIn(ENDS, word);

function interpret(event: Json): Happening[] {
	return [...sessionIn(event.session_id), ...(MEANINGS.get(event.type)?.(event) ?? [])];
}

const MEANINGS = new Map<unknown, (event: Json) => Happening[]>([
	["system", system],
	["assistant", assistant],
	["user", ({ message }) => listIn(objectIn(message).content).map(objectIn).flatMap(toolResult)],
	["tool_call", toolCall],
	["rate_limit_event", ({ rate_limit_info }) => window(objectIn(rate_limit_info))],
	["result", result],
]);

function system(event: Json): Happening[] {
	const versions = [event.claude_code_version, event.qwen_code_version].map(textIn).filter((text) => text !== "");
	return [...(event.subtype === "api_retry" ? [retry(event)] : []), ...versions.map((text): Happening => ({ is: "version", text }))];
}

function toolResult(part: Json): Happening[] {
	if (part.type !== "tool_result") return [];
	const text = resultText(part.content);
	const how = part.is_error !== true ? "ok" : isDenial(text) ? "denied" : "failed";
	return [{ is: "tool_done", id: textIn(part.tool_use_id), how, text }];
}

function retry(event: Json): Happening {
	const cause = firstKnown(causeOfWord(event.error), causeOfStatus(event.error_status), "transient");
	const after = countIn(event.retry_delay_ms);
	const text = `${textIn(event.error) || "no connection"}${typeof event.error_status === "number" ? ` (${event.error_status})` : ""}`;
	return { is: "retry", cause, text: `${text}, try ${countIn(event.attempt)} of ${countIn(event.max_retries)}`, retry_after_ms: after };
}

function assistant(event: Json): Happening[] {
	const message = objectIn(event.message);
	const parts = listIn(message.content).map(objectIn);
	if (typeof event.error === "string") {
		const info = objectIn(objectIn(event.api_error_params).rate_limit_info);
		const text = parts.map((part) => textIn(part.text)).join(" ");
		// An error that the program cannot classify is most often a broken stream.
		const nameless: Cause = event.error === "unknown" ? firstKnown(causeOfText(text), "transient") : "unknown";
		const cause = firstKnown(endOfWord(event.api_error), causeOfWord(event.error), nameless);
		return [{ is: "trouble", cause, text, until: secondsIn(info.resetsAt) ?? undefined }];
	}
	const happened: Happening[] = [];
	if (textIn(message.id) !== "") happened.push({ is: "call", id: textIn(message.id), used: usedByCall(objectIn(message.usage), null) });
	for (const part of parts) {
		if (part.type === "text" && textIn(part.text) !== "") happened.push({ is: "said", text: textIn(part.text) });
		else if (part.type === "thinking") happened.push({ is: "thought", text: textIn(part.thinking) });
		else if (part.type === "tool_use")
			happened.push({ is: "tool", id: textIn(part.id), name: textIn(part.name), text: toolText(objectIn(part.input)) });
	}
	return happened;
}

/** Cursor's program reports a tool as `{tool_call: {readToolCall: {args, result}}}`. */
function toolCall(event: Json): Happening[] {
	const [[key, value] = ["tool", {}]] = Object.entries(objectIn(event.tool_call));
	const call = objectIn(value);
	const id = textIn(event.call_id);
	const name = textIn(call.name) || key.replace(/ToolCall$/, "");
	if (event.subtype !== "completed") return [{ is: "tool", id, name, text: toolText(objectIn(call.args)) }];
	const result = objectIn(call.result);
	const how = isObject(result.rejected) ? "denied" : isObject(result.error) || isObject(result.failure) ? "failed" : "ok";
	const details = objectIn(result.rejected ?? result.error ?? result.failure ?? result.success);
	const text =
		how === "denied" ? `${name}: ${toolText(objectIn(call.args))}` : short(textIn(details.content) || textIn(details.stdout), 2000);
	return [{ is: "tool_done", id, how, text: text || textIn(details.errorMessage) || textIn(details.message) }];
}

function window(info: Json): Happening[] {
	const until = secondsIn(info.resetsAt);
	// With overage the user pays beyond the plan, and the run continues. A rejection without a window is not a limit of the plan, but too many requests at
	// once.
	const isOfPlan = until !== null || textIn(info.rateLimitType) !== "";
	if (info.status === "rejected" && info.isUsingOverage !== true) return isOfPlan ? [{ is: "limit", until }] : [];
	if (info.status !== "allowed_warning") return [];
	const share = typeof info.utilization === "number" ? `${Math.round(info.utilization * 100)} %` : "most";
	return [{ is: "notice", text: `${share} of the ${textIn(info.rateLimitType).replaceAll("_", "-") || "usual"} limit is used` }];
}

function result(event: Json): Happening[] {
	const errors = listIn(event.errors).map(textIn).join("; ") || textIn(objectIn(event.error).message);
	const text = textIn(event.result) || errors;
	const badly = isBad(event, errors);
	const doubtful = !badly && (event.subtype !== "success" || event.is_error !== false);
	// If the event has no `permission_denials`, the refusals in tool results count.
	const denials = Array.isArray(event.permission_denials) ? event.permission_denials.map(objectIn) : null;
	const asked = denials?.flatMap(questionsIn);
	const denied = denials?.filter((one) => questionsIn(one).length === 0).map(denialText);
	const cause = badly
		? firstKnown(
				endOfWord(event.subtype),
				endOfWord(event.terminal_reason),
				endOfWord(event.api_error),
				causeOfStatus(event.api_error_status),
				causeOfText(text),
			)
		: "unknown";
	const happened: Happening[] = [];
	if (isObject(event.usage) || isObject(event.modelUsage)) {
		const since = event.model_usage_since_last_result;
		const own = isObject(since) ? usedBy(since, null) : undefined;
		happened.push({ is: "used", scope: "either", used: totalOf(event), own });
	}
	return [...happened, { is: "ended", how: badly ? "badly" : "well", cause, text, denied, asked, doubtful }];
}

/** A later version may use other words for its ends: they count as a failure only if the event says so. */
function isBad(event: Json, errors: string): boolean {
	if (event.is_error !== undefined && event.is_error !== null && event.is_error !== false && event.is_error !== "false") return true;
	if (event.subtype === "success" && event.is_error === false) return false;
	const reason = event.terminal_reason ?? "completed";
	const isNamed = [event.subtype, event.terminal_reason, event.api_error].some((word) => endOfWord(word) !== "unknown");
	return (
		/error/i.test(textIn(event.subtype)) || isNamed || reason !== "completed" || errors !== "" || (event.api_error_status ?? null) !== null
	);
}

/** Prefers the sums per model: `usage` leaves out the call that exceeded a budget. */
function totalOf(event: Json): Used {
	const models = objectIn(event.modelUsage);
	const cost = microIn(event.total_cost_usd);
	if (Object.keys(models).length > 0) return usedBy(models, cost);
	return usedByCall(objectIn(event.usage), cost);
}

function usedBy(models: Json, cost: number | null): Used {
	const all = Object.values(models).map(objectIn);
	const dollars = all.reduce((sum, one) => sum + numberIn(one.costUSD), 0);
	return { ...all.map((one) => usedByCall(one, null)).reduce(plus, NOTHING), cost_micro: cost ?? microIn(dollars) };
}

/** The questions of an AskUserQuestion call, which is denied when no person can answer. */
const questionsIn = (denial: Json): string[] =>
	listIn(objectIn(denial.tool_input).questions)
		.map((one) => textIn(objectIn(one).question))
		.filter((one) => one !== "");

const denialText = (denial: Json): string => `${textIn(denial.tool_name) || "a tool"}: ${toolText(objectIn(denial.tool_input))}`;

function resultText(content: unknown): string {
	if (typeof content === "string") return short(content, 2000);
	return short(
		listIn(content)
			.map((part) => textIn(objectIn(part).text))
			.join(" "),
		2000,
	);
}
