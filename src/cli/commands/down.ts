// sluice down: stops the daemon, and stays until it has gone.

import type { Call } from "../command.ts";
import { answer, type Io } from "../io.ts";

const LEFT_BEHIND = "what an earlier one left running goes on: sluice up --detach finds it, then once more: sluice down --stop-runs";
const WITH_RUNS = "stopped, and all that ran with it";
const WITHOUT_RUNS = "stopped; what runs goes on, and is found again by the next daemon";

export async function run(call: Call, io: Io): Promise<undefined> {
	const stopRuns = call.flag("stop-runs");
	const document = await io.askIfRunning("scheduler.down", stopRuns ? { stop_runs: true } : {});
	if (!document) {
		answer(io, { schema_version: 1, stopping: false }, () => {
			io.print.say("no daemon is running");
			if (stopRuns) io.print.say(io.print.paintTalk("dim", LEFT_BEHIND));
		});
		return undefined;
	}
	if (!io.json) io.print.say(io.print.paintTalk("dim", "stopping …"));
	await io.gone();
	answer(io, document, () => io.print.say(document.running === 0 ? "stopped" : stopRuns ? WITH_RUNS : WITHOUT_RUNS));
	return undefined;
}
