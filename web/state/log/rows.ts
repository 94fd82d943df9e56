// A log as rows. It is cut into blocks at fixed bytes; a line belongs to the block in which it begins. So the rows of a block, and with them the numbers of
// lines, are the same from wherever the log is read. Pure.

import { isFormat } from "../../../src/core/agents/index.ts";
import type { Format } from "../../../src/core/agents/profile.ts";
import { createRenderer } from "../../../src/core/agents/stream/render.ts";
import type { LogStream, StreamPart } from "../../../src/core/text/log-piece.ts";
import { bytes } from "../words.ts";
import { type AnsiSpan, type AnsiStyle, PLAIN, readAnsi } from "./ansi.ts";

/** How a log is read: raw, or in an agent's format. */
export type LogFormat = "raw" | Exclude<Format, "command">;

export const readingOf = (output: string | undefined, stream: LogStream, how: "shown" | "raw"): LogFormat =>
	how === "raw" || stream === "stderr" || output === undefined || !isFormat(output) || output === "command" ? "raw" : output;

export const BLOCK_BYTES = 262_144;
/** A line that goes on behind its block is read up to so many bytes further. An event of an agent has to be read whole. */
export const MORE_BYTES = { raw: 16_384, event: 900_000 };
/** Longer lines take several rows: otherwise one line of 100 MB would be drawn. */
export const LONGEST = 4000;
const ROWS_A_LINE = 16;
/** Replaces an event that is not loaded as a whole. */
const TOO_LONG = "· a line that is too long to be shown here";

/** `begin`, `end`: of a section. `head`: of a section that ends with the next head. `tool`: an agent's call; the indented rows after it are its result. */
type FoldMark = "begin" | "end" | "head" | "tool";
export type LogRow = {
	text: string;
	/** Null: all of it is plain. */
	spans: AnsiSpan[] | null;
	stream: "stdout" | "stderr";
	/** Goes on with the line of the row before it: it has no number. */
	isMore: boolean;
	/** When it was written, if the log says so. */
	at: number | null;
	fold: FoldMark | null;
	kind: RowKind;
};
type RowKind = "tool" | "trouble" | "aside" | "";

/** The text of a block, and of its last line as far as that was read. */
export type BlockText = {
	text: string;
	parts: readonly StreamPart[];
	/** It begins within a line of the block before. */
	isWithin: boolean;
	/** Its last line goes on: `read`, but not all of it was read; `written`: the program has not written its end yet. */
	goesOn: "no" | "read" | "written";
};

const byteSize = (text: string): number => new TextEncoder().encode(text).length;

export function rowsOf(block: BlockText, reading: LogFormat): LogRow[] {
	const { text, isWithin } = block;
	const first = text.indexOf("\n");
	const begin = isWithin ? (first < 0 ? text.length : first + 1) : 0;
	const rows: LogRow[] = [];
	const builder = reading === "raw" ? new RawRows(rows) : new EventRows(rows, reading);
	if (isWithin && reading === "raw") builder.within(text.slice(0, first < 0 ? text.length : first), streamIn(block.parts, 0));
	const streams = new Streams(block.parts);
	for (let from = begin; from < text.length; ) {
		const newline = text.indexOf("\n", from);
		const to = newline < 0 ? text.length : newline;
		builder.line(text.slice(from, to), streams.of(from, to), newline < 0 ? block.goesOn : "no");
		from = to + 1;
	}
	builder.close();
	return rows;
}

const streamIn = (parts: readonly StreamPart[], at: number): LogRow["stream"] => new Streams(parts).of(at, at + 1);

/** Which stream a range of the text is of; asked in order. */
class Streams {
	private index = 0;
	private end = 0;
	constructor(private readonly parts: readonly StreamPart[]) {
		this.end = parts[0]?.length ?? Number.POSITIVE_INFINITY;
	}
	/** A line of both streams counts as stderr. */
	of(from: number, to: number): LogRow["stream"] {
		while (this.end <= from && this.index + 1 < this.parts.length) this.step();
		let stream = this.parts[this.index]?.stream ?? "stdout";
		while (this.end < to && this.index + 1 < this.parts.length) {
			this.step();
			if (this.parts[this.index]?.stream === "stderr") stream = "stderr";
		}
		return stream;
	}
	private step(): void {
		this.index++;
		this.end += this.parts[this.index]?.length ?? 0;
	}
}

const note = (text: string, stream: LogRow["stream"], isMore: boolean): LogRow => ({
	...{ text, spans: null, stream, isMore, at: null, fold: null, kind: "aside" },
});

/** Rows of text as the program wrote it. Colours go on in the next line of the same stream. */
class RawRows {
	private readonly styles: Record<LogRow["stream"], AnsiStyle> = { stdout: PLAIN, stderr: PLAIN };
	constructor(private readonly rows: LogRow[]) {}

	/** The part of a line that began in an earlier block, which has shown as much of it as it could read. */
	within(text: string, stream: LogRow["stream"]): void {
		const size = byteSize(text);
		if (size <= MORE_BYTES.raw) return;
		if (text.includes("\r")) this.add(lastState(text).slice(-LONGEST), stream, true);
		else this.rows.push(note(`· ${bytes(size)} more of this line`, stream, true));
	}

