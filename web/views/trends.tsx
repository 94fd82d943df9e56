// Trends: what ended, waited and cost over time, how full the slots were, from the daemon's rollups.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { StatsDocument } from "../../src/api/protocol/stats.ts";
import { app } from "../app.ts";
import { every } from "../outside.ts";
import { Empty } from "../parts/bits.tsx";
import { colours, isDark, useNews, useQuery, useSize } from "../parts/hooks.ts";
import { type ChartLayer, chartsOf, middles, nameOf, stacked, type TrendChart } from "../state/trends.ts";
import { count, dollars, inWords, span } from "../state/words.ts";

const HOUR_MS = 3_600_000;
const SPANS = [
	["24 h", 24 * HOUR_MS],
	["7 d", 7 * 24 * HOUR_MS],
	["30 d", 30 * 24 * HOUR_MS],
	["1 y", 365 * 24 * HOUR_MS],
] as const;
const TRAITS = ["lane", "agent", "model", "owner", "repo", "account", "cause"] as const;
const REFRESH_MS = 5000;

export function TrendsView() {
	useNews("place", "link");
	const [spanMs, setSpan] = useState<number>(SPANS[0][1]);
	const [by, setBy] = useState<(typeof TRAITS)[number]>("lane");
	const [turn, next] = useState(0);
	useEffect(() => every(REFRESH_MS, () => next((n) => n + 1)), []);
	const since = () => new Date(app.now() - spanMs + HOUR_MS).toISOString();
	const ask = () => app.call("stats.show", { since: since(), per: by });
	const { value, problem } = useQuery(`stats ${spanMs} ${by}`, ask, String(turn));
	return (
		<>
			<h1 class="unseen">Trends</h1>
			<div class="tools">
				<fieldset class="spans" aria-label="How much time is shown">
					{SPANS.map(([word, ms]) => (
						<button key={word} type="button" class="small" aria-pressed={spanMs === ms} onClick={() => setSpan(ms)}>
							{word}
						</button>
					))}
				</fieldset>
				<label>
					by{" "}
					<select value={by} onChange={(event) => setBy(TRAITS.find((one) => one === event.currentTarget.value) ?? "lane")}>
						{TRAITS.map((trait) => (
							<option key={trait}>{trait}</option>
						))}
					</select>
				</label>
				<span class="dim notes">{value ? noteOf(value) : ""}</span>
			</div>
			{problem && !value ? <p class="problem">{problem}</p> : null}
			{value ? <Figures stats={value} /> : null}
		</>
	);
}

const noteOf = ({ bucket, timezone, known_since, since }: StatsDocument): string =>
	`All jobs, whatever is filtered above; by ${bucket}${bucket === "day" ? ` in ${timezone}` : ""}${known_since !== null && known_since > since ? `; counted since ${known_since.slice(0, 10)}` : ""}.`;

function Figures({ stats }: { stats: StatsDocument }) {
	if (stats.known_since === null)
		return (
			<Empty title="Nothing to draw yet">
				<p>The charts begin with the first start.</p>
			</Empty>
		);
	return (
		<>
			<div class="charts">
				{chartsOf(stats).map((chart) => (
					<Panel key={chart.title} chart={chart} stats={stats} />
				))}
			</div>
			<Groups stats={stats} />
		</>
	);
}

/** The colour of a layer on a canvas or beside its name. */
const inkOf = ({ colour, faint }: ChartLayer): string => `${colours(colour)[colour]}${faint ? "88" : ""}`;

function Panel({ chart, stats }: { chart: TrendChart; stats: StatsDocument }) {
	return (
		<section class="panel" aria-label={chart.title}>
			<h2>
				{chart.title} <span class="dim">{chart.about}</span>
				<span class="legend">
					{chart.layers.map((layer) => (
						<span key={layer.label}>
							<i class="mark" style={{ background: inkOf(layer) }} /> {layer.label}
						</span>
					))}
				</span>
			</h2>
			<Plot chart={chart} stats={stats} />
		</section>
	);
}

const dayOf = (seconds: number): string => new Date(seconds * 1000).toLocaleDateString("en", { month: "short", day: "numeric" });
const hourOf = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

