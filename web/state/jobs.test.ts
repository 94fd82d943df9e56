// From lists and events to rows: order, replays, moves, what is requested again.

import { describe, expect, test } from "vitest";
import type { EventDocument } from "../../src/api/documents.ts";
import type { EventKind } from "../../src/core/event.ts";
import { NO_PROGRESS } from "../../src/core/runs/progress.ts";
import { Columns, filtered, matcher, shown } from "./board.ts";
import { COLUMNS, columnOf } from "./column.ts";
import { Jobs } from "./jobs.ts";
import { ToldQueue } from "./queue.ts";
import { addressOf, codeIn, routeOf } from "./route.ts";
import { commandLine, labelOf, type PageRow, type RowFields, rowOf } from "./row.ts";

const job = (id: number, more: Partial<RowFields> = {}): RowFields => ({
	id,
	name: null,
	status: "queued",
	blocked: false,
	wait_reason: null,
	waits_for: [],
	exit_kind: null,
	exit_code: null,
	end_reason: null,
	merge_status: null,
	merge_report: null,
	attempt: 0,
	last_failure: null,
	created_at: "2026-01-01T00:00:00.000Z",
	ready_at: null,
	started_at: null,
	ended_at: null,
	backoff_until: null,
	batch: null,
	title: `Job ${id}`,
	command: ["true"],
	agent: null,
	prompt: null,
	repo: null,
	base_branch: null,
	worktree: null,
	lane: "code",
	owner: null,
	model: null,
	account: null,
	question: null,
	item: null,
	...more,
});
const event = (seq: number, of: number | null, kind: EventKind, data: Record<string, unknown> = {}) =>
	({
		seq,
		at: "2026-01-01T00:00:10.000Z",
		kind,
		job: of,
		by: "test",
		data,
	}) as unknown as EventDocument;
const statuses = (jobs: Jobs) => [...jobs.rows.values()].map(({ id, status }) => `${id} ${status}`);

describe("events", () => {
	test("move known jobs, and mark all jobs that they mention", () => {
		const jobs = new Jobs();
		jobs.replace([job(1), job(2)], 10);
		jobs.events([event(11, 1, "started", { from: "queued", to: "running", attempt: 1 }), event(12, 3, "added", { to: "queued" })]);
		expect(statuses(jobs)).toEqual(["1 running", "2 queued"]);
		expect([...jobs.marked]).toEqual([1, 3]);
		expect(jobs.rows.get(1)?.startedAt).toBe(Date.parse("2026-01-01T00:00:10.000Z"));
		expect(jobs.seq).toBe(12);
	});

	test("that are replayed, or are older than a list, change nothing", () => {
		const jobs = new Jobs();
		jobs.replace([job(1)], 10);
		const started = event(11, 1, "started", { to: "running" });
		jobs.events([started, event(12, 1, "ended", { to: "succeeded" })]);
		jobs.events([started]);
		expect(statuses(jobs)).toEqual(["1 succeeded"]);
		jobs.list([job(1, { status: "running" })], 11);
		expect(statuses(jobs)).toEqual(["1 succeeded"]);
		jobs.list([job(1, { status: "failed" })], 12);
		expect(statuses(jobs)).toEqual(["1 failed"]);
		const late = new Jobs();
		late.replace([job(1)], 5);
		late.list([job(1, { status: "succeeded" })], 9);
		late.events([event(6, 1, "started", { to: "running" })]);
		expect(statuses(late)).toEqual(["1 succeeded"]);
	});

	test("of manifests name a range, of a gc all ended jobs", () => {
		const jobs = new Jobs();
		jobs.replace([job(1, { status: "failed" }), job(2)], 1);
		jobs.events([event(2, null, "applied", { from: 5, to: 900 }), event(3, null, "gc", { deleted: 1 })]);
		expect(jobs.ranges).toEqual([[5, 900]]);
		expect([...jobs.marked]).toEqual([1]);
		jobs.forget([1]);
		expect(statuses(jobs)).toEqual(["2 queued"]);
	});
});

