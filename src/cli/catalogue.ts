// Every command, in the order of help. A command's code is loaded when it is called.

import { CRON } from "./catalogue/cron.ts";
import { ACT } from "./catalogue/job/act.ts";
import { ADD, APPLY } from "./catalogue/job/add.ts";
import { LOOK } from "./catalogue/job/read.ts";
import { SLING, WORK } from "./catalogue/job/sling.ts";
import { KERNEL } from "./catalogue/kernel.ts";
import { MCP } from "./catalogue/mcp.ts";
import { NOUNS, UPKEEP } from "./catalogue/nouns.ts";
import { VOICE } from "./catalogue/run.ts";
import { CONTROL } from "./catalogue/scheduler.ts";
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
