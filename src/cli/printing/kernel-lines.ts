// Shows the kernel's entries and ledgers to people.

import type { LedgerView, ReadyEntry } from "../../contracts/scheduler.ts";
import { writeJson } from "../../core/text/json-text.ts";
import type { Io } from "../io.ts";
import { localTime, relative } from "../times.ts";
import { cap, count, field, type ListColumn, right } from "./list.ts";
import { type Colour, pairs } from "./print.ts";
import { printable } from "./sequences.ts";

const COLOURS: Record<ReadyEntry["state"], Colour> = {
	queued: "blue",
	dispatched: "cyan",
	completed: "green",
	expired: "yellow",
	cancelled: "dim",
};
export const ENTRY_COLUMNS: readonly ListColumn<ReadyEntry>[] = [
	count("sched_id", "ENTRY"),
	count("pid"),
	{ title: "STATE", cell: ({ state }, { print }) => print.paint(COLOURS[state], state) },
	count("priority"),
	field("trigger"),
	{ title: "ADDED", cell: ({ created_at }, { world }) => relative(created_at * 1000, world.now()) },
	{ title: "REMARK", shrink: 10, cell: (entry, { world }) => printable(remark(entry, world.now())) },
];

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

export const LEDGER_COLUMNS: readonly ListColumn<LedgerView>[] = [
	{ title: "PID", ...right, cell: ({ subject }) => subject.replace(/^pid:/, "") },
	field("dim", "DIMENSION"),
	count("used"),
	cap("limit", "LIMIT"),
	{ title: "EACH", cell: ({ window }) => window ?? "" },
	{ title: "", cell: ({ over_limit }, { print }) => (over_limit ? print.paint("yellow", "over its limit: claims pass it over") : "") },
];
