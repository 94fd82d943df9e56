// Description of `sluice audit`.

import { commandsOf, flag, number, text } from "../../command.ts";

export const AUDIT = commandsOf("", () => import("../../commands/audit/audit.ts"), {
	audit: {
		help: "Who did what, when and from where: every call that changed something, the newest first.",
		more: ["Kept in the home, in files of bounded size; in a fleet each host keeps its own, and all hosts that answer are asked."],
		options: [
			number("limit", "N", "Show at most N calls. Default: 100."),
			text("by", "NAME", "Only calls of this person or program."),
			text("method", "METHOD", "Only this RPC method, or all of a noun: job, config, people."),
			text("since", "TIME", "Only from this time on: 2h, 3d, or a date."),
			flag("workers", "Also claims, heartbeats and ends of workers."),
		],
		examples: [
			["sluice audit", "what happened lately"],
			["sluice audit --by anna --since 1d", "what Anna did today"],
			["sluice audit --method config", "which settings were changed"],
		],
	},
});
