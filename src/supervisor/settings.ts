// The part of the configuration that concerns runs. Read anew each time, so that a change takes effect at once.

import type { CustomProfile } from "../core/agents/index.ts";
import type { Reveal } from "../core/input/env-reference.ts";

export type SupervisorSettings = {
	/** Variables that every run gets: those of the daemon's environment that the allow-list lets through. The job's own variables override them. */
	env: Record<string, string>;
	/** Timeout of jobs that set none; null: no timeout. */
	timeout_ms: number | null;
	stall_timeout_ms: number | null;
	/** Stall timeout of agents whose output is read, if neither the job nor `stall_timeout_ms` sets one. */
	agent_stall_timeout_ms: number | null;
	/** An agent that waits for a limit to end is stopped after this long; null: never. */
	agent_patience_ms: number | null;
	stop: { grace_int_ms: number; grace_term_ms: number };
	/** Maximum size of each of a run's two logs; null: unlimited. */
	max_log_bytes: number | null;
	/** Null: run folders are kept for ever. */
	log_retention_ms: number | null;
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
