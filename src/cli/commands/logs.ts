// sluice logs: what a job has written.

import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { printLog } from "../follow.ts";
import { type Io, idOf } from "../io.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const id = idOf(call.arg("ID"));
	const stream = call.flag("stderr") ? "stderr" : "stdout";
	const attempt = call.number("run");
	if (attempt !== undefined && attempt < 1) throw usage("--run counts from 1");
	if (!io.json) return void (await printLog(io, { id, stream, attempt, raw: call.flag("raw") }, call.flag("follow") ? "follow" : "once"));
	if (call.flag("follow")) throw usage("--json and --follow contradict each other", "give one of them");
	io.print.out(JSON.stringify(await io.ask("job.logs", { id, stream, ...(attempt === undefined ? {} : { run: attempt }) })));
	return undefined;
}
