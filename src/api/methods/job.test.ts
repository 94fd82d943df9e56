// The methods of jobs, as a caller sees them.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";
import { NOON } from "../../../test/make/fakes.ts";
import type { JobDocument } from "../documents.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("job.sling", () => {
	test("checks the fields of the jobs as job.add does, before it looks for an item", async () => {
		const desk = await openDesk();
		for (const [field, value] of Object.entries({ lane: "a b", base_branch: "-x", cwd: "a\nb" }))
			expect(await desk.refused("job.sling", { ids: ["1"], [field]: value })).toMatchObject({ data: { code: "invalid", field } });
		expect(await desk.refused("job.sling", { ids: ["1"], vars: { "a b": "x" } })).toMatchObject({ data: { field: "vars.a b" } });
	});
});

describe("job.add", () => {
	test("answers with the whole job, its position, and a warning when there is one", async () => {
		const desk = await openDesk();
		const added = await desk.call("job.add", { command: ["make"], name: "build", timeout: "30m" });
		expect(added).toMatchObject({
			schema_version: 1,
			outcome: "queued",
			position: 1,
			job: { id: 1, name: "build", command: ["make"], timeout: 1_800_000, created_at: new Date(NOON).toISOString() },
		});
	});

	test("warns of an agent without a known way to start it, also in a manifest", async () => {
		const desk = await openDesk();
		expect(await desk.call("job.add", { agent: "claude", prompt: "x" })).not.toHaveProperty("warning");
		const warning = 'nothing says how to start the agent "other": set agents.other.command';
		expect(await desk.call("job.add", { agent: "other", prompt: "x" })).toMatchObject({ outcome: "queued", warning });
		expect(await desk.call("job.add", { agent: "other", prompt: "x", needs: ["custom:a:b"], on_missing: "wait" })).toMatchObject({
			warning: `nothing produces custom:a:b yet; ${warning}`,
		});
		const jobs = [{ prompt: "x" }, { agent: "claude", prompt: "y" }];
		for (const check of [true, false])
			expect(await desk.call("job.apply", { manifest: { defaults: { agent: "other" }, jobs }, check })).toMatchObject({ warning });
		expect(await desk.call("job.apply", { manifest: { jobs: jobs.slice(1) } })).not.toHaveProperty("warning");
	});

	test("a job held by a budget, a pause, quiet hours, an account or a missing host says so, and is counted", async () => {
		const lanes = { default: {}, x: {}, night: { active_hours: ["01:00-02:00"] } };
		const desk = await openDesk({ config: { lanes, accounts: { work: {} } } });
		await desk.call("budget.grant", { subject: "owner:cy", dim: "runs", limit: 0 });
		await desk.call("scheduler.pause", { lane: "x" });
		await desk.call("account.limit", { name: "work", retry_after_ms: 3_600_000 });
		const held = async (more: object) => ((await desk.call("job.add", { command: ["true"], ...more })) as { job: JobDocument }).job;
		const detail = expect.any(String);
		expect((await held({ owner: "cy" })).held).toEqual({ kind: "budget", detail: "owner:cy has used 0 of 0 runs" });
		expect((await held({ lane: "x" })).held).toEqual({ kind: "paused", detail: "lane x paused by ann" });
		expect((await held({ lane: "x", owner: "cy" })).held).toMatchObject({ kind: "paused" });
		expect((await held({ lane: "night" })).held).toEqual({ kind: "quiet_hours", detail });
		expect((await held({ account: "work" })).held).toEqual({ kind: "rate_limited", detail });
		expect(await held({ host_labels: ["gpu"], force: true })).toMatchObject({ held: { kind: "no_host", detail }, blocked: false });
		expect(await held({})).toMatchObject({ held: null });
		expect(await held({ needs: ["custom:a:b"], on_missing: "wait", lane: "x" })).toMatchObject({ held: null, blocked: true });
		const { jobs } = (await desk.call("job.list", {})) as { jobs: { held: { kind: string } | null }[] };
		const kinds = ["budget", "paused", "paused", "quiet_hours", "rate_limited", "no_host", undefined, undefined];
		expect(jobs.map((job) => job.held?.kind)).toEqual(kinds);
		expect((await desk.call("job.show", { id: 1 })).job).toMatchObject({ held: { kind: "budget" } });
		const status = await desk.call("scheduler.status", {});
		expect(status).toMatchObject({ queued_total: 8, queued_ready: 7, queued_held: 6 });
		expect(status.held).toContainEqual({ kind: "paused", subject: "lane:x", detail: "lane x paused by ann", jobs: 2 });
		expect((status.held as unknown[]).length).toBe(5);
		await desk.call("scheduler.resume", { lane: "x" });
		expect((await desk.call("job.show", { id: 2 })).job).toMatchObject({ held: null });
	});

	test("a duplicate, a second job for an item, a full queue are answers, not errors", async () => {
		const desk = await openDesk({ config: { max_concurrent: 1, queue: { soft_limit: 2, hard_limit: 4 } } });
		await desk.call("job.add", { payload: 1, unique: { key: "k" } });
		expect(await desk.call("job.add", { payload: 1, unique: { key: "k" } })).toEqual({ schema_version: 1, outcome: "duplicate", job: 1 });
		await desk.call("job.add", { payload: 1, item: "A-1" });
		expect(await desk.call("job.add", { payload: 1, item: "A-1" })).toMatchObject({ outcome: "already_running", holder: 2 });
		await desk.call("job.add", { payload: 1 });
		await desk.call("job.add", { payload: 1 });
		expect(await desk.call("job.add", { payload: 1 })).toMatchObject({ outcome: "deferred", limit: 4 });
	});

	test("wrong input is the scheduler's own error", async () => {
		const desk = await openDesk();
		// `show 12` means the job with that id.
		expect(await desk.refused("job.add", { command: ["x"], name: "12" })).toMatchObject({ data: { code: "invalid", field: "name" } });
		expect(await desk.refused("job.add", { command: ["x"], lain: "code" })).toMatchObject({
			code: -32602,
			data: { code: "unknown_key", field: "lain", hint: 'did you mean "lane"?' },
		});
		expect(await desk.refused("job.add", { command: ["x"], lane: "defalt" })).toMatchObject({ code: -32004, data: { code: "not_found" } });
		expect(await desk.refused("job.add", { command: ["x"], force: "yes" })).toMatchObject({ code: -32602, data: { field: "force" } });
	});
});

