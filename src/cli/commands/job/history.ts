// sluice history: a job's events, oldest first.

import type { EventDocument } from "../../../api/documents.ts";
import { isMove } from "../../../core/event.ts";
import type { Call } from "../../command.ts";
import { answer, type Io, idOf } from "../../io.ts";
import { statusWords } from "../../printing/job-lines.ts";
import { paintStatus, plain } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { table } from "../../printing/table.ts";
import { durationWords, instantOf, localTime, relative } from "../../times.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("job.history", { id: idOf(call.arg("ID")) });
	answer(io, document, () => {
		const rows = document.events.map((event) => [
			localTime(instantOf(event.at) ?? 0),
			event.kind.replaceAll("_", " "),
			detail(event, io),
			printable(event.by),
		]);
		const columns = [{ title: "WHEN" }, { title: "WHAT" }, { title: "DETAIL", shrink: 20 }, { title: "BY", shrink: 6 }];
		for (const line of table(columns, rows, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
	});
	return undefined;
}

/** `queued → running, attempt 2` */
function detail(event: EventDocument, { print, world }: Io): string {
	const { from, to } = isMove(event) ? event.data : { from: null, to: null };
	const move = to === null ? "" : `${from === null ? "" : `${statusWords(from)} → `}${paintStatus(print.paint, to, statusWords(to))}`;
	const more = Object.entries(event.data).flatMap(([key, value]) => {
		if (value === null || value === undefined || value === "" || key === "burns" || key === "from" || key === "to") return [];
		if (key === "reason" && typeof value === "object") return [plain("detail" in value ? value.detail : value)];
		if (key === "reason" || key === "end_reason" || key === "message") return [plain(value)];
		if (key === "retry_at" || key === "until") {
			const at = instantOf(value);
			return at === undefined ? [] : [`${key === "until" ? "until" : "again"} ${moment(at, world.now())}`];
		}
		if (key.endsWith("_ms") && typeof value === "number") return [`${key.slice(0, -3).replaceAll("_", " ")} ${durationWords(value)}`];
		return [`${key.replaceAll("_", " ")} ${plain(value)}`];
	});
	return [...new Set([move, ...more])].filter(Boolean).join(", ");
}

/** Future times are shown relative to now, past times as a date. */
const moment = (at: number, now: number) => (at > now ? relative(at, now) : localTime(at));
