// Trends: depth, start latency, throughput and cost over time, from the jobs that the page knows.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { app } from "../app.ts";
import { every, now } from "../outside.ts";
import { Empty } from "../parts/bits.tsx";
import { colours, isDark, useNews, useSize } from "../parts/hooks.ts";
import { matcher } from "../state/board.ts";
import { type Trends, trendsOf } from "../state/trends.ts";
import { moment, span } from "../state/words.ts";

const SPANS = [
	["15 m", 15 * 60_000],
	["1 h", 3_600_000],
	["6 h", 6 * 3_600_000],
	["1 d", 86_400_000],
] as const;
const STEPS = 90;

const whole = (value: number): string => (Number.isInteger(value) ? String(value) : "");

type Line = { key: keyof Trends; label: string; colour: "run" | "queue" | "good" | "bad" | "accent" | "wait"; fill?: true; bars?: true };
const CHARTS: {
	title: string;
	about: string;
	unit: (value: number) => string;
	lines: Line[] /** The minimum upper end of the scale. */;
	least: number;
}[] = [
	{
		title: "Depth",
		about: "jobs that wait, and runs",
		unit: whole,
		least: 4,
		lines: [
			{ key: "queued", label: "wait", colour: "queue", fill: true },
			{ key: "running", label: "run", colour: "run" },
		],
	},
	{
		title: "Start latency",
		about: "from ready to started",
		unit: (value) => span(value * 1000),
		least: 0.1,
		lines: [
			{ key: "latencyMiddle", label: "half", colour: "accent" },
			{ key: "latencyNinety", label: "nine of ten", colour: "wait" },
		],
	},
	{
		title: "Throughput",
		about: "jobs that ended",
		unit: whole,
		least: 4,
		lines: [
			{ key: "succeeded", label: "done", colour: "good", bars: true },
			{ key: "failed", label: "failed", colour: "bad", bars: true },
		],
	},
	{
		title: "Cost",
		about: "of what ended, summed up",
		least: 1,
		unit: (value) => `$${value.toFixed(2)}`,
		lines: [{ key: "cost", label: "cost", colour: "accent", fill: true }],
	},
];

/** The shortest span with room for the known jobs, up to six hours. */
function firstSpan(): number {
	const first = [...app.jobs.rows.values()].reduce((least, { createdAt }) => Math.min(least, createdAt), app.now());
	return SPANS.slice(0, 3).find(([, ms]) => app.now() - first < ms)?.[1] ?? SPANS[2][1];
}

export function TrendsView() {
	useNews("place", "link");
	const [spanMs, setSpan] = useState<number>(firstSpan);
	const [turn, next] = useState(0);
	useEffect(() => every(2000, () => next((n) => n + 1)), []);
	const at = app.now();
	const rows = [...app.jobs.rows.values()].filter(matcher(app.place.filter));
	const trends = trendsOf(rows, at - spanMs, at, STEPS);
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
				<span class="dim notes">Of the active jobs and the last 3,000 that ended; what is filtered above counts here too.</span>
			</div>
			{rows.length === 0 ? (
				<Empty title="Nothing to draw yet">
					<p>The charts begin with the first job.</p>
				</Empty>
			) : (
				<div class="charts">
					{CHARTS.map((chart) => (
						<section key={chart.title} class="panel" aria-label={chart.title}>
							<h2>
								{chart.title} <span class="dim">{chart.about}</span>
								<span class="legend">
									{chart.lines.map(({ label, colour }) => (
										<span key={label}>
											<i class={`mark ${colour}`} /> {label}
										</span>
									))}
								</span>
							</h2>
							<Chart trends={trends} lines={chart.lines} unit={chart.unit} least={chart.least} turn={turn} title={chart.title} />
						</section>
					))}
				</div>
			)}
		</>
	);
}

function Chart({
	trends,
	lines,
	unit,
	least,
	title,
}: {
	trends: Trends;
	lines: Line[];
	unit: (value: number) => string;
	least: number;
	turn: number;
	title: string;
}) {
	const { ref, width } = useSize<HTMLDivElement>();
	const plot = useRef<uPlot | null>(null);
	const data = [
		trends.at,
		...lines.map(({ key, bars }) => (bars ? trends[key].map((value) => value || null) : trends[key])),
	] as uPlot.AlignedData;
	const dark = isDark();
	useEffect(() => {
		const element = ref.current;
		if (!element || width < 40) return;
		const colour = colours("dim", "soft", "run", "queue", "good", "bad", "accent", "wait");
		const axis = {
			stroke: colour.dim,
			grid: { stroke: colour.soft, width: 1 },
			ticks: { stroke: colour.soft, width: 1 },
			font: "11px system-ui, sans-serif",
		};
		const made = new uPlot(
			{
				width,
				height: 180,
				legend: { show: false },
				cursor: { points: { size: 6 }, y: false },
				scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(least, (high ?? 0) * 1.1)] } },
				axes: [
					{ ...axis, size: 30, values: (_, values) => values.map((value) => moment(value * 1000, now()).slice(0, -3)) },
					{ ...axis, size: 58, values: (_, values) => values.map((value) => unit(value)) },
				],
				series: [
					{},
					...lines.map(({ label, colour: name, fill, bars }) => ({
						label,
						stroke: colour[name],
						width: 1.5,
						spanGaps: true,
						points: { show: lines.some(({ key }) => key === "latencyMiddle"), size: 4 },
						...(fill ? { fill: `${colour[name]}22` } : {}),
						...(bars && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.7, 12] }), fill: colour[name] } : {}),
					})),
				],
			},
			data,
			element,
		);
		plot.current = made;
		return () => {
			made.destroy();
			plot.current = null;
		};
	}, [width, dark]);
	useEffect(() => plot.current?.setData(data));
	const last = lines.map(({ key, label }) => {
		const value = trends[key].findLast((one) => one !== null);
		return `${label} ${value === undefined || value === null ? "none" : unit(value)}`;
	});
	return <div class="plot" ref={ref} role="img" aria-label={`${title}, last: ${last.join(", ")}`} />;
}
