// Several questions as one statement: one message each way instead of one for each, and all of them answered as of the same moment.

import type { Query } from "../sql/reads.ts";

/** `columns`: for each that it selects, `n` for a number, `t` for a text. */
export type Part = Query & { columns: string };

const NUMBERS = 5;
const TEXTS = 4;

/** The same few sets come again and again. */
const texts = new Map<string, string>();
const KEPT = 100;

/** `split` sorts the rows of the answer by question. */
export function together(parts: readonly Part[]): Query & { split(rows: readonly unknown[][]): unknown[][][] } {
	const key = parts.map(({ sql }) => sql).join("\n");
	let sql = texts.get(key);
	if (sql === undefined) {
		if (texts.size >= KEPT) texts.clear();
		sql = parts.map(select).join("\nUNION ALL\n");
		texts.set(key, sql);
	}
	return {
		sql,
		params: parts.flatMap(({ params }) => params),
		split(rows) {
			const found: unknown[][][] = parts.map(() => []);
			const places = parts.map(({ columns }) => slots(columns));
			for (const row of rows) {
				const part = row[0] as number;
				(found[part] as unknown[][]).push((places[part] as number[]).map((slot) => row[slot]));
			}
			return found;
		},
	};
}

/** Its number, then a place for each number and each text that any of them may have. */
function select({ sql, columns }: Part, index: number): string {
	const at = slots(columns);
	const places = Array.from({ length: NUMBERS + TEXTS }, (_, slot) => {
		const column = at.indexOf(slot + 1);
		return `${column < 0 ? "NULL" : `s.c${column}`}::${slot < NUMBERS ? "double precision" : "text"}`;
	});
	return `(SELECT ${index}, ${places.join(", ")} FROM (${sql}) AS s (${at.map((_, column) => `c${column}`).join(", ")}))`;
}

/** Where each column stands in a row of the answer. */
function slots(columns: string): number[] {
	let [numbers, texts] = [0, NUMBERS];
	return Array.from(columns, (kind) => (kind === "n" ? ++numbers : ++texts));
}
