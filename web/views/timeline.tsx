// The timeline: each job's wait and run as bars, lanes as rows, now as a vertical line, forecasts in outline.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Result } from "../../src/api/protocol.ts";
import { app } from "../app.ts";
import { COLOUR } from "../draw/paint-graph.ts";
import { after } from "../outside.ts";
import { Empty, Loading } from "../parts/bits.tsx";
import { colours, useNews, useQuery, useSize } from "../parts/hooks.ts";
import { type Bar, barsOf, type LaneBars, retried, ticks } from "../state/bars.ts";
import { matcher } from "../state/board.ts";
import type { PageRow } from "../state/row.ts";
import { moment, span } from "../state/words.ts";

const SPANS = [
	["5 m", 5 * 60_000],
	["30 m", 30 * 60_000],
	["2 h", 2 * 3_600_000],
	["8 h", 8 * 3_600_000],
	["1 d", 86_400_000],
] as const;
const LINE = 18;
const HEAD = 6;
const AXIS = 26;
const GUTTER = 96;

/** The visible time span: `now` is at three fifths of it, unless a person has moved it. */
type Window = { spanMs: number; offsetMs: number };

function useSlowJobs(ms: number): number {
	const [turn, set] = useState(0);
	useEffect(() => {
		let cancel: (() => void) | null = null;
		const end = app.listen("jobs", () => {
			cancel ??= after(ms, () => {
				cancel = null;
				set((n) => n + 1);
			});
		});
		return () => {
			end();
			cancel?.();
		};
	}, [ms]);
	return turn;
}

type Attempts = Result<"job.attempts">["attempts"];
const NO_ATTEMPTS: Attempts = [];
/** Jobs whose runs are asked for at once. */
const ASKED = 300;

/** All runs of jobs that were tried more than once and were active within the window; asked again when one of them is tried again. */
function useAttempts(rows: readonly PageRow[], from: number): Attempts {
	const some = retried(rows)
		.filter(({ endedAt }) => endedAt === null || endedAt >= from)
		.slice(-ASKED);
	const ids = some.map(({ id }) => id);
	const { value } = useQuery(
		"attempts",
		async () => (ids.length === 0 ? { attempts: NO_ATTEMPTS } : app.call("job.attempts", { ids })),
		some.map(({ id, attempt, status }) => `${id}.${attempt}${status}`).join(),
	);
	return value?.attempts ?? NO_ATTEMPTS;
}

/** The shortest span with room for what has run, up to two hours. */
function firstSpan(): number {
	const first = [...app.jobs.rows.values()].reduce((least, { startedAt }) => Math.min(least, startedAt ?? least), app.now());
	return SPANS.slice(0, 3).find(([, ms]) => app.now() - first < ms * 0.55)?.[1] ?? SPANS[2][1];
}

