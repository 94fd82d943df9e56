// The order of what a run wrote to its two streams. Pure.
//
// The program appends to stdout.log and stderr.log itself, so neither file says what came first. The supervisor records the order in a third file, `order`:
//
//   o 120      up to byte 120 of stdout,
//   e 33       then up to byte 33 of stderr,
//   o 415      then up to byte 415 of stdout; what follows is the open segment: first the rest of the other stream, then of this one.
//
// The concatenated segments are one text that holds both streams. A position in it is the sum of two positions, and stays valid while the run writes on.

export const STREAMS = ["stdout", "stderr"] as const;
export type OneStream = (typeof STREAMS)[number];
export type Sizes = Record<OneStream, number>;
/** From the end of the previous segment of the same stream up to `end`. */
export type Segment = { stream: OneStream; end: number };
/** Some bytes of one stream. */
export type StreamRange = { stream: OneStream; from: number; to: number };

const LETTER: Record<OneStream, string> = { stdout: "o", stderr: "e" };
export const otherStream = (stream: OneStream): OneStream => (stream === "stdout" ? "stderr" : "stdout");

export const segmentLine = ({ stream, end }: Segment): string => `${LETTER[stream]} ${end}\n`;

/** Stops at a line that a crash truncated or that is impossible: the rest counts as not recorded. */
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

/**
 * Adds what was written after the last segment: first of the other stream than the last segment's, because a segment ends only when the other stream
 * begins.
 */
export function completed(segments: readonly Segment[], sizes: Sizes): Segment[] {
	// A log that was removed or cut is shorter than recorded.
	const all = segments.map(({ stream, end }) => ({ stream, end: Math.min(end, sizes[stream]) }));
	const ends = endsOf(all);
	const last = all.at(-1);
	const first = last === undefined ? "stdout" : otherStream(last.stream);
	for (const stream of [first, otherStream(first)]) if (sizes[stream] > ends[stream]) all.push({ stream, end: sizes[stream] });
	return all;
}

/** The positions at which lines end in a range; an unfinished last line counts. */
export type LineEnds = (range: StreamRange) => number[] | null;

/**
 * The segments of a burst of writes. `changed` lists the streams in the order in which they changed; the size of each change is unknown, so a stream's new
 * lines are spread evenly over its changes. Exact if each change brought the same number of lines, and never wrong by more than the burst.
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

/** Where each of `count` shares ends. */
function sharesOf(range: StreamRange, count: number, linesOf: LineEnds): number[] {
	const lines = count > 1 ? linesOf(range) : null;
	if (!lines || lines.length === 0) return Array.from({ length: count }, () => range.to);
	return Array.from({ length: count }, (_, turn) => {
		if (turn === count - 1) return range.to;
		const upTo = Math.min(lines.length, Math.ceil(((turn + 1) * lines.length) / count));
		return lines[upTo - 1] ?? range.from;
	});
}

/** Drops empty segments, and merges neighbours of the same stream. */
function joined(segments: readonly Segment[], from: Sizes = { stdout: 0, stderr: 0 }): Segment[] {
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

/** The segments after the middle of a log was cut out: its first `head` and last `tail` bytes remain, with a line about the cut between them. */
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

/** The ranges from position `from` on, at most `limit` bytes. */
export function rangesFrom(segments: readonly Segment[], from: number, limit: number): StreamRange[] {
	const ranges: StreamRange[] = [];
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
/** Read back at most, in bytes: a log may have no line breaks at all. */
export const MAX_TAIL = 32 * 1024 * 1024;
const NEWLINE = 10;

/**
 * The position at which the last `lines` lines begin, or MAX_TAIL before the end if they begin earlier. Reads backwards in blocks, so the cost depends on what is
 * shown, not on the size of the log.
 */
export function tailStart(segments: readonly Segment[], lines: number, read: (range: StreamRange) => Uint8Array): number {
	let position = totalOf(segments);
	if (lines === 0) return position;
	const earliest = position - MAX_TAIL;
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
				// The newline at the end of the text begins no further line.
				if (bytes[at] === NEWLINE && !isLastByte && --left === 0) return position - (bytes.length - 1 - at);
				isLastByte = false;
			}
			position -= bytes.length;
			if (position <= earliest) return position;
		}
	}
	return 0;
}
