// sluice graph: dependencies of jobs, in one of four formats.

import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { type Io, idOf } from "../../io.ts";
import { optionsOf } from "../../one-method.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const depth = call.number("max-depth");
	if (depth !== undefined && depth < 0) throw usage("--max-depth must not be negative");
	const format = io.json ? "json" : (call.choice("format", ["dag", "json", "mermaid", "dot"]) ?? "dag");
	const job = call.text("job");
	const document = await io.ask("job.graph", { ...optionsOf<"job.graph">(call), format, job: job === undefined ? undefined : idOf(job) });
	io.print.out("text" in document ? document.text : JSON.stringify(document));
}
