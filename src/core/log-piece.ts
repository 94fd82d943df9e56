// A piece of a log: from a position on, or the last lines; of one stream, or of both in their order. Pure: the bytes are read by the caller.

import { type OneStream, type Range, rangesFrom, type Segment, tailStart, totalOf } from "./output-order.ts";

export type LogStream = OneStream | "both";
/** `length` characters of the text (UTF-16, as JavaScript counts) are of this stream. */
export type StreamPart = { stream: OneStream; length: number };
export type TextPiece = { offset: number; next_offset: number; text: string; parts: StreamPart[]; eof: boolean };
/** `offset` below zero counts from the end; `tail` is the number of last lines to begin at. */
export type PieceWish = { offset?: number | undefined; tail?: number | undefined; limit: number };
export type Source = {
	read(range: Range): Uint8Array;
	/** The first part of the range that can be read; null when nothing of it can. */
	has?(range: Range): Range | null;
	/** Nothing more will come: half a letter at the end is all there will be of it. */
	ended: boolean;
};

const NEWLINE = 10;

/** Null when nothing more can be read, though the log goes on. What cannot be read is passed over: the piece then begins further on. */
export function pieceOf(segments: readonly Segment[], wish: PieceWish, source: Source): TextPiece | null {
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
		// The rest of a letter that is cut in two comes with the next piece; one that is cut by the end or a gap never does.
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

/** The position that is meant. */
export function beginning(
	segments: readonly Segment[],
	{ offset = 0, tail }: PieceWish,
	{ read, has = (range) => range }: Pick<Source, "read" | "has">,
): number {
	const size = totalOf(segments);
	if (tail !== undefined) {
		const start = tailStart(segments, tail, (range) => withGaps(range, read, has));
		const [before] = start > 0 && tail > 0 ? rangesFrom(segments, start - 1, 1) : [];
		// The line may have begun in the gap: so does the answer, and is told apart from one that is whole.
		return before && has(before) === null ? start - 1 : start;
	}
	return Math.min(size, offset < 0 ? Math.max(0, size + offset) : offset);
}

/** Of what cannot be read nothing is known, neither its lines: newlines in its place end the way back there. */
function withGaps(range: Range, read: Source["read"], has: NonNullable<Source["has"]>): Uint8Array {
	const whole = has(range);
	if (whole?.from === range.from && whole.to === range.to) return read(range);
	const bytes = new Uint8Array(range.to - range.from).fill(NEWLINE);
	for (let there = whole; there; there = there.to < range.to ? has({ ...range, from: there.to }) : null)
		bytes.set(read(there), there.from - range.from);
	return bytes;
}

/** What can be read in one go, without a gap. */
function collect(ranges: readonly Range[], from: number, limit: number, has: NonNullable<Source["has"]>) {
	const taken: Range[] = [];
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

/** How many bytes are left when an unfinished letter of UTF-8 at the end is left out. */
export function wholeLetters(bytes: Uint8Array): number {
	for (let back = 1; back <= 3 && back <= bytes.length; back++) {
		const byte = bytes[bytes.length - back] as number;
		if (byte < 0x80) break;
		if (byte >= 0xc0) {
			const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
			return length > back ? bytes.length - back : bytes.length;
		}
	}
	return bytes.length;
}
