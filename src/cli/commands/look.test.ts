// Commands that only read: what they print for the daemon's answers.

import { describe, expect, test } from "vitest";
import { ago, Gone, job, NOW, openCommandLine, Refusal, STATUS } from "../../../test/make/daemons/command-line.ts";

describe("looking", () => {
	test("status", async () => {
		const line = await openCommandLine({ "scheduler.status": STATUS });
		expect((await line.run("status")).out).toBe(`Queued: 12 total, 3 ready
Running: 2 of 4
Last start: 12s ago

LANE     QUEUED  RUNNING  MAX
default      12        2    –
code          0        1    2  █░

HOLD       KIND    SINCE   BY  REASON
lane:code  paused  1m ago  bo  release day

HOST  STATE  RUNNING  MAX  LABELS  SEEN
here  live         2    4  gpu     5s ago
`);
		expect(JSON.parse((await line.run("status --json")).out)).toEqual({ schema_version: 1, ...STATUS });
	});

	test("status reports a nearly full disk", async () => {
		const line = await openCommandLine({
			"scheduler.status": { ...STATUS, disk_problem: "there is hardly any room where /h is (0.1 GB free)" },
		});
		expect((await line.run("status")).out).toContain("\nDisk: there is hardly any room where /h is (0.1 GB free)\n");
	});

	test("status reports why there is no HTTP", async () => {
		const line = await openCommandLine({ "scheduler.status": { ...STATUS, http_problem: "port 7420 is taken by another program" } });
		expect((await line.run("status")).out).toContain("\nNo HTTP: port 7420 is taken by another program\n");
	});

	test("status shows open questions and used-up budgets", async () => {
		const line = await openCommandLine({
			"scheduler.status": {
				...STATUS,
				needs_human: [
					{ job: 7, name: "paint", question: "which\u001b[31m colour?", since: ago(60_000) },
					{ job: 8, name: null, question: null, since: ago(1000) },
				],
				unmerged: [
					{ job: 9, name: null, merge_status: "conflict", message: "a.txt changed on both sides", since: ago(2000) },
					{ job: 8, name: "rude", merge_status: "verify_failed", message: "verify failed: exit code 1", since: ago(2000) },
				],
				budgets: [
					{ subject: "owner:ann", dim: "cost_micro", used: 5_000_000, limit: 5_000_000, reserved: 0, over_limit: true, refills_at: null },
				],
			},
		});
		const { out } = await line.run("status");
		expect(out).toContain("Needs you: job 7 (paint) asks: which colour?\n  since 1m ago → sluice answer 7 TEXT\n");
		expect(out).toContain("Needs you: job 8 needs approval\n  since 1s ago → sluice approve 8\n");
		expect(out).toContain("Needs you: job 9 not merged: conflict, a.txt changed on both sides\n  since 2s ago → sluice why 9\n");
		expect(out).toContain("Needs you: job 8 (rude) not merged: verify failed, exit code 1\n");
		expect(out).toContain("Budget: owner:ann has used $5.00 of $5.00\n");
	});

	const PROGRESS = { turns: 14, tokens: 41_200, tool: "Edit\u001b[31m a.ts", cost_micro: 920_000, lines_added: 88, lines_removed: 12 };

	test("status --watch shows what each run is doing, and survives a restart of the daemon", async () => {
		const turns = [{ ...STATUS, running: 1 }, Gone, { ...STATUS, running: 2 }];
		const line = await openCommandLine({
			"scheduler.status": () => {
				const turn = turns.shift();
				if (turn === Gone) throw new Gone();
				// Ends the test, not the daemon.
				if (turn === undefined) throw new Refusal("enough", { code: "invalid" });
				return turn as typeof STATUS;
			},
			"job.list": { jobs: [job(3, { status: "running", name: "build", run: { started_at: ago(65_000), progress: PROGRESS } })] },
		});
		const { out } = await line.run("status --watch");
		expect(out.match(/Running: \d/g)).toEqual(["Running: 1", "Running: 2"]);
		expect(out).toContain("job 3 (build)  ▸ Edit a.ts  14 turns, 41 k tokens, $0.92, +88 −12  1m 5s\n");
		expect(out).toContain("and 1 more: sluice top");
	});

	test("status without a daemon says so and starts none", async () => {
		const line = await openCommandLine(undefined);
		expect(await line.run("status")).toMatchObject({ code: 0, out: "", err: expect.stringMatching(/^No daemon is running\.\n/) });
		expect(JSON.parse((await line.run("status --json")).out)).toEqual({ schema_version: 1, daemon: "stopped" });
	});

	const JOBS = [
		job(3, { status: "running", name: "build", run: { started_at: ago(65_000) }, attempt: 2 }),
		job(4, {
			status: "waiting_on_deps",
			blocked: true,
			wait_reason: { kind: "dependencies", detail: "waiting on job 3" },
			command: ["sh", "-c", "echo 'x y'"],
		}),
		job(5, { repo: "web", lane: "code", priority: 10, command: null, agent: "claude", prompt: "Fix\u001b[31m the\nbug" }),
	];

	test("list groups by repo and marks what is blocked", async () => {
		const line = await openCommandLine({ "job.list": { jobs: JOBS } });
		expect((await line.run("list")).out).toBe(`ID  STATUS            NAME   WHAT                      LANE     PRIO  AGE
(no repo)
 3   running          build  make test                 default         3m  for 1m 5s, attempt 2
 4  !waiting on deps         sh -c 'echo '\\''x y'\\'''  default         3m  waiting on job 3
web
 5   queued                  claude: Fix the bug       code       10   3m
`);
		expect(line.asked).toEqual([
			{ method: "job.list", params: { limit: 1000, after: 0 } },
			{ method: "scheduler.status", params: {} },
		]);
		expect(JSON.parse((await line.run("list --json --status queued --status running --lane l --repo r --batch b --all")).out).jobs).toEqual(
			JOBS,
		);
		expect(line.asked.findLast(({ method }) => method === "job.list")?.params).toEqual({
			status: ["queued", "running"],
			lane: "l",
			repo: "r",
			batch: "b",
			all: true,
			limit: 1000,
			after: 0,
		});
	});

	test("list fits the terminal", async () => {
		const line = await openCommandLine({ "job.list": { jobs: JOBS } });
		let out = "";
		const stdout = { write: (text: string) => (out += text), isTTY: true, columns: 60 };
		await line.run("list --no-color", { stdout });
		for (const row of out.split("\n")) expect(row.length).toBeLessThanOrEqual(60);
		expect(out).not.toContain("\u001b");
	});

	test("list with chosen fields, as blocks, and of an empty queue", async () => {
		const line = await openCommandLine({ "job.list": { jobs: JOBS } });
		expect((await line.run("list --fields id,lane,created_at --limit 1")).out).toBe("ID  LANE     CREATED_AT\n 3  default  3m ago\n");
		expect((await line.run("list --format block --limit 1")).out).toContain("3 build\n  status      running\n  what        make test\n");
		expect(await line.run("list --fields id,colour")).toMatchObject({
			code: 2,
			err: expect.stringContaining('there is no field "colour"'),
		});
		expect((await line.run("list --fields id,wait")).err).toContain('did you mean "wait_reason"? known: id, name, status');
		const none = await openCommandLine({ "job.list": { jobs: [] } });
		expect((await none.run("list --fields id,colour")).code).toBe(2);
		expect(await none.run("list")).toEqual({ code: 0, out: "", err: "nothing waits and nothing runs; --all shows what has ended\n" });
	});

	test("list goes page by page", async () => {
		const all = Array.from({ length: 2500 }, (_, index) => job(index + 1));
		const line = await openCommandLine({
			"job.list": ({ after, limit }) => ({ jobs: all.slice(after as number, (after as number) + (limit as number)) }),
		});
		expect(JSON.parse((await line.run("list --json")).out).jobs).toHaveLength(2500);
		expect(line.asked.flatMap(({ method, params }) => (method === "job.list" ? [params.after] : []))).toEqual([0, 1000, 2000]);
		expect((await line.run("list --limit 3")).err).toContain("only the first 3 are shown");
	});

	test("show", async () => {
		const shown = job(7, {
			name: "deploy",
			status: "failed",
			exit_kind: "failed",
			exit_code: 2,
			started_at: ago(90_000),
			ended_at: ago(30_000),
			locks: [{ key: "db", mode: "exclusive" }],
			after: [{ job: 3, policy: "any" }],
			cwd: "/x",
			prompt: "line one\nline two",
			pinned_head: { branch: "main", commit: "0123456789abcdef" },
			waited_on: ["file:a.txt"],
		});
		const line = await openCommandLine({ "job.show": { job: shown } });
		const { out } = await line.run("show deploy");
		expect(line.asked.at(-1)?.params).toEqual({ id: "deploy" });
		expect(out.split("\n")[0]).toBe("job 7 deploy  failed, exit code 2, after 1m");
		for (const row of [
			"command    make test",
			"after      3:any",
			"locks      db",
			"pinned to  main at 0123456789ab",
			"waited on  file:a.txt",
			"exit       failed, code 2",
			"took       1m",
			"  line two",
		])
			expect(out).toContain(`\n${row}`);
		expect((await line.run("show 7 --fields status,ended_at")).out).toBe("status    failed\nended_at  30s ago\n");
	});

	test("why reads like an explanation", async () => {
		const reasons = [
			{
				gate: "locks",
				code: "locks",
				subject: "lock:db",
				detail: "waiting on locks",
				holder: ["job:3"],
				since: ago(130_000),
				clears_at: null,
				observed_at: null,
			},
			{
				gate: "holds",
				code: "paused",
				subject: "lane:code",
				detail: "lane code paused by bo: release day",
				since: ago(60_000),
				clears_at: new Date(NOW + 180_000).toISOString(),
				observed_at: null,
			},
			{
				gate: "capacity",
				code: "capacity",
				subject: "lane:code",
				detail: "lane code is full: 2 of 2 running",
				since: null,
				clears_at: null,
				observed_at: null,
			},
		];
		const priority = {
			total: 105,
			terms: [
				{ name: "lane code", value: 100 },
				{ name: "depth", value: 10 },
				{ name: "age", value: 0 },
				{ name: "failures", value: -5 },
			],
		};
		const line = await openCommandLine({
			"job.why": { job: job(7, { name: "deploy", status: "waiting_on_locks", lane: "code" }), reasons, position: null, priority },
		});
		expect((await line.run("why 7")).out).toBe(`Job 7 (deploy) is waiting on locks: 3 things hold it back.
  make test

  1. waiting on locks: db, held by job 3, for 2m 10s
     → wait, or end the holder: sluice cancel 3
  2. lane code paused by bo: release day, for 1m, clears in 3m
     → sluice resume --lane code
  3. lane code is full: 2 of 2 running
     → raise the cap: sluice lane set code --max N, or go past it: sluice run-now 7 --force

  place     not in line yet
  priority  105 = 100 lane code + 10 depth − 5 failures
`);
		expect(Object.keys(JSON.parse((await line.run("why 7 --json")).out))).toEqual([
			"schema_version",
			"job",
			"reasons",
			"position",
			"priority",
		]);
	});

	test("why of a job that waits for a merge, and of the job that is merged", async () => {
		const priority = { total: 0, terms: [] };
		const torn = job(10, {
			name: "torn",
			status: "succeeded",
			merge_status: "conflict",
			merge_report: { files: ["a.txt"], message: "a.txt changed on both sides" },
			merge_target: "main",
			started_at: ago(3000),
			ended_at: ago(1000),
		});
		const reasons = [{ gate: "after", code: "dependencies", subject: "job:10", detail: "waiting on job 10" }];
		const waits = job(14, { status: "waiting_on_deps", after: [{ job: 10, policy: "merged" }] });
		const asks = (merge_status: string) =>
			openCommandLine({ "job.why": { job: waits, reasons, position: null, priority }, "job.show": { job: { ...torn, merge_status } } });
		expect((await (await asks("conflict")).run("why 14")).out).toContain(
			"  waiting on job 10: it has succeeded, not merged: conflict\n  → see what that one waits for: sluice why 10\n",
		);
		expect((await (await asks("pending")).run("why 14")).out).toContain(
			"  waiting on job 10: it has succeeded, to be merged\n  → it goes on as soon as that is merged\n",
		);
		const line = await openCommandLine({ "job.why": { job: torn, reasons: [], position: null, priority }, "job.list": { jobs: [torn] } });
		expect((await line.run("why 10")).out).toBe(`Job 10 (torn) has ended: succeeded in 2s, not merged: conflict.
  make test

  a.txt changed on both sides
  → cd "$(sluice open 10 -q)" && git rebase main, resolve, then: sluice merge 10; or give it up: sluice merge 10 --drop
`);
		expect((await line.run("list --all")).out).toContain("in 2s, not merged: conflict\n");
	});

	test("why of a job that waits for its turn, that runs, that has ended", async () => {
		const turn = [
			{
				gate: "capacity",
				code: "turn",
				subject: "lane:default",
				detail: "eligible; number 3 of its lane",
				since: null,
				clears_at: null,
				observed_at: null,
			},
		];
		const priority = { total: 0, terms: [] };
		const said = async (one: Record<string, unknown>, reasons: unknown[], position: number | null) =>
			(await (await openCommandLine({ "job.why": { job: one, reasons, position, priority } })).run("why 7")).out.split("\n");
		expect(await said(job(7), turn, 3)).toEqual([
			"Job 7 is queued and could start: it only waits for its turn.",
			"  make test",
			"",
			"  eligible; number 3 of its lane",
			"  → sooner: sluice promote 7, or sluice run-now 7",
			"",
			"  place     number 3 of lane default",
			"  priority  0",
			"",
		]);
		const eta = { start: null, end: null, basis: null, stuck: "waits for an answer" };
		const withEta = await openCommandLine({ "job.why": { job: job(7), reasons: turn, position: 3, priority, eta } });
		expect((await withEta.run("why 7")).out).toContain("  priority  0\n  eta       unknown: waits for an answer\n");
		expect((await said(job(7, { status: "running", run: { started_at: ago(5000) } }), [], null))[0]).toBe(
			"Job 7 is running for 5s: nothing holds it back.",
		);
		expect((await said(job(7, { status: "cancelled", end_reason: "cleared" }), [], null))[0]).toBe("Job 7 has ended: cancelled, cleared.");
	});

	test("history", async () => {
		const events = [
			{ seq: 1, at: ago(0), kind: "added", job: 7, by: "ann", data: { from: null, to: "queued", lane: "default" } },
			{
				seq: 2,
				at: ago(0),
				kind: "requeued",
				job: 7,
				by: "host:here",
				data: { from: "running", to: "queued", exit_kind: "failed", attempt: 1, retry_at: new Date(NOW + 30_000).toISOString() },
			},
		];
		const line = await openCommandLine({ "job.history": { events } });
		const rows = (await line.run("history 7")).out.split("\n");
		expect(rows[1]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}added {5}queued, lane default +ann$/);
		expect(rows[2]).toContain("running → queued, exit kind failed, attempt 1, again in 30s");
		const odd = [undefined, null, "soon", 9e15].map((retry_at) => ({
			seq: 3,
			at: ago(0),
			kind: "requeued",
			job: 7,
			by: "host:here",
			data: { from: "running", to: "queued", exit_kind: "drained", retry_at },
		}));
		const { out } = await (await openCommandLine({ "job.history": { events: odd } })).run("history 7");
		expect(out).not.toMatch(/NaN|1970/);
		expect(out.split("\n")[1]).toMatch(/ {2}running → queued, exit kind drained +host:here$/);
	});

	test.each([
		[["succeeded", "succeeded"], "", 0],
		[["succeeded", "failed"], "", 1],
		[["failed"], "--exit-code", 3],
		[["succeeded"], "--exit-code", 0],
	])("wait: %j %s exits with %i", async (statuses, options, code) => {
		const jobs = statuses.map((status, index) => ({
			id: index + 1,
			status,
			exit_code: status === "failed" ? 3 : 0,
			exit_kind: "completed",
		}));
		let rounds = 0;
		const line = await openCommandLine({ "job.wait": () => ({ jobs, done: ++rounds > 1 }) });
		const result = await line.run(`wait ${jobs.map(({ id }) => id).join(" ")} ${options}`);
		expect([result.code, result.out, rounds]).toEqual([code, "", 2]);
		expect(result.err).toContain(`job 1 ${statuses[0]}`);
	});

	test("wait continues with the next daemon when one dies", async () => {
		let rounds = 0;
		const line = await openCommandLine({
			"job.wait": () => {
				if (++rounds < 3) throw new Gone();
				return { jobs: [{ id: 7, status: "succeeded", exit_code: 0, exit_kind: "completed" }], done: true };
			},
		});
		expect(await line.run("wait 7")).toEqual({ code: 0, out: "", err: "job 7 succeeded\n" });
	});

	test("wait exits with 75 after its timeout, and accepts --exit-code for one job only", async () => {
		const line = await openCommandLine({
			"job.wait": { jobs: [{ id: 7, status: "running", exit_code: null, exit_kind: null }], done: false },
		});
		let now = NOW;
		expect((await line.run("wait 7 --timeout 30s", { now: () => (now += 10_000) })).code).toBe(75);
		expect((await line.run("wait 7 8 --exit-code")).code).toBe(2);
	});
});