describe("columns", () => {
	test("after single changes equal freshly sorted ones", () => {
		const statuses = ["queued", "running", "succeeded", "failed", "waiting_on_deps"] as const;
		const columns = new Columns();
		const rows = new Map<number, PageRow>();
		for (let n = 0; n < 600; n++) {
			const id = 1 + ((n * 37) % 101);
			const status = statuses[(n * 13) % 5]!;
			const ended = status === "succeeded" || status === "failed" ? new Date(n * 1000).toISOString() : null;
			const row = rowOf(job(id, { status, blocked: n % 3 === 0, started_at: new Date(n * 500).toISOString(), ended_at: ended }), n);
			columns.change(rows.get(id), row);
			rows.set(id, row);
			if (n % 17 === 0) {
				columns.change(rows.get(id), undefined);
				rows.delete(id);
			}
		}
		const fresh = new Columns();
		fresh.fill(rows.values());
		expect(columns.all).toEqual(fresh.all);
		expect(COLUMNS.reduce((sum, column) => sum + columns.all[column].length, 0)).toBe(rows.size);
	});

	test("a job that needs a person comes first, whatever its status", () => {
		expect(columnOf(rowOf(job(1, { wait_reason: { kind: "approval", detail: "" } }), 1))).toBe("asks");
		expect(columnOf(rowOf(job(1, { wait_reason: { kind: "needs_human", detail: "" }, question: "Which?" }), 1))).toBe("asks");
		expect(columnOf(rowOf(job(1, { status: "succeeded", merge_status: "conflict" }), 1))).toBe("asks");
		expect(columnOf(rowOf(job(1, { status: "succeeded", merge_status: "pending", merge_report: { uncommitted: true } }), 1))).toBe("asks");
		expect(columnOf(rowOf(job(1, { status: "waiting_on_locks" }), 1))).toBe("blocked");
	});

	test("a search wants every word, and knows lane:, is: and #", () => {
		const rows = [
			rowOf(job(7, { title: "Fix the Flaky test", lane: "code" }), 1),
			rowOf(job(70, { title: "Docs", lane: "docs", status: "failed" }), 1),
		];
		const found = (q: string) => rows.filter(matcher({ q, lane: null, repo: null, batch: null, status: null })).map(({ id }) => id);
		expect([found("flaky fix"), found("flaky docs"), found("lane:docs"), found("is:failed"), found("#7"), found("")]).toEqual([
			[7],
			[],
			[70],
			[70],
			[7],
			[7, 70],
		]);
		const columns = new Columns();
		columns.fill(rows);
		expect(filtered(columns, { q: "", lane: "docs", repo: null, batch: null, status: null }).queued).toEqual([]);
	});

	test("a window shows its rows and a few more", () => {
		expect([shown(1000, 0, 600, 60, 2), shown(1000, 6000, 600, 60, 2), shown(3, 0, 600, 60, 2), shown(10, 9000, 600, 60, 2)]).toEqual([
			{ from: 0, to: 12 },
			{ from: 98, to: 112 },
			{ from: 0, to: 3 },
			{ from: 10, to: 10 },
		]);
	});
});

