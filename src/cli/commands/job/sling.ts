// sluice sling: turns items into jobs.

import type { Slung } from "../../../contracts/intake.ts";
import { allowedNames, capture } from "../../caller/environment.ts";
import type { Call } from "../../command.ts";
import { EXIT, usage } from "../../failure.ts";
import { type AnswerDocument, answer, type Io } from "../../io.ts";
import { counted } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { table } from "../../printing/table.ts";

const TEXTS = ["on", "repo", "recipe", "args", "agent", "account", "lane", "merge", "base-branch", "mode", "batch"];
const FLAGS = ["no-merge", "raw", "owned", "no-batch", "dry-run", "force"];

type Answer = Omit<Slung, "jobs">;

export async function run(call: Call, io: Io): Promise<number> {
	const params: AnswerDocument = { ids: call.args("ID"), cwd: io.world.cwd, env: capture(io.world.env, await allowedNames(io)) };
	for (const name of TEXTS) if (call.has(name)) params[name.replaceAll("-", "_")] = call.text(name);
	for (const name of FLAGS) if (call.flag(name)) params[name.replaceAll("-", "_")] = true;
	if (call.has("priority")) params.priority = call.number("priority");
	if (call.list("var").length > 0) params.vars = Object.fromEntries(call.list("var").map(pairOf));
	const document = await io.ask("job.sling", params);
	const slung = document as unknown as Answer;
	answer(io, document, () => tell(io, slung, call.flag("dry-run") ? "planned" : "added"));
	return slung.deferred === null ? EXIT.done : EXIT.later;
}

function pairOf(one: string): [string, string] {
	const equals = one.indexOf("=");
	if (equals < 1) throw usage(`--var: ${JSON.stringify(one)} is not KEY=VALUE`);
	return [one.slice(0, equals), one.slice(equals + 1)];
}

function tell({ print }: Io, { planned, skipped, warnings, batches, deferred }: Answer, how: "planned" | "added"): void {
	const columns = [
		{ title: "JOB" },
		{ title: "ITEM" },
		{ title: "REPO" },
		{ title: "RECIPE" },
		{ title: "STEP" },
		{ title: "TITLE", shrink: 12 },
	];
	const rows = planned.map(({ job, item, repo, recipe, step, title }) =>
		[job === null ? "–" : String(job), item, repo ?? "", recipe ?? "(raw)", step ?? "", title].map(printable),
	);
	if (rows.length > 0) for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
	for (const one of warnings) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(one)}`);
	for (const { item, reason } of skipped) print.say(print.paintTalk("dim", `skipped ${printable(item)}: ${printable(reason)}`));
	if (deferred !== null) print.say(print.paintTalk("dim", printable(deferred.hint)));
	const where = batches.length > 0 ? ` in ${batches.length === 1 ? "batch" : "batches"} ${batches.map(printable).join(", ")}` : "";
	print.say(
		how === "planned" ? `${counted(planned.length, "job")} would be added${where}` : `${counted(planned.length, "job")} added${where}`,
	);
}
