// Acting on all jobs of a batch, as a caller sees it.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

test("cancel ends all waiting jobs, including successors, and asks running ones to stop; retry puts all of them back", async () => {
	const desk = await openDesk({ config: { max_concurrent: 1 } });
	const runs = await desk.t.add({ batch: "night" });
	await desk.t.start();
	const first = await desk.t.add({ batch: "night" });
	const after = await desk.t.add({ batch: "night", after: [first] });
	const stays = await desk.t.add({});
	expect(await desk.call("batch.cancel", { name: "night", reason: "late" })).toEqual({
		schema_version: 1,
		cancelled: [first, after],
		requested: [runs],
	});
	expect(await desk.t.status(after)).toBe("cancelled");
	expect(await desk.t.status(stays)).toBe("queued");
	// A running job is not retried.
	expect(await desk.call("batch.retry", { name: "night" })).toEqual({
		schema_version: 1,
		reset: [first, after],
		restarted: [],
		skipped: [],
	});
	expect(await desk.refused("batch.retry", { name: "nigth" })).toMatchObject({ data: { code: "not_found" } });
});

test("retries a batch of any size in pieces that share their successors", async () => {
	const desk = await openDesk();
	const parts = Array.from({ length: 600 }, (_, n) => ({ name: `part-${n}`, command: ["true"] }));
	const last = { name: "last", command: ["true"], after: parts.map(({ name }) => name) };
	const { jobs } = await desk.call("job.apply", { manifest: { batch: "many", jobs: [...parts, last] } });
	expect((await desk.call("batch.cancel", { name: "many" })).cancelled).toHaveLength(601);
	const { reset, skipped } = await desk.call("batch.retry", { name: "many" });
	expect([[...reset].sort((a, b) => a - b), skipped]).toEqual([jobs, []]);
	expect(await desk.call("batch.list", {})).toMatchObject({ batches: [{ name: "many", open: 601, total: 601 }] });
});
