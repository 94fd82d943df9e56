// Descriptions of the commands for completion in a shell.

import { named } from "../../command.ts";

export const SHELL = named({
	completion: {
		help: "Completion for your shell, ids included.",
		args: [{ name: "SHELL", help: "bash, zsh or fish.", take: "one", completes: ["bash", "zsh", "fish"] }],
		examples: [
			["source <(sluice completion bash)", "in ~/.bashrc"],
			["sluice completion zsh > ~/.zfunc/_sluice", "in a folder of your fpath"],
			["sluice completion fish > ~/.config/fish/completions/sluice.fish", ""],
		],
		load: () => import("../../commands/shell/completion.ts"),
	},
	__complete: {
		help: "Words for completion.",
		args: [{ name: "KIND", help: "job, lane or host.", take: "one" }],
		examples: [["sluice __complete job", ""]],
		hidden: true,
		load: () => import("../../commands/shell/complete.ts"),
	},
});
