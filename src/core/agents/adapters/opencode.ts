// opencode: `opencode run --format json`. There is no final event: a turn is over after `step_finish` with reason stop. Cost and tokens come per step.

import type { Adapter } from "../adapter.ts";
import { causeOfStatus, causeOfText, isDenial } from "../stream/causes.ts";
import type { Cause, Happening, Json, Trouble } from "../stream/happening.ts";
import { countIn, isObject, microIn, objectIn, sessionIn, short, textIn, toolText } from "../stream/json.ts";
import { COMMAND } from "./command.ts";
import { OPENCODE_CONFIG, OPENCODE_OBEYS, opencodeConfig } from "./opencode-config.ts";

/** opencode retries silently, and no option limits that; its log on stderr shows the retries. */
const COMMAND_WORDS = ["opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"];

export const OPENCODE: Adapter = {
	profile: {
		...COMMAND.profile,
		output: "opencode",
		// Without a title, opencode makes an extra call to create one, whose usage is not in its output and so not on any ledger.
		command: [...COMMAND_WORDS, "--title", "{title}", "{options}"],
		resume: [...COMMAND_WORDS, "-s", "{session}", "{options}"],
		open: ["opencode", "-s", "{session}"],
		model: ["-m", "{model}"],
		permissions: { ask: ["--agent", "{agent}"], edit: ["--agent", "{agent}"], full: ["--auto"] },
		ruled: ["ask", "edit"],
		// No `allow`: opencode-config.ts makes rules.
		mcp: "run",
		env: { OPENCODE_DISABLE_AUTOUPDATE: "1" },
		home_variable: "XDG_DATA_HOME",
	},
	known: {
		tested: "1.18.33",
		tested_older: "1.18.3",
		home: ".local/share",
		logins: { files: ["opencode/auth.json"], variables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"] },
		install: "npm install -g opencode-ai, then opencode auth login",
		obeys_since: OPENCODE_OBEYS,
	},
	interpret,
	// Other formats also have an `error`, of a different shape.
	knows: ({ type, error }) => (type === "error" ? isObject(error) : MEANINGS.has(type)),
	tools: { shell: ["bash"], file: ["write", "edit", "patch", "multiedit", "apply_patch", "read"], web: ["webfetch"] },
	mcp: ({ command, args }) => ({ options: [], servers: { sluice: { type: "local", command: [command, ...args], enabled: true } } }),
	environment({ env, permission, commands, tools, agent, mcp }) {
		const config = opencodeConfig({ permission, allow: commands, tools, agent, mcp: mcp.servers, given: env[OPENCODE_CONFIG] });
		if ("problem" in config) return config;
		return { env: config.text === undefined ? {} : { [OPENCODE_CONFIG]: config.text } };
	},
	stderrRetries: { words: wordsOf, inVain },
};

function interpret(event: Json): Happening[] {
	return [...sessionIn(event.sessionID), ...(MEANINGS.get(event.type)?.(objectIn(event.part), event) ?? [])];
}

const MEANINGS = new Map<unknown, (part: Json, event: Json) => Happening[]>([
	["step_start", (_, { timestamp }) => [{ is: "turn", at: countIn(timestamp) }]],
	["text", ({ text }) => [{ is: "said", text: textIn(text) }]],
	["reasoning", ({ text }) => [{ is: "thought", text: textIn(text) }]],
	["tool_use", tool],
	["step_finish", finished],
	["error", (_, { error }) => failed(objectIn(error))],
]);

function tool(part: Json): Happening[] {
	const state = objectIn(part.state);
	const id = textIn(part.callID);
	const started: Happening = { is: "tool", id, name: textIn(part.tool), text: toolText(objectIn(state.input)) };
	if (state.status === "running" || state.status === "pending") return [started];
	const wrong = textIn(state.error);
	const how = state.status !== "error" ? "ok" : isDenial(wrong) ? "denied" : "failed";
	const text = how === "denied" ? `${textIn(part.tool)}: ${toolText(objectIn(state.input))}` : short(textIn(state.output) || wrong, 2000);
	return [started, { is: "tool_done", id, how, text }];
}

function finished(part: Json): Happening[] {
	const tokens = objectIn(part.tokens);
	const cache = objectIn(tokens.cache);
	const [input_tokens, output_tokens] = [countIn(tokens.input), countIn(tokens.output)];
	const [cached_tokens, cache_write_tokens] = [countIn(cache.read), countIn(cache.write)];
	const used = {
		tokens: countIn(tokens.total) || input_tokens + output_tokens + countIn(tokens.reasoning) + cached_tokens + cache_write_tokens,
		input_tokens,
		output_tokens,
		cached_tokens,
		cache_write_tokens,
		cost_micro: microIn(part.cost),
	};
	const happened: Happening[] = [{ is: "used", scope: "step", used, id: textIn(part.id) || undefined }];
	if (part.reason === "stop") happened.push({ is: "ended", how: "well", cause: "unknown", text: "" });
	else if (part.reason === "length")
		happened.push({ is: "ended", how: "badly", cause: "context", text: "the answer was longer than the model may write" });
	return happened;
}

function failed(error: Json): Happening[] {
	const data = objectIn(error.data);
	const text = textIn(data.message) || textIn(error.name) || "an error without words";
	const retry_after_ms = retryAfter(objectIn(data.responseHeaders));
	const cause = causeOf(error, data, text);
	return [
		{ is: "trouble", cause, text, retry_after_ms },
		{ is: "ended", how: "badly", cause, text },
	];
}

function causeOf(error: Json, data: Json, text: string): Cause {
	if (error.name === "ProviderAuthError") return "auth";
	if (error.name === "MessageAbortedError") return "aborted";
	if (error.name === "ContextOverflowError") return "context";
	// A 429 may mean that no money is left: the words of the response say so.
	const words = causeOfText(`${text} ${textIn(data.responseBody)}`);
	if (words === "billing" || words === "limited" || words === "context") return words;
	const status = causeOfStatus(data.statusCode);
	return status === "unknown" ? words : status;
}

function retryAfter(headers: Json): number | undefined {
	const exact = Number(textIn(headers["retry-after-ms"]) || Number.NaN);
	if (Number.isFinite(exact)) return countIn(exact);
	const header = textIn(headers["retry-after"]);
	if (/^\d+(?:\.\d+)?$/.test(header)) return countIn(Number(header) * 1000);
	// A date: converted to a span by the server's own clock.
	const span = Date.parse(header) - Date.parse(textIn(headers.date));
	return Number.isFinite(span) && span > 0 ? span : undefined;
}

/** How many attempts at one model call Sluice allows. */
const ATTEMPTS = 6;

/** opencode logs one line for each failure, with its time. */
function inVain(stderr: string, since: number): Trouble | null {
	const failures = stderr
		.split("\n")
		.filter((line) => / message="stream error" /.test(line) && Date.parse(/^timestamp=(\S+)/.exec(line)?.[1] ?? "") >= since);
	const last = failures.at(-1);
	if (last === undefined || failures.length < ATTEMPTS) return null;
	const cause = causeOfText(wordsOf(last));
	return ["throttled", "limited", "transient", "billing", "auth"].includes(cause) ? { cause, text: wordsOf(last) } : null;
}

/** A line of opencode's log has the message in its last field. */
function wordsOf(line: string): string {
	return /\berror\.error="?([^"]*)/.exec(line)?.[1] ?? line;
}
