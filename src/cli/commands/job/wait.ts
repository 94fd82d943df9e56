// sluice wait: waits until jobs have ended: the named ones, or all of a batch, of a lane, of the queue.

import type { Call } from "../../command.ts";
import { EXIT, usage } from "../../failure.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { durationOf } from "../../times.ts";
import { type WaitScope, waitFor } from "../../waiting.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const scope = scopeOf(call);
	if (call.flag("exit-code") && !("ids" in scope && scope.ids.length === 1))
		throw usage("--exit-code is for one job", "wait for each on its own");
	const timeout = call.text("timeout");
	const waited = await waitFor(io, scope, timeout === undefined ? undefined : durationOf(timeout, "timeout"));
	answer(io, { schema_version: 1, ...waited }, () => {
		if (!waited.done) io.print.warn(`sluice: not all have ended after ${timeout}`);
		if (waited.jobs.length === 0) io.print.say("nothing to wait for");
	});
	if (!waited.done) return EXIT.later;
	const [first] = waited.jobs;
	if (call.flag("exit-code") && first) return first.exit_code ?? (first.status === "succeeded" ? EXIT.done : EXIT.failed);
	return waited.jobs.every((job) => job.status === "succeeded") ? EXIT.done : EXIT.failed;
}

function scopeOf(call: Call): WaitScope {
	const ids = call.args("ID").map(idOf);
	const [batch, lane] = [call.text("batch"), call.text("lane")];
	const isNamed = batch !== undefined || lane !== undefined || call.flag("all");
	if (ids.length === 0 && !isNamed) throw usage("wait: which job? Give a number or a name", "or --batch NAME, --lane NAME, --all");
	if (ids.length > 0 && isNamed) throw usage("jobs and --batch, --lane, --all contradict each other", "give one of them");
	return batch !== undefined ? { batch } : lane !== undefined ? { lane } : call.flag("all") ? { all: true } : { ids };
}
