// Where the rows of the loaded blocks stand: rows that are folded away take no place, wrapped ones several lines. Pure.

import type { LogRow } from "./rows.ts";

export type LogBlock = { index: number; rows: readonly LogRow[] };
export type RowPlace = { block: number; row: number };
/** `lines` before each row, and of all of them at the end; null: one for each row. */
export type LogLayout = { blocks: readonly LogBlock[]; firsts: readonly number[]; count: number; before: Int32Array | null; total: number };
export type LogShape = {
	/** Letters in a line; null: lines are not wrapped. */
	columns: number | null;
	/** Rows whose section or result is folded, or, if tools are folded, open. */
	toggled: ReadonlySet<string>;
	tools: "open" | "folded";
	/** Lines that a row was seen to take, where that is not what its letters say. */
	seen: WeakMap<LogRow, number>;
};

export const keyOf = ({ block, row }: RowPlace): string => `${block}:${row}`;

const TAB = 8;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/gu;

/** The width of a text in letters. */
export function cellsOf(text: string): number {
	if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
	let cells = 0;
	for (const part of text.split("\t")) cells += (cells > 0 ? TAB : 0) + [...part].length + (part.match(WIDE)?.length ?? 0);
	return cells;
}

export const isFolded = (row: LogRow, place: RowPlace, { tools, toggled }: Pick<LogShape, "tools" | "toggled">): boolean =>
	row.fold !== null && row.fold !== "end" && toggled.has(keyOf(place)) !== (row.fold === "tool" && tools === "folded");

export function layoutOf(blocks: readonly LogBlock[], shape: LogShape): LogLayout {
	const firsts: number[] = [];
	let count = 0;
	for (const { rows } of blocks) {
		firsts.push(count);
		count += rows.length;
	}
	if (shape.columns === null && shape.toggled.size === 0 && shape.tools === "open")
		return { blocks, firsts, count, before: null, total: count };
	const before = new Int32Array(count + 1);
	const fold = new Folding();
	let [total, at] = [0, 0];
	for (const { index, rows } of blocks)
		for (let row = 0; row < rows.length; row++) {
			before[at++] = total;
			const one = rows[row] as LogRow;
			if (fold.hides(one, isFolded(one, { block: index, row }, shape))) continue;
			total += shape.columns === null ? 1 : (shape.seen.get(one) ?? Math.max(1, Math.ceil(cellsOf(one.text) / shape.columns)));
		}
	before[count] = total;
	return { blocks, firsts, count, before, total };
}

/** Goes through the rows in order, and tells which of them a folded row hides. */
class Folding {
	private tool = false;
	/** Of the folded section: the open ones within it; null if none is folded. */
	private depth: number | null = null;
	private head = false;

	hides(row: LogRow, folded: boolean): boolean {
		if (row.kind !== "aside") this.tool = false;
		if (this.depth !== null) {
			if (row.fold === "begin") this.depth++;
			if (row.fold === "end" && --this.depth < 0) this.depth = null;
			return true;
		}
		if (row.fold === "head" || row.fold === "begin") this.head = false;
		if (this.head || this.tool) return true;
		if (row.fold === "begin" && folded) this.depth = 0;
		if (row.fold === "head" && folded) this.head = true;
		if (row.fold === "tool" && folded) this.tool = true;
		return false;
	}
}

/** The row that stands at a line; its number among all loaded rows. */
export function rowAtLine({ before, count, total }: LogLayout, line: number): number {
	const wanted = Math.max(0, Math.min(line, total - 1));
	if (before === null) return wanted;
	let [low, high] = [0, count];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((before[middle + 1] ?? total) <= wanted) low = middle + 1;
		else high = middle;
	}
	return low;
}

export const lineOfRow = ({ before, total }: LogLayout, row: number): number =>
	before === null ? Math.min(row, total) : (before[row] ?? total);

export function placeOf({ blocks, firsts }: LogLayout, at: number): RowPlace | null {
	for (let n = blocks.length - 1; n >= 0; n--) {
		const [first, block] = [firsts[n] as number, blocks[n] as LogBlock];
		if (at >= first) return at - first < block.rows.length ? { block: block.index, row: at - first } : null;
	}
	return null;
}

/** The number of a row among the loaded ones; −1 if its block is not loaded. */
export function indexOfPlace({ blocks, firsts }: LogLayout, { block, row }: RowPlace): number {
	const n = blocks.findIndex(({ index }) => index === block);
	return n < 0 ? -1 : (firsts[n] as number) + Math.min(row, Math.max(0, (blocks[n] as LogBlock).rows.length - 1));
}

export function rowOfPlace(blocks: readonly LogBlock[], { block, row }: RowPlace): LogRow | undefined {
	return blocks.find(({ index }) => index === block)?.rows[row];
}
