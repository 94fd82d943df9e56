// The known agents, each with its profile and its adapter. CONTRIBUTING.md says how to add one.

import { given } from "../given.ts";
import type { Adapter } from "./adapter.ts";
import { CLAUDE } from "./adapters/claude.ts";
import { CODEX } from "./adapters/codex.ts";
import { COMMAND } from "./adapters/command.ts";
import { GEMINI } from "./adapters/gemini.ts";
import { OPENCODE } from "./adapters/opencode.ts";
import type { Format, Known, Profile } from "./profile.ts";

export const ADAPTERS: Record<Format, Adapter> = { claude: CLAUDE, codex: CODEX, gemini: GEMINI, opencode: OPENCODE, command: COMMAND };

/** What a configuration may set for an agent; the rest comes from the built-in agent with that output, if there is one. */
export type CustomProfile = { [K in keyof Profile]?: Profile[K] | undefined };

export const isFormat = (name: string): name is Format => Object.hasOwn(ADAPTERS, name);

/**
 * The profile behind a name. An agent with its own command is judged by its exit code unless it says how to read its output, because a command written for
 * people prints for people.
 */
export function profileOf(name: string, custom: Readonly<Record<string, CustomProfile>>): Profile | null {
	const own = Object.hasOwn(custom, name) ? (custom[name] as CustomProfile) : undefined;
	const output = own?.output ?? (own?.command === undefined && isFormat(name) ? name : "command");
	if (own === undefined && !isFormat(name)) return null;
	const base = ADAPTERS[output].profile;
	// The built-in `resume` and `open` start the built-in program, so they do not apply to another command.
	const resume = own?.command !== undefined && own.resume === undefined ? [] : base.resume;
	const open = own?.command === undefined ? base.open : own.command[0] === base.command[0] ? base.open : [];
	// A command without `{options}` takes none of the built-in options either.
	const takes = own?.command === undefined || own.command.includes("{options}");
	const { model, permissions } = takes ? base : COMMAND.profile;
	// The options that allow single commands are known only for the built-in program.
	const isSame = own?.command === undefined || own.command[0] === base.command[0];
	const { allow, allow_tool } = takes && isSame ? base : COMMAND.profile;
	const mcp = own?.command === undefined ? base.mcp : "none";
	// If the configuration gives options for a permission mode, the built-in rules for that mode do not apply.
	const ruled = base.ruled.filter((mode) => own?.permissions?.[mode] === undefined);
	const parts = { permissions: { ...permissions, ...own?.permissions }, env: { ...base.env, ...own?.env } };
	return { ...base, resume, open, model, allow, allow_tool, mcp, ...given(own ?? {}), output, ruled, ...parts };
}

/** What is known of the program that a profile starts; null if the profile starts another program with the same output format. */
export function knownOf({ output, command }: Pick<Profile, "output" | "command">): Known | null {
	const { profile, known } = ADAPTERS[output];
	return command[0]?.split("/").at(-1) === profile.command[0] ? known : null;
}
