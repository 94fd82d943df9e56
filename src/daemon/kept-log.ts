// The parts of a log that are kept for other hosts: its beginning and its end, packed; and reading from them as from the log itself.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Disk } from "../disk.ts";
import type { KeptLog, KeptPart } from "../output.ts";
import { wholeLetters } from "../supervisor/logs.ts";

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

export type KeptPiece = { offset: number; next_offset: number; text: string; eof: boolean };

/**
 * A piece from `offset` on (below zero: from the end). What is not kept is passed over: the piece then begins further on. Null when there is nothing
 * more, though the log goes on.
 */
export function readKept({ size, parts }: KeptLog, offset: number, limit: number): KeptPiece | null {
	const from = Math.min(size, offset < 0 ? Math.max(0, size + offset) : offset);
	if (from >= size) return { offset: size, next_offset: size, text: "", eof: true };
	const part = parts.find(({ to }) => to > from);
	if (!part) return null;
	const begin = Math.max(from, part.from);
	const bytes = unpack(part.packed).subarray(begin - part.from, begin - part.from + limit);
	// The rest of a letter that is cut in two comes with the next part; one that is cut by the gap never does.
	const whole = begin + bytes.length >= part.to ? bytes.length : wholeLetters(bytes);
	const next_offset = begin + whole;
	return { offset: begin, next_offset, text: new TextDecoder().decode(bytes.subarray(0, whole)), eof: next_offset >= size };
}

/** Whether all of this is kept. */
export function isKept({ size, parts }: KeptLog, offset: number, limit: number): boolean {
	const from = Math.min(size, offset < 0 ? Math.max(0, size + offset) : offset);
	return from >= size || parts.some((part) => part.from <= from && Math.min(size, from + limit) <= part.to);
}
