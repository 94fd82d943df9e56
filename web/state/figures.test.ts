// Numbers as text, bars, charts, logs in pieces, runs, layouts: the pure logic of the page.

import { describe, expect, test } from "vitest";
import type { ForecastDocument } from "../../src/api/documents/forecast.ts";
import type { EventDocument } from "../../src/api/documents.ts";
import type { EventKind } from "../../src/core/event.ts";
import { move, sight, wholeOf, zoom } from "../draw/camera.ts";
import { columnsOf, layOut, longestChain } from "../draw/layout.ts";
import { SseReader } from "../net/sse.ts";
import { type BarsAsked, barsOf, retried, ticks } from "./bars.ts";
import type { PageRow } from "./row.ts";
import { runsOf } from "./runs.ts";
import { middles, stacked } from "./trends.ts";
import { bytes, dollars, elapsed, fromNow, span } from "./words.ts";

const row = (id: number, more: Partial<PageRow>): PageRow => ({
	id,
	status: "succeeded",
	name: null,
	label: `job ${id}`,
	lane: "code",
	repo: null,
	batch: null,
	agent: null,
	model: null,
	owner: null,
	host: null,
	held: false,
	account: null,
	branch: null,
	reason: null,
	asks: null,
	ready: false,
	createdAt: 0,
	readyAt: null,
	startedAt: null,
	endedAt: null,
	attempt: 1,
	costMicros: null,
	text: "",
	seq: 1,
	...more,
});

const ASKED: BarsAsked = { forecast: null, attempts: [], caps: {}, now: 3000, window: { from: 0, to: 10_000 } };

test("spans, money, bytes", () => {
	expect([0, 850, 12_345, 185_000, 7_800_000, 97 * 3_600_000].map(span)).toEqual([
		"0 ms",
		"850 ms",
		"12 s",
		"3 m 05 s",
		"2 h 10 m",
		"4 d 1 h",
	]);
	expect([elapsed(300), elapsed(-5), fromNow(5000, 0), fromNow(0, 5000)]).toEqual(["0 s", "0 s", "in 5 s", "5 s ago"]);
	expect([0, 4000, 1_234_567_890].map(dollars)).toEqual(["$0.00", "< $0.01", "$1,234.57"]);
	expect([12, 2048, 104_857_600].map(bytes)).toEqual(["12 B", "2 kB", "100.0 MB"]);
});

test("bars: packed without overlap, expected ones after now, waits cut", () => {
	const rows = [
		row(1, { createdAt: 0, readyAt: 900, startedAt: 1000, endedAt: 2000 }),
		row(2, { createdAt: 0, readyAt: 1100, startedAt: 1500, endedAt: 2500 }),
		row(3, { createdAt: 0, readyAt: 2600, startedAt: 2700, status: "running" }),
		row(4, { status: "queued" }),
	];
	const at = (ms: number) => new Date(ms).toISOString();
	const forecast = {
		jobs: [
			{ id: 4, name: null, status: "queued", lane: "code", start: { p50: at(4000), p90: at(5000) }, end: { p50: at(6000), p90: at(9000) } },
		],
	} as unknown as ForecastDocument;
	const [lane] = barsOf(rows, { ...ASKED, forecast });
	expect(lane?.bars.map(({ id, line, waits, starts, ends, expected }) => [id, line, waits, starts, ends, expected?.late ?? null])).toEqual([
		[1, 0, 900, 1000, 2000, null],
		[2, 1, 1100, 1500, 2500, null],
		[3, 0, 2600, 2700, 3000, null],
		[4, 0, 4000, 4000, 6000, 9000],
	]);
	expect(barsOf(rows, { ...ASKED, window: { from: 20_000, to: 30_000 } })).toEqual([]);
	expect(ticks(0, 60_000, 6)).toHaveLength(7);
});

test("the timeline's lines are slots: every attempt has its bar, and forecasts that overlap share the cap's lines", () => {
	const rows = [row(1, { startedAt: 5000, endedAt: 6000, attempt: 3 }), row(2, { startedAt: null, status: "queued", attempt: 1 })];
	const run = (job: number, attempt: number, from: number, to: number, end: string) => ({
		...{ job, attempt, end },
		started_at: new Date(from).toISOString(),
		ended_at: new Date(to).toISOString(),
	});
	const attempts = [
		run(1, 1, 1000, 2000, "failed"),
		run(1, 2, 3000, 4000, "lost"),
		run(1, 3, 5000, 6000, "completed"),
		run(2, 1, 1500, 1800, "failed"),
	];
	const range = (at: number) => ({ p50: new Date(at).toISOString(), p90: new Date(at).toISOString() });
	const jobs = [3, 4, 5].map((id) => ({ id, name: null, status: "queued", lane: "code", start: range(7000), end: range(9000) }));
	const forecast = { jobs } as unknown as ForecastDocument;
	const [lane] = barsOf(rows, { ...ASKED, attempts, forecast, caps: { code: 2 } });
	expect(lane?.bars.map(({ id, attempt, status, line }) => [id, attempt, status, line])).toEqual([
		[1, 1, "failed", 0],
		[2, 1, "failed", 1],
		[1, 2, "failed", 0],
		[1, null, "succeeded", 0],
		[3, null, "queued", 0],
		[4, null, "queued", 1],
		[5, null, "queued", 0],
	]);
	expect(lane).toMatchObject({ lines: 2, max: 2 });
	expect(retried(rows).map(({ id }) => id)).toEqual([1, 2]);
});

