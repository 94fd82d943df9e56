// The live screen: what is drawn, and what keys do.

import { describe, expect, test } from "vitest";
import { ago, job, NOW, openCommandLine, STATUS } from "../../../test/make/daemons/command-line.ts";
import type { StatusDocument } from "../../api/documents/status.ts";
import type { ShownJob } from "../printing/job-lines.ts";
import { paintWith } from "../printing/print.ts";
import { widthOf } from "../printing/table.ts";
import { draw } from "./draw.ts";
import { press } from "./keys.ts";
import { freshState, inOrder, keepSelection, listed, moved, type TopState } from "./state.ts";

const ASKS = job(5, { question: "May I drop the column?", blocked: true });
const ALL = [
	job(1, { status: "succeeded", started_at: ago(90_000), ended_at: ago(30_000) }),
	job(2, { status: "waiting_on_locks", blocked: true, wait_reason: { kind: "locks", detail: "waiting on locks" } }),
	job(3),
	job(4, { status: "running", run: { started_at: ago(5000) } }),
	ASKS,
	job(6, { name: "front" }),
] as ShownJob[];
const NEEDS = new Set([5]);
const state = (more: Partial<TopState> = {}): TopState => ({
	...freshState(NOW),
	status: STATUS as unknown as StatusDocument,
	needs: NEEDS,
	jobs: inOrder(ALL, NEEDS, [6, 3]),
	selected: 3,
	...more,
});

describe("the picture", () => {
	test("what needs a person, what runs, what starts next in the order of starts, what is held back, what has ended", () => {
		expect(state().jobs.map(({ id }) => id)).toEqual([5, 4, 6, 3, 2, 1]);
	});

	test("fills the screen, with headings and the selected row marked", () => {
		const lines = draw(state(), { columns: 110, rows: 18 }, paintWith("off"));
		expect(lines).toHaveLength(18);
		expect(lines[0]).toMatch(/^sluice {2}· {2}1 needs you {2}· {2}2 of 4 running {2}· {2}12 queued, 3 ready +\d\d:\d\d:\d\d$/);
		expect(lines[1]).toBe("default 2 +12   code █░ 1/2");
		expect(lines[2]).toBe("holds: lane:code paused");
		expect(lines.slice(4, 16)).toEqual([
			"  ID  STATUS             NAME   WHAT       LANE     AGE",
			"NEEDS YOU 1",
			"   5  !queued                   make test  default   3m  asks: May I drop the column?",
			"RUNNING 1",
			"   4   running                  make test  default   3m  for 5s",
			"NEXT 2",
			"   6   queued            front  make test  default   3m",
			"▸  3   queued                   make test  default   3m",
			"HELD BACK 1",
			"   2  !waiting on locks         make test  default   3m  waiting on locks",
			"ENDED 1",
			"   1   succeeded                make test  default   3m  in 1m",
		]);
		expect(lines[17]).toContain("q quit");
	});

	test("what an agent is doing, without its control characters", () => {
		const progress = {
			turns: 14,
			tool_calls: 30,
			tool: "Edit src/price.ts",
			message: "Adding\u001b[31m the test",
			tokens: 41_000,
			cost_micro: 920_000,
		};
		const jobs = [
			job(4, { status: "running", agent: "claude", command: null, prompt: "do it", run: { started_at: ago(5000), progress } }),
		] as ShownJob[];
		const [line] = draw(state({ jobs, needs: new Set() }), { columns: 160, rows: 12 }, paintWith("off")).filter((one) =>
			one.includes("Edit"),
		);
		expect(line).toContain("for 5s · ▸ Edit src/price.ts · “Adding the test” · 14 turns · $0.92");
	});

	test("the last line that a command has written", () => {
		const progress = { turns: null, tool: null, message: null, last_line: "412 \u001b[2Jpassed" };
		const jobs = [job(4, { status: "running", run: { started_at: ago(5000), progress } })] as ShownJob[];
		const lines = draw(state({ jobs, needs: new Set() }), { columns: 160, rows: 12 }, paintWith("off"));
		expect(lines.some((one) => one.endsWith("for 5s · 412 passed"))).toBe(true);
	});

	test.each([
		[20, 5],
		[40, 10],
		[200, 60],
	])("never exceeds %i × %i", (columns, rows) => {
		const many = Array.from({ length: 100 }, (_, index) => job(index + 1)) as ShownJob[];
		for (const pane of [undefined, { is: "text" as const, title: "t".repeat(300), lines: ["x".repeat(500), "y"], from: 0 }]) {
			const lines = draw(state({ jobs: many, selected: 80, pane }), { columns, rows }, paintWith("on"));
			expect(lines.length).toBeLessThanOrEqual(rows);
			for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
			if (!pane) expect(lines.some((line) => line.includes("▸"))).toBe(true);
		}
	});

	test("an empty queue teaches", () => {
		expect(draw(state({ jobs: [] }), { columns: 80, rows: 10 }, paintWith("off")).join("\n")).toContain("sluice add -- make test");
	});

	test("the selection stays inside the list, and near its place when its job leaves", () => {
		const { jobs } = state();
		expect([moved(jobs, 3, 1), moved(jobs, 5, -1), moved(jobs, 2, 5), moved(jobs, 99, 1), moved([], 1, 1)]).toEqual([
			2,
			5,
			1,
			5,
			undefined,
		]);
		const shrunk = state({ jobs: jobs.filter(({ id }) => id !== 3) });
		keepSelection(shrunk, jobs);
		expect(shrunk.selected).toBe(2);
	});
});

