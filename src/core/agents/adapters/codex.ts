// Codex: `codex exec --json`. An `error` event does not end a turn, only `turn.completed` and `turn.failed` do. Usage is that of the whole thread.

import type { Adapter } from "../adapter.ts";
import { causeOfText, delayIn } from "../stream/causes.ts";
import type { Happening, Json } from "../stream/happening.ts";
import { isObject, listIn, objectIn, sessionIn, short, textIn, writtenOut } from "../stream/json.ts";
import { interpretAppServer } from "./codex-app-server.ts";
import { CODEX_ROLLOUT, isSandboxRefusal, usedIn } from "./codex-rollout.ts";
import { COMMAND } from "./command.ts";

/** A login shell resets PATH and would not find `sluice`, whose folder the daemon puts first. Versions that do not know the setting ignore it. */
const SHELL = ["-c", "allow_login_shell=false"] as const;

/** `-`: the prompt comes on standard input. */
export const CODEX: Adapter = {
	profile: {
		...COMMAND.profile,
		output: "codex",
		command: ["codex", "exec", "--json", "--skip-git-repo-check", ...SHELL, "{options}", "-"],
		resume: ["codex", "exec", "resume", "--json", "--skip-git-repo-check", ...SHELL, "{options}", "--", "{session}", "-"],
		open: ["codex", "resume", "{session}"],
		model: ["-m", "{model}"],
		// `codex exec` never asks: what is not allowed fails. Set with -c, because `resume` has no option for it.
		permissions: {
			ask: ["-c", 'sandbox_mode="read-only"'],
			edit: ["-c", 'sandbox_mode="workspace-write"'],
			full: ["-c", 'sandbox_mode="danger-full-access"'],
		},
		// No `allow`: Codex's sandbox lets every command run, and limits what the command can write and reach.
		mcp: "run",
		home_variable: "CODEX_HOME",
	},
	known: {
		tested: "0.169.0",
		tested_older: "0.142.3",
		home: ".codex",
		logins: { files: ["auth.json"], variables: ["OPENAI_API_KEY", "CODEX_API_KEY"] },
		install: "npm install -g @openai/codex, then codex login",
	},
	interpret,
	knows(event) {
		const { type, item, method, severity, message } = event;
		if (isObject(item) && !isKnownItem(item)) return false;
		// Other formats also have an `error`, of a different shape.
		if (type === "error") return typeof message === "string" && severity === undefined;
		if (EVENTS.has(type)) return true;
		return typeof method === "string" ? APP_SERVER.test(method) : event.id !== undefined && isObject(event.result);
	},
	tools: { shell: ["shell"], file: [], web: [] },
	mcp(server) {
		const config = { ...server, env_vars: MCP_VARIABLES, default_tools_approval_mode: "approve" };
		// Strings and lists of strings are written the same in TOML and JSON.
		return { options: Object.entries(config).flatMap(([key, value]) => ["-c", `mcp_servers.sluice.${key}=${JSON.stringify(value)}`]) };
	},
	record: CODEX_ROLLOUT,
};

const EVENTS = new Set<unknown>([
	...["thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed"],
]);
const APP_SERVER = /^(?:(?:thread|turn|item|account|remoteControl)\/|(?:error|warning|configWarning|initialize|initialized)$)/;

/** Codex's events are about items. A message without text counts as unknown. */
const isKnownItem = ({ type, text }: Json): boolean => ITEMS.has(type) && (type !== "agent_message" || typeof text === "string");
const TOOLS = new Set<unknown>(["command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"]);
const ITEMS = new Set<unknown>([...TOOLS, "agent_message", "reasoning", "error", "todo_list", "user_message"]);

/** What the server has to know of its run: Codex hands on only variables that are named. */
const MCP_VARIABLES = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID", "SLUICE_RUN_ID", "SLUICE_ATTEMPT"];

