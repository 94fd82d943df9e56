// sluice forecast: when jobs and batches are likely to be done.

import type { ForecastDocument, RangeDocument } from "../../../api/documents/forecast.ts";
import type { Params } from "../../../api/protocol.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { oneMethod } from "../../one-method.ts";
import { type ListColumn, printList, right } from "../../printing/list.ts";
import { counted } from "../../printing/print.ts";
import { basisWords, oddsWords, rangeWords } from "../../printing/ranges.ts";
import { printable } from "../../printing/sequences.ts";
import { durationWords } from "../../times.ts";

const USUAL_LIMIT = 50;

export const run = oneMethod("scheduler.forecast", paramsOf, printForecast);

function paramsOf(call: Call): Params<"scheduler.forecast"> {
	const most = call.number("max-concurrent");
	const lanes = call.has("lane") ? Object.fromEntries(call.list("lane").map(laneCap)) : undefined;
	return { max_concurrent: most === undefined ? undefined : Math.max(-1, most), lanes, batch: call.text("batch") };
}

function laneCap(text: string): [string, number | null] {
	const [, lane, limit] = /^(.+):(\d{1,7}|none)$/.exec(text) ?? [];
	if (lane === undefined) throw usage(`--lane: ${JSON.stringify(text)} names no lane and cap`, "for example code:8");
	return [lane, limit === "none" ? null : Number(limit)];
}

function printForecast(found: ForecastDocument, io: Io, call: Call): string | undefined {
	const { print } = io;
	const now = Date.parse(found.now);
	const range = (one: RangeDocument | null) => rangeWords(one, now);
	const title = (text: string) => print.paint("dim", text);
	if (found.jobs.length === 0) return "nothing waits or runs";
	const most = (call.number("limit") ?? USUAL_LIMIT) || found.jobs.length;
	const columns: ListColumn<ForecastDocument["jobs"][number]>[] = [
		{ title: "JOB", ...right, cell: ({ id }) => String(id) },
		{ title: "NAME", shrink: 8, cell: ({ name }) => printable(name ?? "") },
		{ title: "LANE", shrink: 6, cell: ({ lane }) => lane },
		{ title: "STARTS", cell: ({ stuck, start }) => (stuck === null ? range(start) : "") },
		{ title: "ENDS", cell: ({ stuck, end }) => (stuck === null ? range(end) : "") },
		{ title: "BASED ON", shrink: 12, cell: ({ stuck, basis }) => printable(stuck ?? (basis ? basisWords(basis) : "")) },
	];
	printList(io, found.jobs.slice(0, most), columns, "");
	if (found.jobs.length > most) print.out(title(`… and ${found.jobs.length - most} more`));
	print.out("");
	for (const { name, jobs, stuck, end } of found.batches)
		print.out(
			`Batch ${printable(name)}: ${counted(jobs, "job")}, ${end ? `done ${range(end)}` : `time unknown${stuck > 0 ? ` (${stuck} stuck)` : ""}`}`,
		);
	if (found.end) print.out(`All done: ${oddsWords(found.end, now)}`);
	if (found.critical_path.length > 0) {
		const path = found.critical_path.map(({ job }) => job).slice(-12);
		print.out(`Critical path: ${found.critical_path.length > path.length ? "… → " : ""}${path.join(" → ")}`);
	}
	if (found.binding) {
		const { cap, limit: bound, waiting_ms } = found.binding;
		const name = cap === "all" ? "max_concurrent" : cap.replace(":", " ");
		print.out(`Binding: ${printable(name)} (${bound}); jobs wait ${durationWords(waiting_ms)} for it in all`);
	} else if (found.plays > 0) print.out("Binding: no cap keeps anything waiting");
	for (const note of found.notes) print.out(print.paint("yellow", printable(note)));
	return undefined;
}
