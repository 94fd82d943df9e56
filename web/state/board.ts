// The board: the column and order of each job, and the jobs that match a search. Pure.

import { type BoardColumn, COLUMNS, columnOf } from "./column.ts";
import { parseQuery, queryMatcher } from "./query.ts";
import type { Filter } from "./route.ts";
import type { PageRow } from "./row.ts";

export const TITLES: Record<BoardColumn, string> = {
	asks: "Needs you",
	blocked: "Waiting",
	queued: "Queued",
	running: "Running",
	failed: "Failed",
	done: "Done",
};
export const ABOUT: Record<BoardColumn, string> = {
	asks: "an approval, an answer, a merge",
	blocked: "for other jobs, artifacts or locks",
	queued: "in the order of their starts; then what waits for a time",
	running: "",
	failed: "failed, blocked or expired; the newest first",
	done: "succeeded or cancelled; the newest first",
};

/** The jobs of the search box and of the filters beside it. */
export function matcher({ q, lane, repo, batch, status }: Filter): (row: PageRow) => boolean {
	const asked = queryMatcher(parseQuery(q));
	const has = (key: "lane" | "repo" | "batch", value: string | null, row: PageRow) => !value || row[key] === value;
	return (row) =>
		has("lane", lane, row) &&
		has("repo", repo, row) &&
		has("batch", batch, row) &&
		(!status || row.status === status || columnOf(row) === status) &&
		asked(row);
}

export type BoardRows = Record<BoardColumn, PageRow[]>;

const byNumber = (a: PageRow, b: PageRow) => a.id - b.id;
const newest = (a: PageRow, b: PageRow) => (b.endedAt ?? 0) - (a.endedAt ?? 0) || b.id - a.id;
const ORDERS: Record<BoardColumn, (a: PageRow, b: PageRow) => number> = {
	asks: byNumber,
	blocked: byNumber,
	queued: (a, b) => Number(b.ready) - Number(a.ready) || a.id - b.id,
	running: (a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0) || b.id - a.id,
	failed: newest,
	done: newest,
};

/** The index of a row in a sorted column, or where it would be inserted. */
function placeIn(rows: readonly PageRow[], row: PageRow, order: (a: PageRow, b: PageRow) => number): number {
	let [low, high] = [0, rows.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (order(rows[middle] as PageRow, row) < 0) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** All rows, sorted in their columns; the cost of changing one job does not depend on the number of jobs. */
export class Columns {
	readonly all: BoardRows = { asks: [], blocked: [], queued: [], running: [], failed: [], done: [] };

	change(before: PageRow | undefined, now: PageRow | undefined): void {
		if (before) {
			const column = columnOf(before);
			const index = placeIn(this.all[column], before, ORDERS[column]);
			if (this.all[column][index]?.id === before.id) this.all[column].splice(index, 1);
		}
		if (now) {
			const column = columnOf(now);
			this.all[column].splice(placeIn(this.all[column], now, ORDERS[column]), 0, now);
		}
	}

	/** Builds all columns anew. */
	fill(rows: Iterable<PageRow>): void {
		for (const column of COLUMNS) this.all[column].length = 0;
		for (const row of rows) this.all[columnOf(row)].push(row);
		for (const column of COLUMNS) this.all[column].sort(ORDERS[column]);
	}
}

/** The rows that match a search. */
export function filtered({ all }: Columns, filter: Filter): BoardRows {
	if (!Object.values(filter).some(Boolean)) return all;
	const fits = matcher(filter);
	return Object.fromEntries(COLUMNS.map((column) => [column, all[column].filter(fits)])) as BoardRows;
}

/** The rows of a list that are visible, with a few more on each side. */
export function shown(total: number, top: number, height: number, each: number, more = 3): { from: number; to: number } {
	const from = Math.max(0, Math.floor(top / each) - more);
	return { from: Math.min(from, total), to: Math.min(total, Math.ceil((top + height) / each) + more) };
}
