// Reads a run's output from any offset, during the run and afterwards.

import type { Format } from "../../core/agents/profile.ts";
import { type LogStream, pieceOf, type StreamPart, type TextPiece } from "../../core/text/log-piece.ts";
import type { StreamRange } from "../../core/text/output-order.ts";
import { recordIn } from "../agent.ts";
import type { SupervisorContext } from "../context.ts";
import { jsonIn } from "../end/agent-end.ts";
import { folderOf } from "../run.ts";

export type LogRange = {
	/** The last attempt if absent. */
	attempt?: number;
	/** Both streams if absent. */
	stream?: LogStream;
	/** In bytes; a negative offset counts from the end. */
	offset?: number;
	/** Begin this many lines before the end, instead of at an offset. */
	tail?: number;
	/** Maximum number of bytes. */
	limit?: number;
};
export type LogPart = {
	run: string;
	stream: LogStream;
	/** Where `text` begins; may differ from the requested offset, because a log that was cut is shorter than before. */
	offset: number;
	next_offset: number;
	text: string;
	/** The stream that each part of `text` comes from. */
	parts: StreamPart[];
	/** The end of what is there now has been reached. */
	eof: boolean;
	/** The run has ended: nothing more will be written. */
	ended: boolean;
	/** Format of stdout. */
	output: Format;
};

const LOG_PART = 64 * 1024;
const LOG_PART_MAX = 4 * 1024 * 1024;

type Logged = Pick<SupervisorContext, "disk" | "live" | "runs" | "homeTag" | "order">;

/** Null if this host has no such run. */
export function readLog(context: Logged, job: number, options: LogRange = {}): LogPart | null {
	const { disk, live } = context;
	const attempt = options.attempt ?? lastAttempt(context, job);
	if (attempt === null) return null;
	const run = `${job}.${attempt}`;
	const dir = folderOf(context, job, attempt);
	const ended = !live.has(run);
	if (ended && disk.size(`${dir}/run.json`) === null) return null;
	const { stream = "both", offset, tail } = options;
	const segments = stream === "both" ? context.order.segments(run, dir) : [{ stream, end: disk.size(`${dir}/${stream}.log`) ?? 0 }];
	const limit = Math.max(4, Math.min(options.limit ?? LOG_PART, LOG_PART_MAX));
	const read = (range: StreamRange) => disk.readAt(`${dir}/${range.stream}.log`, range.from, range.to - range.from);
	const piece = pieceOf(segments, { offset, tail, limit }, { read, ended }) as TextPiece;
	// Plain text if run.json cannot be read.
	const output = recordIn(jsonIn(disk, `${dir}/run.json`))?.output ?? "command";
	return { run, stream, ...piece, ended, output };
}

function lastAttempt({ disk, runs }: Pick<SupervisorContext, "disk" | "runs">, job: number): number | null {
	const attempts = disk.list(`${runs}/${job}`).filter((name) => /^[1-9]\d*$/.test(name));
	return attempts.length === 0 ? null : Math.max(...attempts.map(Number));
}