export function Timeline() {
	useNews("place", "clock", "link");
	const turn = useSlowJobs(500);
	const [view, setView] = useState<Window>(() => ({ spanMs: firstSpan(), offsetMs: 0 }));
	const forecast = useQuery("forecast", () => app.call("scheduler.forecast", {}), String(Math.floor(app.now() / 10_000)));
	const now = app.now();
	const from = now - view.spanMs * 0.6 + view.offsetMs;
	const window = { from, to: from + view.spanMs };
	const { filter } = app.place;
	const rows = useMemo(() => [...app.jobs.rows.values()].filter(matcher(filter)), [turn, app.jobs.rows.size === 0, filter]);
	const attempts = useAttempts(rows, window.from);
	const lanes = useMemo(() => {
		const caps = Object.fromEntries(Object.entries(app.status?.lanes ?? {}).map(([name, { max }]) => [name, max ?? null]));
		return barsOf(rows, { forecast: forecast.value, attempts, caps, now, window });
	}, [rows, attempts, Math.floor(now / 1000), view, forecast.value]);
	if (app.link.phase === "loading" && app.jobs.rows.size === 0) return <Loading what="the timeline" />;
	const zoom = (factor: number) => setView({ ...view, spanMs: Math.min(7 * 86_400_000, Math.max(10_000, view.spanMs * factor)) });
	const shift = (share: number) => setView({ ...view, offsetMs: view.offsetMs + share * view.spanMs });
	return (
		<>
			<h1 class="unseen">Timeline</h1>
			<div class="tools">
				<fieldset class="spans" aria-label="How much time is shown">
					{SPANS.map(([word, ms]) => (
						<button
							key={word}
							type="button"
							class="small"
							aria-pressed={view.spanMs === ms}
							onClick={() => setView({ spanMs: ms, offsetMs: 0 })}
						>
							{word}
						</button>
					))}
				</fieldset>
				<button type="button" class="small icon" aria-label="Earlier" onClick={() => shift(-0.3)}>
					‹
				</button>
				<button type="button" class="small" disabled={view.offsetMs === 0} onClick={() => setView({ ...view, offsetMs: 0 })}>
					Now
				</button>
				<button type="button" class="small icon" aria-label="Later" onClick={() => shift(0.3)}>
					›
				</button>
				<span class="legend">
					<i class="mark thin" /> waited <i class="mark run" /> ran <i class="mark outline" /> expected
				</span>
				<span class="dim notes">
					{forecast.value?.end
						? `all done by ${moment(Date.parse(forecast.value.end.p50), now)} (p50), ${moment(Date.parse(forecast.value.end.p90), now)} (p90)`
						: (forecast.value?.notes[0] ?? "")}
				</span>
			</div>
			{lanes.length === 0 ? (
				<Empty title="Nothing ran in this time">
					<p>Runs appear here as they start. Choose a longer time above, or move with the arrow keys.</p>
				</Empty>
			) : (
				<Chart lanes={lanes} window={window} now={now} zoom={zoom} shift={shift} />
			)}
		</>
	);
}

type ChartProps = {
	lanes: LaneBars[];
	window: { from: number; to: number };
	now: number;
	zoom: (factor: number) => void;
	shift: (share: number) => void;
};

const nameOf = ({ id, label, attempt }: Bar): string => `${id} ${label}${attempt === null ? "" : ` · attempt ${attempt}`}`;

/** What the canvas shows, in words: its bars (with attempts; forecasts with a question mark) and the lines of each lane. */
const described = (lanes: readonly LaneBars[]) => ({
	"data-bars": lanes
		.flatMap(({ bars }) => bars.map(({ id, attempt, expected }) => `${id}${attempt === null ? "" : `.${attempt}`}${expected ? "?" : ""}`))
		.slice(0, 50)
		.join(" "),
	"data-lines": lanes.map(({ lane, lines }) => `${lane} ${lines}`).join(),
});

