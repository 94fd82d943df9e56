// Gemini CLI: `gemini -o stream-json`, prompt on standard input. It reports neither cost nor reset times; some ends show only in its exit code.

import { windowEnd } from "../../time/window.ts";
import type { Adapter } from "../adapter.ts";
import { causeOfStatus, causeOfText, delayIn, isDenial } from "../stream/causes.ts";
import { type Cause, type Happening, type Json, NOTHING, type Trouble, type Used } from "../stream/happening.ts";
import { isObject, objectIn, sessionIn, short, textIn, toolText } from "../stream/json.ts";
import type { Reading } from "../stream/reading.ts";
import { plus, usedFrom } from "../stream/usage.ts";
import { COMMAND } from "./command.ts";
import { dotenvOfGeminiHome, geminiAccountEnv } from "./gemini-env.ts";
import { GEMINI_RECORD } from "./gemini-record.ts";

const COMMAND_WORDS = ["gemini", "-o", "stream-json", "--skip-trust"];

export const GEMINI: Adapter = {
	profile: {
		...COMMAND.profile,
		output: "gemini",
		command: [...COMMAND_WORDS, "{options}"],
		resume: [...COMMAND_WORDS, "--resume={session}", "{options}"],
		open: ["gemini", "--skip-trust", "--resume={session}"],
		model: ["--model={model}"],
		permissions: { ask: ["--approval-mode=default"], edit: ["--approval-mode=auto_edit"], full: ["--approval-mode=yolo"] },
		allow: ["--allowed-tools=run_shell_command({command})"],
		allow_tool: ["--allowed-tools={tool}"],
		mcp: "run",
		home_variable: "GEMINI_CLI_HOME",
	},
	known: {
		tested: "0.61.0",
		tested_older: "0.53.0",
		// The variable names the parent folder of .gemini.
		home: "",
		logins: {
			files: [".gemini/oauth_creds.json", ".gemini/gemini-credentials.json", ".gemini/.env"],
			variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI"],
		},
		install: "npm install -g @google/gemini-cli, then gemini",
	},
	interpret,
	knows(event) {
		const { type, severity, message } = event;
		// Other formats also have an `error`, of a different shape.
		if (type === "error") return typeof message === "string" && severity !== undefined;
		// `-o json` prints one object without a type.
		if (type === undefined) return isObject(event.stats) || (isObject(event.error) && event.session_id !== undefined);
		return EVENTS.has(type);
	},
	tools: { shell: ["run_shell_command"], file: ["write_file", "replace", "read_file"], web: ["web_fetch"] },
	// A policy file would work, too, but it would replace the user's own policies.
	mcp: () => ({ options: ["--allowed-tools=mcp_sluice_*"] }),
	environment: ({ env, accountEnv, accountHome, reveal }) => ({
		env: accountHome === undefined ? {} : { ...geminiAccountEnv(dotenvOfGeminiHome(accountHome, reveal), env), ...accountEnv },
	}),
	exitCause,
	withStderr: withErrorOnStderr,
	stderrRetries: { words: (line) => line, inVain },
	record: GEMINI_RECORD,
};

const EVENTS = new Set<unknown>(["init", "message", "tool_use", "tool_result", "result"]);

/** Gemini CLI removes tools that are not allowed: it refuses a call of one as unknown. */
const GATED = /"(?:run_shell_command|write_file|replace|edit|web_fetch|google_web_search|save_memory)" not found/;

function interpret(event: Json): Happening[] {
	switch (event.type) {
		case "init":
			return sessionIn(event.session_id);
		case "message":
			if (event.role !== "assistant") return [];
			return [{ is: "said", text: textIn(event.content), piece: event.delta === true }];
		case "tool_use":
			return [{ is: "tool", id: textIn(event.tool_id), name: textIn(event.tool_name), text: toolText(objectIn(event.parameters)) }];
		case "tool_result": {
			const error = objectIn(event.error);
			const wrong = textIn(error.message);
			const isRefused = isDenial(`${wrong} ${textIn(event.output)}`) || (error.type === "tool_not_registered" && GATED.test(wrong));
			const how = event.status === "success" ? "ok" : isRefused ? "denied" : "failed";
			return [{ is: "tool_done", id: textIn(event.tool_id), how, text: short(textIn(event.output) || wrong, 2000) }];
		}
		case "error": {
			const text = textIn(event.message);
			return [event.severity === "warning" ? { is: "notice", text } : { is: "trouble", cause: causeOfText(text), text }];
		}
		case "result":
			return result(event);
		default:
			// `-o json` prints one object without a type.
			return isSingle(event) ? single(event) : [];
	}
}

