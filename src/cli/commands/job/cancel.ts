// sluice cancel: cancels each of the jobs that can be cancelled.

import type { Call } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const params = {
		ids: call.args("ID").map(idOf),
		...(call.flag("subtree") ? { subtree: true } : {}),
		...(call.has("reason") ? { reason: call.text("reason") } : {}),
	};
	const document = await io.ask("job.cancel", params);
	// An older daemon does not send the last two.
	const { cancelled, requested, ended = [], refused = [] } = document;
	answer(io, document, () => {
		if (cancelled.length > 0) io.print.say(`cancelled: ${cancelled.join(", ")}`);
		if (requested.length > 0) io.print.say(`asked to stop: ${requested.join(", ")}`);
		if (ended.length > 0) io.print.say(`ended with them: ${ended.join(", ")}`);
		for (const { message } of refused) io.print.warn(`${io.print.paintTalk("red", "sluice:")} ${printable(message)}`);
		if (cancelled.length + requested.length + ended.length + refused.length === 0) io.print.say("nothing to cancel: all of them had ended");
	});
	return refused.length > 0 ? EXIT.illegal : EXIT.done;
}