describe("job.apply", () => {
	test("adds all; with check none", async () => {
		const desk = await openDesk();
		const manifest = {
			jobs: [
				{ name: "a", command: ["x"] },
				{ name: "b", command: ["y"], after: ["a"] },
			],
		};
		const plain = { schema_version: 1, skipped: [], updated: [], not_named: [], refusal: null };
		expect(await desk.call("job.apply", { manifest, check: true })).toEqual({ ...plain, jobs: [], names: {} });
		expect((await desk.call("job.list", {})).jobs).toEqual([]);
		expect(await desk.call("job.apply", { manifest })).toEqual({ ...plain, jobs: [1, 2], names: { a: 1, b: 2 } });
		const changed = { jobs: manifest.jobs.map((job) => (job.name === "a" ? { ...job, command: ["z"] } : job)) };
		expect(await desk.call("job.apply", { manifest: changed, check: true })).toMatchObject({
			refusal: { message: expect.stringContaining("changed: a"), hint: expect.stringContaining("--update") },
		});
		expect(await desk.refused("job.apply", { manifest: changed })).toMatchObject({ data: { code: "conflict" } });
		expect(await desk.call("job.apply", { manifest: changed, update: true })).toMatchObject({ updated: [{ name: "a", job: 1 }] });
		expect((await desk.refused("job.apply", { manifest: changed, again: true })).message).toContain("still open");
		const bad = { jobs: [{ command: ["x"], lane: "nope" }, { command: "y" }] };
		expect(await desk.refused("job.apply", { manifest: bad as never })).toMatchObject({
			data: { field: "jobs[0].lane", also: [{ field: "jobs[1].command" }] },
		});
		expect(await desk.refused("job.apply", { manifest: { jobs: [{ name: "c", command: ["x"], after: ["c"] }] } })).toMatchObject({
			data: { code: "cycle" },
		});
	});
});

