// Descriptions of the `budget` commands.

import { commandsOf, text } from "../command.ts";

export const BUDGET = commandsOf("budget", () => import("../commands/budget.ts"), {
	list: { help: "Budgets: what is used of what is granted.", examples: [["sluice budget list", "who has how much left"]] },
	grant: {
		help: "Grant a budget.",
		args: [
			{ name: "SUBJECT", help: "owner:NAME, batch:NAME or repo:NAME.", take: "one" },
			{ name: "DIMENSION", help: "runs, wall_s, tokens, cost_micro or a word of your own.", take: "one" },
			{ name: "LIMIT", help: "A whole number, dollars such as $5 for cost_micro, or none.", take: "one" },
		],
		options: [
			text("window", "SPAN", "Start again from zero each hour or day.", { choices: ["hour", "day", "none"] }),
			text("warn-at", "SHARE", "Warn at this share of it, such as 0.8."),
			text("on-breach", "WHAT", "What becomes of runs when it is used up.", { choices: ["finish", "stop"] }),
			text("reserve", "AMOUNT", "What each run sets aside of it while it runs."),
		],
		examples: [
			["sluice budget grant owner:ann cost_micro '$5' --window day", "five dollars a day"],
			["sluice budget grant batch:night cost_micro '$20' --reserve '$0.50' --on-breach stop", "and not a run more than fits"],
		],
	},
	report: {
		help: "What jobs have cost, by batch or another trait; or report usage that no run has reported.",
		more: ["With SUBJECT, DIMENSION and AMOUNT it charges that ledger; below zero takes back."],
		args: [
			{ name: "SUBJECT", help: "owner:NAME, batch:NAME or repo:NAME.", take: "optional" },
			{ name: "DIMENSION", help: "tokens, cost_micro or a word of your own.", take: "optional" },
			{ name: "AMOUNT", help: "A whole number, as a difference.", take: "optional" },
		],
		options: [
			text("per", "TRAIT", "One line for each batch, or another trait.", { choices: ["batch", "owner", "repo", "lane", "agent", "job"] }),
			text("batch", "NAME", "Only jobs of this batch."),
			text("owner", "NAME", "Only jobs of this owner."),
			text("repo", "NAME", "Only jobs of this repo."),
		],
		examples: [
			["sluice budget report", "what each batch has cost"],
			["sluice budget report --per job --batch night", "the dearest jobs of one batch"],
			["sluice budget report owner:ann tokens 1200", "what an agent elsewhere used"],
		],
	},
});
