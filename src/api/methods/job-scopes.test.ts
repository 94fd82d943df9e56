// Jobs by scope: waiting for a batch or a lane, unknown names, the number of recent failures.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

test("job.wait for a batch, a lane, everything", async () => {
	const desk = await openDesk({ config: { lanes: { default: {}, code: {} } } });
	for (const more of [{ batch: "night" }, { batch: "night", lane: "code" }, {}]) await desk.t.add(more);
	await desk.t.start(1);
	await desk.t.succeed(1);
	const ids = async (params: object) => (await desk.call("job.wait", { ...params, timeout_ms: 0 })).jobs.map(({ id }) => id);
	expect(await ids({ batch: "night" })).toEqual([1, 2]);
	expect(await ids({ lane: "code" })).toEqual([2]);
	expect(await ids({ all: true })).toEqual([2, 3]);
	for (const params of [{}, { ids: [1], all: true }, { lane: "code", batch: "night" }])
		expect(await desk.refused("job.wait", params)).toMatchObject({ code: -32602, data: { field: "ids" } });
	expect(await desk.refused("job.wait", { lane: "cod" })).toMatchObject({
		code: -32004,
		data: { field: "lane", hint: 'did you mean "code"?' },
	});
	const waiting = desk.call("job.wait", { batch: "night" });
	await desk.t.start(2);
	await desk.t.end(2, "failed", { exit_code: 1 });
	expect(await waiting).toMatchObject({
		done: true,
		jobs: [
			{ id: 1, status: "succeeded" },
			{ id: 2, status: "failed" },
		],
	});
});

test("for a batch that is run again, the newest job of each name counts", async () => {
	const desk = await openDesk();
	const [first] = [await desk.t.add({ batch: "night", name: "build" }), await desk.t.add({ batch: "night" })];
	for (const id of [first, 2]) {
		await desk.t.start(id);
		await desk.t.end(id, "failed", { exit_code: 1 });
	}
	const second = await desk.t.add({ batch: "night", name: "build" });
	const { jobs } = await desk.call("job.wait", { batch: "night", timeout_ms: 0 });
	expect(jobs.map(({ id }) => id)).toEqual([2, second]);
});

test("status counts jobs that ended badly in the last day, until they are retried", async () => {
	const desk = await openDesk();
	for (const name of ["a", "b", "c", "d"]) await desk.t.add({ name, retry: 0 });
	await desk.t.add({ name: "e", after: ["a"] });
	await desk.t.start();
	for (const id of [1, 2]) await desk.t.end(id, "failed", { exit_code: 1 });
	await desk.t.succeed(3);
	const counts = async () => {
		const { failed, blocked_by_dependency } = (await desk.call("scheduler.status", {})).recent_failures ?? {};
		return [failed, blocked_by_dependency];
	};
	expect(await counts()).toEqual([2, 1]);
	await desk.call("job.rerun", { id: 2 });
	expect(await counts()).toEqual([1, 1]);
	desk.t.clock.pass(86_400_001);
	expect(await counts()).toEqual([0, 0]);
});

test("a filter by an unknown name is refused, like a pause of it", async () => {
	const desk = await openDesk({ config: { lanes: { default: {}, code: {} } } });
	await desk.t.add({ batch: "night" });
	for (const [params, field] of [
		[{ lane: "nope" }, "lane"],
		[{ repo: "nope" }, "repo"],
		[{ batch: "nope" }, "batch"],
	] as const)
		expect(await desk.refused("job.list", params)).toMatchObject({ code: -32004, data: { code: "not_found", field } });
	expect((await desk.call("job.list", { lane: "code" })).jobs).toEqual([]);
	expect((await desk.call("job.list", { batch: "night" })).jobs).toHaveLength(1);
});
