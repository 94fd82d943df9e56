// What config.yml may say of agents, and of accounts besides what the scheduler needs: one row a key.

import { looksSecret } from "../../api/secrets.ts";
import type { CustomProfile } from "../../core/agents/index.ts";
import { MCP_MODES } from "../../core/agents/mcp.ts";
import { readOutcomes, readPattern, readUsage } from "../../core/agents/own/outcome-input.ts";
import { FORMATS, PERMISSIONS, type Permission } from "../../core/agents/profile.ts";
import * as check from "../../core/input/check.ts";
import { isBrokenReference } from "../../core/input/env-reference.ts";
import type { Reader } from "../../core/schema/field.ts";
import { optional, type SettingRow, setting } from "../../core/schema/setting.ts";
import { argv, folder, oneOf, orNone, someArgv } from "../../core/schema/setting-values.ts";

/** Variables as texts, or as references to the places of their values. */
const variables: Reader<Record<string, string>> = (value, field) =>
	Object.fromEntries(
		Object.entries(check.record(value, field)).map(([name, one]) => {
			const at = `${field}.${name.slice(0, 60)}`;
			if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw check.wrong(at, "is not the name of a variable");
			// The error message does not show the value, which may be a key.
			if (typeof one !== "number" && typeof one !== "string") throw check.wrong(at, "must be text or a number");
			const text = check.text(String(one), at, { max: 10_000 });
			if (isBrokenReference(text))
				throw check.wrong(at, "is no reference that can be followed", `write env:${name}, or file:/ and a whole path`);
			if (looksSecret(name, text))
				throw check.wrong(
					at,
					"looks like a secret, and would stand in config.yml for everybody who can read it",
					`write where it is: env:${name} (the daemon's environment) or file:/path/of/a/file`,
				);
			return [name, text];
		}),
	);

const permissions = (value: unknown, field: string, before: CustomProfile["permissions"]): Record<Permission, string[]> => {
	const given = check.record(value, field);
	check.knownKeys(given, PERMISSIONS, field);
	const read = Object.entries(given).map(([mode, words]) => [mode, argv(words, `${field}.${mode}`)]);
	return { ...before, ...Object.fromEntries(read) };
};

function withOnePrompt(words: string[], field: string): string[] {
	const has = (place: string) => words.some((word) => word.includes(place));
	if (has("{prompt}") && has("{prompt_file}"))
		throw check.wrong(field, "has both {prompt} and {prompt_file}", "keep one: the prompt itself, or the file that holds it");
	return words;
}

const template =
	(place: string): Reader<string[]> =>
	(value, field) => {
		const words = argv(value, field);
		if (words.length > 0 && !words.some((word) => word.includes(place)))
			throw check.wrong(field, `has no ${place}`, `for example ["--allow", "${place}"]`);
		return words;
	};

const command: Reader<string[]> = (value, field) => withOnePrompt(someArgv(value, field), field);
const resume: Reader<string[]> = (value, field) => {
	const words = argv(value, field);
	if (words.length > 0 && !words.some((word) => word.includes("{session}")))
		throw check.wrong(field, "names no session", 'put {session} where it goes, for example ["mine", "--resume", "{session}", "{prompt}"]');
	return words;
};
const session: Reader<string> = (value, field) => readPattern(value, field, "captures");
const variableOrNone = orNone((value, field) => check.text(value, field, { max: 200, lines: "one" }));

/** Keys that are left out come from the built-in agent. */
export const AGENT = {
	command: optional(command).about(
		"The command (argv) that starts the agent. `{options}` is replaced by the options for model and permission, `{title}` by a name for the session (`Sluice job 7`). The prompt comes through standard input, unless `{prompt_file}` (the path of a file with it) or `{prompt}` (the text itself, which every user of the machine can see in `ps`) is used. (A list, `agents: [claude]`, names the agents that jobs may use.) [Agents](../agents.md)",
		"that of the built-in agent of this name",
	),
	output: optional(oneOf(...FORMATS)).about(
		'How its output is read: `"claude"`, `"codex"`, `"gemini"`, `"opencode"`; `"command"`: not at all, only the exit code counts.',
		'`"command"` with a `command` of its own, else the name',
	),
	resume: optional(resume).about(
		"The command that continues a session: argv with `{session}` and `{prompt}`. `[]` = it cannot.",
		"`[]` with a `command` of its own",
	),
	open: optional(argv).about(
		"The command with which a person continues a session: argv with `{session}`.",
		"`[]` with a program of its own, else that of its output",
	),
	model: optional(argv).about("Options for a model, with `{model}`.", "that of its output"),
	permissions: optional(permissions).about("Options for each of `ask`, `edit`, `full`.", "those of its output"),
	allow: optional(template("{command}")).about(
		'Options that allow one shell command with any further arguments, with `{command}`: `["--allowedTools=Bash({command}:*)"]`. `[]` = not supported.',
		"that of its output",
	),
	allow_tool: optional(template("{tool}")).about("The same for one tool, with `{tool}`.", "that of its output"),
	stop_signal: optional(oneOf("SIGINT", "SIGTERM")).about('The first signal of a stop; or `"SIGTERM"`.', '`"SIGINT"`'),
	env: optional(variables).about(
		"Variables for the agent, which the job's own override: a value, or a reference (`env:NAME`, `file:/PATH`). A value that looks like a secret is refused: see [API keys](../agents.md#api-keys).",
		"those of its output",
	),
	mcp: optional(oneOf(...MCP_MODES)).about(
		'Which tools of Sluice\'s own MCP server its runs get, without registration: `"run"` (those that a run needs), `"all"`, `"none"`. [MCP from inside a run](../agents.md#mcp-from-inside-a-run)',
		'`"run"`; `"none"` with a `command` of its own',
	),
	outcomes: optional(readOutcomes).about(
		"Rules that map exit codes and patterns to an outcome; the first match counts: `{exit, stdout, stderr, match, recovered, is, retry_after, until}`. [Agents of your own](../agents.md#outcomes-usage-and-session-from-text)",
		"`[]`",
	),
	usage: optional(readUsage).about(
		"Patterns that find usage in its output: `{tokens, cost, count, input_includes_cache}`. [Agents of your own](../agents.md#outcomes-usage-and-session-from-text)",
		"`{}`",
	),
	session: optional(session).about("A pattern with a group that finds the session's id in its output.", "none"),
	home_variable: optional(variableOrNone).about("The variable that carries `accounts.<name>.home`.", "that of its output"),
} satisfies { [K in keyof Omit<CustomProfile, "ruled">]-?: SettingRow<CustomProfile[K]> };

/** `home`: what CLAUDE_CONFIG_DIR, CODEX_HOME … are set to. */
export const ACCOUNT = {
	home: setting(null, folder).about("The folder of its login and sessions: absolute. `null` = the agent's own."),
	env: setting({}, variables).about(
		"Variables for agents on this account; they override the job's. Values or references, as in `agents.<name>.env`: see [API keys](../agents.md#api-keys).",
	),
};
