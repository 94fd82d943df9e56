// The graph of dependencies, with the critical path. Drawn on a canvas; the focused job is described in words beside it.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { type Camera, centreOn, move, wholeOf, zoom } from "../draw/camera.ts";
import { type LaidOut, type LayoutRequest, longestChain, NODE } from "../draw/layout.ts";
import { paintGraph } from "../draw/paint-graph.ts";
import { after } from "../outside.ts";
import { Empty, JobLink, Loading, Problem, StatusChip } from "../parts/bits.tsx";
import { colours, useNews, useQuery, useSize } from "../parts/hooks.ts";
import { matcher } from "../state/board.ts";
import { count } from "../state/words.ts";

/** One worker for the page's life: it begins the next layout when the last one is done. */
let worker: Worker | null = null;
let turns = 0;
const waiting = new Map<number, (placed: LaidOut) => void>();
function layOutElsewhere(asked: LayoutRequest): Promise<LaidOut> {
	worker ??= new Worker("/graph-worker.js", { type: "module" });
	worker.onmessage = ({ data }: MessageEvent<{ turn: number; placed: LaidOut }>) => {
		waiting.get(data.turn)?.(data.placed);
		waiting.delete(data.turn);
	};
	const turn = ++turns;
	worker.postMessage({ turn, asked });
	return new Promise((resolve) => waiting.set(turn, resolve));
}

/** Maximum jobs without edges that are drawn. */
const SINGLE_MOST = 300;

/** `left`: number of jobs without edges that are not drawn. */
type Found = { placed: LaidOut; left: number; commands: Map<number, string> };

async function look(all: boolean, batch: string | null): Promise<Found> {
	const graph = await app.call("job.graph", { ...(all ? { all } : {}), ...(batch ? { batch } : {}) });
	if (!("nodes" in graph)) throw new Error("the daemon answered in another format");
	// The daemon's edges go from the waiting job to its predecessor; they are drawn in the direction of the work.
	const edges = graph.edges.flatMap(({ from, to }) => (typeof to === "number" ? [{ from: to, to: from }] : []));
	const tied = new Set(edges.flatMap(({ from, to }) => [from, to]));
	const ids = graph.nodes.map(({ id }) => id);
	const single = ids.filter((id) => !tied.has(id)).length;
	const left = single > SINGLE_MOST ? single : 0;
	const placed = await layOutElsewhere({ nodes: left > 0 ? ids.filter((id) => tied.has(id)) : ids, edges });
	return { placed, left, commands: new Map(graph.nodes.map(({ id, command }) => [id, command])) };
}

/** Incremented when jobs come or go, but at most every few seconds. */
function useShape(): number {
	const [shape, set] = useState(0);
	const pending = useRef<(() => void) | null>(null);
	useEffect(() => {
		let size = app.jobs.rows.size;
		const end = app.listen("jobs", () => {
			if (app.jobs.rows.size === size || pending.current) return;
			pending.current = after(2000 + app.jobs.rows.size, () => {
				pending.current = null;
				size = app.jobs.rows.size;
				set((n) => n + 1);
			});
		});
		return () => {
			end();
			pending.current?.();
			pending.current = null;
		};
	}, []);
	return shape;
}

export function GraphView() {
	useNews("place");
	const [all, setAll] = useState(false);
	const { batch } = app.place.filter;
	const shape = useShape();
	const graph = useQuery(`graph ${all} ${batch}`, () => look(all, batch), String(shape));
	const forecast = useQuery("forecast", () => app.call("scheduler.forecast", {}), String(shape));
	if (graph.problem && !graph.value) return <Problem text={graph.problem} again={graph.again} />;
	if (!graph.value) return <Loading what="the graph" />;
	const steps = forecast.value?.critical_path.map(({ job }) => job) ?? [];
	return (
		<>
			<h1 class="unseen">Graph</h1>
			<div class="tools">
				<label>
					<input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> ended jobs too
				</label>
				<span class="legend">
					<i class="mark wait" /> waits <i class="mark queue" /> queued <i class="mark run" /> runs <i class="mark good" /> done{" "}
					<i class="mark bad" /> failed <i class="mark critical" /> critical path
				</span>
			</div>
			{graph.value.placed.nodes.length === 0 ? (
				<Empty title="Nothing waits for anything">
					<p>
						Jobs that are active or blocked are drawn here, with what they wait for: <code>sluice add --after 1 -- make test</code>
					</p>
				</Empty>
			) : (
				<Canvas found={graph.value} path={steps} />
			)}
		</>
	);
}

