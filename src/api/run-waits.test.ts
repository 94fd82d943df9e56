// job.wait with a run's token: the slot is lent from call to call, and taken back when the run no longer asks.

import { expect, test } from "vitest";
import { until } from "../../test/make/daemons/daemon.ts";
import { type Desk, openDesk } from "../../test/make/daemons/served.ts";
import type { Caller } from "./context.ts";

const asRun = (job: number, token: number): Caller => ({ role: "run", by: `run:${job}.1`, channel: "socket", job, token });
const lending = async (desk: Desk) => (await desk.call("scheduler.status", {})).lending;

async function withChild(child = {}): Promise<{ desk: Desk; run: Caller; parent: number; child: number }> {
	const desk = await openDesk({ config: { max_concurrent: 1 } });
	const parent = await desk.t.add({});
	await desk.t.start();
	const run = asRun(parent, desk.t.run(parent).token);
	return { desk, run, parent, child: await desk.t.add({ parent, ...child }) };
}

test("after a call that times out the slot stays lent for the next call, and is then taken back", async () => {
	const { desk, run, child } = await withChild();
	expect(await desk.call("job.wait", { ids: [child], timeout_ms: 0 }, run)).toMatchObject({ done: false });
	expect(await lending(desk)).toBe(1);
	expect(await desk.call("job.wait", { ids: [child], timeout_ms: 0 }, run)).toMatchObject({ done: false });
	await until(async () => (await lending(desk)) === 0);
	const kinds = (await desk.call("job.history", { id: 1 })).events.map(({ kind }) => kind);
	expect(kinds.filter((kind) => kind.startsWith("wait"))).toEqual(["wait_began", "wait_ended"]);
});

test("two calls for the same jobs share a wait, which ends with the last job", async () => {
	const { desk, run, child } = await withChild();
	const both = [desk.call("job.wait", { ids: [child] }, run), desk.call("job.wait", { ids: [child] }, run)];
	await until(async () => (await lending(desk)) === 1);
	expect(await desk.t.start()).toEqual([child]);
	await desk.t.succeed(child);
	expect(await Promise.all(both)).toMatchObject([{ done: true }, { done: true }]);
	expect(await lending(desk)).toBe(0);
});

test("a wait for a job that can end only after the run is refused, and other callers lend no slot", async () => {
	const { desk, run, parent, child } = await withChild({ parent_gate: "success" });
	expect(await desk.refused("job.wait", { ids: [child] }, run)).toMatchObject({
		message: `job ${parent} cannot wait for job ${child}: job ${child} comes after job ${parent}`,
		data: { code: "conflict", hint: expect.stringContaining("--parent-gate none") },
	});
	expect(await desk.call("job.wait", { ids: [child], timeout_ms: 0 })).toMatchObject({ done: false });
	expect(await lending(desk)).toBe(0);
});