describe("keys", () => {
	const typed = (from: TopState, keys: string) => [...keys].map((key) => press(from, key)).filter(Boolean);

	test("a filter lists only jobs with its words while it is typed; Escape lists all", () => {
		const view = state();
		expect(typed(view, "/fronx\u007ft")).toEqual([]);
		expect([listed(view).map(({ id }) => id), view.selected]).toEqual([[6], 6]);
		press(view, "\r");
		expect([view.question, view.filter]).toEqual([undefined, "front"]);
		expect(draw(view, { columns: 80, rows: 10 }, paintWith("off")).at(-1)).toContain("only jobs with: front");
		expect(press(view, "\u001b")).toBe(undefined);
		expect([view.filter, press(view, "\u001b")]).toEqual(["", { do: "quit" }]);
	});

	test("an answer is typed on the last line and sent with Enter; an empty one is not", () => {
		const view = state({ selected: 5 });
		expect(typed(view, "iyes, q")).toEqual([]);
		expect(draw(view, { columns: 60, rows: 9 }, paintWith("off")).at(-1)).toBe("answer job 5: yes, q▏");
		expect(press(view, "\r")).toEqual({ do: "answer", job: 5, text: "yes, q" });
		expect([typed(view, "i \r"), view.note]).toEqual([[], "nothing sent"]);
		expect([typed(view, "iabc\u001b"), view.question]).toEqual([[], undefined]);
	});

	test("dangerous acts are asked about first", () => {
		const view = state({ selected: 4 });
		expect(typed(view, "cn")).toEqual([]);
		expect(view.note).toBe("not cancelled");
		expect(typed(view, "cy")).toEqual([{ do: "cancel", job: 4 }]);
		expect(typed(view, "py")).toEqual([{ do: "pause" }]);
		expect(typed(state({ selected: 1 }), "ry")).toEqual([{ do: "retry", job: 1 }]);
		expect(typed(state({ selected: 1 }), "rn")).toEqual([]);
	});

	test("a waiting job is held with a reason, and released", () => {
		const view = state({ selected: 3 });
		expect(typed(view, "hwait for me\r")).toEqual([{ do: "hold", job: 3, text: "wait for me" }]);
		const held = state({ jobs: [job(3, { hold: { by: "ann", since: ago(1), reason: null } })] as ShownJob[] });
		expect(typed(held, "h")).toEqual([{ do: "release", job: 3 }]);
		expect([typed(state({ selected: 4 }), "h")]).toEqual([[]]);
	});

	test("acts that do not fit the job say so", () => {
		const says = (selected: number, key: string) => {
			const view = state({ selected });
			expect(press(view, key)).toBe(undefined);
			return view.note;
		};
		expect([says(4, "r"), says(4, "a"), says(3, "x"), says(1, "c"), says(3, "i")]).toEqual([
			"job 4 has not ended",
			"job 4 does not wait for approval",
			"job 3 does not wait for approval",
			"job 1 has ended",
			"job 3 asks nothing",
		]);
	});

	test("a log follows its end until it is scrolled back", () => {
		const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
		const view = state({ pane: { is: "log", job: 4, title: "log", lines, from: "end" } });
		const last = () => draw(view, { columns: 60, rows: 13 }, paintWith("off")).at(-2);
		expect(last()).toBe("line 50");
		typed(view, "k");
		expect(view.pane).toMatchObject({ from: 48 });
		typed(view, "g");
		expect(last()).toBe("line 10");
		typed(view, "f");
		expect(last()).toBe("line 50");
		typed(view, "x");
		expect(view.pane).toBe(undefined);
	});
});

