// sluice wait: stays until jobs have ended.

import type { Call } from "../command.ts";
import { EXIT, usage } from "../failure.ts";
import { answer, type Io, idOf } from "../io.ts";
import { durationOf } from "../times.ts";
import { waitFor } from "../waiting.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const ids = call.args("ID").map(idOf);
	if (call.flag("exit-code") && ids.length > 1) throw usage("--exit-code is for one job", "wait for each on its own");
	const timeout = call.text("timeout");
	const waited = await waitFor(io, ids, timeout === undefined ? undefined : durationOf(timeout, "timeout"));
	answer(io, { schema_version: 1, ...waited }, () => {
		if (!waited.done) io.print.warn(`sluice: not all have ended after ${timeout}`);
	});
	if (!waited.done) return EXIT.later;
	const [first] = waited.jobs;
	if (call.flag("exit-code") && first) return first.exit_code ?? (first.status === "succeeded" ? EXIT.done : EXIT.failed);
	return waited.jobs.every((job) => job.status === "succeeded") ? EXIT.done : EXIT.failed;
}
