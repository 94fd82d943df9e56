// The live screen: what is drawn, and what keys do.

import { describe, expect, test } from "vitest";
import { ago, job, NOW, openCommandLine, STATUS } from "../../../test/make/daemons/command-line.ts";
import type { StatusDocument } from "../../api/documents/status.ts";
import type { ShownJob } from "./job-lines.ts";
import { paintWith } from "./print.ts";
import { draw, inOrder, moved, type ScreenView } from "./screen.ts";
import { widthOf } from "./table.ts";

const JOBS = inOrder([
	job(1, { status: "succeeded", started_at: ago(90_000), ended_at: ago(30_000) }),
	job(2, { status: "waiting_on_locks", blocked: true, wait_reason: { kind: "locks", detail: "waiting on locks" } }),
	job(3),
	job(4, { status: "running", run: { started_at: ago(5000) } }),
] as ShownJob[]);
const VIEW: ScreenView = {
	status: STATUS as unknown as StatusDocument,
	jobs: JOBS,
	selected: 3,
	cover: undefined,
	note: undefined,
	now: NOW,
};

describe("the picture", () => {
	test("running, startable, blocked, ended", () => {
		expect(JOBS.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
	});

	test("fills the screen, with the selected row marked", () => {
		const lines = draw(VIEW, { columns: 100, rows: 12 }, paintWith("off"));
		expect(lines).toHaveLength(12);
		expect(lines[0]).toMatch(/^sluice {2}· {2}2 of 4 running {2}· {2}12 queued, 3 ready +\d\d:\d\d:\d\d$/);
		expect(lines[1]).toBe("default 2 +12   code █░ 1/2");
		expect(lines[2]).toBe("holds: lane:code paused");
		expect(lines.slice(4, 9)).toEqual([
			"  ID  STATUS             WHAT       LANE     AGE",
			"   4   running           make test  default   3m  for 5s",
			"▸  3   queued            make test  default   3m",
			"   2  !waiting on locks  make test  default   3m  waiting on locks",
			"   1   succeeded         make test  default   3m  in 1m",
		]);
		expect(lines[11]).toContain("q quit");
	});

	test.each([
		[20, 5],
		[40, 10],
		[200, 60],
	])("never exceeds %i × %i", (columns, rows) => {
		const many = Array.from({ length: 100 }, (_, index) => job(index + 1)) as ShownJob[];
		const lines = draw({ ...VIEW, jobs: many, selected: 80 }, { columns, rows }, paintWith("on"));
		expect(lines.length).toBeLessThanOrEqual(rows);
		for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
		expect(lines.some((line) => line.includes("▸"))).toBe(true);
	});

	test("an empty queue teaches", () => {
		expect(draw({ ...VIEW, jobs: [] }, { columns: 80, rows: 10 }, paintWith("off")).join("\n")).toContain("sluice add -- make test");
	});

	test("the selection stays inside the list", () => {
		expect([moved(JOBS, 3, 1), moved(JOBS, 4, -1), moved(JOBS, 1, 5), moved(JOBS, 99, 1), moved([], 1, 1)]).toEqual([
			2,
			4,
			1,
			4,
			undefined,
		]);
	});
});

describe("top", () => {
	test("needs a terminal", async () => {
		const line = await openCommandLine({ "scheduler.status": STATUS });
		expect(await line.run("top")).toMatchObject({ code: 2, err: expect.stringContaining("top needs a terminal") });
	});

	/** Presses keys one after the other, each after the screen has been drawn. */
	const press = async (keys: string[]) => {
		const line = await openCommandLine({
			"scheduler.status": STATUS,
			"job.list": { jobs: [job(3), job(4, { status: "running", run: { started_at: ago(5000) } })] },
			"job.why": { job: job(3), reasons: [], position: 1, priority: { total: 0, terms: [] } },
			"job.cancel": { cancelled: [3], requested: [] },
			"scheduler.pause": { scope: "all" },
		});
		let out = "";
		let send = (_key: string) => {};
		const left = [...keys];
		const result = await line.run("top --no-color", {
			stdin: Object.assign((async function* () {})(), { isTTY: true }),
			stdout: { write: (text) => (out += text), isTTY: true, columns: 80, rows: 10 },
			keys: (call) => {
				send = call;
				return () => {};
			},
			after: (_ms, call) => {
				const key = left.shift();
				if (key === undefined) throw new Error("top did not end");
				send(key);
				queueMicrotask(call);
				return () => {};
			},
		});
		return { code: result.code, out, asked: line.asked };
	};

	test("q ends it and gives the screen back", async () => {
		const { code, out } = await press(["q"]);
		expect([code, out.startsWith("\u001b[?1049h"), out.endsWith("\u001b[?25h\u001b[?1049l")]).toEqual([0, true, true]);
	});

	test("Ctrl-C exits with 130", async () => {
		expect((await press(["\u0003"])).code).toBe(130);
	});

	test("any key goes back from an explanation, q too", async () => {
		const { code, asked } = await press(["w", "q", "p", "w", "\u001b", "q"]);
		expect(code).toBe(0);
		expect(asked.map(({ method }) => method).filter((method) => !["scheduler.status", "job.list"].includes(method))).toEqual([
			"job.why",
			"scheduler.pause",
			"job.why",
		]);
	});

	test("select, why, cancel after asking, pause", async () => {
		const { asked, out } = await press(["j", "w", "x", "c", "n", "c", "y", "p", "q"]);
		expect(asked.filter(({ method }) => !["scheduler.status", "job.list"].includes(method))).toEqual([
			{ method: "job.why", params: { id: 3 } },
			{ method: "job.cancel", params: { ids: [3] } },
			{ method: "scheduler.pause", params: {} },
		]);
		for (const said of ["Job 3 is queued", "cancel job 3? y or n", "not cancelled", "job 3 is cancelled", "paused; what runs goes on"])
			expect(out).toContain(said);
	});
});