describe("top", () => {
	test("needs a terminal", async () => {
		const line = await openCommandLine({ "scheduler.status": STATUS });
		expect(await line.run("top")).toMatchObject({ code: 2, err: expect.stringContaining("top needs a terminal") });
	});

	/** Presses keys one after the other, each after the screen has been drawn. */
	const pressAll = async (keys: string[]) => {
		const line = await openCommandLine({
			"scheduler.status": { ...STATUS, needs_human: [{ job: 5, name: null, question: "May I?", since: ago(1000) }] },
			"job.list": (params) => ({
				jobs:
					"recent" in params
						? [job(1, { status: "failed", ended_at: ago(9000) })]
						: "ids" in params
							? []
							: [job(3), ASKS, job(4, { status: "running", run: { started_at: ago(5000) } })],
			}),
			"job.queue": { jobs: [{ id: 3, cause: null }] },
			"job.why": { job: job(3), reasons: [], position: 1, priority: { total: 0, terms: [] } },
			"job.cancel": { cancelled: [3], requested: [] },
			"job.retry": { reset: [1, 2], restarted: [1], last_successful: [], left_blocked: [] },
			"job.answer": { job: ASKS },
			"job.logs": (params) =>
				"tail" in params
					? { run: "4.1", offset: 0, next_offset: 14, text: "one\ntwo\nthree\n", eof: true, ended: false, output: "command" }
					: { run: "4.1", offset: 14, next_offset: 19, text: "four\n", eof: true, ended: false, output: "command" },
			"job.diff": { job: 4, patch: "--- a\n+++ b\n", from: "worktree" },
			"scheduler.pause": { scope: "all" },
		});
		let out = "";
		let send = (_key: string) => {};
		const left = [...keys];
		const result = await line.run("top --no-color", {
			stdin: Object.assign((async function* () {})(), { isTTY: true }),
			stdout: { write: (text) => (out += text), isTTY: true, columns: 80, rows: 14 },
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
		const looks = ["scheduler.status", "job.list", "job.queue"];
		return { code: result.code, out, asked: line.asked.filter(({ method }) => !looks.includes(method)) };
	};

	test("q ends it and gives the screen back", async () => {
		const { code, out } = await pressAll(["q"]);
		expect([code, out.startsWith("\u001b[?1049h"), out.endsWith("\u001b[?25h\u001b[?1049l")]).toEqual([0, true, true]);
	});

	test("Ctrl-C exits with 130", async () => {
		expect((await pressAll(["\u0003"])).code).toBe(130);
	});

	test("any key goes back from an explanation, q too", async () => {
		const { code, asked } = await pressAll(["w", "q", "w", "\u001b", "q"]);
		expect([code, asked.map(({ method }) => method)]).toEqual([0, ["job.why", "job.why"]]);
	});

	test("answer, log that grows, diff, why, cancel and pause after asking, retry", async () => {
		const keys = ["i", "o", "k", "\r", "j", "\r", "x", "d", "q", "j", "w", "x", "c", "n", "c", "y", "p", "y", "j", "r", "q"];
		const { asked, out } = await pressAll(keys);
		expect(asked.filter(({ method }) => method !== "job.logs")).toEqual([
			{ method: "job.answer", params: { id: 5, text: "ok" } },
			{ method: "job.diff", params: { id: 4 } },
			{ method: "job.why", params: { id: 3 } },
			{ method: "job.cancel", params: { ids: [3] } },
			{ method: "scheduler.pause", params: {} },
			{ method: "job.retry", params: { id: 1 } },
		]);
		expect(asked.filter(({ method }) => method === "job.logs")[0]?.params).toEqual({ id: 4, tail: 500, limit: 500_000 });
		for (const said of [
			"job 5 has its answer",
			"log of job 4",
			"three",
			"+++ b",
			"Job 3 is queued",
			"cancel job 3? y or n",
			"not cancelled",
			"job 3 is cancelled",
			"paused; what runs goes on",
			"2 jobs run again: 1, 2",
		])
			expect(out).toContain(said);
	});
});
