// Descriptions of the `config` commands, and of `init`.

import { type CommandSpec, commandsOf, flag, text } from "../command.ts";

const PRESETS = ["cards", "town", "dag", "loops", "kernel"] as const;

const INIT: CommandSpec = {
	name: "init",
	help: "Write a first configuration into the home.",
	options: [text("preset", "NAME", "The defaults of another scheduler.", { choices: PRESETS })],
	examples: [
		["sluice init", "with comments, everything at its default"],
		["sluice init --preset loops", "lanes plan, spec, phase and code"],
	],
	load: () => import("../commands/init.ts"),
};

export const CONFIG: readonly CommandSpec[] = [
	INIT,
	...commandsOf("config", () => import("../commands/config.ts"), {
		get: {
			help: "One setting.",
			args: [{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" }],
			examples: [["sluice config get max_concurrent", ""]],
		},
		set: {
			help: "Change a setting, in the file and at once; `port`, `store` and `host` count from the next start.",
			args: [
				{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" },
				{ name: "VALUE", help: "As it stands in YAML: 8, true, 30s, null, [a, b].", take: "one" },
			],
			examples: [
				["sluice config set max_concurrent 8", "starts more at once"],
				["sluice config set lanes.code.max null", "no cap"],
			],
		},
		unset: {
			help: "Take a setting out of the file: its default counts again.",
			args: [{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" }],
			examples: [["sluice config unset max_concurrent", ""]],
		},
		list: {
			help: "All settings.",
			options: [flag("origin", "And where each comes from.")],
			examples: [["sluice config list --origin", "default, file, flag or environment"]],
		},
		check: { help: "Is the configuration file right?", examples: [["sluice config check", "names the line of each mistake"]] },
	}),
];
