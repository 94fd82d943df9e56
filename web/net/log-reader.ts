// Reads one run's log by ranges: the end first, more on either side when the reader scrolls near it, new lines while following, and any position that a
// search finds. An agent's log is shown like in `sluice logs`, unless it is wanted raw.

import { createRenderer } from "../../src/core/agents/stream/render.ts";
import type { LogStream } from "../../src/core/text/log-piece.ts";
import {
	append,
	EMPTY,
	findLine,
	type LoadedLog,
	type LogChunk,
	lineCount,
	PIECE_BYTES,
	pieceOf,
	prepend,
	size,
} from "../state/log-pieces.ts";
import { hasWholeLine, type LogFormat, readingOf, Shown } from "../state/log-shown.ts";

export type LogAnswer = {
	run: string | null;
	offset: number;
	next_offset: number;
	text: string;
	eof: boolean;
	ended: boolean;
	output?: string;
};
export type ReadLog = (range: { offset: number; limit: number; wait_ms?: number }, signal: AbortSignal) => Promise<LogAnswer>;
type Begins = "at a line" | "anywhere";

/** Bytes that a search reads at once, and bytes that are shown before a match. */
const SEARCHED = 900_000;
const BEFORE = 30_000;
const WAIT_MS = 10_000;
/** A piece of JSON may show few lines: read until this many lines, from at most this many pieces. */
const ENOUGH = 150;
const PIECES = 10;

export type LogState = {
	log: LoadedLog;
	ended: boolean /** Bytes known to exist. */;
	size: number;
	problem: string | null;
	run: string | null;
	/** The format of the output: `command` is text. */
	output: string;
	reading: LogFormat;
};

type Scan = (words: string, begin: number, end: number, signal: AbortSignal, progress: (bytes: number) => void) => Promise<number | null>;

export class LogReader {
	state: LogState = { log: EMPTY, ended: false, size: 0, problem: null, run: null, output: "command", reading: "raw" };
	/** The act that is under way; the next one follows it. */
	private busy: Promise<void> | null = null;
	/** A wait for more of a live log: ended as soon as a person wants to see another part. */
	private waiting: AbortController | null = null;
	private shown: Shown | null = null;
	private readonly cut = new AbortController();
	private searching: AbortController | null = null;

	constructor(
		private readonly read: ReadLog,
		/** `before`: how many lines were inserted before the existing ones. */
		private readonly changed: (before: number) => void,
		private readonly how: { stream: LogStream; as: "shown" | "raw" } = { stream: "both", as: "raw" },
	) {}

	close(): void {
		this.cut.abort();
		this.searching?.abort();
	}

	private set(change: Partial<LogState>, before = 0): void {
		if (this.cut.signal.aborted) return;
		this.state = { ...this.state, ...change };
		this.changed(before);
	}

	/** One act at a time. `may`: left out while another one is under way. `must`: what a person asked for; it ends a wait and comes next. */
	private async alone(act: () => Promise<void>, how: "may" | "must" = "may"): Promise<void> {
		if (how === "may" && this.busy !== null) return;
		this.waiting?.abort();
		while (this.busy !== null) await this.busy;
		if (this.cut.signal.aborted) return;
		const done = act()
			.catch((error: unknown) => {
				const isEnded = this.cut.signal.aborted || this.waiting?.signal.aborted;
				if (!isEnded) this.set({ problem: error instanceof Error ? error.message : String(error) });
			})
			.finally(() => {
				this.busy = null;
				this.waiting = null;
			});
		this.busy = done;
		await done;
	}

	/** An agent's output is read by whole lines, however long a line is. */
	private async ask(range: { offset: number; limit: number; wait_ms?: number }, begins: Begins): Promise<LogAnswer> {
		const part = await this.read(range, this.waiting ? AbortSignal.any([this.cut.signal, this.waiting.signal]) : this.cut.signal);
		const { output = "command" } = part;
		const reading = readingOf(output, this.how.stream, this.how.as);
		if (reading !== this.state.reading || output !== this.state.output) this.state = { ...this.state, reading, output };
		if (reading === "raw") this.shown = null;
		else this.shown ??= new Shown(reading);
		const isWhole = this.shown === null || hasWholeLine(part.text, begins) || (part.offset === 0 && part.eof);
		if (isWhole || range.limit >= SEARCHED) return part;
		if (range.offset < 0 && part.offset > 0) return this.read({ offset: -SEARCHED, limit: SEARCHED }, this.cut.signal);
		return part.eof ? part : this.read({ offset: part.offset, limit: SEARCHED }, this.cut.signal);
	}

	private pieceOf(part: LogAnswer, begins: Begins): LogChunk {
		return (
			this.shown?.on(part, begins, part.eof && part.ended ? "last" : "more") ?? pieceOf(part.offset, part.next_offset, part.text, begins)
		);
	}

	private take(part: LogAnswer, log: LoadedLog): Partial<LogState> {
		return { log, ended: part.ended, size: Math.max(this.state.size, part.next_offset), problem: null, run: part.run };
	}

	/** Starts at a new position, with enough lines before it. */
	private async begin(range: { offset: number; limit: number; wait_ms?: number }): Promise<void> {
		const part = await this.ask(range, range.offset === 0 ? "at a line" : "anywhere");
		const piece = this.pieceOf(part, part.offset > 0 ? "anywhere" : "at a line");
		this.set(this.take(part, append({ ...EMPTY }, piece, part.eof)));
		if (this.shown && range.offset < 0)
			for (let n = 0; n < PIECES && lineCount(this.state.log) < ENOUGH && !this.state.log.atStart; n++) await this.putBefore();
	}

