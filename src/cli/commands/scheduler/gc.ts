// sluice gc: deletes what ended long ago.

import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { oneMethod } from "../../one-method.ts";
import { counted } from "../../printing/print.ts";

function daysOf(call: Call): { days: number | undefined } {
	const days = call.number("days");
	if (days !== undefined && days < 0) throw usage("--days must not be negative");
	return { days };
}

export const run = oneMethod("scheduler.gc", daysOf, ({ deleted, kept, unmerged = 0 }) => {
	const referred = kept - unmerged;
	const why = [
		referred > 0 && `since others still refer to them: ${referred}`,
		unmerged > 0 && `since their merge is open: ${unmerged} (sluice status names those that need you; sluice merge ID --drop gives one up)`,
	].filter(Boolean);
	return [`deleted: ${counted(deleted, "job")}`, ...why.map((one) => `kept, ${one}`)].join("; ");
});
