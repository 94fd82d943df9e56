// The order of what a run wrote to its two streams. Pure.
//
// The program appends to stdout.log and stderr.log by itself, so neither file says what came first. The supervisor notes it in a third file, `order`:
//
//   o 120      up to byte 120 of stdout,
//   e 33       then up to byte 33 of stderr,
//   o 415      then up to byte 415 of stdout; what follows is the open segment: first of the other stream, then of this one.
//
// Laid end to end, the segments are one text that holds both streams. A position in it is the sum of two positions, and stays what it is while the run writes on.

export const STREAMS = ["stdout", "stderr"] as const;
export type OneStream = (typeof STREAMS)[number];
export type Sizes = Record<OneStream, number>;
/** From where the one before it of the same stream ended, up to `end`. */
export type Segment = { stream: OneStream; end: number };
/** Some bytes of one stream. */
export type Range = { stream: OneStream; from: number; to: number };

const LETTER: Record<OneStream, string> = { stdout: "o", stderr: "e" };
export const otherStream = (stream: OneStream): OneStream => (stream === "stdout" ? "stderr" : "stdout");

export const segmentLine = ({ stream, end }: Segment): string => `${LETTER[stream]} ${end}\n`;

/** What a crash cut short, or cannot be, ends it: the rest is as if it had not been noted. */
export function readSegments(text: string): Segment[] {
	const segments: Segment[] = [];
	const ends: Sizes = { stdout: 0, stderr: 0 };
	for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
		const match = /^([oe]) (\d{1,15})$/.exec(line);
		if (!match) break;
		const stream = match[1] === "o" ? "stdout" : "stderr";
		const end = Number(match[2]);
		if (end < ends[stream]) break;
		ends[stream] = end;
		segments.push({ stream, end });
	}
	return segments;
}

export function endsOf(segments: readonly Segment[]): Sizes {
	const ends: Sizes = { stdout: 0, stderr: 0 };
	for (const { stream, end } of segments) ends[stream] = end;
	return ends;
}

/** With what was written beyond the last segment: first the stream that is not the last one's, since a segment ends only when the other begins. */
export function completed(segments: readonly Segment[], sizes: Sizes): Segment[] {
	// A log that was taken away or cut is shorter than what is noted.
	const all = segments.map(({ stream, end }) => ({ stream, end: Math.min(end, sizes[stream]) }));
	const ends = endsOf(all);
	const last = all.at(-1);
	const first = last === undefined ? "stdout" : otherStream(last.stream);
	for (const stream of [first, otherStream(first)]) if (sizes[stream] > ends[stream]) all.push({ stream, end: sizes[stream] });
	return all;
}

/** Lines of some bytes, as the positions at which they end; a last one without its end counts. */
export type LineEnds = (range: Range) => number[] | null;

/**
 * What a burst of writes adds. `changed` are the streams in the order in which they changed; how much each change brought is not known, so a stream's new lines
 * are spread evenly over its changes. Right where each change brought as many lines as the others, and never off by more than the burst.
 */
export function burst(before: Sizes, after: Sizes, changed: readonly OneStream[], linesOf: LineEnds): Segment[] {
	const grew = STREAMS.filter((stream) => after[stream] > before[stream]);
	const turns = changed.filter((stream, index) => grew.includes(stream) && stream !== changed[index - 1]);
	for (const stream of grew) if (!turns.includes(stream)) turns.push(stream);
	const merged = turns.filter((stream, index) => stream !== turns[index - 1]);
	const shares = new Map(
		grew.map((stream) => [
			stream,
			sharesOf({ stream, from: before[stream], to: after[stream] }, merged.filter((one) => one === stream).length, linesOf),
		]),
	);
	return joined(
		merged.map((stream) => ({ stream, end: (shares.get(stream) as number[]).shift() as number })),
		before,
	);
}

/** Where each of `count` turns ends. */
function sharesOf(range: Range, count: number, linesOf: LineEnds): number[] {
	const lines = count > 1 ? linesOf(range) : null;
	if (!lines || lines.length === 0) return Array.from({ length: count }, () => range.to);
	return Array.from({ length: count }, (_, turn) => {
		if (turn === count - 1) return range.to;
		const upTo = Math.min(lines.length, Math.ceil(((turn + 1) * lines.length) / count));
		return lines[upTo - 1] ?? range.from;
	});
}

/** Without those that add nothing; neighbours of one stream are one. */
export function joined(segments: readonly Segment[], from: Sizes = { stdout: 0, stderr: 0 }): Segment[] {
	const ends = { ...from };
	const kept: Segment[] = [];
	for (const { stream, end } of segments) {
		if (end <= ends[stream]) continue;
		ends[stream] = end;
		const last = kept.at(-1);
		if (last?.stream === stream) last.end = end;
		else kept.push({ stream, end });
	}
	return kept;
}

/** After the middle of a log was cut out: its first `head` and last `tail` bytes stay, between them stands a line about it. */
export function afterCut(
	segments: readonly Segment[],
	stream: OneStream,
	cut: { head: number; tail: number; before: number; after: number },
): Segment[] {
	const moved = (end: number) => (end <= cut.head ? end : end <= cut.before - cut.tail ? cut.head : end - cut.before + cut.after);
	return joined(segments.map((one) => (one.stream === stream ? { stream, end: moved(one.end) } : one)));
}

export const totalOf = (segments: readonly Segment[]): number => {
	const { stdout, stderr } = endsOf(segments);
	return stdout + stderr;
};

/** The ranges from position `from` on, `limit` bytes at most. */
export function rangesFrom(segments: readonly Segment[], from: number, limit: number): Range[] {
	const ranges: Range[] = [];
	const ends: Sizes = { stdout: 0, stderr: 0 };
	let [at, left] = [0, limit];
	for (const { stream, end } of segments) {
		if (left <= 0) break;
		const begin = ends[stream];
		const size = end - begin;
		ends[stream] = end;
		if (size <= 0) continue;
		const skip = Math.max(0, Math.min(size, from - at));
		at += size;
		if (skip === size) continue;
		const range = { stream, from: begin + skip, to: Math.min(end, begin + skip + left) };
		left -= range.to - range.from;
		ranges.push(range);
	}
	return ranges;
}

const BLOCK = 64 * 1024;
const NEWLINE = 10;

/** The position at which the last `lines` lines begin: read backwards in blocks, so the end of a long log costs what it shows. */
export function tailStart(segments: readonly Segment[], lines: number, read: (range: Range) => Uint8Array): number {
	let position = totalOf(segments);
	if (lines === 0) return position;
	let left = lines;
	let isLastByte = true;
	const ends: Sizes = { stdout: 0, stderr: 0 };
	const ranges = segments.map(({ stream, end }) => {
		const range = { stream, from: ends[stream], to: Math.max(end, ends[stream]) };
		ends[stream] = range.to;
		return range;
	});
	for (const { stream, from, to } of ranges.reverse()) {
		for (let end = to; end > from; end = Math.max(from, end - BLOCK)) {
			const begin = Math.max(from, end - BLOCK);
			const bytes = read({ stream, from: begin, to: end });
			for (let at = bytes.length - 1; at >= 0; at--) {
				// The newline that the text ends with begins no further line.
				if (bytes[at] === NEWLINE && !isLastByte && --left === 0) return position - (bytes.length - 1 - at);
				isLastByte = false;
			}
			position -= bytes.length;
		}
	}
	return 0;
}
