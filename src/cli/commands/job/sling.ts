// sluice sling: turns items into jobs.

import type { Result } from "../../../api/protocol.ts";
import { allowedNames, capture } from "../../caller/environment.ts";
import type { Call } from "../../command.ts";
import { EXIT } from "../../failure.ts";
import { answer, type Io } from "../../io.ts";
import { optionsOf } from "../../one-method.ts";
import { printTable, titled } from "../../printing/list.ts";
import { counted } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { varsOf } from "./add.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const document = await io.ask("job.sling", {
		...optionsOf<"job.sling">(call, ["var"]),
		ids: [...call.args("ID")],
		cwd: io.world.cwd,
		env: capture(io.world.env, await allowedNames(io)),
		vars: varsOf(call),
	});
	answer(io, document, () => tell(io, document, call.flag("dry-run") ? "planned" : "added"));
	return document.deferred === null ? EXIT.done : EXIT.later;
}

function tell(io: Io, { planned, skipped, warnings, batches, deferred }: Result<"job.sling">, how: "planned" | "added"): void {
	const { print } = io;
	const rows = planned.map(({ job, item, repo, recipe, step, title }) =>
		[job === null ? "–" : String(job), item, repo ?? "", recipe ?? "(raw)", step ?? "", title].map(printable),
	);
	if (rows.length > 0) printTable(io, titled("JOB", "ITEM", "REPO", "RECIPE", "STEP", "TITLE"), rows);
	for (const one of warnings) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(one)}`);
	for (const { item, reason } of skipped) print.say(print.paintTalk("dim", `skipped ${printable(item)}: ${printable(reason)}`));
	if (deferred !== null) print.say(print.paintTalk("dim", printable(deferred.hint)));
	const where = batches.length > 0 ? ` in ${batches.length === 1 ? "batch" : "batches"} ${batches.map(printable).join(", ")}` : "";
	print.say(`${counted(planned.length, "job")} ${how === "planned" ? "would be added" : "added"}${where}`);
}
