// Writes what a whole run has found: the table, the notes, and the conditions without which a number says nothing.

import { writeFileSync } from "node:fs";
import type { Conditions } from "./conditions.ts";
import type { Measure, Row } from "./row.ts";
import { figure, notes, table } from "./table.ts";

export type RowResult = { row: Row; measures: Measure[]; seconds: number };

export function resultsText(conditions: Conditions, results: readonly RowResult[]): string {
	const measures = results.flatMap((result) => result.measures);
	const barred = measures.filter((m) => m.bar !== undefined);
	const others = measures.filter((m) => m.bar === undefined);
	return `${[
		"# Results of `npm run bench`",
		"",
		"Medians of interleaved rounds, each on a fresh database file; a spread is that of the single rounds.",
		"Ratios compare runs of the same machine, minute and process; absolute numbers hold for this machine only.",
		"",
		"## Bars",
		"",
		table(barred),
		"",
		"## Beside them",
		"",
		table(others),
		"",
		"## Notes",
		"",
		...notes(measures).map((note) => `- ${note}`),
		"",
		"## Every round",
		"",
		...measures.map((m) => `- ${m.what} (${m.unit}): ${m.measured.values.map(figure).join(", ")}`),
		"",
		"## Conditions",
		"",
		...conditionLines(conditions).map((line) => `- ${line}`),
		...results.map(({ row, seconds }) => `- ${row.name}: ${row.title}; ${Math.round(seconds)} s`),
	].join("\n")}\n`;
}

export function conditionLines(c: Conditions): string[] {
	return [
		`${c.date}, commit ${c.commit}, ${c.rounds} rounds a contender after one warm-up`,
		`${c.cpu}, ${c.cores} cores, ${c.memory}, ${c.kernel}, load before ${c.load}`,
		`node ${c.node}, SQLite ${c.sqlite}`,
		`databases in ${c.folder}: ${c.fileSystem}${c.onDisk ? "" : " — NOT A DISK, results mean nothing"}`,
		`fsync ${c.fsync}; smallest durable SQLite transaction ${c.transaction}`,
	];
}

export function writeResults(path: string, text: string): void {
	writeFileSync(path, text);
}
