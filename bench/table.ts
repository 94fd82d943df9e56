// The table of measures, as markdown that also reads well on a terminal.

import { type Bar, type Measure, passes } from "./row.ts";

const HEAD = ["measure", "bar", "measured", "spread", "unit", ""];

export function table(measures: readonly Measure[]): string {
	const rows = measures.map((m) => [
		m.what,
		m.bar === undefined ? "–" : bar(m.bar),
		figure(m.measured.median),
		`${figure(m.measured.min)} … ${figure(m.measured.max)}`,
		m.unit,
		m.bar === undefined ? "" : passes(m) ? "pass" : "FAIL",
	]);
	const widths = HEAD.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0), 3));
	const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
	return [line(HEAD), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join("\n");
}

export const notes = (measures: readonly Measure[]): string[] =>
	measures.flatMap((m) => (m.note === undefined ? [] : [`${m.what}: ${m.note}`]));

const bar = ({ at, value }: Bar) => `${at === "most" ? "≤" : "≥"} ${value}`;

export function figure(value: number): string {
	if (!Number.isFinite(value)) return String(value);
	const size = Math.abs(value);
	return size >= 1000
		? Math.round(value).toLocaleString("en")
		: size >= 100
			? value.toFixed(0)
			: size >= 10
				? value.toFixed(1)
				: value.toFixed(2);
}
