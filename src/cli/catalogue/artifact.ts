// Descriptions of the `artifact` commands.

import type { CommandSpec } from "../command.ts";

const load = () => import("../commands/artifact.ts");
const marker = (verb: string, help: string): CommandSpec => ({
	name: `artifact ${verb}`,
	help,
	args: [{ name: "ARTIFACT", help: "custom:TYPE:KEY or sentinel:NAME.", take: "one" }],
	options: [{ name: "absent", type: "flag", help: "It is not there." }],
	examples: [[`sluice artifact ${verb} custom:review:A-12`, "jobs that need it go on"]],
	load,
});

export const ARTIFACT: readonly CommandSpec[] = [
	{
		name: "artifact list",
		help: "Artifacts that jobs need or produce, and whether they are there.",
		examples: [["sluice artifact list", "what is there"]],
		load,
	},
	marker("set", "Say that an artifact is there, or is not."),
	marker("mark", "The same as artifact set."),
];