function Plot({ chart, stats }: { chart: TrendChart; stats: StatsDocument }) {
	const { ref, width } = useSize<HTMLDivElement>();
	const plot = useRef<uPlot | null>(null);
	const at = middles(stats);
	const rows = chart.kind === "bars" ? stacked(chart.layers) : chart.layers.map((layer) => ({ layer, edge: [...layer.values] }));
	const data = [at, ...rows.map(({ edge }) => edge)] as uPlot.AlignedData;
	const dark = isDark();
	useEffect(() => {
		const element = ref.current;
		if (!element || width < 40) return;
		const made = new uPlot(
			{ ...optionsOf(chart, stats, at), width, height: 180, series: [{}, ...rows.map(({ layer }) => seriesOf(chart, layer))] },
			data,
			element,
		);
		plot.current = made;
		return () => {
			made.destroy();
			plot.current = null;
		};
	}, [width, dark, stats.bucket, chart.layers.map(({ label }) => label).join()]);
	useEffect(() => plot.current?.setData(data));
	return <div class="plot" ref={ref} role="img" aria-label={`${chart.title}: ${chart.about}`} />;
}

function optionsOf(
	{ unit, least }: TrendChart,
	{ bucket }: StatsDocument,
	at: readonly number[],
): Omit<uPlot.Options, "width" | "height" | "series"> {
	const colour = colours("dim", "soft");
	const axis = {
		stroke: colour.dim,
		grid: { stroke: colour.soft, width: 1 },
		ticks: { stroke: colour.soft, width: 1 },
		font: "11px system-ui, sans-serif",
	};
	const half = ((at[1] ?? 0) - (at[0] ?? 0)) / 2 || 1800;
	return {
		legend: { show: false },
		cursor: { points: { size: 6 }, y: false },
		scales: {
			x: { range: (_, low, high) => [low - half, high + half] },
			y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(least, (high ?? 0) * 1.1)] },
		},
		axes: [
			{ ...axis, size: 30, values: (_, values) => values.map((value) => (bucket === "day" ? dayOf(value) : hourOf(value))) },
			{ ...axis, size: 72, values: (_, values) => values.map((value) => unit(value)) },
		],
	};
}

function seriesOf({ kind }: TrendChart, layer: ChartLayer): uPlot.Series {
	const ink = inkOf(layer);
	const base = { label: layer.label, stroke: ink, width: 1.5, spanGaps: kind === "lines" };
	if (kind === "lines" || !uPlot.paths.bars) return { ...base, points: { show: true, size: 4 } };
	return { ...base, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 40] }), fill: ink };
}

function Groups({ stats: { per, groups } }: { stats: StatsDocument }) {
	if (groups.length === 0) return null;
	const percent = (share: number | null) => (share === null ? "" : `${Math.round(share * 100)} %`);
	if (per === "cause")
		return (
			<table class="figures">
				<thead>
					<tr>
						<th scope="col">Cause</th>
						<th scope="col">Waited</th>
					</tr>
				</thead>
				<tbody>
					{groups.map(({ name, total }) => (
						<tr key={name}>
							<th scope="row">{inWords(nameOf(name))}</th>
							<td class="num">{span(total.wait_ms)}</td>
						</tr>
					))}
				</tbody>
			</table>
		);
	return (
		<table class="figures">
			<thead>
				<tr>
					{[per, "ended", "failed", "retried", "waited", "slots", "used", "cost"].map((title) => (
						<th key={title} scope="col">
							{title}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{groups.map(({ name, total }) => (
					<tr key={name}>
						<th scope="row">{nameOf(name)}</th>
						<td class="num">{count(total.ended)}</td>
						<td class="num">{total.failed === 0 ? "" : count(total.failed)}</td>
						<td class="num">{total.retry_rate ? percent(total.retry_rate) : ""}</td>
						<td class="num">{span(total.wait_ms)}</td>
						<td class="num">{total.slots_used.toFixed(2)}</td>
						<td class="num">{percent(total.utilisation)}</td>
						<td class="num">{total.cost_micro === 0 ? "" : dollars(total.cost_micro)}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
