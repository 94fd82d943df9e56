// The queue as a list: its order, what each job waits for, counts of all jobs, what they cost.

import { describe, expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

describe("the queue", () => {
	test("in the order of the starts, also after a promote; full caps and holds are causes with their number of jobs", async () => {
		const t = await openStand({ config: { max_concurrent: 3, lanes: { code: { max: 1, priority: 5 }, docs: {}, slow: {} } } });
		await t.add({ lane: "code" });
		await t.start();
		const [one, two] = [await t.add({ lane: "docs" }), await t.add({ lane: "docs" })];
		const [full, held] = [await t.add({ lane: "code" }), await t.add({ lane: "slow" })];
		await t.sluice.pause({ lane: "slow" });
		const read = async () => {
			const { jobs, causes, ready } = await t.sluice.queue();
			return { ready, jobs: jobs.map(({ id, cause }) => [id, cause === null ? null : causes[cause]?.subject]) };
		};
		expect(await read()).toEqual({
			ready: 4,
			jobs: [
				[full, "lane:code"],
				[one, null],
				[two, null],
				[held, "lane:slow"],
			],
		});
		await t.sluice.promote(two);
		expect((await read()).jobs.map(([id]) => id)).toEqual([full, two, one, held]);
		const { causes } = await t.sluice.queue({ limit: 1 });
		expect(causes).toEqual([
			{ kind: "capacity", subject: "lane:code", detail: "lane code is full: 1 of 1 running", jobs: 1 },
			{ kind: "paused", subject: "lane:slow", detail: expect.stringContaining("lane slow paused"), jobs: 1 },
		]);
	});

	test("a full machine is the cause of what nothing else holds", async () => {
		const t = await openStand({ config: { max_concurrent: 1 } });
		await t.add();
		await t.start();
		await t.add();
		const { causes } = await t.sluice.queue();
		expect(causes).toEqual([{ kind: "capacity", subject: "all", detail: "max_concurrent is full: 1 of 1 running", jobs: 1 }]);
	});

	test("counts the jobs behind one that waits for a person, directly or through others", async () => {
		const t = await openStand();
		const asks = await t.add({ requires_approval: true });
		const next = await t.add({ after: [asks] });
		await t.add({ after: [next] });
		const gone = await t.add({ after: [next] });
		await t.sluice.cancel(gone);
		expect((await t.sluice.queue({ behind: [asks, next] })).behind).toEqual({ [asks]: 2, [next]: 1 });
	});
});

test("counts of all jobs by status, active and ended; what they cost since then", async () => {
	const t = await openStand();
	const done = await t.add();
	await t.start();
	await t.end(done, "completed", { usage: { cost_micro: 1_500_000 } });
	await t.add();
	expect(await t.sluice.counts()).toMatchObject({ queued: 1, running: 0, succeeded: 1, failed: 0 });
	expect(await t.sluice.spent(0)).toEqual({ cost_micro: 1_500_000, jobs: 1, complete: true });
	expect(await t.sluice.spent(t.clock.now() + 1)).toEqual({ cost_micro: 0, jobs: 0, complete: true });
});