function Chart({ lanes, window, now, zoom, shift }: ChartProps) {
	const { ref, width, height } = useSize<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const [top, setTop] = useState(0);
	const [tip, setTip] = useState<{ bar: Bar; lane: string; x: number; y: number } | null>(null);
	const drag = useRef<{ x: number; far: number } | null>(null);
	const total = lanes.reduce((sum, { lines }) => sum + HEAD + lines * LINE, 0) + AXIS;
	const wide = Math.max(1, width - GUTTER);
	const x = (time: number) => GUTTER + ((time - window.from) / (window.to - window.from)) * wide;

	const hit = (px: number, py: number) => {
		let y = AXIS - top;
		for (const { lane, bars, lines } of lanes) {
			const first = y + HEAD;
			if (py >= first && py < first + lines * LINE) {
				const line = Math.floor((py - first) / LINE);
				const bar = bars.findLast(
					(one) => one.line === line && px >= x(one.waits) - 2 && px <= Math.max(x(one.ends), x(one.starts) + 3) + 2,
				);
				return bar ? { bar, lane } : null;
			}
			y = first + lines * LINE;
		}
		return null;
	};

	useEffect(() => {
		const element = canvas.current;
		const context = element?.getContext("2d");
		if (!element || !context || width === 0) return;
		const ratio = devicePixelRatio || 1;
		if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
			element.width = Math.round(width * ratio);
			element.height = Math.round(height * ratio);
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		paint(context, { lanes, window, now, width, height, top, x });
	});

	return (
		<div
			class="stage scroll"
			ref={ref}
			onScroll={(event) => setTop(event.currentTarget.scrollTop)}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: keys move it
			tabIndex={0}
			role="application"
			{...described(lanes)}
			aria-label={`Timeline of ${lanes.length} lanes. Left and right move in time, plus and minus zoom.`}
			onKeyDown={(event) => {
				const does: Record<string, () => void> = {
					ArrowLeft: () => shift(-0.1),
					ArrowRight: () => shift(0.1),
					"+": () => zoom(0.7),
					"=": () => zoom(0.7),
					"-": () => zoom(1.4),
				};
				if (!does[event.key]) return;
				does[event.key]?.();
				event.preventDefault();
				event.stopPropagation();
			}}
		>
			<canvas
				ref={canvas}
				class="sticky"
				style={{ width: `${width}px`, height: `${height}px` }}
				onPointerDown={(event) => {
					drag.current = { x: event.offsetX, far: 0 };
				}}
				onPointerMove={(event) => {
					if (drag.current && event.buttons === 1) {
						const by = event.offsetX - drag.current.x;
						drag.current = { x: event.offsetX, far: drag.current.far + Math.abs(by) };
						shift(-by / wide);
						return;
					}
					const found = hit(event.offsetX, event.offsetY);
					setTip(found ? { ...found, x: event.offsetX, y: event.offsetY } : null);
				}}
				onPointerLeave={() => setTip(null)}
				onPointerUp={(event) => {
					const found = (drag.current?.far ?? 0) < 5 ? hit(event.offsetX, event.offsetY) : null;
					drag.current = null;
					if (found) app.go({ job: found.bar.id });
				}}
				onWheel={(event) => {
					if (!event.ctrlKey && !event.metaKey) return;
					event.preventDefault();
					zoom(Math.exp(event.deltaY * 0.003));
				}}
			/>
			<div style={{ height: `${Math.max(0, total - height)}px` }} />
			{tip ? (
				<div class="tip" style={{ left: `${Math.min(tip.x + 12, width - 240)}px`, top: `${top + tip.y + 14}px` }}>
					<b>{nameOf(tip.bar)}</b>
					<br />
					{tip.lane} · {tip.bar.expected ? "expected" : `waited ${span(tip.bar.starts - tip.bar.waits)}`} ·{" "}
					{span(tip.bar.ends - tip.bar.starts)}
				</div>
			) : null}
		</div>
	);
}

type Paint = {
	lanes: LaneBars[];
	window: { from: number; to: number };
	now: number;
	width: number;
	height: number;
	top: number;
	x: (time: number) => number;
};

