// Cancelling several jobs: none of them starts, however many there are and whichever host claims meanwhile.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../../../test/make/folder.ts";
import { openStand } from "../../../../test/make/stand.ts";

const claim = (max = 100) => ({ worker: "w", max, kinds: ["command" as const] });

/** One slot and `count` jobs, the first of which runs; a worker claims whenever a job may have become startable. */
async function busy(count: number, piece?: number) {
	const t = await openStand({ config: { max_concurrent: 1 }, ...(piece === undefined ? {} : { piece }) });
	const ids: number[] = [];
	for (let n = 0; n < count; n++) ids.push(await t.add({}));
	const [first] = await t.sluice.claim(claim());
	const claims: Promise<unknown>[] = [];
	const started = new Set<number>();
	const off = t.sluice.watch(({ stirred, events }) => {
		for (const { kind, job } of events) if (kind === "started" && job !== null) started.add(job);
		if (stirred) claims.push(t.sluice.claim(claim()));
	});
	const rest = () => {
		off();
		return Promise.all(claims);
	};
	return { t, ids, first, started, rest };
}

describe("cancelAll", () => {
	test("of a running job and the jobs behind it starts none of them", async () => {
		const { t, ids, first, started, rest } = await busy(12);
		const cancelling = t.sluice.cancelAll(ids);
		// The run ends as soon as it is asked to stop: its slot is free while the call is still under way.
		const ending = t.sluice.complete({ job: ids[0] as number, token: first?.run.token as number, exit_kind: "cancelled" });
		expect(await cancelling).toEqual({ cancelled: ids.slice(1), requested: [ids[0]], ended: [], refused: [] });
		await ending;
		await rest();
		expect([...started]).toEqual([]);
		expect((await t.sluice.list({ all: true })).map(({ status, attempt }) => `${status} ${attempt}`)).toEqual([
			"cancelled 1",
			...Array.from({ length: 11 }, () => "cancelled 0"),
		]);
		await t.sluice.close();
	});

	test("of more jobs than fit into one transaction starts none of them either; jobs behind them start afterwards", async () => {
		const { t, ids, first, started, rest } = await busy(5001);
		const other = await t.add({ priority: -5 });
		const cancelling = t.sluice.cancelAll(ids);
		await t.sluice.complete({ job: ids[0] as number, token: first?.run.token as number, exit_kind: "cancelled" });
		const report = await cancelling;
		expect(report.cancelled).toHaveLength(5000);
		await t.sluice.tick();
		await rest();
		await t.sluice.claim(claim());
		expect([...started].filter((id) => id !== other)).toEqual([]);
		expect(await t.status(other)).toBe("running");
		await t.sluice.close();
	});

	test("continues after the process died between two pieces", async () => {
		const path = join(makeFolder(), "store.db");
		let left = Number.POSITIVE_INFINITY;
		const fault = (point: string) => {
			if (point === "begin" && left-- <= 0) throw new Error("the process dies here");
		};
		const t = await openStand({ path, config: { max_concurrent: 1 }, piece: 3, fault });
		const ids: number[] = [];
		for (let n = 0; n < 30; n++) ids.push(await t.add({}));
		await t.start();
		left = 1;
		await expect(t.sluice.cancelAll(ids, { by: "anna", reason: "wrong branch" })).rejects.toThrow("dies here");
		left = Number.POSITIVE_INFINITY;
		const again = await t.reopen({ fault: () => {} });
		for (const [id, run] of t.runs) again.runs.set(id, run);
		await again.end(ids[0] as number, "cancelled");
		expect(await again.start()).toEqual([]);
		await again.sluice.tick();
		expect(await again.start()).toEqual([]);
		const jobs = await again.sluice.list({ all: true });
		expect(new Set(jobs.map(({ status, end_reason, attempt }) => `${status} ${attempt}: ${end_reason}`))).toEqual(
			new Set(["cancelled 1: wrong branch", "cancelled 0: wrong branch"]),
		);
		expect((await again.sluice.history(ids[20] as number)).at(-1)).toMatchObject({ kind: "ended", by: "anna" });
	});

	test("also cancels a dependent of another cancelled job, and names the jobs that had ended before", async () => {
		const t = await openStand({});
		const a = await t.add({ runnable_at: "2099-01-01T00:00:00Z" });
		const b = await t.add({ after: [a] });
		const c = await t.add({});
		await t.sluice.cancel(c);
		const report = await t.sluice.cancelAll([a, b, c]);
		expect(report).toMatchObject({ cancelled: [a, b], requested: [], ended: [], refused: [{ job: c, code: "illegal_transition" }] });
		await t.sluice.close();
	});
});
