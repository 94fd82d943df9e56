// The agents that are known: each with its profile and its way of reading. CONTRIBUTING.md says how another one is added.

import { CLAUDE, CLAUDE_KNOWN, interpretClaude } from "./claude.ts";
import { CODEX, CODEX_KNOWN, interpretCodex } from "./codex.ts";
import { COMMAND, interpretCommand } from "./command.ts";
import { GEMINI, GEMINI_KNOWN, interpretGemini } from "./gemini.ts";
import type { Interpret } from "./happening.ts";
import { interpretOpencode, OPENCODE, OPENCODE_KNOWN } from "./opencode.ts";
import type { Format, Known, Permission, Profile } from "./profile.ts";

export type Adapter = { profile: Profile; known: Known | null; interpret: Interpret };

export const ADAPTERS: Record<Format, Adapter> = {
	claude: { profile: CLAUDE, known: CLAUDE_KNOWN, interpret: interpretClaude },
	codex: { profile: CODEX, known: CODEX_KNOWN, interpret: interpretCodex },
	gemini: { profile: GEMINI, known: GEMINI_KNOWN, interpret: interpretGemini },
	opencode: { profile: OPENCODE, known: OPENCODE_KNOWN, interpret: interpretOpencode },
	command: { profile: COMMAND, known: null, interpret: interpretCommand },
};

/** What a configuration may say of an agent; what it leaves out is that of the built-in one, if there is one of that output. */
export type CustomProfile = { [K in keyof Profile]?: Profile[K] | undefined };

export const isFormat = (name: string): name is Format => Object.hasOwn(ADAPTERS, name);

/**
 * The profile behind a name. One that has a command of its own is judged by its exit code, unless it says how its output is to be read: a command that was
 * written for people prints for people.
 */
export function profileOf(name: string, custom: Readonly<Record<string, CustomProfile>>): Profile | null {
	const own = Object.hasOwn(custom, name) ? (custom[name] as CustomProfile) : undefined;
	const output = own?.output ?? (own?.command === undefined && isFormat(name) ? name : "command");
	if (own === undefined && !isFormat(name)) return null;
	const base = ADAPTERS[output].profile;
	const given = Object.fromEntries(Object.entries(own ?? {}).filter(([, value]) => value !== undefined));
	// The built-in's way of resuming starts the built-in's program, and so does what a person types to go on.
	const resume = own?.command !== undefined && own.resume === undefined ? [] : base.resume;
	const open = own?.command === undefined ? base.open : own.command[0] === base.command[0] ? base.open : [];
	// Nor does a command that has no place for them want its options.
	const takes = own?.command === undefined || own.command.includes("{options}");
	const { model, permissions } = takes ? base : COMMAND;
	// How single commands are allowed is known of the built-in's program alone.
	const isSame = own?.command === undefined || own.command[0] === base.command[0];
	const { allow, allow_tool } = takes && isSame ? base : COMMAND;
	const mcp = own?.command === undefined ? base.mcp : "none";
	// A mode with words of its own means what those say, and nothing besides.
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

/** What is known of the program that a profile starts; null for one that only prints like a program that is known. */
export function knownOf({ output, command }: Pick<Profile, "output" | "command">): Known | null {
	const { profile, known } = ADAPTERS[output];
	return command[0]?.split("/").at(-1) === profile.command[0] ? known : null;
}
