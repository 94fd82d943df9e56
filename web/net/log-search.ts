// A search through all of a log: every hit, by block, so that a person can go from hit to hit both ways while more is written.

import type { RowPlace } from "../state/log/layout.ts";
import type { LogReader } from "./log-reader.ts";

/** With more hits than this, the rest is not counted. */
export const MOST_HITS = 100_000;

export class LogSearch {
	private readonly hits = new Map<number, number[]>();
	private readonly stopped = new AbortController();
	private readonly wanted: string;
	/** Blocks that were searched as a whole. */
	private readonly done = new Set<number>();
	private scanning: Promise<void> | null = null;
	total = 0;
	/** The whole log was searched, as far as it was written then. */
	isComplete = false;
	problem: string | null = null;

	constructor(
		private readonly reader: LogReader,
		readonly words: string,
		private readonly changed: () => void,
	) {
		this.wanted = words.toLowerCase();
	}

	stop(): void {
		this.stopped.abort();
	}

	get isStopped(): boolean {
		return this.stopped.signal.aborted || this.reader.signal.aborted;
	}

	/** Searches from a block to the end, then what is before it. A block that has grown is searched again. */
	run(from: number): Promise<void> {
		this.scanning ??= this.scan(from)
			.catch((error: unknown) => {
				this.problem = this.isStopped ? null : error instanceof Error ? error.message : String(error);
			})
			.finally(() => {
				this.scanning = null;
				if (!this.isStopped) this.changed();
			});
		return this.scanning;
	}

	private async scan(from: number): Promise<void> {
		const step = async (index: number): Promise<"more" | "end"> => {
			if (this.done.has(index)) return "more";
			const block = await this.reader.block(index, this.stopped.signal);
			this.look(index, block.rows);
			if (block.isWhole) this.done.add(index);
			if (index % 4 === 0) this.changed();
			return block.isWhole ? "more" : "end";
		};
		for (let index = from; !this.isStopped; index++) if ((await step(index)) === "end") break;
		for (let index = 0; index < from && !this.isStopped; index++) await step(index);
		if (!this.isStopped) this.isComplete = true;
	}

	private look(index: number, rows: readonly { text: string }[]): void {
		const found: number[] = [];
		const room = MOST_HITS - this.total + (this.hits.get(index)?.length ?? 0);
		for (let row = 0; row < rows.length && found.length < room; row++)
			if (rows[row]?.text.toLowerCase().includes(this.wanted)) found.push(row);
		this.total += found.length - (this.hits.get(index)?.length ?? 0);
		if (found.length > 0) this.hits.set(index, found);
		else this.hits.delete(index);
	}

	/** The blocks in sight may have grown. */
	refresh(blocks: readonly { index: number; rows: readonly { text: string }[]; isWhole: boolean }[]): void {
		if (!this.isComplete) return;
		for (const { index, rows, isWhole } of blocks) {
			if (this.done.has(index)) continue;
			this.look(index, rows);
			if (isWhole) this.done.add(index);
		}
	}

	/** The hit after or before a row, around the ends of the log. `here`: a hit at the row itself counts. */
	async next(way: 1 | -1, at: RowPlace, here: "here" | "beyond"): Promise<RowPlace | null> {
		// Forwards the first hit is shown as soon as it is found; backwards the last one has to be known.
		const scan = this.run(at.block);
		if (way === -1) await scan;
		for (;;) {
			const found = this.seek(way, at, here);
			if (found && (way === -1 || isAfter(found, at) || this.isComplete)) return found;
			if (this.scanning === null || this.isStopped) return found;
			const before = this.total;
			await new Promise<void>((resolve) => {
				this.waiters.push(resolve);
				void scan.then(resolve);
			});
			if (this.total === before && this.scanning === null) return this.seek(way, at, here);
		}
	}
	private readonly waiters: (() => void)[] = [];

	/** Ends the wait of `next`, which then looks for a hit again; called with each change. */
	wake(): void {
		for (const resolve of this.waiters.splice(0)) resolve();
	}

	private seek(way: 1 | -1, at: RowPlace, here: "here" | "beyond"): RowPlace | null {
		const blocks = [...this.hits.keys()].sort((a, b) => a - b);
		const all = (index: number) => (this.hits.get(index) ?? []).map((row) => ({ block: index, row }));
		const own = all(at.block);
		if (way === 1) {
			const later = own.find(({ row }) => (here === "here" ? row >= at.row : row > at.row));
			const block = blocks.find((index) => index > at.block) ?? blocks[0];
			return later ?? (block === undefined ? null : (all(block)[0] ?? null));
		}
		const earlier = own.filter(({ row }) => (here === "here" ? row <= at.row : row < at.row)).at(-1);
		const block = blocks.filter((index) => index < at.block).at(-1) ?? blocks.at(-1);
		return earlier ?? (block === undefined ? null : (all(block).at(-1) ?? null));
	}

	/** Which of all hits a row is, from 1; null if it is none. */
	rank({ block, row }: RowPlace): number | null {
		const at = this.hits.get(block)?.indexOf(row) ?? -1;
		if (at < 0) return null;
		let before = 0;
		for (const [index, rows] of this.hits) if (index < block) before += rows.length;
		return before + at + 1;
	}
}

const isAfter = (a: RowPlace, b: RowPlace): boolean => a.block > b.block || (a.block === b.block && a.row >= b.row);
