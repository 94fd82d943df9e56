// sluice mcp, described: what agents are offered, and how each program is told of it.

import type { CommandSpec } from "../command.ts";

export const MCP: CommandSpec = {
	name: "mcp",
	help: "Serve agents over stdin and stdout (MCP).",
	more: [
		"Tools: job_add, job_list, job_show, job_why, job_cancel, job_retry, job_logs, job_wait, job_graph, scheduler_status, scheduler_pause, scheduler_resume, scheduler_forecast, account_list, budget_list. They take what the methods of the same name take. job_add has `when` besides: `now`, or `after_this_job` for a follow-up of the run that calls it.",
		"An agent starts it; register it once, as below. The daemon is started when a tool needs it.",
		"Inside a run of Sluice it asks that run's daemon, with the run's token: it may look and add, and what it adds are children of the run's job. For that it needs the run's variables. Claude Code hands them on by itself.",
		'Codex hands on only what it is told to. In ~/.codex/config.toml, below [mcp_servers.sluice]: env_vars = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID"]',
		"Gemini CLI hands on all but the token, and starts servers only in folders that it trusts; the example below names the token.",
	],
	examples: [
		["claude mcp add --scope user sluice -- sluice mcp", "Claude Code"],
		["codex mcp add sluice -- sluice mcp", "Codex"],
		["gemini mcp add --scope user sluice sluice mcp --env 'SLUICE_TOKEN=$SLUICE_TOKEN'", "Gemini CLI"],
	],
	load: () => import("../commands/mcp.ts"),
};
