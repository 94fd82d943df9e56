// What people and workers do to jobs: order by hand, approve, answer, cancel, deadlines, leases; and what is refused.

import { describe, expect, test } from "vitest";
import { HOUR, MINUTE, SECOND } from "../make/fakes.ts";
import { openStand, type Stand } from "../make/stand.ts";

const open = (config: Record<string, unknown> = {}) => openStand({ config: { max_concurrent: 100, safety_cap: 0, ...config } });

async function addSome(t: Stand, count: number, lane = "default"): Promise<number[]> {
	const jobs: number[] = [];
	for (let n = 0; n < count; n++) jobs.push(await t.add({ lane }));
	return jobs;
}

describe("order by hand", () => {
	test("promote puts a job first in its lane, the last promoted before the others", async () => {
		const t = await open();
		const [a, b, c, d] = await addSome(t, 4);
		await t.sluice.promote(c!);
		await t.sluice.promote(d!);
		expect(await t.start()).toEqual([d, c, a, b]);
	});

	test("demote puts it last, the last demoted behind the others", async () => {
		const t = await open();
		const [a, b, c, d] = await addSome(t, 4);
		await t.sluice.demote(a!);
		await t.sluice.demote(b!);
		expect(await t.start()).toEqual([c, d, a, b]);
	});

	test("priority changes its own term", async () => {
		const t = await open();
		const [a, b, c] = await addSome(t, 3);
		await t.sluice.priority(c!, 5);
		await t.sluice.priority(a!, -5);
		expect(await t.start()).toEqual([c, b, a]);
	});

	test("a promoted job is first in its lane, not before better lanes", async () => {
		const t = await open({ lanes: { default: {}, high: { priority: 100 } } });
		const low = await addSome(t, 2);
		const high = await addSome(t, 2, "high");
		await t.sluice.promote(low[1]!);
		expect(await t.start()).toEqual([...high, low[1], low[0]]);
	});

	test("run-now goes before everything, the last one first", async () => {
		const t = await open({ lanes: { default: {}, high: { priority: 100 } } });
		const high = await addSome(t, 2, "high");
		const low = await addSome(t, 2);
		await t.sluice.promote(high[1]!);
		await t.sluice.runNow(low[0]!);
		await t.sluice.runNow(low[1]!);
		expect(await t.start()).toEqual([low[1], low[0], high[1], high[0]]);
	});

	test("run-now with force goes past max_concurrent and lane caps", async () => {
		const t = await open({ max_concurrent: 1, lanes: { default: { max: 1 } } });
		const [a, b, c] = await addSome(t, 3);
		expect(await t.start()).toEqual([a]);
		await t.sluice.runNow(b!);
		expect(await t.start()).toEqual([]);
		await t.sluice.runNow(c!, { force: true });
		expect(await t.start()).toEqual([c]);
	});

	test("but never past locks, holds or the safety cap", async () => {
		const t = await open({ max_concurrent: 1, safety_cap: 2 });
		const holder = await t.add({ locks: ["db"] });
		await t.start();
		const locked = await t.add({ locks: ["db"] });
		await t.sluice.runNow(locked, { force: true });
		expect(await t.start()).toEqual([]);
		await t.sluice.pause();
		const paused = await t.add();
		await t.sluice.runNow(paused, { force: true });
		expect(await t.start()).toEqual([]);
		await t.sluice.resume();
		expect(await t.start()).toEqual([paused]);
		const third = await t.add();
		await t.sluice.runNow(third, { force: true });
		expect(await t.start()).toEqual([]);
		expect(await t.gates(third)).toEqual(["capacity/safety_cap"]);
		await t.succeed(holder);
		expect(await t.start(1)).toEqual([third]);
	});

	test("a place given by hand is used up by a start", async () => {
		const t = await open();
		const [a, b] = await addSome(t, 2);
		await t.sluice.promote(b!);
		expect(await t.start(1)).toEqual([b]);
		await t.end(b!, "preempted");
		await t.wait(SECOND);
		expect(await t.start()).toEqual([a, b]);
	});

	test("each is an event with who did it", async () => {
		const t = await open();
		const [a] = await addSome(t, 1);
		await t.sluice.promote(a!, { by: "ann" });
		await t.sluice.demote(a!, { by: "bob" });
		await t.sluice.priority(a!, 3, { by: "cem" });
		await t.sluice.runNow(a!, { by: "dan" });
		const events = (await t.sluice.history(a!)).filter((event) => event.kind !== "added");
		expect(events.map(({ kind, by }) => [kind, by])).toEqual([
			["promoted", "ann"],
			["demoted", "bob"],
			["prioritised", "cem"],
			["run_now", "dan"],
		]);
	});

	test("only a waiting job has a place in line", async () => {
		const t = await open();
		const [running] = await addSome(t, 1);
		await t.start();
		const ended = await t.done();
		for (const job of [running!, ended])
			for (const call of [t.sluice.promote(job), t.sluice.demote(job), t.sluice.priority(job, 1), t.sluice.runNow(job)])
				await expect(call).rejects.toMatchObject({ code: "illegal_transition" });
	});
});

