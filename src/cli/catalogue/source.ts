// Descriptions of the `source` commands.

import { commandsOf, flag } from "../command.ts";

export const SOURCE = commandsOf("source", () => import("../commands/source.ts"), {
	list: {
		help: "Sources of items: what is in them, and what is wrong.",
		examples: [["sluice source list", "cards, beads and folders of the configuration"]],
	},
	show: {
		help: "The items of a source.",
		args: [{ name: "NAME", help: "The source.", take: "one" }],
		options: [flag("all", "Closed ones too.")],
		examples: [["sluice source show board", "which are eligible, which are blocked, and by what"]],
	},
	scan: {
		help: "Look at a source now; what is eligible becomes jobs where it is watched.",
		args: [{ name: "NAME", help: "The source; else all.", take: "optional" }],
		examples: [["sluice source scan", "all of them"]],
	},
});
