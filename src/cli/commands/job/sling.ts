// sluice sling: turns items into jobs.

import type { Params, Result } from "../../../api/protocol.ts";
import { allowedNames, capture } from "../../caller/environment.ts";
import type { Call } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { oneMethod, optionsOf } from "../../one-method.ts";
import { printTable, titled } from "../../printing/list.ts";
import { counted } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { varsOf } from "./add.ts";

export const run = oneMethod("job.sling", paramsOf, printSlung, ({ deferred }) => (deferred === null ? EXIT.done : EXIT.later));

async function paramsOf(call: Call, io: Io): Promise<Params<"job.sling">> {
	const env = capture(io.world.env, await allowedNames(io));
	return { ...optionsOf<"job.sling">(call, ["var"]), ids: [...call.args("ID")], cwd: io.world.cwd, env, vars: varsOf(call) };
}

function printSlung({ planned, skipped, warnings, batches, deferred }: Result<"job.sling">, io: Io, call: Call): string {
	const { print } = io;
	const rows = planned.map(({ job, item, repo, recipe, step, title }) =>
		[job === null ? "–" : String(job), item, repo ?? "", recipe ?? "(raw)", step ?? "", title].map(printable),
	);
	if (rows.length > 0) printTable(io, titled("JOB", "ITEM", "REPO", "RECIPE", "STEP", "TITLE"), rows);
	for (const one of warnings) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(one)}`);
	for (const { item, reason } of skipped) print.say(print.paintTalk("dim", `skipped ${printable(item)}: ${printable(reason)}`));
	if (deferred !== null) print.say(print.paintTalk("dim", printable(deferred.hint)));
	const where = batches.length > 0 ? ` in ${batches.length === 1 ? "batch" : "batches"} ${batches.map(printable).join(", ")}` : "";
	return `${counted(planned.length, "job")} ${call.flag("dry-run") ? "would be added" : "added"}${where}`;
}
