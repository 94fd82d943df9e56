// sluice logs: the output of jobs.

import type { LogStream } from "../../../core/text/log-piece.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { type LogStart, printLog, WHOLE } from "../../follow.ts";
import { type Io, idOf } from "../../io.ts";
import { noteAttempt } from "../../printing/attempt-note.ts";
import { printable } from "../../printing/sequences.ts";

/** A followed log begins with its last lines; a short one is shown completely that way. */
const FOLLOWED_LINES = 100;
/** Maximum bytes of one JSON document. */
const PAGE = 1_000_000;

export async function run(call: Call, io: Io): Promise<undefined> {
	const ids = call.args("ID").map(idOf);
	const stream: LogStream = call.flag("stdout") ? "stdout" : call.flag("stderr") ? "stderr" : "both";
	const attempt = call.number("run");
	if (attempt !== undefined && attempt < 1) throw usage("--run counts from 1");
	const from = startOf(call);
	if (io.json) return printDocument(call, io, ids, { stream, attempt, from });
	const how = call.flag("follow") ? "follow" : "once";
	const wanted = { stream, attempt, raw: call.flag("raw"), from, announce: call.flag("follow") && !call.has("lines") };
	const [id] = ids;
	if (attempt === undefined && how === "once") for (const one of ids) await noteAttempt(io, one);
	if (ids.length === 1 && id !== undefined) return void (await printLog(io, { id, ...wanted }, how));
	const width = Math.max(...ids.map((one) => printable(String(one)).length));
	const logs = ids.map((one) => ({
		id: one,
		...wanted,
		prefix: io.print.paint("dim", `${printable(String(one)).padEnd(width)} | `),
	}));
	if (how === "follow") await Promise.all(logs.map((one) => printLog(io, one, how)));
	else for (const one of logs) await printLog(io, one, how);
}

function startOf(call: Call): LogStart {
	const offset = call.number("offset");
	if (offset !== undefined) return { offset };
	const lines = call.text("lines");
	if (lines === undefined) return call.flag("follow") ? { tail: FOLLOWED_LINES } : WHOLE;
	if (lines === "all") return WHOLE;
	if (!/^\d{1,6}$/.test(lines)) throw usage(`--lines: ${JSON.stringify(lines)} is not a number of lines`, "for example -n 20, or -n all");
	return { tail: Number(lines) };
}

type Wanted = { stream: LogStream; attempt: number | undefined; from: LogStart };

async function printDocument(
	call: Call,
	io: Io,
	[id, ...others]: (number | string)[],
	{ stream, attempt, from }: Wanted,
): Promise<undefined> {
	if (call.flag("follow")) throw usage("--json and --follow contradict each other", "give one of them");
	if (id === undefined || others.length > 0) throw usage("--json is for one job", "ask for each on its own");
	const chosen = { stream: stream === "both" ? undefined : stream, run: attempt };
	io.print.out(JSON.stringify(await io.ask("job.logs", { id, ...(from === WHOLE ? {} : from), limit: PAGE, ...chosen })));
}