	line(line: string, stream: LogRow["stream"], goesOn: BlockText["goesOn"], at: number | null = null): void {
		const marked = sectionIn(line);
		const text = lastState(marked?.text ?? line);
		let from = 0;
		for (let n = 0; n < ROWS_A_LINE && (from < text.length || n === 0); n++) {
			const to = cutAt(text, from);
			this.add(text.slice(from, to), stream, n > 0, n === 0 ? (marked?.fold ?? null) : null, at);
			from = to;
		}
		if (from < text.length || (goesOn === "read" && !text.includes("\r")))
			this.rows.push(
				note(
					`· this line goes on${from < text.length ? ` for ${bytes(text.length - from)}` : ""}: download the log to see all of it`,
					stream,
					true,
				),
			);
	}

	private add(text: string, stream: LogRow["stream"], isMore: boolean, fold: FoldMark | null = null, at: number | null = null): void {
		const read = readAnsi(text, this.styles[stream]);
		this.styles[stream] = read.end;
		this.rows.push({ text: read.text, spans: read.spans, stream, isMore, at, fold, kind: "" });
	}

	close(): void {}
}

/** The end of a line that was written over: as much as a row shows, from a carriage return on. */
function lastState(line: string): string {
	const text = line.endsWith("\r") ? line.slice(0, -1) : line;
	if (text.length <= LONGEST || !text.includes("\r")) return text;
	const at = text.indexOf("\r", text.length - LONGEST);
	return at >= 0 ? text.slice(at) : text.slice(text.lastIndexOf("\r") + 1);
}

const ESCAPE = "\u001b";

/** Where a row of a long line ends: not within a character, nor within a sequence of the terminal. */
function cutAt(text: string, from: number): number {
	const to = from + LONGEST;
	if (to >= text.length) return text.length;
	const begin = text.lastIndexOf(ESCAPE, to - 1);
	if (begin > to - 40 && !/[A-Za-z]/.test(text.slice(begin, to))) return begin;
	return /[\ud800-\udbff]/.test(text[to - 1] as string) ? to - 1 : to;
}

/** Heads of sections as continuous integration writes them; lines of a patch are none. */
const HEAD = /^(?:---|\+\+\+|~~~) (?!a\/|b\/|"|\/dev\/null)(?=\S)/;

function sectionIn(line: string): { fold: FoldMark; text: string } | null {
	const sign = line.charCodeAt(0);
	// `:`, `#`, `s`, `-`, `+`, `~`: anything else is decided by its first character.
	if (sign !== 58 && sign !== 35 && sign !== 115 && sign !== 45 && sign !== 43 && sign !== 126) return null;
	const group = /^(?:::group::|##\[group\])(.*)$/s.exec(line);
	if (group) return { fold: "begin", text: group[1] ?? "" };
	if (/^(?:::endgroup::|##\[endgroup\])/.test(line)) return { fold: "end", text: "" };
	const section = /^section_(start|end):\d+:[^\r]*\r?(.*)$/s.exec(line);
	if (section) return { fold: section[1] === "start" ? "begin" : "end", text: section[2] ?? "" };
	return HEAD.test(line) ? { fold: "head", text: line } : null;
}

/** Rows of an agent's output as people read it; its stderr stays as it is. */
class EventRows {
	private readonly renderer;
	private readonly raw: RawRows;
	private pending = "";
	private at: number | null = null;

	constructor(
		private readonly rows: LogRow[],
		format: Exclude<Format, "command">,
	) {
		this.renderer = createRenderer(format);
		this.raw = new RawRows(rows);
	}

	within(): void {}

	line(line: string, stream: LogRow["stream"], goesOn: BlockText["goesOn"]): void {
		if (stream === "stderr") {
			this.raw.line(line, stream, goesOn);
			return;
		}
		if (goesOn === "written") return;
		if (goesOn === "read") {
			this.rows.push(note(TOO_LONG, stream, false));
			return;
		}
		this.take(this.renderer.push(`${line}\n`), timeIn(line));
	}

	close(): void {
		this.take(this.renderer.end(), null);
		if (this.pending !== "") this.take("\n", null);
	}

	private take(text: string, at: number | null): void {
		if (this.pending === "" || at !== null) this.at ??= at;
		const lines = (this.pending + text).split("\n");
		this.pending = lines.pop() ?? "";
		for (const line of lines) {
			const before = this.rows.length;
			this.raw.line(line, "stdout", "no", this.at);
			const row = this.rows[before];
			if (row) {
				row.kind = kindOfLine(row.text);
				row.fold = row.kind === "tool" ? "tool" : null;
			}
		}
		if (lines.length > 0) this.at = this.pending === "" ? null : at;
	}
}

/** The time that an event names: milliseconds, or RFC 3339. */
export function timeIn(line: string): number | null {
	const found = /"timestamp"\s*:\s*(?:"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))"|(\d{13})\b)/.exec(line);
	const at = found?.[1] ? Date.parse(found[1]) : Number(found?.[2] ?? Number.NaN);
	return Number.isFinite(at) ? at : null;
}

/** The kind of a line, by its first character, as the renderer writes it. */
function kindOfLine(line: string): RowKind {
	if (line.startsWith("▸ ")) return "tool";
	if (line.startsWith("! ")) return "trouble";
	return line.startsWith("· ") || line.startsWith("… ") || line.startsWith("  ") ? "aside" : "";
}

export const countLines = (rows: readonly LogRow[]): number => rows.reduce((sum, row) => sum + (row.isMore ? 0 : 1), 0);