function Canvas({ found, path }: { found: Found; path: readonly number[] }) {
	const { placed, commands } = found;
	const { ref, width, height } = useSize<HTMLDivElement>();
	const canvas = useRef<HTMLCanvasElement>(null);
	const camera = useRef<Camera | null>(null);
	const asked = useRef(false);
	const [chosen, choose] = useState<number | null>(null);
	const at = useMemo(() => new Map(placed.nodes.map(({ id, x, y }) => [id, { x, y }])), [placed]);
	const critical = useMemo(() => {
		const open = (id: number) => !["succeeded", "cancelled", "failed", "expired"].includes(app.jobs.rows.get(id)?.status ?? "queued");
		const jobs =
			path.length > 1
				? path
				: longestChain(
						placed.nodes.map(({ id }) => id).filter(open),
						placed.edges.filter(({ from, to }) => open(from) && open(to)),
					);
		return { jobs: new Set(jobs), steps: new Set(jobs.slice(1).map((id, index) => `${jobs[index]}>${id}`)), list: jobs };
	}, [placed, path]);

	/** Painted with the next frame, from the state at that time, so that a size that is known only later is used. */
	const paint = useRef(() => {});
	paint.current = () => {
		const context = canvas.current?.getContext("2d");
		if (!context || !canvas.current || width === 0) return;
		camera.current ??= start(placed, width, height);
		const ratio = devicePixelRatio || 1;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		const fits = matcher(app.place.filter);
		const isFiltered = Object.values(app.place.filter).some(Boolean);
		const drawn = paintGraph(context, camera.current, width, height, {
			placed,
			at,
			path: critical,
			chosen,
			look: (id) => {
				const row = app.jobs.rows.get(id);
				if (!row) return { status: "queued", label: commands.get(id) ?? "" };
				return isFiltered && !fits(row) ? { status: "cancelled", label: row.label } : row;
			},
			colours: colours("ink", "dim", "line", "panel", "accent", "critical", "wait", "queue", "run", "good", "bad"),
		});
		canvas.current.dataset.drawn = String(drawn);
	};
	const draw = () => {
		if (asked.current) return;
		asked.current = true;
		requestAnimationFrame(() => {
			asked.current = false;
			paint.current();
		});
	};
	useEffect(() => {
		const element = canvas.current;
		if (!element) return;
		const ratio = devicePixelRatio || 1;
		element.width = Math.round(width * ratio);
		element.height = Math.round(height * ratio);
		draw();
		const ends = (["jobs", "place"] as const).map((channel) => app.listen(channel, draw));
		return () => {
			for (const end of ends) end();
		};
	}, [placed, width, height, chosen, critical]);

	const change = (next: Camera) => {
		camera.current = next;
		draw();
	};
	const around = (factor: number) => camera.current && change(zoom(camera.current, factor, width / 2, height / 2));
	const near = (x: number, y: number): number | null => {
		const view = camera.current;
		if (!view) return null;
		const [px, py] = [(x - view.dx) / view.scale, (y - view.dy) / view.scale];
		return placed.nodes.find((node) => Math.abs(node.x - px) <= NODE.width / 2 && Math.abs(node.y - py) <= NODE.height / 2)?.id ?? null;
	};
	const pick = (id: number | null | undefined) => {
		if (id === null || id === undefined) return;
		choose(id);
		const point = at.get(id);
		if (point && camera.current)
			change(centreOn({ ...camera.current, scale: Math.max(0.6, camera.current.scale) }, point.x, point.y, width, height));
	};
	/** Moves along the arrows, or to the nearest job above or below. */
	const step = (key: string): boolean => {
		const here = chosen === null ? undefined : at.get(chosen);
		if (!here) {
			pick(critical.list[0] ?? placed.nodes[0]?.id);
			return true;
		}
		if (key === "ArrowRight") pick(placed.edges.find(({ from }) => from === chosen)?.to);
		else if (key === "ArrowLeft") pick(placed.edges.find(({ to }) => to === chosen)?.from);
		else {
			const way = key === "ArrowDown" ? 1 : -1;
			const others = placed.nodes.filter(({ y, x }) => (y - here.y) * way > 1 && Math.abs(x - here.x) < NODE.width);
			others.sort((a, b) => (a.y - b.y) * way);
			pick(others[0]?.id);
		}
		return true;
	};
	const onKey = (event: KeyboardEvent) => {
		const { key } = event;
		if (key.startsWith("Arrow")) step(key);
		else if (key === "Enter" && chosen !== null) app.go({ job: chosen });
		else if (key === "+" || key === "=") around(1.25);
		else if (key === "-") around(0.8);
		else if (key === "0") change(wholeOf(placed.width, placed.height, width, height));
		else return;
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<div class="stage" ref={ref}>
			{/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: arrow keys walk through it */}
			<canvas
				ref={canvas}
				tabIndex={0}
				role="application"
				aria-label={`Graph of ${placed.nodes.length} jobs. Arrow keys go from job to job, Enter opens one, plus and minus zoom.`}
				onKeyDown={onKey}
				{...usePointer({
					camera,
					change,
					click: (x, y) => choose(near(x, y)),
					open: (x, y) => near(x, y) !== null && app.go({ job: near(x, y) }),
				})}
			/>
			<div class="corner">
				<button type="button" class="icon" aria-label="Zoom in" onClick={() => around(1.25)}>
					+
				</button>
				<button type="button" class="icon" aria-label="Zoom out" onClick={() => around(0.8)}>
					−
				</button>
				<button type="button" onClick={() => change(wholeOf(placed.width, placed.height, width, height))}>
					All
				</button>
			</div>
			<Beside id={chosen} total={placed.nodes.length} edges={placed.edges.length} left={found.left} path={critical.list} />
		</div>
	);
}

