// The parts of a log that are stored for other hosts: its beginning and its end, compressed; and reading from them as from the log itself.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Disk } from "../../contracts/disk.ts";
import type { KeptLog, KeptPart, RunOutput } from "../../contracts/output.ts";
import { beginning, type LogStream, type PieceWish, pieceOf, type TextPiece } from "../../core/text/log-piece.ts";
import { completed, rangesFrom, readSegments, type Segment, type StreamRange } from "../../core/text/output-order.ts";

/** The beginning shows what kind of log it is; readers want more of the end. */
const HEAD_BYTES = 64 * 1024;

export const pack = (bytes: Uint8Array): string => deflateRawSync(bytes).toString("base64");
export const unpack = (text: string): Uint8Array => inflateRawSync(Buffer.from(text, "base64"));

export function keepLog(disk: Pick<Disk, "size" | "readAt">, path: string, tailBytes: number): KeptLog {
	const size = disk.size(path) ?? 0;
	const part = (from: number, to: number): KeptPart[] =>
		to > from ? [{ from, to, packed: pack(disk.readAt(path, from, to - from)) }] : [];
	if (tailBytes === 0) return { size, parts: [] };
	if (size <= HEAD_BYTES + tailBytes) return { size, parts: part(0, size) };
	return { size, parts: [...part(0, HEAD_BYTES), ...part(size - tailBytes, size)] };
}

export type KeptStreams = Pick<RunOutput, "stdout" | "stderr" | "order">;

/** Null at the end of what is stored, if the log goes on. Parts that are not stored are skipped: the piece then begins further on. */
export function readKept(kept: KeptStreams, stream: LogStream, wish: PieceWish): TextPiece | null {
	return pieceOf(segmentsOf(kept, stream), wish, sourceOf(kept));
}

/** Whether everything that is wanted is stored. */
export function isKept(kept: KeptStreams, stream: LogStream, wish: PieceWish): boolean {
	const segments = segmentsOf(kept, stream);
	const { has } = sourceOf(kept);
	return rangesFrom(segments, beginning(segments, wish, sourceOf(kept)), wish.limit).every((range) => {
		const there = has(range);
		return there !== null && there.from === range.from && there.to === range.to;
	});
}

function segmentsOf({ stdout, stderr, order }: KeptStreams, stream: LogStream): Segment[] {
	const sizes = { stdout: stdout.size, stderr: stderr.size };
	return stream === "both" ? completed(readSegments(order ?? ""), sizes) : [{ stream, end: sizes[stream] }];
}

function sourceOf(kept: KeptStreams) {
	const unpacked = new Map<KeptPart, Uint8Array>();
	const partAt = (range: StreamRange) => kept[range.stream].parts.find(({ from, to }) => to > range.from && from < range.to);
	return {
		ended: true,
		has(range: StreamRange): StreamRange | null {
			const part = partAt(range);
			return part ? { stream: range.stream, from: Math.max(range.from, part.from), to: Math.min(range.to, part.to) } : null;
		},
		read(range: StreamRange): Uint8Array {
			const part = partAt(range);
			if (!part) return new Uint8Array(0);
			const bytes = unpacked.get(part) ?? unpack(part.packed);
			unpacked.set(part, bytes);
			return bytes.subarray(range.from - part.from, range.to - part.from);
		},
	};
}