function result(event: Json): Happening[] {
	const stats = objectIn(event.stats);
	const used: Happening[] = isObject(event.stats) ? [{ is: "used", scope: "process", used: usedIn(stats) }] : [];
	if (event.status === "success") return [...used, { is: "ended", how: "well", cause: "unknown", text: "" }];
	const text = textIn(objectIn(event.error).message);
	const cause = causeOfText(text);
	const limit: Happening[] = cause === "limited" ? [{ is: "limit", ...dayEnd(Date.parse(textIn(event.timestamp))) }] : [];
	return [...used, ...limit, { is: "ended", how: "badly", cause, text }];
}

/** The provider names no reset time. Daily quotas reset at midnight in California. */
const dayEnd = (now: number): NonNullable<Reading["limit"]> =>
	Number.isNaN(now) ? { until: null } : { until: windowEnd("day", now, "America/Los_Angeles"), assumed: "midnight in California" };

/**
 * Version 0.53 reports most failures only as "An unknown error occurred" on stdout, and exits with 1. The cause is in the last error on stderr: `Error when
 * talking to Gemini API Full report available at: FILE NAME: WORDS`, then its stack and its fields.
 */
function withErrorOnStderr(reading: Reading, stderr: string, now: number): Reading {
	const { ended } = reading;
	if (ended?.how !== "badly" || ended.cause !== "unknown") return reading;
	const printed = stderr.split(/^Error when talking to Gemini API/m).at(-1) as string;
	if (printed === stderr) return reading;
	const lines = printed
		.replace(/^.*?\.json /, "")
		.split("\n")
		.filter((line) => !/^\s+at /.test(line) && !/^\s+\w+: \d+,?$/.test(line));
	const cause = causeOfText(lines.join("\n"));
	if (cause === "unknown") return reading;
	const limit = cause === "limited" ? dayEnd(now) : reading.limit;
	return { ...reading, limit, ended: { ...ended, cause, text: (lines[0] ?? "").replace(/^\w*(?:Error|ApiError): /, "") } };
}

/** A stream event whose type is missing has no `response`; it must not be mistaken for the single object of `-o json`. */
const isSingle = ({ type, stats, response, error }: Json): boolean =>
	type === undefined && isObject(stats) && (typeof response === "string" || isObject(error));

function single(event: Json): Happening[] {
	const session = sessionIn(event.session_id);
	if (isObject(event.error)) {
		const text = textIn(event.error.message);
		return [...session, { is: "ended", how: "badly", cause: causeOfText(text), text }];
	}
	const models = Object.values(objectIn(objectIn(event.stats).models)).map((one) => objectIn(objectIn(one).tokens));
	const used = models.map((tokens) => usedFrom(tokens, ["total", "prompt", "candidates", "cached"])).reduce(plus, NOTHING);
	return [
		...session,
		{ is: "said", text: textIn(event.response) },
		{ is: "used", scope: "process", used },
		{ is: "ended", how: "well", cause: "unknown", text: "" },
	];
}

const usedIn = (stats: Json): Used => usedFrom(stats, ["total_tokens", "input_tokens", "output_tokens", "cached"]);

const CODES: Record<number, Cause> = { 41: "auth", 53: "budget", 55: "needs_human", 130: "aborted" };

/** The cause by the exit code alone: Gemini CLI's own codes, or the API's last status modulo 256. */
function exitCause(code: number): Cause {
	const own = CODES[code];
	if (own !== undefined) return own;
	return causeOfStatus([401, 402, 403, 413, 429, 500, 502, 503, 504].find((status) => status % 256 === code));
}

/** How many attempts at one model call Sluice allows. */
const ATTEMPTS = 2;

/** Gemini CLI reports each attempt ("Attempt 2 failed …. Retrying …") and counts from one again for the next call. */
function inVain(stderr: string): Trouble | null {
	const last = [...stderr.matchAll(/^Attempt (\d+) failed/gm)].at(-1);
	if (last === undefined || Number(last[1]) < ATTEMPTS) return null;
	const lastAttempt = stderr.slice(last.index);
	const [, words, error] = /^(Attempt .*?)Retrying (?:after \d+ms|with backoff)\.\.\.(.*)$/s.exec(lastAttempt) ?? [];
	if (words === undefined || error === undefined) return null;
	const cause = causeOfText(lastAttempt);
	if (!["throttled", "limited", "transient"].includes(cause)) return null;
	return { cause, text: wordsOfFailure(words, error), retry_after_ms: delayIn(words) };
}

/** `words` name the failure, or only its status; in that case `error` holds the provider's response. */
function wordsOfFailure(words: string, error: string): string {
	const named = /^Attempt \d+ failed: (.*)/.exec(words)?.[1]?.trim();
	const answered = /"message": ?"((?:[^"\\]|\\.)+)"/.exec(error)?.[1];
	const firstLine = error.split("\n")[0]?.trim();
	return named || answered || firstLine || words.trim();
}
