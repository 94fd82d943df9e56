// Every command, in the order of help. A command's code is loaded when it is called.

import { ACT } from "./catalogue/act.ts";
import { ADD, APPLY } from "./catalogue/add.ts";
import { CONTROL } from "./catalogue/control.ts";
import { CRON } from "./catalogue/cron.ts";
import { KERNEL } from "./catalogue/kernel.ts";
import { LOOK } from "./catalogue/look.ts";
import { MCP } from "./catalogue/mcp.ts";
import { NOUNS, UPKEEP } from "./catalogue/nouns.ts";
import { SLING, WORK } from "./catalogue/sling.ts";
import { VOICE } from "./catalogue/verdict.ts";
import type { CommandSpec } from "./command.ts";

export const SECTIONS: readonly (readonly [title: string, commands: readonly CommandSpec[]])[] = [
	["Adding", [ADD, APPLY, SLING]],
	["Looking", LOOK],
	["Acting", ACT],
	["From inside a run", VOICE],
	["Controlling", [...CONTROL, MCP]],
	["Nouns", [...NOUNS, ...WORK]],
	["Times and triggers", CRON],
	["The kernel's queue", KERNEL],
	["Upkeep", UPKEEP],
];

export const COMMANDS: readonly CommandSpec[] = SECTIONS.flatMap(([, commands]) => commands);
