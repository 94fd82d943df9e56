// A log of any size, of which only a few pieces are kept: those around where one reads. Pure.

import { plainLine } from "./words.ts";

/** Bytes `from` to `to`, as lines; `open`: the last one goes on in the next piece. */
export type Piece = { from: number; to: number; lines: string[]; open: boolean };
/** `atStart`: nothing comes before the first piece. `atEnd`: nothing came after the last one when it was looked at. */
export type Log = { pieces: Piece[]; atStart: boolean; atEnd: boolean };

export const PIECE_BYTES = 131_072;
const KEPT = 12;
/** A line without an end is cut, or one line of 100 MB would be drawn. */
export const LONGEST = 4000;

export const EMPTY: Log = { pieces: [], atStart: false, atEnd: false };

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

/** What was read from `offset` on. In the middle of a log the rest of a line that began before is left out: it belongs to the piece before. */
export function pieceOf(offset: number, next: number, text: string, begins: "at a line" | "anywhere"): Piece {
	const first = begins === "anywhere" ? text.indexOf("\n") : -1;
	const kept = text.slice(first + 1);
	// Counted from the end: a letter that is cut in two at the beginning has other bytes than it is shown with.
	const from = first < 0 ? offset : Math.max(offset, next - size(kept));
	return { from, to: next, lines: linesOf(kept), open: text !== "" && !text.endsWith("\n") };
}

/** The piece follows the last one; pieces at the far end are dropped. */
export function append(log: Log, piece: Piece, atEnd: boolean): Log {
	const last = log.pieces.at(-1);
	if (!last) return { pieces: piece.to > piece.from ? [piece] : [], atStart: piece.from === 0, atEnd };
	if (piece.to === last.to && atEnd === log.atEnd) return log;
	// Bytes that show nothing are behind one all the same.
	if (piece.lines.length === 0) return { ...log, pieces: [...log.pieces.slice(0, -1), { ...last, to: piece.to }], atEnd };
	let before = last;
	let lines = piece.lines;
	const [open, first] = [last.lines.at(-1) ?? "", lines[0] ?? ""];
	if (last.open && open.length + first.length <= LONGEST) {
		before = { ...last, lines: [...last.lines.slice(0, -1), open + first] };
		lines = lines.slice(1);
	}
	// Words that come one by one are one piece, until it is a whole one.
	const isSmall = piece.to - last.from < PIECE_BYTES;
	const rest = { from: last.to, to: piece.to, lines, open: piece.open };
	const joined = isSmall
		? [{ from: last.from, to: piece.to, lines: [...before.lines, ...lines], open: piece.open }]
		: [{ ...before, open: false }, rest];
	const pieces = [...log.pieces.slice(0, -1), ...joined];
	const kept = pieces.slice(-KEPT);
	return { pieces: kept, atStart: log.atStart && kept.length === pieces.length, atEnd };
}

/** The piece ends where the first one begins. */
export function prepend(log: Log, piece: Piece): Log {
	const pieces = piece.to === piece.from ? log.pieces : [piece, ...log.pieces];
	const kept = pieces.slice(0, KEPT);
	return { pieces: kept, atStart: piece.from === 0, atEnd: log.atEnd && kept.length === pieces.length };
}

export const lineCount = ({ pieces }: Log): number => pieces.reduce((sum, { lines }) => sum + lines.length, 0);

export function lineAt({ pieces }: Log, index: number): string {
	let left = index;
	for (const { lines } of pieces) {
		if (left < lines.length) return lines[left] as string;
		left -= lines.length;
	}
	return "";
}

/** The lines from one number to before another, as far as they are kept. */
export function linesIn(log: Log, from: number, to: number): string[] {
	return Array.from({ length: Math.max(0, to - from) }, (_, index) => lineAt(log, from + index));
}

/** The number of the next line that has the words, from a line on; −1 when none of those that are kept does. */
export function findLine(log: Log, words: string, from: number): number {
	const wanted = words.toLowerCase();
	let index = 0;
	for (const { lines } of log.pieces)
		for (const line of lines) {
			if (index >= from && line.toLowerCase().includes(wanted)) return index;
			index++;
		}
	return -1;
}
