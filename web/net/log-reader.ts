// Reads one run's log by blocks: the end first, more on either side when the reader scrolls near it, new lines while following, and any line that a link or a
// search names. Counting and searching read the other blocks beside that, without changing what is in sight.

import type { LogStream, StreamPart } from "../../src/core/text/log-piece.ts";
import type { LogBlock, RowPlace } from "../state/log/layout.ts";
import { BLOCK_BYTES, type BlockText, countLines, type LogFormat, MORE_BYTES, readingOf, rowsOf } from "../state/log/rows.ts";

export type LogAnswer = {
	run: string | null;
	offset: number;
	next_offset: number;
	text: string;
	parts?: StreamPart[];
	eof: boolean;
	ended: boolean;
	output?: string;
	note?: string;
};
type LogRange = { offset: number; limit: number; wait_ms?: number };
export type ReadLog = (range: LogRange, signal: AbortSignal) => Promise<LogAnswer>;

const WAIT_MS = 10_000;
/** Blocks in sight that are kept, and blocks that were read for a search or a count. */
const SHOWN_BLOCKS = 8;
const CACHED_BLOCKS = 32;
/** A block of events may show few lines: more blocks are read until there are so many. */
const ENOUGH_ROWS = 150;
/** So much behind, a reader that follows goes to the end at once. */
const FAR_BLOCKS = 3;

/** `isWhole`: all of its bytes were read, and its last line is complete. */
type LoadedBlock = LogBlock & { to: number; isWhole: boolean; raw: BlockText };

export type LogState = {
	blocks: readonly LoadedBlock[];
	atStart: boolean;
	/** Nothing came after the last block when it was read. */
	atEnd: boolean;
	ended: boolean;
	/** Bytes known to exist. */
	size: number;
	problem: string | null;
	/** Why there is no text. */
	note: string | null;
	run: string | null;
	/** The format of the output: `command` is text. */
	output: string;
	reading: LogFormat;
	/** The number of lines before each block, for the blocks from the start on that were counted. */
	bases: readonly number[];
};

const EMPTY: LogState = {
	...{
		blocks: [],
		atStart: false,
		atEnd: false,
		ended: false,
		size: 0,
		problem: null,
		note: null,
		run: null,
		output: "command",
		reading: "raw",
	},
	bases: [0],
};

const joinParts = (a: readonly StreamPart[], b: readonly StreamPart[]): StreamPart[] => [...a, ...b];

export class LogReader {
	state: LogState = EMPTY;
	/** The act that is under way; the next one follows it. */
	private busy: Promise<void> | null = null;
	/** A wait for more of a live log: ended as soon as a person wants to see another part. */
	private waiting: AbortController | null = null;
	private readonly cut = new AbortController();
	private readonly cache = new Map<number, LoadedBlock>();
	private counts = new Map<number, number>();

	constructor(
		private readonly read: ReadLog,
		private readonly changed: () => void,
		private readonly how: { stream: LogStream; as: "shown" | "raw" } = { stream: "both", as: "raw" },
	) {}

	close(): void {
		this.cut.abort();
	}

	get signal(): AbortSignal {
		return this.cut.signal;
	}

