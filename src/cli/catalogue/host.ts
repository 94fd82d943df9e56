// Descriptions of the `host` commands.

import { commandsOf, flag } from "../command.ts";
import { REASON } from "../command-line/shared-options.ts";

const NAME = { name: "NAME", help: "The host.", take: "one", completes: "host" } as const;

export const HOST = commandsOf("host", () => import("../commands/host.ts"), {
	list: { help: "Hosts that run jobs: their state, labels and runs.", examples: [["sluice host list", "which machines are there"]] },
	show: { help: "One host, and what runs on it.", args: [NAME], examples: [["sluice host show mill-3", ""]] },
	drain: {
		help: "Let a host start nothing more; what runs there goes on.",
		more: ["It stays so until `host undrain`, also when its daemon is restarted."],
		args: [NAME],
		options: [flag("stop", "Stop what runs there, too; it is run again elsewhere, and no retry is burned."), REASON],
		examples: [
			['sluice host drain mill-3 --reason "a new disk"', "before it is taken down"],
			["sluice host drain mill-3 --stop", "at once"],
		],
	},
	undrain: { help: "Let a host start jobs again.", args: [NAME], examples: [["sluice host undrain mill-3", ""]] },
	remove: {
		help: "Forget a host that is gone, and its labels with it.",
		args: [NAME],
		examples: [["sluice host remove mill-3", "it will not be back"]],
	},
});
