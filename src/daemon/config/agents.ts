// What config.yml may say of agents and accounts: type, meaning and check; and the readers of argv and folders that other settings share.

import { looksSecret } from "../../api/secrets.ts";
import type { CustomProfile } from "../../core/agents/index.ts";
import { MCP_MODES } from "../../core/agents/mcp.ts";
import { readOutcomes, readPattern, readUsage } from "../../core/agents/own/outcome-input.ts";
import { FORMATS, PERMISSIONS, type Permission } from "../../core/agents/profile.ts";
import * as check from "../../core/input/check.ts";
import type { Readers, ValueReader } from "../../core/input/config.ts";
import { isBrokenReference } from "../../core/input/env-reference.ts";
import { withoutEnd } from "../../core/text/text-end.ts";

/** What the configuration says of an agent; fields it leaves out come from the built-in agent. */
export type AgentSettings = Omit<CustomProfile, "ruled">;
/** What the configuration says of an account besides what the engine needs. */
export type AccountSettings = {
	/** The folder of the account's login and sessions, which CLAUDE_CONFIG_DIR, CODEX_HOME … are set to. Null = the agent's default. */
	home: string | null;
	/** Variables for runs on this account, which override the job's; values or references, as in core/input/env-reference.ts. */
	env: Record<string, string>;
};

export const ACCOUNT: AccountSettings = { home: null, env: {} };

export const argv: ValueReader<string[]> = (value, field) =>
	check.list(value, field, 1000).map((one, index) => check.text(one, `${field}[${index}]`, { max: 100_000 }));

export const someArgv: ValueReader<string[]> = (value, field, before) => {
	const words = argv(value, field, before);
	if (words.length === 0 || words[0] === "") throw check.wrong(field, "names no program", 'for example ["claude", "-p", "{prompt}"]');
	return words;
};

/** A folder on this machine, as an absolute path: only a shell expands `~`. */
export const folder: ValueReader<string | null> = (value, field) => {
	if (value === null) return null;
	const path = check.text(value, field, { max: 4096, lines: "one" });
	if (!path.startsWith("/")) throw check.wrong(field, `${check.shown(path)} is not an absolute path`, "write the whole path, from / on");
	return path.length > 1 ? withoutEnd(path, "/") : path;
};

/** Variables as texts, or as references to the places of their values. */
export const variables = (value: unknown, field: string): Record<string, string> =>
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

const permissions: ValueReader<Record<Permission, string[]> | undefined> = (value, field, before) => {
	const given = check.record(value, field);
	check.knownKeys(given, PERMISSIONS, field);
	const read = Object.entries(given).map(([mode, words]) => [mode, argv(words, `${field}.${mode}`, [])]);
	return { ...before, ...Object.fromEntries(read) };
};

function withOnePrompt(words: string[], field: string): string[] {
	const has = (place: string) => words.some((word) => word.includes(place));
	if (has("{prompt}") && has("{prompt_file}"))
		throw check.wrong(field, "has both {prompt} and {prompt_file}", "keep one: the prompt itself, or the file that holds it");
	return words;
}

const template = (value: unknown, field: string, place: string): string[] => {
	const words = argv(value, field, []);
	if (words.length > 0 && !words.some((word) => word.includes(place)))
		throw check.wrong(field, `has no ${place}`, `for example ["--allow", "${place}"]`);
	return words;
};

export const agentReaders: Readers<AgentSettings> = {
	command: (value, field) => withOnePrompt(someArgv(value, field, []), field),
	output: (value, field) => check.oneOf(value, FORMATS, field),
	resume: (value, field) => {
		const words = argv(value, field, []);
		if (words.length > 0 && !words.some((word) => word.includes("{session}")))
			throw check.wrong(
				field,
				"names no session",
				'put {session} where it goes, for example ["mine", "--resume", "{session}", "{prompt}"]',
			);
		return words;
	},
	open: (value, field) => argv(value, field, []),
	model: (value, field) => argv(value, field, []),
	permissions,
	allow: (value, field) => template(value, field, "{command}"),
	allow_tool: (value, field) => template(value, field, "{tool}"),
	stop_signal: (value, field) => check.oneOf(value, ["SIGINT", "SIGTERM"] as const, field),
	env: variables,
	mcp: (value, field) => check.oneOf(value, MCP_MODES, field),
	outcomes: readOutcomes,
	usage: readUsage,
	session: (value, field) => readPattern(value, field, "captures"),
	home_variable: (value, field) => (value === null ? null : check.text(value, field, { max: 200, lines: "one" })),
};
export const AGENT_KEYS = Object.keys(agentReaders);
