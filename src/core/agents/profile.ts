// How an agent is started, resumed and stopped: data of the same form for built-in and configured agents; and the argv made from it.

import type { McpMode } from "./mcp.ts";
import type { OwnReading } from "./own/outcomes.ts";

export const FORMATS = ["claude", "codex", "gemini", "opencode", "command"] as const;
/** How an agent's output is read. `command`: not at all, the exit code decides. */
export type Format = (typeof FORMATS)[number];

/** The built-in agents. */
export type AgentName = Exclude<Format, "command">;
export const AGENT_NAMES = FORMATS.filter((name) => name !== "command");

export const PERMISSIONS = ["ask", "edit", "full"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export type Profile = {
	output: Format;
	/**
	 * argv. `{options}`: where the options for model and permission go. `{title}`: the session's title. The prompt comes on standard input, or in a file that
	 * `{prompt_file}` names, or as the argument `{prompt}`, which every user of the machine can read in the process list.
	 */
	command: string[];
	/** argv that resumes session `{session}`; empty = not possible. */
	resume: string[];
	/** argv with which a person resumes a session at a terminal; empty = not possible. */
	open: string[];
	/** Options for a model, with `{model}`. */
	model: string[];
	/** Options for each permission mode. */
	permissions: Record<Permission, string[]>;
	/** Options that allow one shell command with any arguments, `{command}`; empty = not possible. */
	allow: string[];
	/** Options that allow one tool, `{tool}`. */
	allow_tool: string[];
	/** The first signal of a stop. */
	stop_signal: "SIGINT" | "SIGTERM";
	/** Variables; the job's own override them. Not for secrets. */
	env: Record<string, string>;
	/** Permission modes for which the adapter makes rules (`environment`), because the program has no option for them. */
	ruled: readonly Permission[];
	/** Which tools of Sluice's own MCP server its runs get. */
	mcp: McpMode;
	/** The variable that names the folder with login and sessions; null if there is none. */
	home_variable: string | null;
} & OwnReading;

/** What is known of a program whose profile is built in. */
export type Known = {
	/** The newest version that `npm run test:agents` tests. */
	tested: string;
	/** An older version that it tests as well. */
	tested_older: string;
	/** Folder with login and sessions, below HOME. */
	home: string;
	/** Files in that folder that prove a login, and variables that replace one. */
	logins: { files: string[]; variables: string[] };
	install: string;
	/** The first version that obeys the permission modes below `full`; absent if all versions in use do. */
	obeys_since?: string;
};

export type Wish = {
	prompt: string;
	model?: string | undefined;
	permission?: Permission | undefined;
	/** Options for what the run may do; they replace those of `permission`. */
	permitted?: readonly string[] | undefined;
	session?: string | undefined;
	/** The session's title. Holds nothing of the prompt, because every user of the machine can read arguments. */
	title?: string | undefined;
	/** The name of the run's own agent, `{agent}`. */
	agent?: string | undefined;
	/** Further options, after those for model and permission. */
	options?: readonly string[] | undefined;
	/** A file that holds the prompt. */
	prompt_file?: string | undefined;
};

/** The system limits the size of one argument; longer prompts go to standard input. */
const MAX_ARGUMENT = 128 * 1024 - 1;

export function commandLine(profile: Profile, wish: Wish): { argv: string[]; stdin: "prompt" | null } {
	const template = wish.session === undefined ? profile.command : profile.resume;
	const options = [
		...(wish.model === undefined ? [] : profile.model.map((word) => word.replaceAll("{model}", () => wish.model as string))),
		...(wish.permitted ?? (wish.permission === undefined ? [] : profile.permissions[wish.permission])).map((word) =>
			word.replaceAll("{agent}", () => wish.agent ?? "sluice"),
		),
		...(wish.options ?? []),
	];
	const placed = template.includes("{options}") ? template : [...template.slice(0, 1), "{options}", ...template.slice(1)];
	const words = placed.flatMap((word) => {
		if (word === "{options}") return options;
		const titled = word.replaceAll("{title}", () => wish.title ?? "sluice");
		return [wish.session === undefined ? titled : titled.replaceAll("{session}", () => wish.session as string)];
	});
	// Read from a file, the prompt does not appear in the process list.
	const file = wish.prompt_file;
	if (file !== undefined && words.some((word) => word.includes("{prompt_file}")))
		return { argv: words.map((word) => word.replaceAll("{prompt_file}", () => file)), stdin: null };
	const wanted = words.some((word) => word.includes("{prompt}"));
	const argv = words.map((word) => word.replaceAll("{prompt}", () => wish.prompt));
	if (wanted && argv.every(fits)) return { argv, stdin: null };
	return {
		argv: words.filter((word) => !/^(?:--?[\w-]+=)?\{prompt\}$/.test(word)).map((word) => word.replaceAll("{prompt}", "")),
		stdin: "prompt",
	};
}

/** Whether the prompt is too long for an agent whose command takes it as an argument. A configured command may not read standard input. */
export const isTooLong = (profile: Profile, prompt: string): boolean =>
	profile.output === "command" &&
	profile.command.some((word) => word.includes("{prompt}") && !fits(word.replaceAll("{prompt}", () => prompt)));

/** The limit is in bytes; a UTF-16 unit takes at most three. */
const fits = (word: string) => word.length * 3 <= MAX_ARGUMENT || new TextEncoder().encode(word).length <= MAX_ARGUMENT;
