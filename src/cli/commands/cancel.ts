// sluice cancel: ends jobs.

import type { Call } from "../command.ts";
import { answer, type Io, idOf } from "../io.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const params = {
		ids: call.args("ID").map(idOf),
		...(call.flag("subtree") ? { subtree: true } : {}),
		...(call.has("reason") ? { reason: call.text("reason") } : {}),
	};
	const document = await io.ask("job.cancel", params);
	const { cancelled, requested } = document as { cancelled: number[]; requested: number[] };
	answer(io, document, () => {
		if (cancelled.length > 0) io.print.say(`cancelled: ${cancelled.join(", ")}`);
		if (requested.length > 0) io.print.say(`asked to stop: ${requested.join(", ")}`);
		if (cancelled.length + requested.length === 0) io.print.say("nothing to cancel: all of them had ended");
	});
	return undefined;
}