describe("looking", () => {
	test("a job by number, by number as text, by name; similar names are suggested", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "build" });
		for (const id of [1, "1", "build"]) expect((await desk.call("job.show", { id })).job).toMatchObject({ id: 1, name: "build" });
		expect(await desk.refused("job.show", { id: "biuld" })).toMatchObject({ code: -32004, data: { hint: 'did you mean "build"?' } });
		expect(await desk.refused("job.show", { id: 2 })).toMatchObject({ code: -32004, data: { code: "not_found", hint: "near it: 1" } });
	});

	test("a live run has its pid", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.t.start();
		expect((await desk.call("job.show", { id: 1 })).job.run).toMatchObject({ id: "1.1", pid: null });
		desk.pretended.live = [{ run: "1.1", job: 1, pid: 77, since: 0, frozen: false, attached: null, progress: null }];
		expect((await desk.call("job.show", { id: 1 })).job.run).toMatchObject({ id: "1.1", pid: 77 });
		expect((await desk.call("job.list", {})).jobs[0]?.run).toMatchObject({ pid: 77 });
	});

	test("lists by filter and page", async () => {
		const desk = await openDesk({ config: { lanes: { default: {}, code: {} } } });
		for (const lane of ["default", "code", "code"]) await desk.t.add({ lane });
		expect((await desk.call("job.list", { lane: "code" })).jobs.map(({ id }) => id)).toEqual([2, 3]);
		expect((await desk.call("job.list", { limit: 1, after: 1 })).jobs.map(({ id }) => id)).toEqual([2]);
		await desk.call("job.cancel", { id: 2 });
		expect((await desk.call("job.list", { status: ["cancelled"] })).jobs.map(({ id }) => id)).toEqual([2]);
		expect((await desk.call("job.list", { all: true })).jobs).toHaveLength(3);
		const below = async (before: number, limit: number) =>
			(await desk.call("job.list", { all: true, before, limit })).jobs.map(({ id }) => id);
		expect([await below(99, 2), await below(3, 1), await below(1, 5)]).toEqual([[2, 3], [2], []]);
	});

	test("why and history have their times in words", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "a" });
		await desk.t.add({ name: "b", after: ["a"], runnable_at: NOON + 1000 });
		const why = await desk.call("job.why", { id: "b" });
		expect(why.reasons.map(({ gate, code }) => `${gate}/${code}`)).toEqual(["time/delayed", "after/dependencies"]);
		expect(why.reasons[0]?.clears_at).toMatch(TIME);
		expect(why).toMatchObject({ position: null, job: { id: 2, blocked: true, wait_reason: { kind: expect.any(String) } } });
		const { events } = await desk.call("job.history", { id: "b" });
		expect(events).toEqual([{ seq: 3, at: expect.stringMatching(TIME), kind: "added", job: 2, by: "test", data: expect.anything() }]);
	});
});

describe("job.wait", () => {
	test("answers at once when all have ended, and when the time is up", async () => {
		const desk = await openDesk();
		const id = await desk.t.done({}, "failed");
		expect(await desk.call("job.wait", { ids: [id] })).toEqual({
			schema_version: 1,
			jobs: [{ id, name: null, status: "failed", exit_code: 1, exit_kind: "failed", end_reason: null, last_failure: null }],
			done: true,
		});
		await desk.t.add();
		expect(await desk.call("job.wait", { ids: [id, 2], timeout_ms: 5 })).toMatchObject({
			jobs: [{ id }, { status: "queued" }],
			done: false,
		});
	});

	test("answers when the last job ends", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "a" });
		await desk.t.add({ name: "b" });
		let answered = false;
		const waiting = desk.call("job.wait", { ids: ["a", "b", 1] }).finally(() => {
			answered = true;
		});
		await desk.t.start();
		await desk.t.succeed(1);
		await desk.t.show(1);
		expect(answered).toBe(false);
		await desk.t.succeed(2);
		expect(await waiting).toMatchObject({ jobs: [{ id: 1, status: "succeeded", exit_code: 0 }, { id: 2 }], done: true });
	});

	test("returns each job's name, and why it did not succeed", async () => {
		const desk = await openDesk({ config: { dispatch_breaker: 1 } });
		await desk.t.add({ name: "a" });
		await desk.t.add({ name: "b" });
		const waiting = desk.call("job.wait", { ids: ["a", "b"] });
		await desk.t.start();
		await desk.t.succeed(1);
		await desk.t.end(2, "launch_failed", { message: "no such program" });
		expect((await waiting).jobs).toEqual([
			{ id: 1, name: "a", status: "succeeded", exit_code: 0, exit_kind: "completed", end_reason: null, last_failure: null },
			{
				id: 2,
				name: "b",
				status: "failed",
				exit_code: 1,
				exit_kind: "launch_failed",
				end_reason: "circuit-broken",
				last_failure: "no such program",
			},
		]);
	});

	test("for many jobs reads each once: their ends come from events", async () => {
		const desk = await openDesk({ config: { max_concurrent: 30 } });
		const { scheduler } = desk.context;
		let looks = 0;
		desk.context.scheduler = {
			...scheduler,
			show(id) {
				looks++;
				return scheduler.show(id);
			},
		};
		const ids = Array.from({ length: 20 }, (_, n) => n + 1);
		for (const _ of ids) await desk.t.add();
		const waiting = desk.call("job.wait", { ids });
		await desk.t.start();
		for (const id of ids.slice(1)) await desk.t.succeed(id);
		await desk.t.end(1, "failed", { exit_code: 1 });
		const { jobs, done } = await waiting;
		expect(done).toBe(true);
		expect(jobs[0]).toMatchObject({ id: 1, status: "failed", exit_code: 1, exit_kind: "failed" });
		expect(jobs.slice(1).every((job) => job.status === "succeeded" && job.exit_code === 0)).toBe(true);
		expect(looks).toBeLessThanOrEqual(2 * ids.length);
	});

	test("for an unknown job is an error at once", async () => {
		const desk = await openDesk();
		expect(await desk.refused("job.wait", { ids: [7] })).toMatchObject({ code: -32004 });
	});
});