describe("places and labels", () => {
	test("go into the address and come back", () => {
		const place = routeOf("?view=graph&q=a%26b&lane=code&job=7&tab=log");
		expect(place).toMatchObject({ view: "graph", job: 7, tab: "log", filter: { q: "a&b", lane: "code" } });
		expect(routeOf(addressOf(place).slice(1))).toEqual(place);
		for (const search of ["", "?q=flaky", "?view=now&lane=code", "?wall="])
			expect(routeOf(addressOf(routeOf(search)).slice(1))).toEqual(routeOf(search));
		expect([routeOf("?q=flaky").view, routeOf("?wall").view]).toEqual(["board", "now"]);
		expect(routeOf("?view=nonsense&job=0&tab=x")).toMatchObject({ view: "now", job: null, tab: "why", wall: false });
	});

	test("a sign-in code is taken from a link or alone; a token of the home is no code", () => {
		const code = "Abcdefghij-_0123456789";
		for (const text of [code, ` ${code}\n`, `#code=${code}`, `http://127.0.0.1:7420/#code=${code}`]) expect(codeIn(text)).toBe(code);
		const token = "A".repeat(43);
		for (const text of ["", token, `#token=${token}`, `#token=${code}`, `#code=${token}`, `${code}<`, `#code=${code}.x`])
			expect([text, codeIn(text)]).toEqual([text, null]);
	});

	test("a job is called by its name, title, prompt or command", () => {
		expect(labelOf({ id: 1, name: "n", title: "t", prompt: "p", command: null })).toBe("n · t");
		expect(labelOf({ id: 1, name: "n", title: null, prompt: null, command: ["make"] })).toBe("n");
		expect(labelOf({ id: 1, name: null, title: null, prompt: "\n first line \nsecond", command: null })).toBe("first line");
		expect(labelOf({ id: 1, name: null, title: null, prompt: null, command: null })).toBe("job 1");
		expect(commandLine(["/bin/sh", "-c", "make all"])).toBe("make all");
		expect(commandLine(["make", "all"])).toBe("make all");
	});
});

describe("the queue in the daemon's words", () => {
	const cause = (detail: string) => ({ kind: "capacity" as const, subject: "lane:code", detail, jobs: 1, clears_at: null, remedy: null });
	const told = {
		ready: 3,
		jobs: [
			{ id: 9, cause: null },
			{ id: 5, cause: 0 },
		],
		causes: [cause("lane code is full: 3 of 3 running")],
		locked: [{ id: 7, detail: "lock db, held by job 3" }],
		counts: { succeeded: 9000, cancelled: 2, failed: 40, blocked_by_dependency: 1, expired: 0 } as never,
	};

	test("its order, the word of each job, counts beyond what is loaded", () => {
		const queue = new ToldQueue(told, new Set([8]));
		const rows = [4, 5, 9].map((id) => rowOf(job(id), 1));
		expect(queue.inOrder(rows).map(({ id }) => id)).toEqual([9, 5, 4]);
		expect(rows.map(queue.wordOf)).toEqual([null, "lane code is full: 3 of 3 running · number 2", "starts now, number 1"]);
		expect(queue.wordOf(rowOf(job(7, { status: "waiting_on_locks" }), 1))).toBe("lock db, held by job 3");
		expect([queue.countOf("done"), queue.countOf("failed"), queue.countOf("queued")]).toEqual([9002, 41, undefined]);
	});

	test("a run that is frozen, and one that waits for jobs, say so", () => {
		const running = rowOf(job(8, { status: "running", waits_for: [8, 9] }), 1);
		expect(running.reason).toBe("waits for job 8 and 1 more, lends its slot");
		expect(new ToldQueue(told, new Set([8])).wordOf(running)).toBe("frozen: it goes on when it is resumed");
		expect(new ToldQueue(told).wordOf(running)).toBe(null);
	});

	test("a job that waits again has no start time", () => {
		const started_at = "2026-01-01T00:00:01.000Z";
		expect(rowOf(job(1, { started_at, attempt: 1 }), 1).startedAt).toBe(null);
		expect(rowOf(job(1, { started_at, status: "running" }), 1).startedAt).toBe(Date.parse(started_at));
		expect(rowOf(job(1, { started_at, status: "failed", ended_at: started_at }), 1).startedAt).toBe(Date.parse(started_at));
	});
});

test("what a run was told to do is forgotten when it ends, and not when another does", () => {
	const jobs = new Jobs();
	const told = (job: number) => ({ kind: "progress" as const, at: "", job, attempt: 1, ...NO_PROGRESS });
	jobs.progress.take([told(1), told(2)]);
	const data = { from: "running" as const, to: "succeeded" as const, exit_code: 0, attempt: 1 };
	jobs.events([{ seq: 9, at: "2026-01-05T12:00:00.000Z", kind: "ended", job: 1, by: "x", data }]);
	expect([...jobs.progress.keys()]).toEqual([2]);
});
