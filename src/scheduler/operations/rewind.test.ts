// Rewinding several jobs at once: the same as one after the other, except that a job downstream of two of them is reset once.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openStand, type Stand } from "../../../test/make/stand.ts";

/** Jobs that come after some of the jobs before them, all of them ended: cancelled, or blocked by a cancelled one. */
async function cancelled(shape: readonly (readonly number[])[]): Promise<{ t: Stand; ids: number[] }> {
	const t = await openStand();
	const ids: number[] = [];
	for (const after of shape) ids.push(await t.add({ after: [...new Set(after)].map((n) => ids[n] as number), batch: "b" }));
	await t.sluice.clear();
	return { t, ids };
}
const states = async (t: Stand) =>
	(await t.sluice.list({ all: true })).map(({ id, status, wait_reason, attempt }) => ({ id, status, why: wait_reason?.detail, attempt }));

describe("retryAll", () => {
	test("leaves all jobs as one retry after the other does", async () => {
		const graph = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 12 });
		await fc.assert(
			fc.asyncProperty(graph, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), async (drawn, chosen) => {
				const shape = drawn.map((some, index) => (index === 0 ? [] : some.map((n) => n % index)));
				const [one, other] = [await cancelled(shape), await cancelled(shape)];
				const roots = chosen.map((n) => one.ids[n % one.ids.length] as number);
				const reset = new Set<number>();
				for (const id of roots) for (const each of (await one.t.sluice.retry(id)).reset) reset.add(each);
				const report = await other.t.sluice.retryAll(roots);
				expect(report).toEqual({ reset: [...reset].sort((a, b) => a - b), restarted: [], skipped: [] });
				expect(await states(other.t)).toEqual(await states(one.t));
				expect(await other.t.sluice.batches()).toEqual(await one.t.sluice.batches());
				await one.t.sluice.close();
				await other.t.sluice.close();
			}),
			{ numRuns: 40 },
		);
	});

	test("a job downstream of two roots is reset once, and listed in the event of the first root only", async () => {
		const { t, ids } = await cancelled([[], [], [0, 1]]);
		const [a, b, last] = ids as [number, number, number];
		expect((await t.sluice.retryAll([a, b, a])).reset).toEqual([a, b, last]);
		const events = await t.events();
		expect(events.filter(({ kind, job }) => kind === "reset" && job === last)).toHaveLength(1);
		expect(events.filter((event) => event.kind === "rewound").map(({ job, data }) => [job, data.reset])).toEqual([
			[a, [a, last]],
			[b, [b]],
		]);
		expect(await t.sluice.batches()).toEqual([{ name: "b", open: 3, total: 3, owned: false }]);
	});

	test("a job that cannot be rewound is skipped with the reason; the rest is put back", async () => {
		const t = await openStand();
		const [one, two] = [await t.add(), await t.add()];
		const runs = await t.add({ after: [{ job: two, policy: "any" }] });
		const first = await t.add({ item: "A" });
		await t.sluice.cancel(first);
		const other = await t.add({ item: "A" });
		for (const id of [one, two, other]) await t.sluice.cancel(id);
		await t.start();
		const report = await t.sluice.retryAll([one, two, 4711, first, other]);
		expect(report.reset).toEqual([one, first]);
		expect(report.skipped).toEqual([
			{ job: two, reason: `cannot rewind job ${two}: ${runs} is running` },
			{ job: 4711, reason: "there is no job 4711" },
			{ job: other, reason: `item inline:A belongs to job ${first} now` },
		]);
		expect(await t.status(two)).toBe("cancelled");
	});
});