describe("job.logs", () => {
	test("gives pieces by offset", async () => {
		const desk = await openDesk();
		await desk.t.add();
		desk.pretended.logs.set("1.1", { text: "hello world\n", eof: true, ended: true });
		expect(await desk.call("job.logs", { id: 1, offset: 6, limit: 3 })).toEqual({
			schema_version: 1,
			run: "1.1",
			stream: "both",
			offset: 6,
			next_offset: 9,
			text: "wor",
			parts: [{ stream: "stdout", length: 3 }],
			eof: true,
			ended: true,
			output: "command",
		});
		expect(await desk.refused("job.logs", { id: 1, run: 2 })).toMatchObject({ code: -32004, data: { field: "run" } });
		expect(await desk.refused("job.logs", { id: 1, offset: 0, tail: 3 })).toMatchObject({ code: -32602, data: { field: "tail" } });
	});

	test("of a run that could not be prepared say why", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.t.start();
		await desk.t.end(1, "launch_failed", { message: "nothing says how" });
		expect((await desk.refused("job.logs", { id: 1 })).message).toBe("job 1 has no log: it could not be started: nothing says how");
	});

	test("of a run whose program has not begun yet are not missing", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.t.start();
		const said = "job 1 has written nothing yet: its run has just begun";
		expect((await desk.refused("job.logs", { id: 1 })).message).toBe(said);
		expect((await desk.refused("job.logs", { id: 1, run: 1 })).message).toBe(said);
		await desk.t.end(1, "completed");
		expect((await desk.refused("job.logs", { id: 1 })).message).toBe("job 1 has no log: it is not kept any more");
	});

	test("waits for more, also for a run that has not begun", async () => {
		const desk = await openDesk();
		await desk.t.add();
		expect(await desk.refused("job.logs", { id: 1 })).toMatchObject({ code: -32004, data: { code: "not_found" } });
		expect(await desk.call("job.logs", { id: 1, wait_ms: 1 })).toMatchObject({ run: null, text: "", eof: true, ended: false });
		const waiting = desk.call("job.logs", { id: 1, wait_ms: 25_000 });
		desk.pretended.logs.set("1.1", { text: "there", eof: true, ended: false });
		expect(await waiting).toMatchObject({ run: "1.1", text: "there", ended: false });
	});
});

