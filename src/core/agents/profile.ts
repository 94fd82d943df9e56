// How an agent is started, resumed and stopped: data, the same for those that are built in and for those of the configuration; and the argv made from it.

import type { McpMode } from "./mcp.ts";
import type { OwnReading } from "./own/outcomes.ts";

export const FORMATS = ["claude", "codex", "gemini", "opencode", "command"] as const;
/** How an agent's output is read. `command`: not at all, its exit code says everything. */
export type Format = (typeof FORMATS)[number];

export const PERMISSIONS = ["ask", "edit", "full"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export type Profile = {
	output: Format;
	/**
	 * argv: `{options}` where those of model and permission go, `{title}` for what the session shall be called. The prompt comes through standard input; with
	 * `{prompt_file}` a file with it is named there; with `{prompt}` it is that argument itself, which every user of the machine can read in the list of processes.
	 */
	command: string[];
	/** The same for going on with a session, `{session}`; empty = it cannot. */
	resume: string[];
	/** How a person goes on with a session at a terminal; empty = not at all. */
	open: string[];
	/** Options for a model, with `{model}`. */
	model: string[];
	/** Options for each permission mode. */
	permissions: Record<Permission, string[]>;
	/** Options that allow one shell command and whatever follows it, `{command}`; empty = it has no such way. */
	allow: string[];
	/** The same for one tool, `{tool}`. */
	allow_tool: string[];
	/** What it is asked to stop with first. */
	stop_signal: "SIGINT" | "SIGTERM";
	/** Variables, under those of the job. Not for secrets. */
	env: Record<string, string>;
	/** Variables for a permission mode, where there is no option for it. `{rules}`: what core/agents/opencode-config.ts makes for the run. */
	permission_env: Partial<Record<Permission, Record<string, string>>>;
	/** Which tools of Sluice's own MCP server its runs get. */
	mcp: McpMode;
	/** The variable that names the folder of its login and sessions; null = it has none. */
	home_variable: string | null;
} & OwnReading;

/** What we know of a program that ships with a profile. */
export type Known = {
	/** The newest version that `npm run test:agents` runs. */
	tested: string;
	/** An older version that it runs as well. */
	tested_older: string;
	/** Folder of its login and sessions, below HOME. */
	home: string;
	/** Files in there that a login leaves behind, and variables that stand for one. */
	logins: { files: string[]; variables: string[] };
	install: string;
	/** The first version that obeys the permission modes below `full`; left out where all that are in use do. */
	obeys_since?: string;
};

export type Wish = {
	prompt: string;
	model?: string | undefined;
	permission?: Permission | undefined;
	/** Options for what it may do, instead of those of `permission` alone. */
	permitted?: readonly string[] | undefined;
	session?: string | undefined;
	/** What a session is called, for programs that want to know: nothing of the prompt, since arguments are there for all to see. */
	title?: string | undefined;
	/** The name of the run's own agent, `{agent}`. */
	agent?: string | undefined;
	/** More options, behind those of model and permission. */
	options?: readonly string[] | undefined;
	/** A file that holds the prompt. */
	prompt_file?: string | undefined;
};

/** Longer prompts come through standard input: the system bounds each argument. */
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
	// Where the program reads it from a file, nothing of it stands in the list of processes.
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

/** Whether a prompt can be an argument where the profile's command wants it as one. An agent of one's own may not read standard input. */
export const isTooLong = (profile: Profile, prompt: string): boolean =>
	profile.output === "command" &&
	profile.command.some((word) => word.includes("{prompt}") && !fits(word.replaceAll("{prompt}", () => prompt)));

/** Bytes count, not characters: at most three of them to one. */
const fits = (word: string) => word.length * 3 <= MAX_ARGUMENT || new TextEncoder().encode(word).length <= MAX_ARGUMENT;
