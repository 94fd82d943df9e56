// The dashboard in a real Chromium: 10,000 jobs on the board and a graph of 2,000, while 50 events a second arrive and one scrolls and pans.

import { setTimeout as pause } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver, type Page } from "playwright-core";
import { type BenchDaemon, startDaemon } from "../daemon.ts";
import { dagEdges } from "../floor/dag.ts";
import { atMost, type Measure, type Row } from "../row.ts";
import { openSlowLine } from "../slow-line.ts";
import { quantile, sample } from "../statistics.ts";

const EVENTS_A_SECOND = 50;
const SLOW_BYTES = 50_000;

export const browser: Row = {
	name: "browser",
	title: "the dashboard with 10,000 jobs and a graph of 2,000, 50 events a second",
	async run(bench) {
		const [jobs, nodes, seconds] = [bench.size(8000, 400), bench.size(2000, 100), bench.size(10, 2)];
		const daemon = await startDaemon(bench, "browser", { max_concurrent: 4, port: 0 });
		const chrome = await driver.launch({ executablePath: await chromium.executablePath(), args: ["--no-sandbox", "--disable-gpu"] });
		try {
			await fill(daemon, jobs, nodes);
			const first = await firstViews(chrome, daemon, Math.min(3, bench.rounds));
			const [boards, graphs]: [Frames[], Frames[]] = [[], []];
			for (let round = 0; round < Math.min(3, bench.rounds); round++) {
				bench.progress(`round ${round + 1}`);
				const page = await (await chrome.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
				await page.addInitScript(RECORD);
				const { port, code } = await daemon.client.call("session.code", {});
				await page.goto(`http://127.0.0.1:${port}/?view=board#code=${code}`);
				await page.locator("[data-card]").first().waitFor();
				boards.push(await during(daemon, jobs, seconds, () => frames(page, SCROLL, seconds)));
				await page.keyboard.press("3");
				await page.locator("canvas[data-drawn]").waitFor();
				graphs.push(await during(daemon, jobs, seconds, () => frames(page, PAN, seconds)));
				await page.context().close();
			}
			const note = `${jobs + nodes} jobs, ${nodes} nodes, ${EVENTS_A_SECOND} events a second for ${seconds} s a round, drawn without a graphics card.`;
			return [...told("board, scrolled", boards, note), ...told("graph, panned and zoomed", graphs, note), ...first];
		} finally {
			await chrome.close();
			await daemon.stop();
		}
	},
};

/** From the navigation to the first job on the screen, in a browser that has nothing of the page yet; and what crossed the line until then. */
async function firstViews(chrome: Browser, daemon: BenchDaemon, rounds: number): Promise<Measure[]> {
	const seen: Record<"fast" | "slow", { paint: number[]; useful: number[]; bytes: number[] }> = {
		fast: { paint: [], useful: [], bytes: [] },
		slow: { paint: [], useful: [], bytes: [] },
	};
	for (let round = 0; round < rounds; round++)
		for (const kind of ["fast", "slow"] as const) {
			const { port, code } = await daemon.client.call("session.code", {});
			if (port === null) throw new Error("the daemon serves no page");
			const line = await openSlowLine(port, kind === "slow" ? SLOW_BYTES : undefined);
			const page = await (await chrome.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
			await page.addInitScript(RECORD);
			await page.goto(`http://127.0.0.1:${line.port}/#code=${code}`, { waitUntil: "commit" });
			await page.waitForFunction("recorded.useful > 0");
			seen[kind].useful.push((await page.evaluate("recorded.useful")) as number);
			seen[kind].paint.push((await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")) as number);
			await pause(kind === "slow" ? 0 : 1500);
			seen[kind].bytes.push(line.taken() / 1000);
			await page.context().close();
			await line.close();
		}
	const { fast, slow } = seen;
	return [
		{ what: "first useful view", bar: atMost(500), unit: "ms", measured: sample(fast.useful) },
		{ what: "first useful view over a line of 50 kB/s", bar: atMost(2000), unit: "ms", measured: sample(slow.useful) },
		{ what: "over the wire for the first view, and 1.5 s after it", bar: atMost(300), unit: "kB", measured: sample(fast.bytes) },
		{ what: "first paint", unit: "ms", measured: sample(fast.paint) },
	];
}

type Frames = { all: number[]; longTasks: number[] };

const told = (what: string, rounds: readonly Frames[], note: string): Measure[] => [
	{ what: `${what}: longest frame`, bar: atMost(50), unit: "ms", measured: sample(rounds.map(({ all }) => Math.max(...all))), note },
	{ what: `${what}: 99 of 100 frames`, unit: "ms", measured: sample(rounds.map(({ all }) => quantile(all, 0.99))) },
	{
		what: `${what}: longest task of the page's own code`,
		unit: "ms",
		measured: sample(rounds.map(({ longTasks }) => Math.max(0, ...longTasks))),
	},
];

async function fill({ client }: BenchDaemon, jobs: number, nodes: number): Promise<void> {
	await client.call("scheduler.pause", {});
	const tied = dagEdges(nodes).map((after, i) => ({
		name: `n${i}`,
		batch: "graph",
		command: ["make", `node-${i}`],
		after: after.map((before) => `n${before}`),
	}));
	await client.call("job.apply", { manifest: { jobs: tied } });
	for (let from = 0; from < jobs; from += 2000)
		await client.call("job.apply", {
			manifest: {
				jobs: Array.from({ length: Math.min(2000, jobs - from) }, (_, i) => ({
					title: `Target ${from + i}`,
					command: ["make", String(from + i)],
				})),
			},
		});
}

/** Jobs come, change and go while somebody looks. */
async function during<T>({ client }: BenchDaemon, jobs: number, seconds: number, look: () => Promise<T>): Promise<T> {
	let open = true;
	const act = (async () => {
		const mine: number[] = [];
		for (let n = 0; open; n++) {
			const started = performance.now();
			if (n % 5 === 0) {
				const added = await client.call("job.add", { command: ["true"], title: `Added ${n}` });
				if (added.outcome === "queued") mine.push(added.job.id);
			} else if (n % 5 === 1 && mine.length > 3) await client.call("job.cancel", { id: mine.shift() as number });
			else await client.call("job.priority", { id: 1 + ((n * 7919) % jobs), priority: n % 100 });
			await pause(Math.max(0, 1000 / EVENTS_A_SECOND - (performance.now() - started)));
		}
	})();
	try {
		await pause(Math.min(1000, seconds * 200));
		return await look();
	} finally {
		open = false;
		await act;
	}
}

/** Frames by their distance, and tasks of over 50 ms, since they were last asked for. */
const RECORD = `
	window.recorded = { all: [], longTasks: [], last: 0, useful: 0 };
	new MutationObserver((_, self) => { if (document.querySelector("[data-card]")) { recorded.useful = performance.now(); self.disconnect(); } }).observe(document, { childList: true, subtree: true });
	new PerformanceObserver((list) => { for (const one of list.getEntries()) recorded.longTasks.push(one.duration); }).observe({ type: "longtask" });
	const frame = (now) => { if (recorded.last) recorded.all.push(now - recorded.last); recorded.last = now; window.each?.(now); requestAnimationFrame(frame); };
	requestAnimationFrame(frame);
`;
const SCROLL = `
	const lists = [...document.querySelectorAll(".virtual")];
// 3,000 px a second, up and down: as fast as a wheel that is spun.
	window.each = (now) => { for (const list of lists) { const end = list.scrollHeight - list.clientHeight; const far = (now * 3) % (2 * end || 1); list.scrollTop = far < end ? far : 2 * end - far; } };
`;
const PAN = `
	const canvas = document.querySelector("canvas");
	const at = canvas.getBoundingClientRect();
	const send = (kind, x, y, more) => canvas.dispatchEvent(new (kind === "wheel" ? WheelEvent : PointerEvent)(kind, { clientX: x, clientY: y, bubbles: true, cancelable: true, pointerId: 1, ...more }));
	canvas.setPointerCapture = () => {};
	let n = 0;
	window.each = () => {
		n++;
		if (n % 40 === 1) send("pointerdown", at.left + 400, at.top + 300);
		send("pointermove", at.left + 400 + (n % 40) * 6, at.top + 300 + (n % 40) * 4);
		if (n % 40 === 0) { send("pointerup", at.left + 640, at.top + 460); send("wheel", at.left + 500, at.top + 300, { deltaY: n % 80 === 0 ? -400 : 400 }); }
	};
`;

async function frames(page: Page, moving: string, seconds: number): Promise<Frames> {
	await page.evaluate(`{ ${moving} } recorded.all.length = 0; recorded.longTasks.length = 0;`);
	await pause(seconds * 1000);
	return (await page.evaluate("({ all: recorded.all, longTasks: recorded.longTasks })")) as Frames;
}
