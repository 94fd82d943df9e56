// A log of any size, of which only a few pieces around the reading position are kept. Pure.

import { plainLine } from "./words.ts";

/** Bytes `from` to `to`, as lines; `open`: the last line continues in the next piece. */
export type LogChunk = { from: number; to: number; lines: string[]; open: boolean };
/** `atStart`: nothing comes before the first piece. `atEnd`: nothing came after the last piece when it was read. */
export type LoadedLog = { pieces: LogChunk[]; atStart: boolean; atEnd: boolean };

export const PIECE_BYTES = 131_072;
const KEPT = 12;
/** Longer lines are cut: otherwise one line of 100 MB would be drawn. */
export const LONGEST = 4000;

export const EMPTY: LoadedLog = { pieces: [], atStart: false, atEnd: false };

export const size = (text: string): number => new TextEncoder().encode(text).length;

export function linesOf(text: string): string[] {
	if (text === "") return [];
	const whole = text.endsWith("\n") ? text.slice(0, -1) : text;
	return whole.split("\n").flatMap((line) => {
		if (line.length <= LONGEST) return [plainLine(line)];
		const cut: string[] = [];
		for (let from = 0; from < line.length; from += LONGEST) cut.push(plainLine(line.slice(from, from + LONGEST)));
		return cut;
	});
}

/** The piece read from `offset` on. In the middle of a log, the rest of a line that began earlier is left out: it belongs to the previous piece. */
export function pieceOf(offset: number, next: number, text: string, begins: "at a line" | "anywhere"): LogChunk {
	const first = begins === "anywhere" ? text.indexOf("\n") : -1;
	const kept = text.slice(first + 1);
	// Counted from the end: a character that is cut in two at the beginning has another number of bytes than its replacement.
	const from = first < 0 ? offset : Math.max(offset, next - size(kept));
	return { from, to: next, lines: linesOf(kept), open: text !== "" && !text.endsWith("\n") };
}

/** Appends a piece after the last one; pieces at the other end are dropped. */
export function append(log: LoadedLog, piece: LogChunk, atEnd: boolean): LoadedLog {
	const last = log.pieces.at(-1);
	if (!last) return { pieces: piece.to > piece.from ? [piece] : [], atStart: piece.from === 0, atEnd };
	if (piece.to === last.to && atEnd === log.atEnd) return log;
	// Bytes that show no line still move the end.
	if (piece.lines.length === 0) return { ...log, pieces: [...log.pieces.slice(0, -1), { ...last, to: piece.to }], atEnd };
	let before = last;
	let lines = piece.lines;
	const [open, first] = [last.lines.at(-1) ?? "", lines[0] ?? ""];
	if (last.open && open.length + first.length <= LONGEST) {
		before = { ...last, lines: [...last.lines.slice(0, -1), open + first] };
		lines = lines.slice(1);
	}
	// Small additions are joined to the last piece until it has full size.
	const isSmall = piece.to - last.from < PIECE_BYTES;
	const rest = { from: last.to, to: piece.to, lines, open: piece.open };
	const joined = isSmall
		? [{ from: last.from, to: piece.to, lines: [...before.lines, ...lines], open: piece.open }]
		: [{ ...before, open: false }, rest];
	const pieces = [...log.pieces.slice(0, -1), ...joined];
	const kept = pieces.slice(-KEPT);
	return { pieces: kept, atStart: log.atStart && kept.length === pieces.length, atEnd };
}

/** Prepends a piece that ends where the first one begins. */
export function prepend(log: LoadedLog, piece: LogChunk): LoadedLog {
	const pieces = piece.to === piece.from ? log.pieces : [piece, ...log.pieces];
	const kept = pieces.slice(0, KEPT);
	return { pieces: kept, atStart: piece.from === 0, atEnd: log.atEnd && kept.length === pieces.length };
}

export const lineCount = ({ pieces }: LoadedLog): number => pieces.reduce((sum, { lines }) => sum + lines.length, 0);

export function lineAt({ pieces }: LoadedLog, index: number): string {
	let left = index;
	for (const { lines } of pieces) {
		if (left < lines.length) return lines[left] as string;
		left -= lines.length;
	}
	return "";
}

/** The lines from one number up to (not including) another, as far as they are kept. */
export function linesIn(log: LoadedLog, from: number, to: number): string[] {
	return Array.from({ length: Math.max(0, to - from) }, (_, index) => lineAt(log, from + index));
}

/** The number of the next kept line that contains the words, from a line on; −1 if none does. */
export function findLine(log: LoadedLog, words: string, from: number): number {
	const wanted = words.toLowerCase();
	let index = 0;
	for (const { lines } of log.pieces)
		for (const line of lines) {
			if (index >= from && line.toLowerCase().includes(wanted)) return index;
			index++;
		}
	return -1;
}
