// What runs report about themselves (verdicts, results), and which results the next job is given.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand } from "../../../test/make/stand.ts";

const refusal = (call: Promise<unknown>) =>
	call.then(
		() => "accepted",
		(error: { code: string; message: string }) => `${error.code}: ${error.message}`,
	);

describe("a verdict", () => {
	test("of `fail` fails the job with its text and blocks its dependents", async () => {
		const t = await openStand();
		const review = await t.add({ name: "review" });
		const merge = await t.add({ after: ["review"] });
		await t.start();
		expect(await t.sluice.verdict(t.run(review), { verdict: "fail", text: "it deletes\nall users" })).toMatchObject({ verdict: "fail" });
		expect(await t.show(review)).toMatchObject({ status: "running", run: { verdict: { verdict: "fail", text: "it deletes\nall users" } } });
		await t.succeed(review);
		expect(await t.show(review)).toMatchObject({
			status: "failed",
			exit_kind: "failed",
			exit_code: 1,
			raw_exit_code: 0,
			end_reason: "it deletes all users",
			last_failure: "it deletes all users",
			verdict: { verdict: "fail", text: "it deletes\nall users" },
		});
		expect(await t.status(merge)).toBe("blocked_by_dependency");
		expect((await t.sluice.history(review)).map(({ kind }) => kind)).toEqual(["added", "started", "verdict", "ended"]);
	});

	test("replaces the one before: `ok` takes back `fail`", async () => {
		const t = await openStand();
		const id = await t.add();
		await t.start();
		for (const one of [{ verdict: "fail", text: "no" }, { verdict: "ask", text: "or?" }, { verdict: "ok" }] as const)
			await t.sluice.verdict(t.run(id), one);
		await t.succeed(id);
		expect(await t.show(id)).toMatchObject({ status: "succeeded", verdict: { verdict: "ok", text: "" } });
	});

	test("of `ask` waits for a person; the attempt that the answer begins has no verdict", async () => {
		const t = await openStand();
		const id = await t.add({ agent: "claude", prompt: "hi" });
		await t.start();
		await t.sluice.verdict(t.run(id), { verdict: "ask", text: "which?" });
		await t.sluice.result(t.run(id), { so: "far" });
		await t.end(id, "completed", { exit_code: 0, session: "s1" });
		expect(await t.show(id)).toMatchObject({ status: "queued", question: "which?", verdict: { verdict: "ask" }, result: '{"so":"far"}' });
		await t.sluice.answer(id, "that one");
		await t.start();
		const running = await t.show(id);
		expect(running.run?.verdict).toBeUndefined();
		// The session goes on, so the agent need not report its result again.
		expect(running.result).toBe('{"so":"far"}');
		await t.succeed(id);
		expect((await t.show(id)).verdict).toBeUndefined();
		expect(await t.status(id)).toBe("succeeded");
	});

	test("of an interrupted run still counts when its session is resumed, not when the job starts afresh", async () => {
		const t = await openStand();
		const [one, other] = [await t.add({ agent: "claude", prompt: "hi" }), await t.add()];
		await t.start();
		for (const id of [one, other]) {
			await t.sluice.verdict(t.run(id), { verdict: "fail", text: "no" });
			await t.sluice.result(t.run(id), 7);
		}
		await t.end(one, "drained", { session: "s1" });
		await t.end(other, "drained");
		await t.start();
		for (const id of [one, other]) await t.succeed(id);
		expect(await t.show(one)).toMatchObject({ status: "failed", end_reason: "no", result: "7" });
		expect(await t.show(other)).toMatchObject({ status: "succeeded" });
		expect((await t.show(other)).result).toBeUndefined();
	});

	test("of an older attempt, or of a run that has ended, is refused", async () => {
		const t = await openStand({ config: { retry: { max: 1, base_ms: 0 } } });
		const id = await t.add();
		await t.start();
		const first = t.run(id);
		await t.fail(id);
		expect(await refusal(t.sluice.verdict(first, { verdict: "fail", text: "no" }))).toMatch(/^fenced: /);
		await t.wait(1);
		await t.start();
		expect(await refusal(t.sluice.verdict(first, { verdict: "fail", text: "no" }))).toMatch(/^fenced: job 1 is running in attempt 2/);
		expect(await refusal(t.sluice.result(first, 1))).toMatch(/^fenced: /);
		await t.succeed(id);
		expect(await t.status(id)).toBe("succeeded");
	});

	test("of `fail` is never retried, whatever the job's retry policy", async () => {
		const t = await openStand({ preset: "cards" });
		const [plain, own] = [await t.add(), await t.add({ retry: { max: 2, on: ["failed"] } })];
		for (const id of [plain, own]) {
			await t.start();
			await t.sluice.verdict(t.run(id), { verdict: "fail", text: "no" });
			await t.succeed(id);
		}
		expect(await t.show(plain)).toMatchObject({ status: "failed", attempt: 1, end_reason: "no" });
		expect(await t.show(own)).toMatchObject({ status: "failed", attempt: 1, end_reason: "no" });
	});
});