/** The whole graph if it is readable at that scale; else its beginning. */
function start(placed: LaidOut, width: number, height: number): Camera {
	const whole = wholeOf(placed.width, placed.height, width, height);
	return whole.scale > 0.45 || placed.nodes.length > 400 ? whole : { scale: 0.8, dx: 24, dy: 24 };
}

function Beside({
	id,
	total,
	edges,
	left,
	path,
}: {
	id: number | null;
	total: number;
	edges: number;
	left: number;
	path: readonly number[];
}) {
	useNews("jobs");
	const row = id === null ? undefined : app.jobs.rows.get(id);
	return (
		<aside class="beside" aria-live="polite">
			{id !== null ? (
				<>
					<p>
						<JobLink id={id}>
							<b class="num">{id}</b> {row?.label ?? ""}
						</JobLink>
					</p>
					<p>
						{row ? <StatusChip status={row.status} /> : null} <span class="dim">{row?.reason}</span>
					</p>
				</>
			) : (
				<p class="dim">
					{count(total)} jobs, {count(edges)} edges{left > 0 ? `; ${count(left)} that nothing ties are left out` : ""}.{" "}
					{path.length > 1 ? `Critical path: ${path.slice(0, 6).join(" → ")}${path.length > 6 ? " …" : ""}` : ""}
				</p>
			)}
		</aside>
	);
}

type Pointing = {
	camera: { current: Camera | null };
	change: (camera: Camera) => void;
	click: (x: number, y: number) => void;
	open: (x: number, y: number) => void;
};

/** Dragging moves, the wheel and two fingers zoom, a click selects, a double click opens. */
function usePointer({ camera, change, click, open }: Pointing) {
	const points = useRef(new Map<number, { x: number; y: number }>());
	const moved = useRef(0);
	const offset = (event: MouseEvent) => {
		const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	};
	return {
		onPointerDown(event: PointerEvent) {
			(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
			points.current.set(event.pointerId, offset(event));
			moved.current = 0;
		},
		onPointerMove(event: PointerEvent) {
			const before = points.current.get(event.pointerId);
			const view = camera.current;
			if (!before || !view) return;
			const now = offset(event);
			const other = [...points.current].find(([id]) => id !== event.pointerId)?.[1];
			points.current.set(event.pointerId, now);
			moved.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
			if (!other) change(move(view, now.x - before.x, now.y - before.y));
			else {
				const far = (a: { x: number; y: number }) => Math.hypot(a.x - other.x, a.y - other.y);
				change(zoom(view, far(now) / Math.max(1, far(before)), (now.x + other.x) / 2, (now.y + other.y) / 2));
			}
		},
		onPointerUp(event: PointerEvent) {
			points.current.delete(event.pointerId);
			if (moved.current < 5) {
				const { x, y } = offset(event);
				click(x, y);
			}
		},
		onPointerCancel: (event: PointerEvent) => points.current.delete(event.pointerId),
		onDblClick(event: MouseEvent) {
			const { x, y } = offset(event);
			open(x, y);
		},
		onWheel(event: WheelEvent) {
			if (!camera.current) return;
			event.preventDefault();
			const { x, y } = offset(event);
			if (event.ctrlKey || !event.shiftKey) change(zoom(camera.current, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y));
			else change(move(camera.current, -event.deltaX - event.deltaY, 0));
		},
	};
}