	private set(change: Partial<LogState>): void {
		if (this.cut.signal.aborted) return;
		this.state = { ...this.state, ...change };
		this.changed();
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

	/** Notes what an answer tells besides its text. */
	private hear(part: LogAnswer): void {
		const { output = this.state.output, run, ended, note = null } = part;
		const reading = readingOf(output, this.how.stream, this.how.as);
		if (reading !== this.state.reading || (this.state.run !== null && run !== null && run !== this.state.run)) this.forget();
		const size = Math.max(this.state.size, part.next_offset);
		this.state = { ...this.state, output, reading, run: run ?? this.state.run, ended, size, note, problem: null };
	}

	private forget(): void {
		this.cache.clear();
		this.counts = new Map();
		this.state = { ...this.state, bases: [0], size: 0 };
	}

	private async ask(range: LogRange, signal: AbortSignal): Promise<LogAnswer> {
		const part = await this.read(range, signal);
		this.hear(part);
		return part;
	}

	/** All rows of a block, from wherever it is asked for. */
	async block(index: number, signal: AbortSignal = this.cut.signal): Promise<LoadedBlock> {
		const known = this.cache.get(index) ?? this.state.blocks.find((one) => one.index === index && one.isWhole);
		if (known) return known;
		// The byte before tells whether a line begins with the block.
		const [begin, end] = [Math.max(0, index * BLOCK_BYTES - 1), (index + 1) * BLOCK_BYTES];
		let part = await this.ask({ offset: begin, limit: end - begin }, signal);
		const isGap = part.offset > begin;
		let { text, parts = [] } = part;
		let isWithin = false;
		if (index > 0 && !isGap) {
			isWithin = !text.startsWith("\n");
			text = text.slice(1);
			parts = parts[0] ? [{ ...parts[0], length: parts[0].length - 1 }, ...parts.slice(1)] : [];
		}
		// A character that is cut in two, or a part of the log that was removed.
		while (part.next_offset < end && !part.eof && part.next_offset > part.offset) {
			part = await this.ask({ offset: part.next_offset, limit: end - part.next_offset }, signal);
			text += part.text;
			parts = joinParts(parts, part.parts ?? []);
		}
		const to = Math.min(end, part.next_offset);
		const raw = await this.completed({ text, parts, isWithin }, part, signal);
		return this.put(index, raw, to);
	}

	/** With the rest of its last line. */
	private async completed(own: Omit<BlockText, "goesOn">, part: LogAnswer, signal: AbortSignal): Promise<BlockText> {
		if (own.text === "" || own.text.endsWith("\n") || (own.isWithin && !own.text.includes("\n"))) return { ...own, goesOn: "no" };
		if (part.eof) return { ...own, goesOn: part.ended ? "no" : "written" };
		const limit = this.state.reading === "raw" ? MORE_BYTES.raw : MORE_BYTES.event;
		const more = await this.ask({ offset: part.next_offset, limit }, signal);
		const newline = more.text.indexOf("\n");
		const text = newline < 0 ? more.text : more.text.slice(0, newline + 1);
		const goesOn = newline >= 0 || (more.eof && more.ended) ? "no" : more.eof ? "written" : "read";
		return { ...own, text: own.text + text, parts: joinParts(own.parts, more.parts ?? []), goesOn };
	}

	private put(index: number, raw: BlockText, to: number): LoadedBlock {
		const isWhole = to >= (index + 1) * BLOCK_BYTES && raw.goesOn !== "written";
		const block = { index, rows: rowsOf(raw, this.state.reading), to, isWhole, raw };
		if (!isWhole) return block;
		this.cache.set(index, block);
		for (const old of this.cache.keys()) if (this.cache.size > CACHED_BLOCKS) this.cache.delete(old);
		this.counts.set(index, countLines(block.rows));
		const bases = [...this.state.bases];
		for (let next = this.counts.get(bases.length - 1); next !== undefined; next = this.counts.get(bases.length - 1))
			bases.push((bases.at(-1) ?? 0) + next);
		this.state = { ...this.state, bases };
		return block;
	}

	private show(blocks: readonly LoadedBlock[], kept: "first" | "last"): void {
		const some = kept === "first" ? blocks.slice(0, SHOWN_BLOCKS) : blocks.slice(-SHOWN_BLOCKS);
		const last = some.at(-1);
		this.set({ blocks: some, atStart: some[0]?.index === 0, atEnd: last === undefined || last.to >= this.state.size });
	}

	/** Bytes that the log has now. */
	private async measure(): Promise<number> {
		const part = await this.ask({ offset: -1, limit: 4, wait_ms: 1 }, this.cut.signal);
		const size = Math.max(0, part.eof ? part.next_offset : part.offset + 1);
		this.state = { ...this.state, size: Math.max(size, this.state.size) };
		return size;
	}

	/** Goes to the end of the log; also of the next run, if there is one. */
	toEnd = (): Promise<void> =>
		this.alone(async () => {
			const last = Math.max(0, Math.ceil((await this.measure()) / BLOCK_BYTES) - 1);
			const blocks = [await this.block(last)];
			while (
				(blocks[0]?.index ?? 0) > 0 &&
				blocks.length < SHOWN_BLOCKS &&
				blocks.reduce((sum, { rows }) => sum + rows.length, 0) < ENOUGH_ROWS
			)
				blocks.unshift(await this.block((blocks[0]?.index ?? 0) - 1));
			this.show(blocks, "last");
		}, "must");

	toStart = (): Promise<void> => this.toBlock(0);

	/** Shows a block, with what comes right before and after it. */
	toBlock = (index: number): Promise<void> =>
		this.alone(async () => {
			if (this.state.blocks.some((one) => one.index === index)) return;
			const blocks = [await this.block(index)];
			if (index > 0) blocks.unshift(await this.block(index - 1));
			if ((index + 1) * BLOCK_BYTES < this.state.size) blocks.push(await this.block(index + 1));
			this.show(blocks, "first");
		}, "must");

	/** Loads what comes before the first line in memory. */
	before = (): Promise<void> =>
		this.alone(async () => {
			const first = this.state.blocks[0];
			if (first && first.index > 0) this.show([await this.block(first.index - 1), ...this.state.blocks], "first");
		});

	/** Loads what comes after the last line; at the end of a live log it waits for more. */
	behind = (patience: "wait" | "now"): Promise<void> =>
		this.alone(async () => {
			const { blocks, run, ended, atEnd } = this.state;
			const last = blocks.at(-1);
			if (!last) return;
			if (ended && atEnd) return;
			if (patience === "wait") this.waiting = new AbortController();
			const signal = this.waiting ? AbortSignal.any([this.cut.signal, this.waiting.signal]) : this.cut.signal;
			const end = (last.index + 1) * BLOCK_BYTES;
			const limit = last.to < end ? end - last.to : BLOCK_BYTES;
			const part = await this.ask({ offset: last.to, limit, ...(patience === "wait" ? { wait_ms: WAIT_MS } : {}) }, signal);
			if (run !== null && part.run !== null && part.run !== run) return this.beginAnew();
			if (part.text === "" && part.next_offset <= last.to) return this.show(await this.closed(last), "last");
			if (part.next_offset < end && part.offset === last.to) return this.grow(last, part);
			// The block is full, or something was removed: it is read once more as a whole, and then the next one.
			const whole = await this.settled(blocks);
			const isNext = part.next_offset >= end && (last.to >= end || !part.eof);
			this.show(isNext ? [...whole, await this.block(last.index + 1)] : whole, "last");
		});

	private async beginAnew(): Promise<void> {
		this.state = { ...this.state, blocks: [] };
		const last = Math.max(0, Math.ceil((await this.measure()) / BLOCK_BYTES) - 1);
		this.show([await this.block(last)], "last");
	}

	/** Nothing more was written: if the run has ended, the last line is complete. */
	private async closed(last: LoadedBlock): Promise<LoadedBlock[]> {
		const { blocks, ended } = this.state;
		if (!ended || last.raw.goesOn !== "written") return [...blocks];
		return [...blocks.slice(0, -1), this.put(last.index, { ...last.raw, goesOn: "no" }, last.to)];
	}

	private async grow(last: LoadedBlock, part: LogAnswer): Promise<void> {
		const text = last.raw.text + part.text;
		const goesOn = text.endsWith("\n") || (part.eof && part.ended) ? "no" : "written";
		const raw = { ...last.raw, text, parts: joinParts(last.raw.parts, part.parts ?? []), goesOn } as const;
		const before = await this.settled(this.state.blocks.slice(0, -1));
		this.show([...before, this.put(last.index, raw, part.next_offset)], "last");
	}

	/** Reads blocks again whose last line had no end yet. */
	private settled(blocks: readonly LoadedBlock[]): Promise<LoadedBlock[]> {
		return Promise.all(blocks.map((one) => (one.isWhole ? one : this.block(one.index))));
	}

	/** Whether the end is so far that it is quicker to go there than to read on. */
	get isFarBehind(): boolean {
		const last = this.state.blocks.at(-1);
		return last !== undefined && this.state.size - last.to > FAR_BLOCKS * BLOCK_BYTES;
	}

	/** Counts lines from the start on, up to a block, or until a line is counted; without a limit to the end. */
	async count(upTo: { block?: number; line?: number } = {}): Promise<void> {
		for (let index = this.state.bases.length - 1; !this.cut.signal.aborted; index = this.state.bases.length - 1) {
			if (upTo.block !== undefined && index >= upTo.block) return;
			if (upTo.line !== undefined && (this.state.bases[index] ?? 0) >= upTo.line) return;
			const block = await this.block(index);
			if (!block.isWhole) return this.changed();
			if (index % 8 === 0) this.changed();
		}
	}

	/** Where a line stands, by its number from 1; the last line if there are fewer. */
	async find(line: number): Promise<RowPlace | null> {
		await this.count({ line });
		const { bases } = this.state;
		let index = bases.length - 1;
		while (index > 0 && (bases[index] ?? 0) >= line) index--;
		const block = await this.block(index);
		let left = line - (bases[index] ?? 0);
		const at = block.rows.findIndex((row) => !row.isMore && --left === 0);
		if (block.rows.length === 0) return null;
		return { block: index, row: at < 0 ? block.rows.length - 1 : at };
	}

	/** The text of some lines, by their numbers from 1, without colours. */
	async textOf(from: number, to: number): Promise<string> {
		const start = await this.find(from);
		if (!start) return "";
		let text = "";
		let line = from - 1;
		for (let index = start.block; line <= to; index++) {
			const { rows, isWhole } = await this.block(index);
			for (let at = index === start.block ? start.row : 0; at < rows.length; at++) {
				const row = rows[at];
				if (!row) break;
				if (!row.isMore && ++line > to) return text;
				text += (row.isMore || text === "" ? "" : "\n") + row.text;
			}
			if (!isWhole) break;
		}
		return text;
	}
}
