// Reads one run's log by ranges: the end first, more at either side when one comes near it, new lines while one follows, and any place that a search finds.

import { append, EMPTY, findLine, type Log, lineCount, PIECE_BYTES, pieceOf, prepend } from "../state/log-pieces.ts";

export type Part = { run: string | null; offset: number; next_offset: number; text: string; eof: boolean; ended: boolean };
export type Read = (range: { offset: number; limit: number; wait_ms?: number }, signal: AbortSignal) => Promise<Part>;

/** Bytes that a search reads at once, and before a match that are shown. */
const SEARCHED = 900_000;
const BEFORE = 30_000;
const WAIT_MS = 10_000;

export type LogState = {
	log: Log;
	ended: boolean /** Bytes that are known to be there. */;
	size: number;
	problem: string | null;
	run: string | null;
};

export class LogReader {
	state: LogState = { log: EMPTY, ended: false, size: 0, problem: null, run: null };
	private busy = false;
	private readonly cut = new AbortController();
	private searching: AbortController | null = null;

	constructor(
		private readonly read: Read,
		/** `before`: so many lines were put before those that were there. */
		private readonly changed: (before: number) => void,
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

	private async alone(act: () => Promise<void>): Promise<void> {
		if (this.busy || this.cut.signal.aborted) return;
		this.busy = true;
		try {
			await act();
		} catch (error) {
			if (!this.cut.signal.aborted) this.set({ problem: error instanceof Error ? error.message : String(error) });
		} finally {
			this.busy = false;
		}
	}

	private take(part: Part, log: Log): Partial<LogState> {
		return { log, ended: part.ended, size: Math.max(this.state.size, part.next_offset), problem: null, run: part.run };
	}

	/** The end of the log; also of the next run, when there is one. */
	toEnd = (): Promise<void> =>
		this.alone(async () => {
			const part = await this.read({ offset: -PIECE_BYTES, limit: PIECE_BYTES, wait_ms: 1 }, this.cut.signal);
			const piece = pieceOf(part.offset, part.next_offset, part.text, part.offset > 0 ? "anywhere" : "at a line");
			this.set(this.take(part, append({ ...EMPTY }, piece, part.eof)));
		});

	toStart = (): Promise<void> => this.jump(0);

	private jump = (offset: number): Promise<void> =>
		this.alone(async () => {
			const part = await this.read({ offset, limit: PIECE_BYTES }, this.cut.signal);
			this.set(
				this.take(
					part,
					append({ ...EMPTY }, pieceOf(part.offset, part.next_offset, part.text, offset > 0 ? "anywhere" : "at a line"), part.eof),
				),
			);
		});

	/** What comes before the first line that is kept. */
	before = (): Promise<void> =>
		this.alone(async () => {
			const first = this.state.log.pieces[0];
			if (!first || this.state.log.atStart || first.from === 0) return;
			const offset = Math.max(0, first.from - PIECE_BYTES);
			const part = await this.read({ offset, limit: first.from - offset }, this.cut.signal);
			const piece = pieceOf(part.offset, part.next_offset, part.text, offset > 0 ? "anywhere" : "at a line");
			this.set(this.take(part, prepend(this.state.log, piece)), piece.lines.length);
		});

	/** What comes after the last one; at the end of a live log it waits for more. */
	behind = (patience: "wait" | "now"): Promise<void> =>
		this.alone(async () => {
			const { log, ended, run } = this.state;
			if (ended && log.atEnd) return;
			const offset = log.pieces.at(-1)?.to ?? 0;
			const waits = patience === "wait" && log.atEnd ? { wait_ms: WAIT_MS } : {};
			const part = await this.read({ offset, limit: PIECE_BYTES, ...waits }, this.cut.signal);
			const isOther = run !== null && part.run !== run;
			const piece = pieceOf(part.offset, part.next_offset, part.text, "at a line");
			this.set(this.take(part, append(isOther ? { ...EMPTY } : log, piece, part.eof)));
		});

	/** The number of the line, after `from`, that has the words; reads on to the end, then from the start. −1: nowhere. */
	async find(words: string, from: number, progress: (bytes: number) => void): Promise<number> {
		this.searching?.abort();
		const here = findLine(this.state.log, words, from);
		if (here >= 0) return here;
		const searching = new AbortController();
		this.searching = searching;
		const begin = this.state.log.pieces.at(-1)?.to ?? 0;
		const found =
			(await this.scan(words, begin, Number.POSITIVE_INFINITY, searching.signal, progress)) ??
			(await this.scan(words, 0, begin, searching.signal, progress));
		if (found === null || searching.signal.aborted) return -1;
		await this.jump(Math.max(0, found - BEFORE));
		const line = findLine(this.state.log, words, 0);
		// The words may stand before the match, too, in what is shown around it: the last that fits in front of it is near enough.
		return line >= 0 ? line : Math.min(0, lineCount(this.state.log) - 1);
	}

	stopSearch(): void {
		this.searching?.abort();
	}

	/** The byte at which the words begin; null when they are not there. */
	private async scan(
		words: string,
		begin: number,
		end: number,
		signal: AbortSignal,
		progress: (bytes: number) => void,
	): Promise<number | null> {
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
			// Words that are cut in two are found with the next piece.
			tail = text.slice(-wanted.length);
			offset = part.next_offset;
		}
		return null;
	}
}
