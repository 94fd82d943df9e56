// What of the configuration concerns runs. Asked for anew each time it is needed, so that a change counts at once.

import type { CustomProfile } from "../core/agents/index.ts";
import type { Reveal } from "../core/env-reference.ts";

export type SupervisorSettings = {
	/** Variables that every run gets, before those of its own job: what the allow-list lets through of the daemon's environment. */
	env: Record<string, string>;
	/** For jobs that name none; null = none. */
	timeout_ms: number | null;
	stall_timeout_ms: number | null;
	/** The same for agents whose output is read, where neither the job nor the setting above says anything. */
	agent_stall_timeout_ms: number | null;
	/** An agent that waits for the end of a limit by itself is stopped after this long; null = never. */
	agent_patience_ms: number | null;
	stop: { grace_int_ms: number; grace_term_ms: number };
	/** Of each of a run's two logs; null = no bound. */
	max_log_bytes: number | null;
	/** Null = for ever. */
	log_retention_ms: number | null;
	/** Agents of the configuration; over those that are built in. */
	agents: Record<string, CustomProfile>;
	/** Where the login and the sessions of each account are; null = where the agent has them by itself. */
	accounts: Record<string, { home: string | null; env?: Record<string, string> }>;
	/** What stands behind a text of `agents.<name>.env` and `accounts.<name>.env`. */
	reveal: Reveal;
	/** argv that starts Sluice's own command, for the MCP server of runs; null = not known. */
	sluice: readonly string[] | null;
	/** Of times that agents tell without one. */
	timezone: string;
};

export const SETTINGS: SupervisorSettings = {
	env: {},
	timeout_ms: null,
	stall_timeout_ms: null,
	agent_stall_timeout_ms: 1_200_000,
	agent_patience_ms: 60_000,
	stop: { grace_int_ms: 5_000, grace_term_ms: 10_000 },
	max_log_bytes: 1_000_000_000,
	log_retention_ms: 30 * 86_400_000,
	agents: {},
	accounts: {},
	reveal: (text) => ({ value: text }),
	sluice: null,
	timezone: "UTC",
};
