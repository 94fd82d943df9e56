// Description of `sluice mcp`: what agents are offered, and how each program is set up for it.

import { type CommandSpec, text } from "../command.ts";

export const MCP: CommandSpec = {
	name: "mcp",
	help: "Serve agents over stdin and stdout (MCP).",
	more: [
		"Tools: job_add, job_list, job_show, job_why, job_cancel, job_retry, job_logs, job_wait, job_graph, scheduler_status, scheduler_pause, scheduler_resume, scheduler_forecast, stats_show, account_list, budget_list. They take what the methods of the same name take. job_add has `when` besides: `now`, or `after_this_job` for a follow-up of the run that calls it.",
		"Runs of claude, codex and opencode get this server by themselves, as `sluice`, with the tools of --for run, and may use them at every permission mode. The setting agents.NAME.mcp (run, all, none) changes that. There it asks the run's daemon, with the run's token: it may look and add, and what it adds are children of the run's job.",
		"Gemini CLI takes servers only from its own settings: register it once, as below. Runs of gemini may then use it at every permission mode. Gemini CLI hands on all of the run's variables but the token, which the example names.",
		"For sessions of your own, outside of Sluice, register it once, as below. The daemon is started when a tool needs it.",
	],
	options: [
		text("for", "WHOM", "Which tools: `run` offers those that a run needs, which spares tokens; `all` (the default) offers all.", {
			choices: ["run", "all"],
		}),
	],
	examples: [
		["claude mcp add --scope user sluice -- sluice mcp", "Claude Code"],
		["codex mcp add sluice -- sluice mcp", "Codex"],
		["gemini mcp add --scope user sluice sluice mcp --env 'SLUICE_TOKEN=$SLUICE_TOKEN'", "Gemini CLI, also for its runs"],
	],
	load: () => import("../commands/mcp.ts"),
};
