// Tool calls that a run was not allowed to make: the stored list, and what must be allowed so that they can be made. Pure; the page uses it, too.

import type { Adapter } from "../adapter.ts";
import { ADAPTERS, isFormat } from "../index.ts";
import type { Profile } from "../profile.ts";

/** Maximum calls that are stored one by one. */
export const DENIED_MAX = 20;

const REST = /^and (\d+) more$/;

/** The list as it is stored: long lists end with an entry that counts the rest. */
export const keptDenied = (calls: readonly string[]): string[] =>
	calls.length <= DENIED_MAX ? [...calls] : [...calls.slice(0, DENIED_MAX), `and ${calls.length - DENIED_MAX} more`];

/** The list without the entry that counts the rest. */
export const callsOf = (denied: readonly string[]): readonly string[] => (restOf(denied) === 0 ? denied : denied.slice(0, -1));

export const countDenied = (denied: readonly string[]): number => callsOf(denied).length + restOf(denied);

const restOf = (denied: readonly string[]): number => Number(REST.exec(denied.at(-1) ?? "")?.[1] ?? 0);

/** Whether a tool of this name is of this kind, in one of the known programs. */
const isTool = (kind: keyof Adapter["tools"], name: string): boolean =>
	Object.values(ADAPTERS).some(({ tools }) => tools[kind].includes(name));

/** What must be allowed for a denied call: each command of a shell line, or the whole tool. Null if no program's rules can express it. */
function partsOf(denial: string): { commands: string[]; tools: string[] } | null {
	const [, tool = denial, what = ""] = /^([\w.-]+): ([\s\S]*)$/.exec(denial) ?? [];
	if (!isTool("shell", tool)) return /^[\w.-]+$/.test(tool) ? { commands: [], tools: [tool] } : null;
	const commands = plainCommands(what, /(?<!\s)\s*(?:&&|;|\n)\s*/);
	return commands === null ? null : { commands, tools: [] };
}

/** A command that every program's patterns can express: no quotes, brackets, wildcards, commas or shell operators. */
export const PREFIX = /^[\w./@:+=~%-]+(?: [\w./@:+=~%-]+)*$/;
export const PREFIX_MAX = 200;
const KEYWORDS = /^(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc)(?: |$)/;

/** The commands of a shell line that consists of plain words between `joints`; null for any other line. */
export function plainCommands(line: string, joints: RegExp): string[] | null {
	const commands = line.trim().split(joints);
	return commands.every((one) => one.length <= PREFIX_MAX && PREFIX.test(one) && !KEYWORDS.test(one)) ? commands : null;
}

/** The command prefixes and tools that must be allowed for the denied calls. */
export function allowedFor(denied: readonly string[]): { commands: string[]; tools: string[] } {
	const parts = callsOf(denied).flatMap((one) => partsOf(one) ?? []);
	const unique = (values: string[]) => [...new Set(values)];
	return { commands: unique(parts.flatMap(({ commands }) => commands)), tools: unique(parts.flatMap(({ tools }) => tools)) };
}

/** Whether the agent's program can allow single commands. */
export const canAllow = ({ allow, ruled }: Pick<Profile, "allow" | "ruled">): boolean => allow.length > 0 || ruled.includes("edit");

/** Whether rules can allow all denied calls and nothing else. `agent`: its name; the options of a configured agent are known only to the daemon. */
export const isGrantable = (denied: readonly string[], agent?: string | null): boolean =>
	!(agent && isFormat(agent) && !canAllow(ADAPTERS[agent].profile)) && callsOf(denied).every((one) => partsOf(one) !== null);

/** What a person has allowed by granting denied calls, in words: `run: npm test, npm run lint`, `use Write, for any file`. */
export function grantWords(denied: readonly string[]): string[] {
	const { commands, tools } = allowedFor(denied);
	const scope = (tool: string) => (isTool("file", tool) ? "for any file" : isTool("web", tool) ? "for any address" : "for anything");
	return [...(commands.length === 0 ? [] : [`run: ${commands.join(", ")}`]), ...tools.map((tool) => `use ${tool}, ${scope(tool)}`)];
}
