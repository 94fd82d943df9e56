// Text in columns that fits the terminal: display width, truncation with …, colours that do not count.

import { splitSequences, withoutSequences } from "./sequences.ts";

const WIDE =
	/^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NOTHING = /^(?:\p{Mn}|\u200b|\u200c|\u200d)/u;
const widthOfOne = (character: string) => (NOTHING.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** Columns that the text takes on the screen. */
export function widthOf(text: string): number {
	let width = 0;
	for (const character of withoutSequences(text)) width += character < "\u0300" ? 1 : widthOfOne(character);
	return width;
}

/** Cuts to this many columns, with … for the missing part; colours inside are kept and closed. */
export function cut(text: string, columns: number): string {
	if (widthOf(text) <= columns) return text;
	if (columns <= 0) return "";
	let out = "";
	let width = 0;
	const coloured = text.includes("\u001b");
	for (const piece of splitSequences(text)) {
		if (piece?.startsWith("\u001b")) out += piece;
		else
			for (const character of piece ?? "") {
				if (width + widthOfOne(character) > columns - 1) return `${out}…${coloured ? "\u001b[0m" : ""}`;
				out += character;
				width += widthOfOne(character);
			}
	}
	return out;
}

export const pad = (text: string, columns: number) => text + " ".repeat(Math.max(0, columns - widthOf(text)));
const padLeft = (text: string, columns: number) => " ".repeat(Math.max(0, columns - widthOf(text))) + text;

export type TableColumn = {
	title: string;
	align?: "right";
	/** May be cut down to this many columns; absent = never cut. */
	shrink?: number;
	/** Never wider than this, however much room there is: one long cell would pad all other rows. */
	most?: number;
};

/**
 * Rows under their titles, two spaces between columns. If `width` is too small, the widest column that may shrink is cut repeatedly; empty columns are left
 * out.
 */
export function table(
	columns: readonly TableColumn[],
	rows: readonly (readonly string[])[],
	width: number,
	dim = (text: string) => text,
): string[] {
	const used = columns.map((_, index) => index).filter((index) => rows.some((row) => (row[index] ?? "") !== ""));
	const widest = (index: number) =>
		Math.min(
			columns[index]?.most ?? Number.POSITIVE_INFINITY,
			rows.reduce((most, row) => Math.max(most, widthOf(row[index] ?? "")), widthOf(columns[index]?.title ?? "")),
		);
	const widths = new Map(used.map((index) => [index, widest(index)]));
	let over = [...widths.values()].reduce((sum, one) => sum + one, 0) + 2 * (used.length - 1) - width;
	while (over > 0) {
		const shrinkable = used.filter((index) => {
			const least = columns[index]?.shrink;
			return least !== undefined && (widths.get(index) ?? 0) > least;
		});
		if (shrinkable.length === 0) break;
		const one = shrinkable.reduce((a, b) => ((widths.get(b) ?? 0) > (widths.get(a) ?? 0) ? b : a));
		widths.set(one, (widths.get(one) ?? 0) - 1);
		over--;
	}
	const joined = (cells: readonly string[], paint = (text: string) => text) =>
		used
			.map((index, place) => {
				const room = widths.get(index) ?? 0;
				const cell = paint(cut(cells[index] ?? "", room));
				if (columns[index]?.align === "right") return padLeft(cell, room);
				return place === used.length - 1 ? cell : pad(cell, room);
			})
			.join("  ")
			.trimEnd();
	// If even that is too wide, the line's end is cut.
	const line = (cells: readonly string[], paint?: (text: string) => string) => cut(joined(cells, paint), width);
	const titles = columns.map((column) => column.title);
	return [...(titles.some((title) => title !== "") ? [line(titles, dim)] : []), ...rows.map((row) => line(row))];
}

/** Maximum terminal lines that one value may fill. */
const LINES = 10;

/** On a terminal a very long value is cut; a pipe gets all of it. */
export function bounded(value: string, columns: number): string {
	const room = LINES * columns;
	if (value.length <= room || widthOf(value) <= room) return value;
	const shown = cut(value, room - columns);
	return `${shown} (${withoutSequences(value).length} characters; --json has them all)`;
}

/** Breaks paragraphs at spaces. */
export function wrap(text: string, width: number): string[] {
	const lines: string[] = [];
	for (const paragraph of text.split("\n")) {
		let line = "";
		for (const word of paragraph.split(" ")) {
			if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
				lines.push(line);
				line = word;
			} else line = line === "" ? word : `${line} ${word}`;
		}
		lines.push(line);
	}
	return lines;
}
