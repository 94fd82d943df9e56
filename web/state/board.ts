// The board: which job stands in which column, in which order, and which are left by a search. Pure.

import type { Status } from "../../src/core/job.ts";
import type { Filter } from "./place.ts";
import type { Row } from "./row.ts";

export const COLUMNS = ["asks", "blocked", "queued", "running", "failed", "done"] as const;
export type Column = (typeof COLUMNS)[number];
export const TITLES: Record<Column, string> = {
	asks: "Needs you",
	blocked: "Waiting",
	queued: "Queued",
	running: "Running",
	failed: "Failed",
	done: "Done",
};
export const ABOUT: Record<Column, string> = {
	asks: "an approval, an answer, a merge",
	blocked: "for other jobs, artifacts, locks or time",
	queued: "for their turn",
	running: "",
	failed: "failed, blocked, cancelled or expired; the newest first",
	done: "the newest first",
};

const PLACES: Record<Status, Column> = {
	queued: "queued",
	waiting_on_deps: "blocked",
	waiting_on_locks: "blocked",
	running: "running",
	succeeded: "done",
	failed: "failed",
	cancelled: "failed",
	blocked_by_dependency: "failed",
	expired: "failed",
};

export const columnOf = (row: Row): Column => (row.asks !== null ? "asks" : PLACES[row.status]);

/** Every word must be found; `lane:code`, `repo:…`, `batch:…`, `is:failed` and `#7` mean what they say. */
export function matcher({ q, lane, repo, batch, status }: Filter): (row: Row) => boolean {
	const tests: ((row: Row) => boolean)[] = [];
	const only = (key: "lane" | "repo" | "batch", value: string) => tests.push((row) => row[key] === value);
	if (lane) only("lane", lane);
	if (repo) only("repo", repo);
	if (batch) only("batch", batch);
	if (status) tests.push((row) => row.status === status || columnOf(row) === status);
	for (const word of q.toLowerCase().split(/\s+/).filter(Boolean)) {
		const [, key, value] = /^(lane|repo|batch|is):(.+)$/.exec(word) ?? [];
		if (key === "is" && value) tests.push((row) => row.status.includes(value) || columnOf(row) === value);
		else if (key && value) tests.push((row) => row[key as "lane"]?.toLowerCase() === value);
		else if (/^#\d+$/.test(word)) tests.push((row) => row.id === Number(word.slice(1)));
		else tests.push((row) => row.text.includes(word));
	}
	return (row) => tests.every((test) => test(row));
}

export type Board = Record<Column, Row[]>;

export function boardOf(rows: Iterable<Row>, filter: Filter): Board {
	const fits = matcher(filter);
	const board: Board = { asks: [], blocked: [], queued: [], running: [], failed: [], done: [] };
	for (const row of rows) if (fits(row)) board[columnOf(row)].push(row);
	const byNumber = (a: Row, b: Row) => a.id - b.id;
	const newest = (a: Row, b: Row) => (b.endedAt ?? 0) - (a.endedAt ?? 0) || b.id - a.id;
	for (const column of ["asks", "blocked"] as const) board[column].sort(byNumber);
	board.queued.sort((a, b) => Number(b.ready) - Number(a.ready) || a.id - b.id);
	board.running.sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0) || b.id - a.id);
	for (const column of ["failed", "done"] as const) board[column].sort(newest);
	return board;
}

/** The rows of a list that a window shows, with a few more on each side. */
export function shown(total: number, top: number, height: number, each: number, more = 6): { from: number; to: number } {
	const from = Math.max(0, Math.floor(top / each) - more);
	return { from: Math.min(from, total), to: Math.min(total, Math.ceil((top + height) / each) + more) };
}
