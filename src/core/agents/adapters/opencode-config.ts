// The configuration that opencode gets in its environment: what a run may do, and which MCP servers it has.
//
// opencode has no option for a permission mode. It checks a list of rules, of which the last match wins, and it builds the list in this order:
//
// | from                                                          | who can write it                |
// |---------------------------------------------------------------|---------------------------------|
// | opencode's own rules: everything is allowed                   | –                               |
// | `permission` of all configuration files, then OPENCODE_PERMISSION | the user, the project, the job |
// | `agent.<name>.permission` of the agent that is used           | a file that names that agent    |
//
// A project's `agent.build.permission` would override all rules before it. So a run at `ask` or `edit` uses its own agent, whose name is made for this
// run alone, so that no file can name it: its rules come last, in the order written here.

import type { Permission } from "../profile.ts";
import { objectIn, parsed } from "../stream/json.ts";

/** The variable with the text of a configuration file that opencode reads after all files. */
export const OPENCODE_CONFIG = "OPENCODE_CONFIG_CONTENT";

export type OpencodeRules = Record<string, "allow" | Record<string, "allow" | "deny">>;

/** The first version that was seen to obey these rules. Sluice refuses older ones at `ask` and `edit`. */
export const OPENCODE_OBEYS = "1.18.3";

/**
 * Both patterns match every call. With `?*`, opencode still offers the tool to the model and refuses a call with a message, so the run reports what it was
 * not allowed to do. A rule for `*` alone would remove the tool silently.
 */
const DENY = { "*": "deny", "?*": "deny" } as const;

/** opencode's own configuration: the next run would obey what an agent writes there. */
const OWN_FILES = ["opencode.json*", "*/opencode.json*", ".opencode/*", "*/.opencode/*"];

/**
 * Shell lines that are denied although their command is allowed: they write a file that opencode has not checked, or touch its configuration. They come
 * after the allowed commands, because the last match wins.
 */
const NEVER = ["*>*", "*--output*", "* opencode.json*", "*/opencode.json*", "*.opencode*"];

/** Tools whose permission has another name. */
const KEYS: Record<string, string> = { write: "edit", patch: "edit", multiedit: "edit", apply_patch: "edit" };

/**
 * The rules for a permission mode. `ask`: reads in its folder. `edit`: also writes there, and runs commands that begin with an entry of `allow` ("git
 * commit"); opencode checks each command of a shell line separately. `full`: everything. `tools`: tools that a person granted.
 */
export function opencodePermission(permission: Permission, allow: readonly string[] = [], tools: readonly string[] = []): OpencodeRules {
	if (permission === "full") return { "*": "allow" };
	const granted = Object.fromEntries(tools.map((tool) => [KEYS[tool] ?? tool, "allow" as const]));
	const reads: OpencodeRules = {
		// Tools of other servers, the web, other folders, and tools that do not exist yet.
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
	const edit = permission === "ask" ? DENY : { "*": "allow" as const, ...rulesFor(OWN_FILES, "deny") };
	return { ...reads, edit, bash: bashRules(allow), ...granted };
}

const rulesFor = (patterns: readonly string[], how: "allow" | "deny") => Object.fromEntries(patterns.map((pattern) => [pattern, how]));

/**
 * A pattern that ends with ` *` also matches the bare command. An allowed command that NEVER would deny is allowed exactly as written, without further
 * arguments.
 */
function bashRules(allow: readonly string[]): Record<string, "allow" | "deny"> {
	if (allow.length === 0) return DENY;
	const begun = allow.map((command) => `${command} *`);
	const named = allow.filter((command) => /--output|[ /]opencode\.json|\.opencode/.test(command));
	return { ...DENY, ...rulesFor(begun, "allow"), ...rulesFor(NEVER, "deny"), ...rulesFor(named, "allow") };
}

export type OpencodeWish = {
	permission: Permission;
	allow?: readonly string[] | undefined;
	tools?: readonly string[] | undefined;
	/** The name of the run's own agent; null if the configuration sets permissions in another way. */
	agent: string | null;
	/** MCP servers by name. */
	mcp?: Record<string, unknown> | undefined;
	/** The present value of OPENCODE_CONFIG_CONTENT. */
	given?: string | undefined;
};

type OpencodeText = { text: string | undefined } | { problem: string };

/** The text of OPENCODE_CONFIG_CONTENT, merged over `given`; undefined if there is nothing to set. Returns a problem if `given` cannot be parsed. */
export function opencodeConfig({ permission, allow, tools, agent, mcp, given }: OpencodeWish): OpencodeText {
	const before = given === undefined || given.trim() === "" ? {} : parsed(given);
	if (before === null)
		return {
			problem: `the variable ${OPENCODE_CONFIG} is not a JSON object: correct it or take it away, since the run's permissions go there`,
		};
	const own: OwnAgent = permission === "full" || agent === null ? {} : ownAgent(agent, opencodePermission(permission, allow, tools));
	const text = JSON.stringify({
		...before,
		...own,
		...(own.agent || before.agent ? { agent: { ...objectIn(before.agent), ...own.agent } } : {}),
		...(mcp || before.mcp ? { mcp: { ...objectIn(before.mcp), ...mcp } } : {}),
	});
	return { text: text === "{}" ? undefined : text };
}

type OwnAgent = { default_agent?: string; agent?: Record<string, unknown> };

/** The agent may start subtasks of itself, but of no other agent: other agents have their own rules. */
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