function interpret(event: Json): Happening[] {
	if (typeof event.method === "string") return interpretAppServer(event.method, objectIn(event.params));
	switch (event.type) {
		case "thread.started":
			return sessionIn(event.thread_id);
		case "turn.started":
			return [{ is: "turn" }];
		case "item.started":
		case "item.updated":
		case "item.completed":
			return item(event.type, objectIn(event.item));
		case "error":
			return [trouble(textIn(event.message))];
		case "turn.completed":
			return [
				{ is: "used", scope: "session", used: usedIn(objectIn(event.usage)) },
				{ is: "ended", how: "well", cause: "unknown", text: "" },
			];
		case "turn.failed": {
			const text = textIn(objectIn(event.error).message);
			return [{ is: "ended", how: "badly", cause: causeOfText(text), text }];
		}
		default:
			return [];
	}
}

function trouble(text: string): Happening {
	return { is: /^Reconnecting/.test(text) ? "retry" : "trouble", cause: causeOfText(text), text, retry_after_ms: delayIn(text) };
}

function item(kind: string, one: Json): Happening[] {
	switch (one.type) {
		case "agent_message":
			return kind === "item.completed" ? [{ is: "said", text: textIn(one.text) }] : [];
		case "reasoning":
			return kind === "item.completed" ? [{ is: "thought", text: textIn(one.text) }] : [];
		case "error":
			return [{ is: "notice", text: textIn(one.message) }];
		case "todo_list": {
			const items = listIn(one.items).map(objectIn);
			const done = items.filter((todo) => todo.completed === true).length;
			return [{ is: "notice", text: `plan: ${done} of ${items.length} done` }];
		}
		default:
			return TOOLS.has(one.type) ? tool(kind, one) : [];
	}
}

function tool(kind: string, one: Json): Happening[] {
	const id = textIn(one.id);
	const started: Happening = { is: "tool", id, name: nameOf(one), text: textOf(one) };
	if (kind === "item.started") return [started];
	if (kind !== "item.completed") return [];
	const said = resultOf(one);
	const isRefused = one.status === "declined" || (one.status === "failed" && isSandboxRefusal(textIn(one.command), said));
	const how = isRefused ? "denied" : one.status === "failed" ? "failed" : "ok";
	const text = one.status === "declined" ? textOf(one) : short(said, 2000);
	return [started, { is: "tool_done", id, how, text }];
}

const nameOf = (one: Json): string =>
	one.type === "mcp_tool_call"
		? `${textIn(one.server)}.${textIn(one.tool)}`
		: one.type === "command_execution"
			? "shell"
			: textIn(one.type);

function textOf(one: Json): string {
	if (one.type === "file_change")
		return short(
			listIn(one.changes)
				.map(objectIn)
				.map((change) => `${textIn(change.kind)} ${textIn(change.path)}`)
				.join(", "),
			500,
		);
	if (one.type === "mcp_tool_call") return argumentsOf(one.arguments);
	return short(commandOf(textIn(one.command)) || textIn(one.query), 500);
}

/** Of an MCP tool, all arguments: only the server knows which of them matter. */
function argumentsOf(given: unknown): string {
	const text = typeof given === "string" ? given : isObject(given) ? writtenOut(given) : "";
	return text === "{}" ? "" : short(text, 500);
}

const resultOf = (one: Json): string =>
	textIn(one.aggregated_output) ||
	textIn(objectIn(one.error).message) ||
	listIn(objectIn(one.result).content)
		.map((part) => textIn(objectIn(part).text))
		.join("\n");

/** Removes the shell that Codex wraps around commands: `/bin/bash -lc 'npm test'`. */
const commandOf = (command: string): string => {
	const [, line] = /^(?:\S*\/)?(?:ba|z)?sh -l?c '([\s\S]*)'$/.exec(command) ?? [];
	return line === undefined ? command : line.replaceAll(`'\\''`, "'").replaceAll(`'"'"'`, "'");
};
