// What a run may do without asking, as its program is told: the options and variables of its permission, of commands that are allowed besides, and of what a
// person has granted. Pure.
//
//   permission   commands that are allowed besides
//   ask          what was granted
//   edit         git's everyday ones, `sluice verdict` and `sluice result`; verify and `allow` of the repo, `allow` of the job; what was granted
//   full         everything is allowed
//
//   program    one command, and whatever follows it              one tool
//   claude     --allowedTools=Bash(COMMAND:*)                    --allowedTools=TOOL
//   gemini     --allowed-tools=run_shell_command(COMMAND)        --allowed-tools=TOOL
//   opencode   a rule for bash, opencode-config.ts               a rule for it
//   codex      no way: its sandbox lets every command run, and bounds what it can write and reach

import * as check from "../check.ts";
import type { JobInput } from "../job.ts";
import { OPENCODE_CONFIG } from "./opencode-config.ts";
import { type Format, PERMISSIONS, type Permission, type Profile } from "./profile.ts";

/** What a person granted with an answer. `allow`: tool calls as they were denied, `tool: what`. */
export type Granted = { permission?: "edit" | "full"; allow?: string[] };

export type Permit = { permission: Permission; allow: readonly string[]; granted: readonly string[] };

/** Also whatever follows each of them. Nothing here reaches the network, and none of them starts a program that it is told to. */
const GIT = ["status", "diff", "log", "show", "add", "commit", "rm", "mv", "restore", "rev-parse", "ls-files", "blame"];
/** What a run says of itself. */
const OWN = ["verdict", "result"];
export const USUAL_COMMANDS: readonly string[] = [...GIT.map((one) => `git ${one}`), ...OWN.map((one) => `sluice ${one}`)];

export function permitOf(
	own: { permission?: Permission | undefined; allow?: readonly string[] | undefined },
	granted: Granted | undefined,
	ofRepo: readonly string[],
): Permit {
	const permission = widest(own.permission ?? "edit", granted?.permission);
	const allow = permission === "edit" ? [...new Set([...USUAL_COMMANDS, ...ofRepo, ...(own.allow ?? [])])] : [];
	return { permission, allow, granted: permission === "full" ? [] : (granted?.allow ?? []) };
}

export const widest = (one: Permission, other: Permission | undefined): Permission =>
	other !== undefined && PERMISSIONS.indexOf(other) > PERMISSIONS.indexOf(one) ? other : one;

/** Whether single commands can be allowed. */
export const canAllow = (profile: Profile): boolean =>
	profile.allow.length > 0 || profile.permission_env.edit?.[OPENCODE_CONFIG] !== undefined;

/** Everything that is allowed besides the mode: beginnings of commands, and tools. */
export function allowedBy({ allow, granted }: Permit): { commands: string[]; tools: string[] } {
	const parts = granted.map(partsOf);
	const unique = (values: string[]) => [...new Set(values)];
	return { commands: unique([...allow, ...parts.flatMap((part) => part.commands)]), tools: unique(parts.flatMap((part) => part.tools)) };
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

const SHELLS = ["Bash", "bash", "run_shell_command", "shell"];

/** A denied call, as what has to be allowed for it: each simple command of a shell line, or the tool. */
function partsOf(denial: string): { commands: string[]; tools: string[] } {
	const [, tool = denial, what = ""] = /^([\w.-]+): ([\s\S]*)$/.exec(denial) ?? [];
	return SHELLS.includes(tool) ? { commands: simpleCommands(what), tools: [] } : { commands: [], tools: [tool] };
}

/** The commands of a shell line, without what they are redirected to. Quotes are kept together. */
export function simpleCommands(line: string): string[] {
	const found: string[] = [];
	let now = "";
	let quote = "";
	for (const letter of line.replace(/\s*\d?>&\d/g, "")) {
		if (quote === "" && (letter === ";" || letter === "&" || letter === "|" || letter === "\n")) {
			found.push(now);
			now = "";
			continue;
		}
		if (quote === letter) quote = "";
		else if (quote === "" && (letter === "'" || letter === '"')) quote = letter;
		now += letter;
	}
	const plain = [...found, now].map((one) => one.replace(/\s*\d?(?:>>?|<)\s*\S+/g, "").trim());
	return [...new Set(plain.filter((one) => one !== "" && !/^\d$/.test(one)))];
}

/** Where a shell line that writes into a file is denied although its command is allowed: as seen of both versions that are tested. */
const STAYS_DENIED: Partial<Record<Format, readonly Permission[]>> = { claude: ["ask"], gemini: ["ask", "edit"] };

const writesFile = (denial: string): boolean =>
	partsOf(denial).tools.length === 0 && /[^\d&>-]>{1,2}\s*(?!\/dev\/null)[^\s&>]/.test(denial.replace(/'[^']*'|"[^"]*"/g, "''"));

/** Why a grant cannot be made; null when it can. `asked`: what was denied, and nothing else. */
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
		const line = now.denied.find(writesFile);
		const stays = line !== undefined && STAYS_DENIED[agent.profile.output]?.includes(now.permission);
		if (!stays) return null;
		const wider = now.permission === "ask" && agent.profile.output === "claude" ? "edit or full" : "full";
		return {
			message: `${agent.name} has no way to allow a command that writes into a file (${line})`,
			hint: `grant a mode: --permission ${wider}`,
		};
	}
	return {
		message: `${agent.name} cannot be allowed single commands or tools`,
		hint: "grant everything instead: --permission full",
	};
}

/** Words of a command that a pattern of every program can hold: no quotes, brackets, wildcards, commas or signs of a shell. */
const PREFIX = /^[\w./@:+=~%-]+(?: [\w./@:+=~%-]+)*$/;

export const readAllow = (value: JobInput["allow"], field: string): string[] =>
	check.list(value, field, 100).map((one, index) => {
		const at = `${field}[${index}]`;
		const text = check.text(one, at, { max: 200, lines: "one" });
		if (!PREFIX.test(text))
			throw check.wrong(at, `${check.shown(text)} is not the beginning of a command`, 'words without quotes and shell signs: "npm test"');
		return text;
	});

/** An argv as commands that can be allowed: those of `sh -c LINE`, or itself; what no pattern can hold is left out. */
export function allowedOf(argv: readonly string[]): string[] {
	const [program = "", flag, line, ...more] = argv;
	const isShell = /(?:^|\/)(?:ba|da|z)?sh$/.test(program) && flag === "-c" && line !== undefined && more.length === 0;
	return (isShell ? simpleCommands(line) : [argv.join(" ")]).filter((one) => PREFIX.test(one));
}
