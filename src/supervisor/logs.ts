// Reading what a run has written, from any offset on, while it runs and afterwards.

import type { Format } from "../core/agents/profile.ts";
import { recordIn } from "./agent.ts";
import type { Floor } from "./floor.ts";
import { folderOf } from "./run.ts";

export type Stream = "stdout" | "stderr";
export type LogOptions = {
	/** An attempt; the last one when absent. */
	attempt?: number;
	stream?: Stream;
	/** In bytes; below zero it counts from the end. */
	offset?: number;
	/** Bytes at most. */
	limit?: number;
};
export type LogPart = {
	run: string;
	stream: Stream;
	/** Where `text` begins: a log that was cut is shorter than it was. */
	offset: number;
	next_offset: number;
	text: string;
	/** Nothing more is there yet. */
	eof: boolean;
	/** Nothing more will come. */
	ended: boolean;
	/** How stdout is to be read. */
	output: Format;
};

export const LOG_PART = 64 * 1024;
const LOG_PART_MAX = 4 * 1024 * 1024;

/** Null when there is no such run on this host. */
export function readLog(floor: Pick<Floor, "disk" | "live" | "runs" | "homeTag">, job: number, options: LogOptions = {}): LogPart | null {
	const { disk, live } = floor;
	const attempt = options.attempt ?? lastAttempt(floor, job);
	if (attempt === null) return null;
	const run = `${job}.${attempt}`;
	const dir = folderOf(floor, job, attempt);
	const ended = !live.has(run);
	if (ended && disk.size(`${dir}/run.json`) === null) return null;
	const stream = options.stream ?? "stdout";
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	const wanted = options.offset ?? 0;
	const from = Math.min(size, wanted < 0 ? Math.max(0, size + wanted) : wanted);
	const limit = Math.max(4, Math.min(options.limit ?? LOG_PART, LOG_PART_MAX));
	const bytes = disk.readAt(path, from, Math.min(limit, size - from));
	// The rest of a letter that is cut in two comes with the next part.
	const whole = ended && from + bytes.length >= size ? bytes.length : wholeLetters(bytes);
	const next = from + whole;
	return {
		run,
		stream,
		offset: from,
		next_offset: next,
		text: new TextDecoder().decode(bytes.subarray(0, whole)),
		eof: next >= size,
		ended,
		output: outputOf(disk, dir),
	};
}

/** One that cannot be read is text. */
function outputOf(disk: Pick<Floor, "disk">["disk"], dir: string): Format {
	try {
		return recordIn(JSON.parse(disk.read(`${dir}/run.json`) ?? "null"))?.output ?? "command";
	} catch {
		return "command";
	}
}

export function lastAttempt({ disk, runs }: Pick<Floor, "disk" | "runs">, job: number): number | null {
	const attempts = disk.list(`${runs}/${job}`).filter((name) => /^[1-9]\d*$/.test(name));
	return attempts.length === 0 ? null : Math.max(...attempts.map(Number));
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