test("trends: layers stand on each other, the highest edge is painted first, and what is zero is not drawn", () => {
	const layer = (label: string, values: (number | null)[]) => ({ label, colour: "good" as const, faint: false, values });
	const edges = stacked([layer("done", [3, 0, 1]), layer("failed", [1, 2, null])]);
	expect(edges.map(({ layer: { label }, edge }) => [label, edge])).toEqual([
		["failed", [4, 2, null]],
		["done", [3, null, 1]],
	]);
	const times = ["2026-01-05T00:00:00Z", "2026-01-05T01:00:00Z"];
	expect(middles({ times, until: "2026-01-05T01:10:00Z" })).toEqual([
		Date.UTC(2026, 0, 5, 0, 30) / 1000,
		Date.UTC(2026, 0, 5, 1, 30) / 1000,
	]);
});

test("runs from a history", () => {
	const event = (kind: EventKind, at: string, data: Record<string, unknown>) =>
		({ seq: 1, at, kind, job: 1, by: "x", data }) as unknown as EventDocument;
	const runs = runsOf([
		event("started", "2026-01-01T00:00:00Z", { attempt: 1, worker: "w", waited_ms: 5 }),
		event("requeued", "2026-01-01T00:00:02Z", { exit_kind: "failed", message: "boom", usage: { cost_micro: 7 } }),
		event("started", "2026-01-01T00:00:05Z", { attempt: 2, worker: "w" }),
	]);
	expect(runs.map(({ attempt, end, failure, costMicros, endedAt }) => [attempt, end, failure, costMicros, endedAt === null])).toEqual([
		[2, null, null, null, true],
		[1, "failed, waits again", "boom", 7, false],
	]);
});

test("events, wherever the stream is cut", () => {
	const text = ': here\n\nid: 7\nevent: added\ndata: {"seq":7}\n\nid: 8\nevent: gap\ndata: {}\n\n';
	for (let cut = 0; cut <= text.length; cut++) {
		const reader = new SseReader();
		expect([...reader.feed(text.slice(0, cut)), ...reader.feed(text.slice(cut))]).toEqual([
			{ id: 7, event: "added", data: '{"seq":7}' },
			{ id: 8, event: "gap", data: "{}" },
		]);
	}
});

describe("layout", () => {
	const chain = [
		{ from: 1, to: 2 },
		{ from: 2, to: 3 },
		{ from: 1, to: 3 },
	];
	test("columns by the longest path; predecessors are on the left; no two jobs overlap", () => {
		expect([...columnsOf([1, 2, 3, 4], chain)]).toEqual([
			[1, 0],
			[2, 1],
			[3, 2],
			[4, 0],
		]);
		expect(longestChain([1, 2, 3, 4], chain)).toEqual([1, 2, 3]);
		expect(longestChain([1, 2], [])).toEqual([]);
		for (const size of [60, 700]) {
			const nodes = Array.from({ length: size }, (_, n) => n + 1);
			const edges = nodes.slice(1).map((to) => ({ from: 1 + ((to * 7) % (to - 1)), to }));
			const { nodes: placed } = layOut({ nodes, edges });
			const at = new Map(placed.map((one) => [one.id, one]));
			expect(edges.every(({ from, to }) => at.get(from)!.x < at.get(to)!.x)).toBe(true);
			expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(size);
		}
	});

	test("a cycle, an edge to nowhere and an edge to itself do no harm", () => {
		expect(
			layOut({
				nodes: [1, 2],
				edges: [
					{ from: 1, to: 2 },
					{ from: 2, to: 1 },
					{ from: 1, to: 1 },
					{ from: 9, to: 1 },
				],
			}).nodes,
		).toHaveLength(2);
	});

	test("the camera zooms about a point and shows the whole", () => {
		const camera = wholeOf(2000, 1000, 1000, 800);
		const before = sight(camera, 1000, 800);
		const after = sight(zoom(camera, 2, 500, 400), 1000, 800);
		expect((before.left + before.right) / 2).toBeCloseTo((after.left + after.right) / 2);
		expect(after.right - after.left).toBeCloseTo((before.right - before.left) / 2);
		expect(move({ scale: 1, dx: 0, dy: 0 }, 3, 4)).toEqual({ scale: 1, dx: 3, dy: 4 });
	});
});
