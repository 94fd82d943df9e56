// Contract of a row of the table: what it is called, what it measures, and what it may use to do so.

import type { Sample } from "./statistics.ts";

export type Bar = { at: "most" | "least"; value: number };

/** One line of the table. Without a bar it is there to be read, not to be met. */
export type Measure = { what: string; bar?: Bar; unit: string; measured: Sample; note?: string };

export type Row = { name: string; title: string; run(bench: Bench): Promise<Measure[]> };

export type Bench = {
	rounds: number;
	/** `--quick`: small sizes, to see that everything runs. Its numbers mean little and are not written down. */
	quick: boolean;
	/** The full size, or the small one under `--quick`. */
	size(full: number, quick: number): number;
	/** A path for a database that does not exist yet, on a real disk. */
	freshFile(name: string): string;
	progress(line: string): void;
};

export const atMost = (value: number): Bar => ({ at: "most", value });
export const atLeast = (value: number): Bar => ({ at: "least", value });

export const passes = ({ bar, measured }: Measure): boolean =>
	bar === undefined || (bar.at === "most" ? measured.median <= bar.value : measured.median >= bar.value);
