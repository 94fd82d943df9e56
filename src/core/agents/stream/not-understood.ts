// Output that an adapter does not know: which events count as unknown, and what people read about a run that was not understood.
//
// A newer version of a program may rename or wrap its events. Such a run may have done all of its work, so it is not retried: a second run would cost as much
// and would not be understood either. Nor does it count as done. It waits for a person:
//
//   exit code   what was understood                       outcome
//   0           nothing, or everything but the end        needs_human: a person reads the log and the changes
//   other       nothing                                   crashed, by retry policy; the message says that the output was not understood
//   any         the end                                   as the end says; lines that were not understood are counted (`not_understood`)

import type { Format } from "../profile.ts";
import type { Json } from "./happening.ts";
import { isObject } from "./json.ts";
import type { Reading } from "./reading.ts";

/** Events that an adapter knows, including those that it ignores. */
const TYPES: Record<Exclude<Format, "command">, ReadonlySet<string>> = {
	claude: new Set([
		"system",
		"assistant",
		"user",
		"rate_limit_event",
		"stream_event",
		"control_request",
		"control_response",
		"control_cancel_request",
		"tool_progress",
		"tool_use_summary",
		"auth_status",
		"keep_alive",
		// Other programs with Claude Code's output format.
		"tool_call",
		"thinking",
	]),
	codex: new Set([
		"thread.started",
		"turn.started",
		"turn.completed",
		"turn.failed",
		"item.started",
		"item.updated",
		"item.completed",
		"error",
	]),
	gemini: new Set(["init", "message", "tool_use", "tool_result", "error", "result"]),
	opencode: new Set(["step_start", "step_finish", "text", "reasoning", "tool_use", "error"]),
};
const APP_SERVER = /^(?:(?:thread|turn|item|account|remoteControl)\/|(?:error|warning|configWarning|initialize|initialized)$)/;

export function isKnownEvent(format: Format, event: Json): boolean {
	if (format === "command") return true;
	// Every format has an `error` event, each of a different shape.
	if (event.type === "error" && !isErrorOf(format, event)) return false;
	if (format === "codex" && isObject(event.item) && !isKnownItem(event.item)) return false;
	if (typeof event.type === "string" && TYPES[format].has(event.type)) return true;
	switch (format) {
		case "claude":
			// Other formats also end with a `result`, of a different shape.
			return event.type === "result" && (typeof event.subtype === "string" || typeof event.is_error === "boolean");
		case "codex":
			return typeof event.method === "string" ? APP_SERVER.test(event.method) : event.id !== undefined && isObject(event.result);
		case "gemini":
			// `-o json` prints one object without a type.
			return event.type === undefined && (isObject(event.stats) || (isObject(event.error) && event.session_id !== undefined));
		case "opencode":
			return false;
		default:
			return format satisfies never;
	}
}

/** Codex's events are about items. A message without text counts as unknown. */
const isKnownItem = ({ type, text }: Json): boolean =>
	typeof type === "string" && ITEMS.has(type) && (type !== "agent_message" || typeof text === "string");
const ITEMS = new Set([
	...["agent_message", "reasoning", "error", "todo_list", "command_execution", "file_change", "mcp_tool_call", "collab_tool_call"],
	...["web_search", "user_message"],
]);

function isErrorOf(format: Format, event: Json): boolean {
	if (format === "opencode") return isObject(event.error);
	return typeof event.message === "string" && (format === "gemini") === (event.severity !== undefined);
}

/** The program of a run, as far as known. */
export type Program = {
	name: string;
	/** The installed version. A version in the output takes precedence. */
	version: string | null;
	/** The version that the adapter was tested with. */
	tested: string | null;
};

/** The question to a person about a run that exited with 0; null if the run was understood or wrote nothing. */
export function notUnderstoodWords(reading: Reading, program: Program | undefined, job: number | undefined): string | null {
	const { not_understood: unknown, other_lines: other } = reading;
	if (reading.events > 0 ? !reading.ends_unknown : unknown + other === 0) return null;
	const lines = reading.events > 0 ? unknown : unknown + other;
	const size = reading.events > 0 ? reading.unknown_bytes : reading.unknown_bytes + reading.other_bytes;
	const what = `it wrote ${lines} ${lines === 1 ? "line" : "lines"} (${sizeWords(size)}) that Sluice does not understand`;
	const how = reading.events > 0 ? ", and did not say that it is done" : "";
	return [`${what}${how}`, versionWords(program, reading.version), whereWords(job)].filter((one) => one !== "").join("; ");
}

/** "claude 2.1.400 is newer than 2.1.326, which Sluice was tested with". */
function versionWords(program: Program | undefined, told: string | null): string {
	const version = told ?? program?.version ?? null;
	const name = program?.name ?? "the program";
	const tested = program?.tested ?? null;
	if (version === null) return tested === null ? "" : `Sluice was tested with ${name} ${tested}`;
	const number = numberOf(version);
	if (tested === null) return `this is ${name} ${number}`;
	if (isNewer(version, tested)) return `${name} ${number} is newer than ${tested}, which Sluice was tested with`;
	return number === tested
		? `this is ${name} ${number}, which Sluice was tested with`
		: `this is ${name} ${number}; Sluice was tested with ${tested}`;
}

const whereWords = (job: number | undefined) => (job === undefined ? "" : `see sluice logs ${job} --raw and sluice diff ${job}`);

function sizeWords(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The number in what `--version` prints: "2.1.326 (Claude Code)", "codex-cli 0.169.0". */
export const numberOf = (version: string): string => /(?<!\d)\d+(?:\.\d+)+/.exec(version)?.[0] ?? version.trim().slice(0, 60);

/** Whether the first version is later. False if one of them has no number. */
export function isNewer(version: string, than: string): boolean {
	const [one, other] = [version, than].map((text) => (/(?<!\d)\d+(?:\.\d+)+/.exec(text)?.[0] ?? "").split(".").map(Number));
	if (one === undefined || other === undefined || one[0] === undefined || Number.isNaN(one[0]) || one.length < 2) return false;
	for (let at = 0; at < Math.max(one.length, other.length); at++) {
		const [a, b] = [one[at] ?? 0, other[at] ?? 0];
		if (a !== b) return a > b;
	}
	return false;
}
