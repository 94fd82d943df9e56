// Description of `sluice stats`.

import { type CommandSpec, text } from "../command.ts";

export const STATS: CommandSpec = {
	name: "stats",
	help: "What ended, waited and cost over the last days.",
	more: [
		"From rollups that the daemon keeps: days for a year, hours for 31 days. Costs and tokens are what runs reported when they ended; slots also count the runs of now.",
		"WAITED is how long the jobs that started had waited before; --by cause says for what. START is the time from ready to started.",
	],
	options: [
		text("since", "TIME", "From then on: 24h, 7d, 365d ago, or a date. Default: 7d."),
		text("until", "TIME", "Until then, in the same forms. Default: now."),
		text("by", "TRAIT", "A line for each. Default: lane.", {
			choices: ["lane", "agent", "model", "owner", "repo", "account", "cause"],
			sought: ["per", "group", "group-by"],
		}),
		text("bucket", "SIZE", "What a mark of TREND stands for. Default: hour for three days or less, else day.", {
			choices: ["hour", "day"],
		}),
	],
	examples: [
		["sluice stats", "the last seven days, by lane"],
		["sluice stats --since 24h --by agent", "which agent did what, and what it cost"],
		["sluice stats --since 30d --by cause", "what jobs waited for"],
		["sluice stats --since 365d --json | jq .total.cost_micro", "a year's cost in micro-dollars"],
	],
	load: () => import("../commands/stats.ts"),
};
