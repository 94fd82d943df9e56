// sluice history: a job's events, oldest first.

import type { EventDocument } from "../../../api/documents.ts";
import { isMove } from "../../../core/event.ts";
import type { Io } from "../../io.ts";
import { ofJob, oneMethod } from "../../one-method.ts";
import { statusWords } from "../../printing/job-lines.ts";
import { type ListColumn, printList } from "../../printing/list.ts";
import { paintStatus, plain } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { durationWords, instantOf, localTime, relative } from "../../times.ts";

const COLUMNS: readonly ListColumn<EventDocument>[] = [
	{ title: "WHEN", cell: ({ at }) => localTime(instantOf(at) ?? 0) },
	{ title: "WHAT", cell: ({ kind }) => kind.replaceAll("_", " ") },
	{ title: "DETAIL", shrink: 20, cell: detail },
	{ title: "BY", shrink: 6, cell: ({ by }) => printable(by) },
];

export const run = oneMethod("job.history", ofJob, ({ events }, io) => printList(io, events, COLUMNS, ""));

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
