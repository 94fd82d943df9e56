// sluice gc: deletes what ended long ago.

import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { counted } from "../print.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const days = call.number("days");
	if (days !== undefined && days < 0) throw usage("--days must not be negative");
	const document = await io.ask("scheduler.gc", days === undefined ? {} : { days });
	const { deleted, kept } = document as { deleted: number; kept: number };
	answer(io, document, () =>
		io.print.say(`deleted: ${counted(deleted, "job")}${kept > 0 ? `; kept, since others still refer to them: ${kept}` : ""}`),
	);
	return undefined;
}
