// What opencode is told by its environment: what a run may do, and which servers it is given.
//
// opencode has no option for a permission mode. It asks a list of rules, the last one that fits counts, and the list is put together in this order:
//
// | from                                                          | who can write it                |
// |---------------------------------------------------------------|---------------------------------|
// | opencode's own rules: everything is allowed                   | –                               |
// | `permission` of all configuration files, then OPENCODE_PERMISSION | the user, the project, the job |
// | `agent.<name>.permission` of the agent that is used           | a file that names that agent    |
//
// A project's `agent.build.permission` would beat whatever is set before it. So a run at `ask` or `edit` uses an agent of its own, under a name that is made for
// this run alone and that no file can name: its rules are the last ones, in the order that is written here.

import { isObject } from "./json.ts";
import type { Permission } from "./profile.ts";

/** The variable that holds a configuration file's text, read after all files. */
export const OPENCODE_CONFIG = "OPENCODE_CONFIG_CONTENT";

export type OpencodeRules = Record<string, "allow" | Record<string, "allow" | "deny">>;

/** The first version that was seen to obey these rules. Older ones are refused at `ask` and `edit`. */
export const OPENCODE_OBEYS = "1.18.3";

/**
 * Both patterns fit everything that a tool is called with. With the second one the model is still offered the tool, and a call of it is refused in words: so the
 * run says what it was not allowed to do. A rule for `*` alone would take the tool away in silence.
 */
const DENY = { "*": "deny", "?*": "deny" } as const;

/** Its own configuration: what an agent writes there, the next run would obey. */
const OWN_FILES = ["opencode.json*", "*/opencode.json*", ".opencode/*", "*/.opencode/*"];

/**
 * Shell lines that are denied although their command is allowed: they write into a file that opencode has not judged, or touch its own configuration. They stand
 * behind the allowed commands, since the last rule that fits counts.
 */
const NEVER = ["*>*", "*--output*", "* opencode.json*", "*/opencode.json*", "*.opencode*"];

/** Tools that go by another name where it is asked what they may do. */
const KEYS: Record<string, string> = { write: "edit", patch: "edit", multiedit: "edit", apply_patch: "edit" };

/**
 * The rules for a permission mode. `tools`: those that a person granted. `ask`: reads in its folder. `edit`: writes there, too, and runs the commands that begin with one of `allow` ("git commit");
 * opencode asks for each command of a line by itself. `full`: everything.
 */
export function opencodePermission(permission: Permission, allow: readonly string[] = [], tools: readonly string[] = []): OpencodeRules {
	if (permission === "full") return { "*": "allow" };
	const granted = Object.fromEntries(tools.map((tool) => [KEYS[tool] ?? tool, "allow" as const]));
	const bash = bashRules(allow);
	const reads: OpencodeRules = {
		// Tools of other servers, the web, folders elsewhere, and tools that do not exist yet.
		"*": DENY,
		read: { "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" },
		glob: "allow",
		grep: "allow",
		list: "allow",
		lsp: "allow",
		skill: "allow",
		todoread: "allow",
		todowrite: "allow",
		// Sluice's own server.
		"sluice_*": "allow",
		external_directory: DENY,
	};
	if (permission === "ask") return { ...reads, edit: DENY, bash, ...granted };
	return {
		...reads,
		edit: { "*": "allow", ...Object.fromEntries(OWN_FILES.map((pattern) => [pattern, "deny" as const])) },
		bash,
		...granted,
	};
}

/** A pattern that ends with ` *` fits the bare command, too. A command that is allowed and that NEVER would deny is allowed as it is, with nothing behind it. */
function bashRules(allow: readonly string[]): Record<string, "allow" | "deny"> {
	if (allow.length === 0) return DENY;
	const rules = (patterns: readonly string[], how: "allow" | "deny") => Object.fromEntries(patterns.map((pattern) => [pattern, how]));
	const named = allow.filter((command) => /--output|[ /]opencode\.json|\.opencode/.test(command));
	return {
		...DENY,
		...rules(
			allow.map((command) => `${command} *`),
			"allow",
		),
		...rules(NEVER, "deny"),
		...rules(named, "allow"),
	};
}

export type OpencodeWish = {
	permission: Permission;
	allow?: readonly string[] | undefined;
	tools?: readonly string[] | undefined;
	/** The name of the run's own agent; null = it needs none, since another way was configured. */
	agent: string | null;
	/** Servers of tools, by name. */
	mcp?: Record<string, unknown> | undefined;
	/** What OPENCODE_CONFIG_CONTENT says already. */
	given?: string | undefined;
};

/** The text of OPENCODE_CONFIG_CONTENT, over what was given; undefined when there is nothing to say. Problem: what was given cannot be read. */
export function opencodeConfig({
	permission,
	allow,
	tools,
	agent,
	mcp,
	given,
}: OpencodeWish): { text: string | undefined } | { problem: string } {
	const before = given === undefined || given.trim() === "" ? {} : parsed(given);
	if (before === null)
		return {
			problem: `the variable ${OPENCODE_CONFIG} is not a JSON object: correct it or take it away, since the run's permissions go there`,
		};
	const own: OwnAgent = permission === "full" || agent === null ? {} : ownAgent(agent, opencodePermission(permission, allow, tools));
	const text = JSON.stringify({
		...before,
		...own,
		...(own.agent || before.agent ? { agent: { ...objectOf(before.agent), ...own.agent } } : {}),
		...(mcp || before.mcp ? { mcp: { ...objectOf(before.mcp), ...mcp } } : {}),
	});
	return { text: text === "{}" ? undefined : text };
}

type OwnAgent = { default_agent?: string; agent?: Record<string, unknown> };

/** It may hand parts of its work to itself, and to no other agent: those have rules of their own. */
const ownAgent = (name: string, rules: OpencodeRules): OwnAgent => ({
	default_agent: name,
	agent: {
		[name]: {
			mode: "all",
			description: "Does a part of the task by itself, with the same permissions.",
			permission: { ...rules, task: { ...DENY, [name]: "allow" } },
		},
	},
});

const objectOf = (value: unknown) => (isObject(value) ? value : {});

function parsed(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : null;
	} catch {
		return null;
	}
}