describe("acting", () => {
	test("cancel takes one or several jobs, and cancels none if one is unknown", async () => {
		const desk = await openDesk();
		for (const name of ["a", "b", "c"]) await desk.t.add({ name });
		await desk.t.start(1);
		expect(await desk.refused("job.cancel", { ids: ["b", 99] })).toMatchObject({ code: -32004 });
		expect(await desk.t.status(2)).toBe("queued");
		expect(await desk.refused("job.cancel", {})).toMatchObject({ code: -32602, data: { field: "id" } });
		expect(await desk.call("job.cancel", { ids: ["a", "b", 2], reason: "no" })).toEqual({
			schema_version: 1,
			cancelled: [2],
			requested: [1],
			ended: [],
			refused: [],
		});
		expect(await desk.refused("job.cancel", { id: 2 })).toMatchObject({
			code: -32009,
			message: "job 2 is already cancelled: nothing to cancel",
			data: { code: "illegal_transition" },
		});
		// A successor of a cancelled job is cancelled like it, not blocked by its end.
		await desk.t.add({ name: "x", runnable_at: NOON + 1000 });
		await desk.t.add({ name: "y", after: ["x"] });
		expect(await desk.call("job.cancel", { ids: ["x", "y"] })).toMatchObject({ cancelled: [4, 5], requested: [], ended: [], refused: [] });
		// A job that had ended does not prevent the others from being cancelled.
		await desk.t.add({ name: "z", runnable_at: NOON + 1000 });
		const refused = [{ job: 4, code: "illegal_transition", message: expect.stringMatching(/^job 4 /) }];
		expect(await desk.call("job.cancel", { ids: ["x", "z"] })).toMatchObject({ cancelled: [6], requested: [], ended: [], refused });
	});

	test("cancel of a dispatched kernel entry is reported to its worker", async () => {
		const desk = await openDesk();
		const { pid } = await desk.call("kernel.agent.create", { name: "a" });
		const { sched_id } = await desk.call("kernel.sched.enqueue", { pid });
		await desk.call("kernel.sched.claim", { worker_id: "w" });
		expect(await desk.call("job.cancel", { id: sched_id })).toMatchObject({ requested: [sched_id] });
		expect(await desk.call("kernel.sched.extend", { sched_id, worker_id: "w" })).toEqual({ sched_id, cancel_requested: true });
	});

	test("all other methods answer with the job as it is afterwards", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "a", requires_approval: true });
		await desk.t.add({ name: "b", requires_approval: true });
		expect((await desk.call("job.priority", { id: "a", priority: 7 })).job.priority).toBe(7);
		expect((await desk.call("job.promote", { id: "a" })).job.rank).toBeGreaterThan(0);
		expect((await desk.call("job.demote", { id: "a" })).job.rank).toBeLessThan(0);
		expect(await desk.call("job.run_now", { id: "a", force: true })).toMatchObject({
			job: { forced: true },
			reasons: [{ code: "approval" }],
		});
		expect((await desk.call("job.approve", { id: "a" })).job).toMatchObject({ approval: "given", requires_approval: true });
		expect((await desk.call("job.reject", { id: "b", reason: "no" })).job).toMatchObject({ status: "cancelled", end_reason: "no" });
		await desk.t.start();
		await desk.t.end(1, "needs_human", { question: "which?" });
		expect((await desk.call("job.show", { id: "a" })).job.question).toBe("which?");
		expect((await desk.call("job.answer", { id: "a", text: "that" })).job).toMatchObject({ answer: "that", question: null });
	});

	test("run_now ends a delay and a back-off, and says what still holds the job", async () => {
		const desk = await openDesk({ config: { max_concurrent: 1, lanes: { default: { retry: 2 } } } });
		await desk.t.add({ name: "first" });
		await desk.t.start();
		await desk.t.add({ name: "later", runnable_at: NOON + 3_600_000 });
		const full = await desk.call("job.run_now", { id: "later" });
		expect(full.job.runnable_at).toBe(new Date(NOON).toISOString());
		expect(full.reasons.map(({ code }) => code)).toEqual(["capacity"]);
		expect((await desk.call("job.run_now", { id: "later", force: true })).reasons).toEqual([]);
		expect(await desk.t.start()).toEqual([2]);
		await desk.t.fail(2);
		expect((await desk.call("job.why", { id: 2 })).reasons[0]?.code).toBe("backoff");
		await desk.t.succeed(1);
		expect((await desk.call("job.run_now", { id: 2 })).reasons).toEqual([]);
		expect(await desk.t.start()).toEqual([2]);
	});

	test("retry and rerun return what was reset", async () => {
		const desk = await openDesk();
		await desk.t.done({ name: "a" }, "failed");
		expect(await desk.call("job.retry", { id: "a" })).toMatchObject({ schema_version: 1, reset: [1], restarted: [] });
		await desk.t.start();
		await desk.t.fail(1);
		expect(await desk.call("job.rerun", { id: "a" })).toMatchObject({ reset: [1] });
	});
});
