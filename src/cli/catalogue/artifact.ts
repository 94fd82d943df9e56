// Descriptions of the `artifact` commands.

import { commandsOf, flag, type VerbSpec } from "../command.ts";

const marker = (verb: string, help: string): VerbSpec => ({
	help,
	args: [{ name: "ARTIFACT", help: "custom:TYPE:KEY or sentinel:NAME.", take: "one" }],
	options: [flag("absent", "It is not there.")],
	examples: [[`sluice artifact ${verb} custom:review:A-12`, "jobs that need it go on"]],
});

export const ARTIFACT = commandsOf("artifact", () => import("../commands/artifact.ts"), {
	list: {
		help: "Artifacts that jobs need or produce, and whether they are there.",
		examples: [["sluice artifact list", "what is there"]],
	},
	set: marker("set", "Say that an artifact is there, or is not."),
	mark: marker("mark", "The same as artifact set."),
});
