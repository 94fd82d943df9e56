// sluice retry and rerun: put a job back, with or without everything after it.

import { byVerb } from "../../command.ts";
import { ofJob, oneMethod } from "../../one-method.ts";

const rewind = (method: "job.retry" | "job.rerun") =>
	oneMethod(method, ofJob, ({ reset, restarted, last_successful, left_blocked = [] }, io, call) => {
		io.print.say(`reset: ${few(reset)}`);
		const startable = restarted.filter((id) => !(reset.length === 1 && reset[0] === id));
		if (startable.length > 0) io.print.say(`goes on from: ${few(startable)}`);
		if (last_successful.length > 0) io.print.say(io.print.paintTalk("dim", `last successful point: ${few(last_successful)}`));
		if (left_blocked.length > 0) {
			io.print.say(`still blocked: ${few(left_blocked)}`);
			// The blocked job may depend on other jobs, too: retrying this one would not help it.
			const hint = `sluice retry ${call.arg("ID")} brings back what comes after it; sluice why ${left_blocked[0]} says what else blocks it`;
			io.print.say(io.print.paintTalk("dim", `        ${hint}`));
		}
	});

export const run = byVerb({ retry: rewind("job.retry"), rerun: rewind("job.rerun") });

const few = (ids: readonly number[]) => (ids.length > 20 ? `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more` : ids.join(", "));
