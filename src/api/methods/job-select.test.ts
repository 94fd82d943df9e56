// job.select, and methods that take several jobs.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";
import { HOUR } from "../../../test/make/fakes.ts";

const config = { lanes: { default: {}, slow: {} }, max_concurrent: 10 };

test("each key of the filter, alone and together", async () => {
	const desk = await openDesk({ config });
	const { t } = desk;
	const failed = await t.done({ owner: "ann", lane: "slow" }, "failed");
	t.clock.pass(2 * HOUR);
	const late = await t.done({ owner: "bo", batch: "b" }, "failed");
	const held = await t.add({ hold: true, owner: "ann", name: "one", command: ["say", "hello"] });
	const asks = await t.add({ requires_approval: true, agent: "claude", prompt: "do it", model: "opus" });
	const runs = await t.add({ lane: "slow" });
	await t.start();
	const select = async (filter: object) => (await desk.call("job.select", { filter })).ids;
	expect(await select({})).toEqual([held, asks, runs]);
	expect(await select({ all: true })).toEqual([failed, late, held, asks, runs]);
	expect(await select({ status: ["failed", "running"] })).toEqual([failed, late, runs]);
	expect(await select({ status: ["failed"], since: t.clock.now() - HOUR })).toEqual([late]);
	expect(await select({ since: t.clock.now() - 3 * HOUR })).toEqual([failed, late]);
	expect(await select({ lane: "slow" })).toEqual([runs]);
	expect(await select({ batch: "b", all: true })).toEqual([late]);
	expect(await select({ owner: "ann", all: true })).toEqual([failed, held]);
	expect(await select({ agent: "claude" })).toEqual([asks]);
	expect(await select({ model: "opus" })).toEqual([asks]);
	expect(await select({ host: "nowhere", all: true })).toEqual([]);
	expect(await select({ text: "HELLO say" })).toEqual([held]);
	expect(await select({ held: true })).toEqual([held]);
	expect(await select({ asks: true, owner: "ann" })).toEqual([]);
	expect(await desk.call("job.select", { filter: { all: true }, limit: 2 })).toMatchObject({ ids: [failed, late], total: 5 });
	expect(await desk.refused("job.select", { filter: { lane: "nope" } })).toMatchObject({ data: { code: "not_found", field: "lane" } });
	expect(await desk.refused("job.select", { filter: { lanes: "slow" } })).toMatchObject({ data: { code: "unknown_key" } });
	expect(await desk.refused("job.select", {})).toMatchObject({ data: { field: "filter" } });
});

test("promote, demote, approve and retry of several", async () => {
	const desk = await openDesk({ config });
	const { t } = desk;
	const ended = [await t.done({}, "failed"), await t.done({}, "failed"), await t.done()];
	const [one, two, three] = [await t.add({ requires_approval: true }), await t.add(), await t.add()];
	expect(await desk.call("job.promote", { ids: [three, one] })).toMatchObject({ job: { id: three }, done: [three, one], refused: [] });
	const rank = async (id: number) => (await t.show(id)).rank ?? 0;
	expect((await rank(three)) > (await rank(one)) && (await rank(one)) > (await rank(two))).toBe(true);
	expect(await desk.call("job.demote", { ids: [one, ended[0] ?? 0] })).toMatchObject({ done: [one], refused: [{ job: ended[0] }] });
	expect(await desk.call("job.approve", { ids: [two, one] })).toMatchObject({ job: { id: one }, done: [one], refused: [{ job: two }] });
	expect(await desk.refused("job.approve", { ids: [two] })).toMatchObject({ data: { code: "illegal_transition" } });
	expect(await desk.call("job.promote", { id: two })).toMatchObject({ job: { id: two }, done: [two] });
	expect(await desk.refused("job.promote", {})).toMatchObject({ data: { field: "id" } });
	expect(await desk.call("job.retry", { ids: ended.slice(0, 2) })).toMatchObject({ reset: ended.slice(0, 2), skipped: [] });
});
