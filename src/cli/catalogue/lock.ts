// Description of `sluice lock list`.

import type { CommandSpec } from "../command.ts";

const load = () => import("../commands/lock.ts");

export const LOCK: readonly CommandSpec[] = [
	{
		name: "lock list",
		help: "Locks: who holds them, for whom one is kept free.",
		examples: [["sluice lock list", "what is taken"]],
		load,
	},
];
