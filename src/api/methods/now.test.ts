// What the page's home is told: in one answer, in the order of the starts, with what can be done about each cause; and the search through all jobs.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";
import { systemClock } from "../../host/local.ts";

describe("scheduler.now", () => {
	test("what needs a person, what runs, what is next, what has ended, what it costs", async () => {
		const desk = await openDesk({ config: { max_concurrent: 1, lanes: { code: {}, docs: {} } } });
		const { t } = desk;
		// Only the scheduler's clock is a fake here.
		t.clock.pass(systemClock.now() - t.clock.now());
		const bad = await t.add({ name: "bad" });
		await t.start();
		await t.end(bad, "failed", { exit_code: 3, usage: { cost_micro: 250_000 } });
		const runs = await t.add({ name: "runs", lane: "code" });
		await t.start();
		desk.pretended.logs.set(`${runs}.1 both`, { text: "one\n412 passed\n", eof: true, ended: false });
		const asks = await t.add({ name: "careful", requires_approval: true, command: ["./deploy", "--prod"] });
		await t.add({ after: [asks] });
		const next = await t.add({ name: "next", lane: "code" });
		await t.add({ name: "held", lane: "docs" });
		await t.sluice.pause({ lane: "docs" });
		await t.sluice.grant("repo:app", "cost_micro", { limit: 2_000_000 });
		const now = await desk.call("scheduler.now", {});
		expect(now.needs_you).toMatchObject([{ asks: "approval", waiting: 1, job: { id: asks, command: ["./deploy", "--prod"] } }]);
		expect(now.running).toMatchObject([{ job: { id: runs, run: { progress: null } }, usual: null }]);
		expect(now.next.map(({ job, cause }) => [job.name, cause === null ? null : now.causes[cause]?.subject])).toEqual([
			["next", "all"],
			["held", "lane:docs"],
		]);
		expect(now.next[0]?.job.id).toBe(next);
		expect(now.causes).toMatchObject([
			{ subject: "all", jobs: 1, remedy: { act: "raise", subject: "all" } },
			{ subject: "lane:docs", jobs: 1, remedy: { act: "resume", subject: "lane:docs" } },
		]);
		expect(now.failed).toMatchObject([{ id: bad, status: "failed", exit_code: 3 }]);
		expect(now.counts).toMatchObject({ failed: 1, running: 1, queued: 3, waiting_on_deps: 1 });
		expect(now.money).toMatchObject({ today_micro: 250_000, hour_micro: 250_000, budgets: [{ subject: "repo:app", limit: 2_000_000 }] });
		expect(now.done).toMatchObject({ end: null });
	});

	test("a run costs on the day it ends, though its job goes on", async () => {
		const desk = await openDesk({ config: { max_concurrent: 1 } });
		const { t } = desk;
		t.clock.pass(systemClock.now() - t.clock.now());
		const job = await t.add({ retry: 3 });
		await t.start();
		await t.end(job, "failed", { usage: { cost_micro: 40_000 } });
		expect((await t.sluice.show(job)).status).toBe("queued");
		expect((await desk.call("scheduler.now", {})).money.today_micro).toBe(40_000);
	});
});

test("job.queue counts every job, and says what each of the first ones waits for", async () => {
	const desk = await openDesk({ config: { max_concurrent: 1 } });
	const { t } = desk;
	await t.add();
	await t.start();
	const [one, two] = [await t.add(), await t.add()];
	expect(await desk.call("job.queue", { limit: 1 })).toMatchObject({
		ready: 2,
		jobs: [{ id: one, cause: 0 }],
		causes: [{ kind: "capacity", subject: "all", jobs: 2, clears_at: null, remedy: { act: "raise" } }],
		counts: { queued: 2, running: 1 },
	});
	await t.sluice.promote(two);
	expect((await desk.call("job.queue", {})).jobs.map(({ id }) => id)).toEqual([two, one]);
});

test("job.search finds words of the prompt, the newest job first, and goes on below", async () => {
	const desk = await openDesk();
	const { t } = desk;
	const loop = { agent: "claude", prompt: "Fix the retry loop\nof uploads" };
	const [one, two] = [await t.add({ name: "a", ...loop }), await t.add({ name: "b", ...loop })];
	await t.add({ name: "other" });
	const found = async (text: string, more = {}) => (await desk.call("job.search", { text, ...more })).jobs.map(({ id }) => id);
	expect(await found("LOOP uploads")).toEqual([two, one]);
	expect(await found("loop", { before: two })).toEqual([one]);
	expect(await found(`#${one}`)).toEqual([one]);
	expect(await found("nothing of this")).toEqual([]);
	const first = await desk.call("job.search", { text: "loop", limit: 1, fields: ["id"] });
	expect(first).toMatchObject({ jobs: [{ id: two }], looked: two, complete: false });
	expect((await desk.call("job.search", { text: "loop" })).complete).toBe(true);
});
