// sluice gc: deletes what ended long ago.

import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { answer, type Io } from "../../io.ts";
import { counted } from "../../printing/print.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const days = call.number("days");
	if (days !== undefined && days < 0) throw usage("--days must not be negative");
	const document = await io.ask("scheduler.gc", days === undefined ? {} : { days });
	const { deleted, kept, unmerged = 0 } = document;
	answer(io, document, () => {
		const referred = kept - unmerged;
		const why = [
			referred > 0 && `since others still refer to them: ${referred}`,
			unmerged > 0 &&
				`since their merge is open: ${unmerged} (sluice status names those that need you; sluice merge ID --drop gives one up)`,
		].filter(Boolean);
		io.print.say([`deleted: ${counted(deleted, "job")}`, ...why.map((one) => `kept, ${one}`)].join("; "));
	});
	return undefined;
}
