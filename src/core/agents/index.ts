// The known agents, each with its profile and its adapter. CONTRIBUTING.md says how to add one.

import { CLAUDE, CLAUDE_KNOWN, interpretClaude } from "./adapters/claude.ts";
import { CODEX, CODEX_KNOWN, interpretCodex } from "./adapters/codex.ts";
import { COMMAND, interpretCommand } from "./adapters/command.ts";
import { GEMINI, GEMINI_KNOWN, interpretGemini } from "./adapters/gemini.ts";
import { interpretOpencode, OPENCODE, OPENCODE_KNOWN } from "./adapters/opencode.ts";
import type { Format, Known, Permission, Profile } from "./profile.ts";
import type { Interpret } from "./stream/happening.ts";

export type Adapter = { profile: Profile; known: Known | null; interpret: Interpret };

export const ADAPTERS: Record<Format, Adapter> = {
	claude: { profile: CLAUDE, known: CLAUDE_KNOWN, interpret: interpretClaude },
	codex: { profile: CODEX, known: CODEX_KNOWN, interpret: interpretCodex },
	gemini: { profile: GEMINI, known: GEMINI_KNOWN, interpret: interpretGemini },
	opencode: { profile: OPENCODE, known: OPENCODE_KNOWN, interpret: interpretOpencode },
	command: { profile: COMMAND, known: null, interpret: interpretCommand },
};

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
	const given = Object.fromEntries(Object.entries(own ?? {}).filter(([, value]) => value !== undefined));
	// The built-in `resume` and `open` start the built-in program, so they do not apply to another command.
	const resume = own?.command !== undefined && own.resume === undefined ? [] : base.resume;
	const open = own?.command === undefined ? base.open : own.command[0] === base.command[0] ? base.open : [];
	// A command without `{options}` takes none of the built-in options either.
	const takes = own?.command === undefined || own.command.includes("{options}");
	const { model, permissions } = takes ? base : COMMAND;
	// The options that allow single commands are known only for the built-in program.
	const isSame = own?.command === undefined || own.command[0] === base.command[0];
	const { allow, allow_tool } = takes && isSame ? base : COMMAND;
	const mcp = own?.command === undefined ? base.mcp : "none";
	// If the configuration gives options for a permission mode, the built-in variables for that mode do not apply.
	const modes = Object.entries(base.permission_env).filter(([mode]) => own?.permissions?.[mode as Permission] === undefined);
	const merged: Profile = {
		...base,
		resume,
		open,
		model,
		allow,
		allow_tool,
		mcp,
		...given,
		output,
		permission_env: Object.fromEntries(modes),
	};
	return { ...merged, permissions: { ...permissions, ...own?.permissions }, env: { ...base.env, ...own?.env } };
}

/** What is known of the program that a profile starts; null if the profile starts another program with the same output format. */
export function knownOf({ output, command }: Pick<Profile, "output" | "command">): Known | null {
	const { profile, known } = ADAPTERS[output];
	return command[0]?.split("/").at(-1) === profile.command[0] ? known : null;
}