function paint(context: CanvasRenderingContext2D, { lanes, window, now, width, height, top, x }: Paint): void {
	const colour = colours("ink", "dim", "line", "soft", "panel", "wait", "queue", "run", "good", "bad", "accent", "critical");
	context.clearRect(0, 0, width, height);
	context.font = "11px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
	context.textBaseline = "middle";
	const marks = ticks(window.from, window.to, Math.max(2, (width - GUTTER) / 90));
	context.fillStyle = colour.soft;
	for (const at of marks) context.fillRect(Math.round(x(at)), AXIS, 1, height);
	let y = AXIS - top;
	context.save();
	context.beginPath();
	context.rect(0, AXIS, width, height);
	context.clip();
	for (const { lane, bars, lines, max } of lanes) {
		const first = y + HEAD;
		if (first + lines * LINE > AXIS && y < height) {
			context.fillStyle = colour.line;
			context.fillRect(0, y, width, 1);
			context.fillStyle = colour.ink;
			const most = max === null ? "" : `≤ ${max}`;
			const name = lane.length > 10 && most !== "" ? `${lane.slice(0, 9)}…` : lane.length > 14 ? `${lane.slice(0, 13)}…` : lane;
			context.fillText(name, 12, y + HEAD + LINE / 2 + 1);
			context.fillStyle = colour.dim;
			context.fillText(most, GUTTER - 8 - context.measureText(most).width, y + HEAD + LINE / 2 + 1);
			context.save();
			context.beginPath();
			context.rect(GUTTER, Math.max(AXIS, y), width, HEAD + lines * LINE);
			context.clip();
			for (const bar of bars) {
				const line = first + bar.line * LINE;
				if (line < AXIS - LINE || line > height) continue;
				paintBar(context, bar, line, x, colour);
			}
			context.restore();
		}
		y = first + lines * LINE;
	}
	context.restore();
	context.fillStyle = colour.panel;
	context.fillRect(0, 0, width, AXIS);
	context.fillStyle = colour.dim;
	const isFine = marks.length > 1 && (marks[1] as number) - (marks[0] as number) < 60_000;
	const here = Math.round(x(now));
	for (const at of marks) {
		const text = isFine ? moment(at, now) : moment(at, now).slice(0, -3);
		const [from, to] = [x(at) + 4, x(at) + 8 + context.measureText(text).width];
		// The label `now` has priority over a number.
		if (to < here || from > here + 34) context.fillText(text, from, AXIS / 2);
	}
	if (here >= GUTTER && here <= width) {
		context.fillStyle = colour.accent;
		context.fillRect(here, 0, 1, height);
		context.fillText("now", here + 4, AXIS / 2);
	}
}

function paintBar(
	context: CanvasRenderingContext2D,
	bar: Bar,
	y: number,
	x: (time: number) => number,
	colour: Record<"panel" | (typeof COLOUR)[Bar["status"]], string>,
): void {
	const [waits, starts, ends] = [x(bar.waits), x(bar.starts), Math.max(x(bar.ends), x(bar.starts) + 2)];
	if (bar.expected) {
		const late = x(bar.expected.late);
		context.strokeStyle = colour.dim;
		context.lineWidth = 1;
		context.setLineDash([3, 2]);
		context.strokeRect(starts + 0.5, y + 3.5, Math.max(2, ends - starts), LINE - 7);
		context.setLineDash([]);
		context.fillStyle = colour.dim;
		context.fillRect(ends, y + LINE / 2, Math.max(0, late - ends), 1);
		label(context, bar, { starts, ends, y }, colour.dim);
		return;
	}
	context.fillStyle = colour.wait;
	context.globalAlpha = 0.55;
	context.fillRect(waits, y + LINE / 2 - 1, Math.max(0, starts - waits), 3);
	context.globalAlpha = 1;
	context.fillStyle = colour[COLOUR[bar.status]];
	context.fillRect(starts, y + 2, ends - starts, LINE - 4);
	if (bar.attempt !== null) {
		// An earlier attempt: striped, so that it is not taken for the end of the job.
		context.fillStyle = colour.panel;
		for (let at = starts + 4; at < ends - 1; at += 8) context.fillRect(at, y + 2, 2, LINE - 4);
	}
	label(context, bar, { starts, ends, y }, colour.panel);
}

/** The job's number and name, where there is room. */
function label(
	context: CanvasRenderingContext2D,
	bar: Bar,
	{ starts, ends, y }: { starts: number; ends: number; y: number },
	colour: string,
): void {
	if (ends - starts <= 42) return;
	context.save();
	context.beginPath();
	context.rect(starts, y, ends - starts - 3, LINE);
	context.clip();
	context.fillStyle = colour;
	context.fillText(`${bar.id} ${bar.label}`, starts + 5, y + LINE / 2 + 0.5);
	context.restore();
}
