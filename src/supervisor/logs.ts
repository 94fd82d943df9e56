// Reading what a run has written, from any offset on, while it runs and afterwards.

import type { Format } from "../core/agents/profile.ts";
import { type LogStream, pieceOf, type StreamPart, type TextPiece } from "../core/log-piece.ts";
import type { Range } from "../core/output-order.ts";
import { recordIn } from "./agent.ts";
import type { Floor } from "./floor.ts";
import { folderOf } from "./run.ts";

export type LogOptions = {
	/** An attempt; the last one when absent. */
	attempt?: number;
	/** Both when absent. */
	stream?: LogStream;
	/** In bytes; below zero it counts from the end. */
	offset?: number;
	/** Begin at the last so many lines, instead of at an offset. */
	tail?: number;
	/** Bytes at most. */
	limit?: number;
};
export type LogPart = {
	run: string;
	stream: LogStream;
	/** Where `text` begins: a log that was cut is shorter than it was. */
	offset: number;
	next_offset: number;
	text: string;
	/** Which stream each part of `text` is of. */
	parts: StreamPart[];
	/** Nothing more is there yet. */
	eof: boolean;
	/** Nothing more will come. */
	ended: boolean;
	/** How stdout is to be read. */
	output: Format;
};

export const LOG_PART = 64 * 1024;
const LOG_PART_MAX = 4 * 1024 * 1024;

type Logged = Pick<Floor, "disk" | "live" | "runs" | "homeTag" | "order">;

/** Null when there is no such run on this host. */
export function readLog(floor: Logged, job: number, options: LogOptions = {}): LogPart | null {
	const { disk, live } = floor;
	const attempt = options.attempt ?? lastAttempt(floor, job);
	if (attempt === null) return null;
	const run = `${job}.${attempt}`;
	const dir = folderOf(floor, job, attempt);
	const ended = !live.has(run);
	if (ended && disk.size(`${dir}/run.json`) === null) return null;
	const { stream = "both", offset, tail } = options;
	const segments = stream === "both" ? floor.order.segments(run, dir) : [{ stream, end: disk.size(`${dir}/${stream}.log`) ?? 0 }];
	const limit = Math.max(4, Math.min(options.limit ?? LOG_PART, LOG_PART_MAX));
	const read = (range: Range) => disk.readAt(`${dir}/${range.stream}.log`, range.from, range.to - range.from);
	const piece = pieceOf(segments, { offset, tail, limit }, { read, ended }) as TextPiece;
	return { run, stream, ...piece, ended, output: outputOf(disk, dir) };
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
