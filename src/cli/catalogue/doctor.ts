// Description of `sluice doctor`.

import { commandsOf, text } from "../command.ts";

export const DOCTOR = commandsOf("", () => import("../commands/doctor.ts"), {
	doctor: {
		help: "Look for what could be wrong on this machine.",
		options: [text("store", "URL", "Look at this database, too, instead of the one that the settings name.")],
		examples: [
			["sluice doctor", "each finding says what to do"],
			["sluice doctor --store postgres://sluice@db.example/sluice", "could this database be a store?"],
		],
	},
});
