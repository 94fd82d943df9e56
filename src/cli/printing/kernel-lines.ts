// Shows the kernel's entries and ledgers to people.

import type { LedgerView, ReadyEntry } from "../../contracts/scheduler.ts";
import { writeJson } from "../../core/text/json-text.ts";
import type { Io } from "../io.ts";
import { localTime, relative } from "../times.ts";
import { type Colour, pairs } from "./print.ts";
import { printable } from "./sequences.ts";
import { type TableColumn, table } from "./table.ts";

const COLOURS: Record<ReadyEntry["state"], Colour> = {
	queued: "blue",
	dispatched: "cyan",
	completed: "green",
	expired: "yellow",
	cancelled: "dim",
};
const right = { align: "right" } as const;
const COLUMNS: readonly TableColumn[] = [
	{ title: "ENTRY", ...right },
	{ title: "PID", ...right },
	{ title: "STATE" },
	{ title: "PRIORITY", ...right },
	{ title: "TRIGGER", shrink: 8 },
	{ title: "ADDED" },
	{ title: "REMARK", shrink: 10 },
];

export function entryLines(entries: readonly ReadyEntry[], { print, world }: Io): string[] {
	if (entries.length === 0) return [];
	const now = world.now();
	const rows = entries.map((entry) => [
		String(entry.sched_id),
		String(entry.pid),
		print.paint(COLOURS[entry.state], entry.state),
		String(entry.priority),
		printable(entry.trigger),
		relative(entry.created_at * 1000, now),
		printable(remark(entry, now)),
	]);
	return table(COLUMNS, rows, print.width, (text) => print.paint("dim", text));
}

function remark({ state, runnable_at, deadline, worker_id, dispatched_at, exit_kind }: ReadyEntry, now: number): string {
	if (state === "dispatched") return `${worker_id ?? "a worker"} has it since ${relative((dispatched_at ?? 0) * 1000, now)}`;
	if (state === "completed") return exit_kind ?? "";
	if (state !== "queued") return "";
	const late = deadline !== null && deadline * 1000 <= now;
	if (late) return `deadline passed ${relative(deadline * 1000, now)}: sluice kernel gc expires it`;
	const parts = [
		runnable_at * 1000 > now && `claimable ${relative(runnable_at * 1000, now)}`,
		deadline !== null && `deadline ${relative(deadline * 1000, now)}`,
	];
	return parts.filter(Boolean).join(", ");
}

export function entryWords(entry: ReadyEntry, { print }: Io): string[] {
	const time = (value: number | null) => (value === null || value === 0 ? "" : localTime(value * 1000));
	return [
		`${print.paint("bold", `Entry ${entry.sched_id}`)} is ${print.paint(COLOURS[entry.state], entry.state)}`,
		...pairs(
			[
				["agent", `pid ${entry.pid}`],
				["priority", String(entry.priority)],
				["trigger", printable(entry.trigger)],
				["claimable", time(entry.runnable_at)],
				["deadline", time(entry.deadline)],
				["payload", printable(writeJson(entry.payload))],
				["worker", printable(entry.worker_id ?? "")],
				["created", time(entry.created_at)],
				["dispatched", time(entry.dispatched_at)],
				["completed", time(entry.completed_at)],
				["exit kind", printable(entry.exit_kind ?? "")],
			],
			print.paint,
		).map((line) => `  ${line}`),
	];
}

export function ledgerLines(ledgers: readonly LedgerView[], { print }: Io): string[] {
	if (ledgers.length === 0) return [];
	const rows = ledgers.map(({ subject, dim, used, limit, window, over_limit }) => [
		subject.replace(/^pid:/, ""),
		printable(dim),
		String(used),
		limit === null ? "–" : String(limit),
		window ?? "",
		over_limit ? print.paint("yellow", "over its limit: claims pass it over") : "",
	]);
	const columns = [
		{ title: "PID", ...right },
		{ title: "DIMENSION", shrink: 8 },
		{ title: "USED", ...right },
		{ title: "LIMIT", ...right },
		{ title: "EACH" },
		{ title: "" },
	];
	return table(columns, rows, print.width, (text) => print.paint("dim", text));
}