	/** Goes to the end of the log; also of the next run, if there is one. */
	toEnd = (): Promise<void> => this.alone(() => this.begin({ offset: -PIECE_BYTES, limit: PIECE_BYTES, wait_ms: 1 }), "must");

	toStart = (): Promise<void> => this.jump(0);

	private jump = (offset: number): Promise<void> => this.alone(() => this.begin({ offset, limit: PIECE_BYTES }), "must");

	/** Loads what comes before the first line in memory. */
	before = (): Promise<void> => this.alone(() => this.putBefore());

	private async putBefore(): Promise<void> {
		const first = this.state.log.pieces[0];
		if (!first || this.state.log.atStart || first.from === 0) return;
		const range = (bytes: number) => ({ offset: Math.max(0, first.from - bytes), limit: Math.min(bytes, first.from) });
		let part = await this.read(range(PIECE_BYTES), this.cut.signal);
		if (this.shown && part.offset > 0 && !hasWholeLine(part.text, "anywhere")) part = await this.read(range(SEARCHED), this.cut.signal);
		const begins = part.offset > 0 ? "anywhere" : "at a line";
		const piece = this.shown?.before(part, begins) ?? pieceOf(part.offset, part.next_offset, part.text, begins);
		this.set(this.take(part, prepend(this.state.log, piece)), piece.lines.length);
	}

	/** Loads what comes after the last line; at the end of a live log it waits for more. */
	behind = (patience: "wait" | "now"): Promise<void> =>
		this.alone(async () => {
			const { log, ended, run } = this.state;
			if (ended && log.atEnd) return;
			const offset = log.pieces.at(-1)?.to ?? 0;
			const waits = patience === "wait" && log.atEnd ? { wait_ms: WAIT_MS } : {};
			if (patience === "wait") this.waiting = new AbortController();
			const part = await this.ask({ offset, limit: PIECE_BYTES, ...waits }, "at a line");
			if (run !== null && part.run !== run) return this.begin({ offset: -PIECE_BYTES, limit: PIECE_BYTES });
			const piece = this.pieceOf(part, "at a line");
			this.set(this.take(part, append(log, piece, part.eof)));
		});

	/** The number of the next line after `from` that contains the words; reads to the end, then from the start. −1: not found. */
	async find(words: string, from: number, progress: (bytes: number) => void): Promise<number> {
		this.searching?.abort();
		const here = findLine(this.state.log, words, from);
		if (here >= 0) return here;
		const searching = new AbortController();
		this.searching = searching;
		const begin = this.state.log.pieces.at(-1)?.to ?? 0;
		const scan = this.shown ? this.scanShown : this.scan;
		const found =
			(await scan(words, begin, Number.POSITIVE_INFINITY, searching.signal, progress)) ??
			(await scan(words, 0, begin, searching.signal, progress));
		if (found === null || searching.signal.aborted) return -1;
		await this.jump(Math.max(0, found - BEFORE));
		const line = findLine(this.state.log, words, 0);
		// The words may also occur before the match, in the text shown around it: the last line in front of it is near enough.
		return line >= 0 ? line : Math.min(0, lineCount(this.state.log) - 1);
	}

	stopSearch(): void {
		this.searching?.abort();
	}

	/** The byte at which the words begin; null if they are not there. */
	private scan: Scan = async (words, begin, end, signal, progress) => {
		const wanted = words.toLowerCase();
		const encoder = new TextEncoder();
		let tail = "";
		for (let offset = begin; offset < end && !signal.aborted; ) {
			const part = await this.read({ offset, limit: SEARCHED }, signal);
			const text = tail + part.text;
			const at = text.toLowerCase().indexOf(wanted);
			if (at >= 0) return part.offset - encoder.encode(tail).length + encoder.encode(text.slice(0, at)).length;
			progress(part.next_offset - begin);
			if (part.eof || part.next_offset <= offset) return null;
			// Keeps the end, so that words cut in two are found with the next piece.
			tail = text.slice(-wanted.length);
			offset = part.next_offset;
		}
		return null;
	};

	/** Searches the rendered text of an agent's log: returns the byte at which the line begins whose output contains the words. */
	private scanShown: Scan = async (words, begin, end, signal, progress) => {
		if (this.state.reading === "raw") return null;
		const renderer = createRenderer(this.state.reading);
		const wanted = words.toLowerCase();
		let [tail, rest] = ["", ""];
		for (let offset = begin; offset < end && !signal.aborted; ) {
			const part = await this.read({ offset, limit: SEARCHED }, signal);
			const text = rest + part.text;
			const textAt = part.next_offset - size(text);
			let from = 0;
			for (let to = text.indexOf("\n") + 1; to > 0; to = text.indexOf("\n", from) + 1) {
				tail = (tail + renderer.push(text.slice(from, to)).toLowerCase()).slice(-100_000);
				if (tail.includes(wanted)) return textAt + size(text.slice(0, from));
				tail = tail.slice(-wanted.length);
				from = to;
			}
			rest = text.slice(from);
			progress(part.next_offset - begin);
			if (part.eof || part.next_offset <= offset) return null;
			offset = part.next_offset;
		}
		return null;
	};
}