describe("people", () => {
	test("approve lets a job go, reject cancels it", async () => {
		const t = await open();
		const [yes, no] = [await t.add({ requires_approval: true }), await t.add({ requires_approval: true })];
		expect(await t.start()).toEqual([]);
		await t.sluice.approve(yes, { by: "ann" });
		expect(await t.start()).toEqual([yes]);
		await t.sluice.reject(no, { by: "ann", reason: "too risky" });
		expect(await t.show(no)).toMatchObject({ status: "cancelled", end_reason: "too risky", exit_code: 143 });
		await expect(t.sluice.approve(yes)).rejects.toMatchObject({ code: "illegal_transition" });
	});

	test("a question frees the slot, burns nothing, and its answer is handed to the next run", async () => {
		const t = await open({ max_concurrent: 1 });
		const [job, next] = [await t.add({ agent: "claude", prompt: "go" }), await t.add()];
		await t.start();
		await t.end(job, "needs_human", { question: "Which branch?", session: "s-1" });
		expect((await t.show(job)).failures ?? 0).toBe(0);
		expect(await t.start()).toEqual([next]);
		await t.succeed(next);
		expect(await t.start()).toEqual([]);
		await t.sluice.answer(job, "main", { by: "ann" });
		const [claimed] = await t.sluice.claim({ worker: "w" });
		expect(claimed?.job).toMatchObject({ id: job, answer: "main", session: "s-1" });
		await expect(t.sluice.answer(job, "again")).rejects.toMatchObject({ code: "illegal_transition" });
	});

	test("cancel with its subtree takes children and dependents along", async () => {
		const t = await open();
		const root = await t.add();
		const child = await t.add({ parent: root });
		const behind = await t.add({ after: [root] });
		const further = await t.add({ after: [behind] });
		const other = await t.add();
		await t.sluice.runNow(child);
		await t.start(1);
		const { cancelled, requested } = await t.sluice.cancel(root, { subtree: true });
		expect(cancelled.sort((a, b) => a - b)).toEqual([root, behind, further]);
		expect(requested).toEqual([child]);
		expect(await t.start()).toEqual([other]);
	});

	test("cancelling a predecessor blocks those that wait for its success, and lets those go that wait for any end", async () => {
		const t = await open();
		const before = await t.add();
		const success = await t.add({ after: [before] });
		const any = await t.add({ after: [{ job: before, policy: "any" }] });
		await t.sluice.cancel(before);
		expect(await t.status(success)).toBe("blocked_by_dependency");
		expect(await t.start()).toEqual([any]);
	});

	test("what the table of moves does not have is refused, naming both states", async () => {
		const t = await open();
		const job = await t.done();
		await expect(t.sluice.cancel(job)).rejects.toMatchObject({
			code: "illegal_transition",
			message: expect.stringMatching(/succeeded.*cancel/),
		});
	});
});

describe("deadlines", () => {
	test("a job is never started at or after its deadline: it expires", async () => {
		const t = await open();
		const job = await t.add({ deadline: t.clock.now() + MINUTE });
		const behind = await t.add({ after: [job] });
		t.clock.pass(MINUTE);
		expect(await t.start()).toEqual([]);
		expect(await t.show(job)).toMatchObject({ status: "expired" });
		expect(await t.show(behind)).toMatchObject({
			status: "blocked_by_dependency",
			wait_reason: { detail: `dependency failed for job ${job} (expired)` },
		});
	});

	test("whatever else it waits for", async () => {
		const t = await open();
		const holder = await t.add({ locks: ["db"] });
		await t.start();
		const deadline = t.clock.now() + MINUTE;
		const jobs = [
			await t.add({ deadline, locks: ["db"] }),
			await t.add({ deadline, after: [holder] }),
			await t.add({ deadline, requires_approval: true }),
			await t.add({ deadline, needs: ["custom:doc:x"], on_missing: "wait" }),
		];
		await t.sluice.pause();
		jobs.push(await t.add({ deadline }));
		await t.wait(MINUTE);
		expect(await Promise.all(jobs.map((job) => t.status(job)))).toEqual(jobs.map(() => "expired"));
	});

	test("a run that has started in time may end after it", async () => {
		const t = await open();
		const job = await t.add({ deadline: t.clock.now() + MINUTE });
		await t.start();
		await t.wait(HOUR);
		await t.succeed(job);
		expect(await t.status(job)).toBe("succeeded");
	});

	test("a deadline before runnable_at is refused", async () => {
		const t = await open();
		const at = t.clock.now() + HOUR;
		await expect(t.add({ runnable_at: at, deadline: at - 1 })).rejects.toMatchObject({ code: "invalid", field: "deadline" });
		await t.add({ runnable_at: at, deadline: at });
	});
});

