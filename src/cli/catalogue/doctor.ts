// Description of `sluice doctor`.

import { type CommandSpec, text } from "../command.ts";

const load = () => import("../commands/doctor.ts");

export const DOCTOR: readonly CommandSpec[] = [
	{
		name: "doctor",
		help: "Look for what could be wrong on this machine.",
		options: [text("store", "URL", "Look at this database, too, instead of the one that the settings name.")],
		examples: [
			["sluice doctor", "each finding says what to do"],
			["sluice doctor --store postgres://sluice@db.example/sluice", "could this database be a store?"],
		],
		load,
	},
];
