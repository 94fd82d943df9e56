// The part of the configuration that concerns runs. Read anew each time, so that a change takes effect at once.

import type { CustomProfile } from "../core/agents/index.ts";
import type { Reveal } from "../core/input/env-reference.ts";
import type { RUN_SETTINGS } from "../core/schema/run-settings.ts";
import type { ValuesOf } from "../core/schema/setting.ts";

export type SupervisorSettings = ValuesOf<typeof RUN_SETTINGS> & {
	/** Variables that every run gets: those of the daemon's environment that the allow-list lets through. The job's own variables override them. */
	env: Record<string, string>;
	/** Maximum size of each of a run's two logs; null: unlimited. */
	max_log_bytes: number | null;
	/** Agents of the configuration; they override the built-in ones. */
	agents: Record<string, CustomProfile>;
	/** Folder of each account's login and sessions; null: the agent's default folder. */
	accounts: Record<string, { home: string | null; env?: Record<string, string> }>;
	/** Resolves a reference in `agents.<name>.env` or `accounts.<name>.env` to its value. */
	reveal: Reveal;
	/** argv that starts Sluice's own command, for the MCP server of runs; null: unknown. */
	sluice: readonly string[] | null;
	/** Time zone of times that agents print without one. */
	timezone: string;
};
