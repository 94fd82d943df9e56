// Description of `sluice lock list`.

import { commandsOf } from "../command.ts";

export const LOCK = commandsOf("lock", () => import("../commands/lock.ts"), {
	list: { help: "Locks: who holds them, for whom one is kept free.", examples: [["sluice lock list", "what is taken"]] },
});
