// A piece of a log: from a position on, or the last lines; of one stream, or of both in order. Pure: the caller reads the bytes.

import { nth } from "../errors.ts";
import { type OneStream, rangesFrom, type Segment, type StreamRange, tailStart, totalOf } from "./output-order.ts";

export type LogStream = OneStream | "both";
/** `length` characters of the text (UTF-16 units) belong to this stream. */
export type StreamPart = { stream: OneStream; length: number };
export type TextPiece = { offset: number; next_offset: number; text: string; parts: StreamPart[]; eof: boolean };
/** Negative `offset` counts from the end; `tail` is the number of last lines to begin at. */
export type PieceWish = { offset?: number | undefined; tail?: number | undefined; limit: number };
export type LogSource = {
	read(range: StreamRange): Uint8Array;
	/** The first part of the range that can be read; null if none can. */
	has?(range: StreamRange): StreamRange | null;
	/** The log is complete: an incomplete character at its end will not be completed. */
	ended: boolean;
};

const NEWLINE = 10;

/** Null if nothing more can be read, though the log continues. Skips what cannot be read: the piece then begins further on. */
export function pieceOf(segments: readonly Segment[], wish: PieceWish, source: LogSource): TextPiece | null {
	const { read, has = (range) => range, ended } = source;
	const size = totalOf(segments);
	const from = beginning(segments, wish, source);
	const found = collect(rangesFrom(segments, from, Number.POSITIVE_INFINITY), from, wish.limit, has);
	if (found === null) return from >= size ? { offset: size, next_offset: size, text: "", parts: [], eof: true } : null;
	const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
	const parts: StreamPart[] = [];
	let [text, at] = ["", found.offset];
	found.ranges.forEach((range, index) => {
		const isLast = index === found.ranges.length - 1;
		const bytes = read(range);
		// The rest of a character that is cut in two comes with the next piece, unless the log's end or a gap cuts it.
		const isCut = isLast && !found.gap && !(ended && at + bytes.length >= size);
		const whole = isCut ? wholeLetters(bytes) : bytes.length;
		const more = decoders[range.stream].decode(bytes.subarray(0, whole), { stream: !isLast });
		text += more;
		at += whole;
		const last = parts.at(-1);
		if (last?.stream === range.stream) last.length += more.length;
		else if (more !== "") parts.push({ stream: range.stream, length: more.length });
	});
	return { offset: found.offset, next_offset: at, text, parts, eof: at >= size };
}

/** The requested start position. */
export function beginning(
	segments: readonly Segment[],
	{ offset = 0, tail }: PieceWish,
	{ read, has = (range) => range }: Pick<LogSource, "read" | "has">,
): number {
	const size = totalOf(segments);
	if (tail !== undefined) {
		const start = tailStart(segments, tail, (range) => withGaps(range, read, has));
		const [before] = start > 0 && tail > 0 ? rangesFrom(segments, start - 1, 1) : [];
		// The line may have begun in the gap: start inside the gap, so that the caller can recognise an incomplete line.
		return before && has(before) === null ? start - 1 : start;
	}
	return Math.min(size, offset < 0 ? Math.max(0, size + offset) : offset);
}

/** Bytes that cannot be read are replaced by newlines, so that the backward search for lines stops there. */
function withGaps(range: StreamRange, read: LogSource["read"], has: NonNullable<LogSource["has"]>): Uint8Array {
	const whole = has(range);
	if (whole?.from === range.from && whole.to === range.to) return read(range);
	const bytes = new Uint8Array(range.to - range.from).fill(NEWLINE);
	for (let there = whole; there; there = there.to < range.to ? has({ ...range, from: there.to }) : null)
		bytes.set(read(there), there.from - range.from);
	return bytes;
}

/** The ranges up to the next gap, which can be read in one go. */
function collect(ranges: readonly StreamRange[], from: number, limit: number, has: NonNullable<LogSource["has"]>) {
	const taken: StreamRange[] = [];
	let [at, offset, left] = [from, from, limit];
	for (const range of ranges) {
		const there = has(range);
		const begins = there?.from ?? range.to;
		if (begins > range.from && taken.length > 0) return { ranges: taken, offset, gap: true };
		if (taken.length === 0) offset = at + begins - range.from;
		at += range.to - range.from;
		if (!there) continue;
		const to = Math.min(there.to, there.from + left);
		taken.push({ stream: range.stream, from: there.from, to });
		left -= to - there.from;
		if (to < there.to || left <= 0) return { ranges: taken, offset, gap: false };
		if (there.to < range.to) return { ranges: taken, offset, gap: true };
	}
	return taken.length === 0 ? null : { ranges: taken, offset, gap: false };
}

/** Number of bytes without an incomplete UTF-8 character at the end. */
export function wholeLetters(bytes: Uint8Array): number {
	for (let back = 1; back <= 3 && back <= bytes.length; back++) {
		const byte = nth(bytes, bytes.length - back);
		if (byte < 0x80) break;
		if (byte >= 0xc0) {
			const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
			return length > back ? bytes.length - back : bytes.length;
		}
	}
	return bytes.length;
}
