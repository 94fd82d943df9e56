// What a run may do without asking: the options and variables for its permission mode, for commands that are allowed in addition, and for what a person has
// granted. Pure.
//
//   permission   commands that are allowed in addition
//   ask          what was granted
//   edit         read-only git commands, `git add`, `git commit`, `sluice verdict`, `sluice result`; the repo's verify commands and `allow`,
//                the job's `allow`; what was granted
//   full         everything is allowed
//
//   program    one command with any arguments                    one tool
//   claude     --allowedTools=Bash(COMMAND:*)                    --allowedTools=TOOL
//   gemini     --allowed-tools=run_shell_command(COMMAND)        --allowed-tools=TOOL
//   opencode   a rule for bash, opencode-config.ts               a rule for the tool
//   codex      no way: its sandbox lets every command run, and limits what the command can write and reach

import * as check from "../../input/check.ts";
import { ADAPTERS } from "../index.ts";
import { type Format, PERMISSIONS, type Permission, type Profile } from "../profile.ts";
import { short } from "../stream/json.ts";
import { allowedFor, canAllow, isGrantable, PREFIX, PREFIX_MAX, plainCommands } from "./denied.ts";

/** What a person granted in an answer. `allow`: denied tool calls in the form `tool: what`. */
export type Granted = { permission?: "edit" | "full"; allow?: string[] };

export type Permit = { permission: Permission; allow: readonly string[]; granted: readonly string[] };

/** `diff`, `log` and `show` can write a file: `--output=FILE`. */
const GIT_READS = ["status", "diff", "log", "show", "rev-parse", "ls-files", "blame"].map((one) => `git ${one}`);
/** None of these reaches the network. `git commit` runs the repo's hooks. */
const GIT_WRITES = ["git add", "git commit"];
/** Commands by which a run reports about itself. */
const OWN = ["sluice verdict", "sluice result"];

/**
 * Command prefixes that an agent may run at `edit`, besides its own tools. Some programs allow read-only git commands by themselves and check their options; a
 * rule for `git diff` would also allow `git diff --output=/elsewhere`.
 */
export const usualCommands = (format: Format): readonly string[] => [
	...(ADAPTERS[format].readsGit ? [] : GIT_READS),
	...GIT_WRITES,
	...OWN,
];

export function permitOf(
	own: { permission?: Permission | undefined; allow?: readonly string[] | undefined },
	granted: Granted | undefined,
	ofRepo: readonly string[],
	format: Format,
): Permit {
	const permission = widest(own.permission ?? "edit", granted?.permission);
	const allow = permission === "edit" ? [...new Set([...usualCommands(format), ...ofRepo, ...(own.allow ?? [])])] : [];
	return { permission, allow, granted: permission === "full" ? [] : (granted?.allow ?? []) };
}

export const widest = (one: Permission, other: Permission | undefined): Permission =>
	other !== undefined && PERMISSIONS.indexOf(other) > PERMISSIONS.indexOf(one) ? other : one;

/** Everything that is allowed beyond the permission mode: command prefixes and tools. */
export function allowedBy({ allow, granted }: Permit): { commands: string[]; tools: string[] } {
	const { commands, tools } = allowedFor(granted);
	return { commands: [...new Set([...allow, ...commands])], tools };
}

export function permissionOptions(profile: Profile, permit: Permit): string[] {
	const { commands, tools } = allowedBy(permit);
	const filled = (template: readonly string[], name: string, values: readonly string[]) =>
		values.flatMap((value) => template.map((word) => word.replaceAll(`{${name}}`, () => value)));
	return [
		...profile.permissions[permit.permission],
		...filled(profile.allow, "command", commands),
		...filled(profile.allow_tool, "tool", tools),
	];
}

/** Why a grant is not possible; null if it is. `asked`: exactly the calls that were denied. */
export function grantProblem(
	wanted: "edit" | "full" | "asked",
	agent: { name: string; profile: Profile | null },
	now: { permission: Permission; denied: readonly string[] },
): { message: string; hint: string } | null {
	if (wanted !== "asked") {
		if (PERMISSIONS.indexOf(wanted) > PERMISSIONS.indexOf(now.permission)) return null;
		return { message: `it has permission ${now.permission} already`, hint: "leave --permission out" };
	}
	if (now.denied.length === 0) return { message: "nothing was denied in its last run", hint: "grant a mode: --permission edit or full" };
	if (agent.profile !== null && canAllow(agent.profile)) {
		const line = now.denied.find((one) => !isGrantable([one]));
		if (line === undefined) return null;
		return { message: `${short(line.replace(/\s+/g, " "), 200)} cannot be allowed alone`, hint: "grant a mode: --permission full" };
	}
	return { message: `${agent.name} cannot be allowed single commands or tools`, hint: "grant everything instead: --permission full" };
}

export const readAllow = (value: unknown, field: string): string[] =>
	check.list(value, field, 100).map((one, index) => {
		const at = `${field}[${index}]`;
		const text = check.text(one, at, { max: PREFIX_MAX, lines: "one" });
		if (!PREFIX.test(text))
			throw check.wrong(at, `${check.shown(text)} is not the beginning of a command`, 'words without quotes and shell signs: "npm test"');
		return text;
	});

/**
 * The commands that must be allowed so that the agent can run `argv` from a shell: `argv` itself, or the commands of `sh -c "ONE && OTHER"`. Empty if it
 * contains anything but plain words, because a rule for the plain part would allow a different command.
 */
export function allowedOf(argv: readonly string[]): string[] {
	const [program = "", flag = "", line, ...more] = argv;
	if (/(?:^|\/)(?:ba|da|z|k)?sh$/.test(program) && (flag === "" || flag.startsWith("-")))
		return flag === "-c" && line !== undefined && more.length === 0 ? (plainCommands(line, /(?<!\s)\s*&&\s*/) ?? []) : [];
	return argv.every((word) => !word.includes(" ")) ? (plainCommands(argv.join(" "), /(?!)/) ?? []) : [];
}
