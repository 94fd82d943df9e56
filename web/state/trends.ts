// The charts of Trends: which figures of `stats.show` each of them draws, and in which colours. Pure: the figures are the daemon's, only stacking is done here.

import type { StatsDocument } from "../../src/api/protocol/stats.ts";
import { count, dollars, inWords, span } from "./words.ts";

type ChartColour = "accent" | "run" | "wait" | "good" | "queue" | "bad" | "dim";
/** One line or layer. `faint`: the colour has come before. */
export type ChartLayer = { label: string; colour: ChartColour; faint: boolean; values: readonly (number | null)[] };
export type TrendChart = {
	title: string;
	/** The sum of all that is shown, in words. */
	about: string;
	/** Bars stand on each other; lines go over each other. */
	kind: "bars" | "lines";
	layers: ChartLayer[];
	unit: (value: number) => string;
	/** The minimum upper end of the scale. */
	least: number;
};

const COLOURS: readonly ChartColour[] = ["accent", "wait", "good", "queue", "bad", "dim"];
const paint = (index: number) => ({ colour: COLOURS[index % COLOURS.length] ?? "accent", faint: index >= COLOURS.length });
const whole = (value: number): string => (Number.isInteger(value) ? count(value) : "");
const percent = (value: number): string => `${Math.round(value * 100)} %`;
const line = (label: string, colour: ChartColour, values: ChartLayer["values"]): ChartLayer => ({ label, colour, faint: false, values });
const isDrawn = ({ values }: ChartLayer): boolean => values.some((value) => value !== null && value > 0);

export const nameOf = (name: string | null): string => name ?? "none";

export function chartsOf(stats: StatsDocument): TrendChart[] {
	const { total, series, waits, groups, per } = stats;
	const causes = Object.keys(waits).map((code, index) => ({ label: inWords(code), ...paint(index), values: series.waits[code] ?? [] }));
	const costs = groups.map(({ name, series: own }, index) => ({ label: nameOf(name), ...paint(index), values: own.cost_micro }));
	return [
		{
			title: "Throughput",
			about: `${count(total.ended)} ended, ${count(total.failed)} failed`,
			kind: "bars",
			unit: whole,
			least: 4,
			layers: [
				line("done", "good", series.succeeded),
				line("failed", "bad", series.failed),
				line("blocked", "wait", series.blocked_by_dependency),
				line("cancelled", "queue", series.cancelled),
				line("expired", "dim", series.expired),
			].filter(isDrawn),
		},
		{
			title: "Waits by cause",
			about: `${span(total.wait_ms)} before the starts`,
			kind: "bars",
			unit: span,
			least: 1000,
			layers: causes.filter(isDrawn),
		},
		{
			title: "Slots in use",
			about: total.utilisation === null ? `${total.slots_used} on average` : `${percent(total.utilisation)} of ${total.slots}`,
			kind: "lines",
			unit: (value) => String(Math.round(value * 10) / 10),
			least: 1,
			layers: [line("in use", "run", series.slots_used), line("cap", "dim", series.slots)],
		},
		{
			title: "Cost",
			about: `${dollars(total.cost_micro)}${per === "cause" ? "" : `, by ${per}`}`,
			kind: "bars",
			unit: dollars,
			least: 10_000,
			layers: per === "cause" ? [line("cost", "accent", series.cost_micro)].filter(isDrawn) : costs.filter(isDrawn),
		},
		{
			title: "Start latency",
			about: total.start_p90_ms === null ? "nothing started" : `p90 ${span(total.start_p90_ms)}, from ready to started`,
			kind: "lines",
			unit: span,
			least: 100,
			layers: [line("p50", "accent", series.start_p50_ms), line("p90", "wait", series.start_p90_ms)],
		},
		{
			title: "Retry rate",
			about: total.retry_rate === null ? "no run ended" : `${percent(total.retry_rate)} of ${count(total.runs)} runs`,
			kind: "lines",
			unit: percent,
			least: 0.1,
			layers: [line("retried", "bad", series.retry_rate)],
		},
	];
}

/** The upper edge of each layer on those before it; the last one first, so that each is painted over the next higher one. */
export function stacked(layers: readonly ChartLayer[]): { layer: ChartLayer; edge: (number | null)[] }[] {
	const heights: number[] = [];
	const edges = layers.map((layer) => ({
		layer,
		edge: layer.values.map((value, index) => {
			heights[index] = (heights[index] ?? 0) + (value ?? 0);
			return value ? heights[index] : null;
		}),
	}));
	return edges.reverse();
}

/** The middle of each bucket, epoch seconds, as the chart library wants it. */
export function middles({ times, until }: Pick<StatsDocument, "times" | "until">): number[] {
	const starts = times.map(Date.parse);
	const step = (starts[1] ?? Date.parse(until)) - (starts[0] ?? 0);
	return starts.map((at) => (at + step / 2) / 1000);
}