describe("outside workers", () => {
	test("a payload job whose worker is silent for longer than its lease is lost, and fenced off", async () => {
		const t = await open({ lease_ms: 60_000 });
		const job = await t.add({ payload: { n: 1 }, retry: { max: 1, base_ms: 0 } });
		await t.start();
		const stale = t.run(job);
		await t.wait(50 * SECOND);
		expect(await t.sluice.extend(stale)).toEqual({ cancel_requested: false, lease_until: t.clock.now() + MINUTE });
		await t.wait(59 * SECOND);
		expect(await t.status(job)).toBe("running");
		await t.wait(SECOND);
		expect(await t.show(job)).toMatchObject({ status: "queued", failures: 1 });
		expect(await t.start()).toEqual([job]);
		await expect(t.sluice.complete({ ...stale, exit_kind: "completed" })).rejects.toMatchObject({ code: "fenced" });
		await t.succeed(job);
		expect(await t.show(job)).toMatchObject({ status: "succeeded", attempt: 2 });
	});

	test("a run is ended once: the second time is refused", async () => {
		const t = await open();
		const job = await t.add();
		await t.start();
		const run = t.run(job);
		await t.succeed(job);
		await expect(t.sluice.complete({ ...run, exit_kind: "failed" })).rejects.toMatchObject({ code: "fenced" });
		expect(await t.status(job)).toBe("succeeded");
	});

	test("a job whose command runs on a host has no lease: only its host tells", async () => {
		const t = await open({ lease_ms: 60_000 });
		const job = await t.add();
		await t.start();
		await t.wait(24 * HOUR);
		expect(await t.status(job)).toBe("running");
	});
});

describe("whoever runs the processes", () => {
	test("a stop that is on record decides how the run ends, and the first one counts", async () => {
		const t = await open({ retry: 1 });
		const id = await t.add();
		await t.start();
		await t.sluice.stop(t.run(id), { kind: "timeout", reason: "ran longer than 1m" });
		await t.sluice.stop(t.run(id), { kind: "drained", reason: "going down" });
		await t.end(id, "completed", { exit_code: 0 });
		expect(await t.sluice.show(id)).toMatchObject({ status: "queued", exit_kind: "timeout", failures: 1 });
	});

	test("a host is told which live runs are its own", async () => {
		const t = await open();
		const [a, b] = await addSome(t, 3);
		await t.start(2, { host: "local" });
		await t.sluice.stop(t.run(b!), { kind: "stalled", reason: "silent" });
		const mine = await t.sluice.assigned();
		expect(mine.map((one) => [one.job.id, one.run.intent?.kind, one.spec.command])).toEqual([
			[a, undefined, ["true"]],
			[b, "stalled", ["true"]],
		]);
		expect(await t.sluice.assigned("elsewhere")).toEqual([]);
	});

	test("a stop with an overtaken token is refused", async () => {
		const t = await open();
		const id = await t.add();
		await t.start();
		const run = t.run(id);
		await t.succeed(id);
		await expect(t.sluice.stop(run, { kind: "timeout", reason: "late" })).rejects.toMatchObject({ code: "fenced" });
	});

	test("watch tells of what was committed, until it is ended", async () => {
		const t = await open();
		const heard: string[] = [];
		const unwatch = t.sluice.watch((news) => heard.push(...news.events.map((event) => event.kind)));
		const id = await t.add();
		await t.start();
		expect(heard).toEqual(["added", "started"]);
		unwatch();
		await t.succeed(id);
		expect(heard).toEqual(["added", "started"]);
	});
});
