// The parts of a log that are kept for other hosts: its beginning and its end, packed; and reading from them as from the log itself.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { beginning, type LogStream, type PieceWish, pieceOf, type TextPiece } from "../core/log-piece.ts";
import { completed, type Range, rangesFrom, readSegments, type Segment } from "../core/output-order.ts";
import type { Disk } from "../disk.ts";
import type { KeptLog, KeptPart, RunOutput } from "../output.ts";

/** What a log begins with says what it is; more of the end is wanted. */
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

/** Null when there is nothing more, though the log goes on. What is not kept is passed over: the piece then begins further on. */
export function readKept(kept: KeptStreams, stream: LogStream, wish: PieceWish): TextPiece | null {
	return pieceOf(segmentsOf(kept, stream), wish, sourceOf(kept));
}

/** Whether all of this is kept. */
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
	const partAt = (range: Range) => kept[range.stream].parts.find(({ from, to }) => to > range.from && from < range.to);
	return {
		ended: true,
		has(range: Range): Range | null {
			const part = partAt(range);
			return part ? { stream: range.stream, from: Math.max(range.from, part.from), to: Math.min(range.to, part.to) } : null;
		},
		read(range: Range): Uint8Array {
			const part = partAt(range);
			if (!part) return new Uint8Array(0);
			const bytes = unpacked.get(part) ?? unpack(part.packed);
			unpacked.set(part, bytes);
			return bytes.subarray(range.from - part.from, range.to - part.from);
		},
	};
}
