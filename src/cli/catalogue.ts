// Every command, in the order of help. A command's code is loaded when it is called.

import { ACCOUNT } from "./catalogue/account.ts";
import { AGENT } from "./catalogue/agent.ts";
import { ARTIFACT } from "./catalogue/artifact.ts";
import { AUDIT } from "./catalogue/audit/audit.ts";
import { BATCH } from "./catalogue/batch.ts";
import { BUDGET } from "./catalogue/budget.ts";
import { CONFIG } from "./catalogue/config.ts";
import { CRON } from "./catalogue/cron.ts";
import { DOCTOR } from "./catalogue/doctor.ts";
import { HOST } from "./catalogue/host.ts";
import { ACT } from "./catalogue/job/act.ts";
import { ADD, APPLY } from "./catalogue/job/add.ts";
import { EDIT } from "./catalogue/job/edit.ts";
import { READ } from "./catalogue/job/read.ts";
import { SLING } from "./catalogue/job/sling.ts";
import { KERNEL } from "./catalogue/kernel.ts";
import { LANE } from "./catalogue/lane.ts";
import { LOCK } from "./catalogue/lock.ts";
import { MCP } from "./catalogue/mcp.ts";
import { PEOPLE } from "./catalogue/people/people.ts";
import { RECIPE } from "./catalogue/recipe.ts";
import { REPO } from "./catalogue/repo.ts";
import { RUN } from "./catalogue/run.ts";
import { SCHEDULER } from "./catalogue/scheduler.ts";
import { SHELL } from "./catalogue/shell/completion.ts";
import { SOURCE } from "./catalogue/source.ts";
import { STATS } from "./catalogue/stats.ts";
import { STORE } from "./catalogue/store.ts";
import { WEBHOOK } from "./catalogue/webhook/deliveries.ts";
import type { CommandSpec } from "./command.ts";

/** The commands of a noun that belong into this section, in this order. */
const pick = (noun: readonly CommandSpec[], ...names: string[]): CommandSpec[] =>
	names.map((name) => {
		const found = noun.find((command) => command.name === name);
		if (!found) throw new Error(`the catalogue has no ${name}`);
		return found;
	});

export const SECTIONS: readonly (readonly [title: string, commands: readonly CommandSpec[]])[] = [
	["Adding", [ADD, APPLY, SLING]],
	["Looking", [...pick(SCHEDULER, "status"), ...READ, ...pick(SCHEDULER, "forecast"), STATS, ...pick(SCHEDULER, "top")]],
	["Acting", [EDIT, ...ACT]],
	["From inside a run", RUN],
	["Controlling", [...pick(SCHEDULER, "up", "down", "run", "pause", "resume", "clear"), ...CONFIG, ...DOCTOR, MCP]],
	["Sharing", [...pick(SCHEDULER, "serve"), ...PEOPLE, ...AUDIT]],
	["Nouns", [...LANE, ...AGENT, ...ACCOUNT, ...BUDGET, ...LOCK, ...ARTIFACT, ...REPO, ...HOST, ...BATCH, ...SOURCE, ...RECIPE]],
	["Times and triggers", CRON],
	["Webhooks", WEBHOOK],
	["The kernel's queue", KERNEL],
	[
		"Upkeep",
		[
			...pick(SCHEDULER, "gc", "prune"),
			...STORE,
			...pick(SHELL, "completion"),
			...pick(SCHEDULER, "version"),
			...pick(SHELL, "__complete"),
		],
	],
];

export const COMMANDS: readonly CommandSpec[] = SECTIONS.flatMap(([, commands]) => commands);