describe("a result", () => {
	test("is recorded before the call returns, stays when the job has ended, and is deleted by a rewind", async () => {
		const path = join(makeFolder(), "sluice.db");
		let t = await openStand({ path });
		const id = await t.add({ name: "plan" });
		await t.start();
		const run = t.run(id);
		expect(await t.sluice.result(run, { a: 1 })).toEqual({ bytes: 7 });
		expect(await t.sluice.result(run, ["last"])).toEqual({ bytes: 8 });
		await t.sluice.verdict(run, { verdict: "ok", text: "fine" });
		t = await t.reopen();
		expect(await t.show(id)).toMatchObject({ result: '["last"]', run: { verdict: { verdict: "ok", text: "fine" } } });
		await t.sluice.complete({ ...run, exit_kind: "completed", exit_code: 0 });
		t = await t.reopen();
		expect(await t.show(id)).toMatchObject({ status: "succeeded", result: '["last"]', verdict: { verdict: "ok", text: "fine" } });
		await t.sluice.retry(id);
		const again = await t.show(id);
		expect([again.result, again.verdict]).toEqual([undefined, undefined]);
	});

	test("of a failed attempt stays until the next one begins", async () => {
		const t = await openStand({ config: { retry: { max: 1, base_ms: 0 } } });
		const id = await t.add();
		await t.start();
		await t.sluice.result(t.run(id), 1);
		await t.fail(id);
		expect((await t.show(id)).result).toBe("1");
		await t.wait(1);
		await t.start();
		expect((await t.show(id)).result).toBeUndefined();
	});

	test("stays when a crashed run's session is resumed, and is deleted otherwise", async () => {
		const t = await openStand({ config: { agent_retry: { max: 5, base_ms: 0, on: ["crashed"] } } });
		const id = await t.add({ agent: "claude", prompt: "plan it" });
		for (const [goes_on, left] of [
			[true, "1"],
			[false, undefined],
		] as const) {
			await t.start();
			await t.sluice.result(t.run(id), 1);
			await t.sluice.complete({ ...t.run(id), exit_kind: "crashed", exit_code: 1, session: "s1", goes_on });
			await t.wait(1);
			await t.start();
			expect((await t.show(id)).result).toBe(left);
			await t.sluice.complete({ ...t.run(id), exit_kind: "drained" });
		}
	});

	test("that is too large is refused, with what to do", async () => {
		const t = await openStand();
		const id = await t.add();
		await t.start();
		expect(await refusal(t.sluice.result(t.run(id), "x".repeat(70_000)))).toBe(
			"limit: result: is 70002 bytes of JSON; the limit is 65536 (64 KiB)",
		);
		expect(await t.sluice.verdict(t.run(id), { verdict: "fail" })).toMatchObject({ verdict: "fail", text: "no reason given" });
	});
});

describe("a result that a prompt asks for", () => {
	const ask = { agent: "claude", prompt: "take {{after.plan.result}} and {{after.2.result.n}}, not \\{{after.other.result}}" };

	test("is given to the run when it starts; a missing one is recorded", async () => {
		const t = await openStand();
		const plan = await t.add({ name: "plan" });
		const numbered = await t.add();
		const third = await t.add();
		const id = await t.add({ ...ask, after: ["plan", numbered, third] });
		expect((await t.sluice.why(id)).results).toEqual([
			{ job: plan, name: "plan", status: "queued", result: null },
			{ job: numbered, name: null, status: "queued", result: null },
		]);
		await t.start();
		await t.sluice.result(t.run(plan), "do it");
		for (const one of [plan, numbered, third]) await t.succeed(one);
		await t.start();
		expect(await t.sluice.takeResults(t.run(id))).toEqual([
			{ job: plan, name: "plan", status: "succeeded", result: '"do it"' },
			{ job: numbered, name: null, status: "succeeded", result: null },
		]);
		expect((await t.sluice.history(id)).at(-1)).toMatchObject({
			kind: "results_handed",
			data: { attempt: 1, of_jobs: [plan], missing_of_jobs: [numbered] },
		});
	});

	test("is checked when the job is added, also in a manifest", async () => {
		const t = await openStand();
		await t.add({ name: "plan" });
		expect(await refusal(t.tryAdd({ ...ask, after: ["plan"] }))).toBe(
			'invalid: prompt: {{after.2.result.n}}: this job does not come after "2"',
		);
		const jobs = [
			{ name: "draft", command: ["true"] },
			{ name: "use", agent: "claude", prompt: "{{after.darft.result}}", after: ["draft"] },
		];
		await expect(t.sluice.apply({ jobs })).rejects.toMatchObject({
			code: "invalid",
			field: "jobs[1].prompt",
			hint: expect.stringContaining("did you mean {{after.draft.result}}?"),
		});
		await t.sluice.apply({ jobs: [jobs[0] as object, { ...jobs[1], prompt: "{{after.draft.result}}" }] });
		// A prompt in the defaults is checked only for the jobs that use it.
		await t.sluice.apply({
			defaults: { agent: "claude", prompt: "{{after.base.result}}" },
			jobs: [
				{ name: "base", prompt: "x" },
				{ name: "more", after: ["base"] },
			],
		});
	});
});
