// Descriptions of the `lane` commands.

import { commandsOf, number, text } from "../command.ts";

export const LANE = commandsOf("lane", () => import("../commands/lane.ts"), {
	list: { help: "Lanes with their caps and what is in them.", examples: [["sluice lane list", "how full each is"]] },
	set: {
		help: "Change a lane, or make one; counts at once.",
		args: [{ name: "NAME", help: "The lane.", take: "one", completes: "lane" }],
		options: [
			text("max", "N", "Maximum concurrent runs; `none` removes the cap."),
			number("priority", "N", "Its base in the priority sum."),
		],
		examples: [["sluice lane set code --max 8 --priority 100", "eight at a time, before others"]],
	},
	remove: {
		help: "Take a lane out of the configuration; not while a job of it is open.",
		args: [{ name: "NAME", help: "The lane.", take: "one", completes: "lane" }],
		examples: [["sluice lane remove docs", "no job uses it any more"]],
	},
});
