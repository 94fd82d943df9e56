// job.preview says what job.add would say to the same parameters, and when the job would start; nothing is added.

import { expect, test } from "vitest";
import { openDesk } from "../../../../test/make/daemons/served.ts";
import { systemClock } from "../../../host/local.ts";

const CONFIG = { max_concurrent: 1, lanes: { code: {}, urgent: { priority: 100 }, docs: {} } };

test("the refusals of add, each with its field; nothing is added", async () => {
	const desk = await openDesk({ config: CONFIG });
	const { t } = desk;
	await t.add({ name: "taken" });
	const command = ["true"];
	/** The field that it is refused for. */
	const refused = (input: object) =>
		desk.call("job.preview", input).then(
			() => null,
			({ message }: Error) => /"field":"(\w+)/.exec(message)?.[1],
		);
	expect(await refused({ command, lane: "cod" })).toBe("lane");
	expect(await refused({ command, name: "x", lane: "cod" })).toBe("lane");
	expect(await refused({ command, after: ["nothing"] })).toBe("after");
	expect(await refused({ command, name: "taken" })).toBe("name");
	expect(await refused({ command, timeout: "soon" })).toBe("timeout");
	expect(await refused({})).toBe("command");
	expect((await desk.call("job.list", { all: true })).jobs).toHaveLength(1);
});

test("the start is that of the simulated queue with the job at its place in it", async () => {
	const desk = await openDesk({ config: CONFIG });
	const { t } = desk;
	t.clock.pass(systemClock.now() - t.clock.now());
	const command = ["true"];
	expect(await desk.call("job.preview", { command })).toMatchObject({ start: null, stuck: "no finished run to estimate from", jobs: 1 });
	for (let n = 0; n < 6; n++) {
		const id = await t.add({ lane: "code" });
		await t.start();
		t.clock.pass(60_000);
		await t.end(id, "completed");
	}
	const running = await t.add({ lane: "code" });
	await t.start();
	for (let n = 0; n < 3; n++) await t.add({ lane: "code" });
	const minutes = async (input: object) => {
		const { start, ahead, stuck } = await desk.call("job.preview", { command, ...input });
		return [start === null ? stuck : Math.round((Date.parse(start.p50) - t.clock.now()) / 60_000), ahead];
	};
	expect(await minutes({ lane: "code" })).toEqual([4, 3]);
	expect(await minutes({ lane: "urgent" })).toEqual([1, 0]);
	expect(await minutes({ lane: "code", after: [running] })).toEqual([4, 3]);
	expect((await minutes({ lane: "code", requires_approval: true }))[0]).toMatch(/approv/);
	await t.sluice.pause({ lane: "docs" });
	expect((await minutes({ lane: "docs" }))[0]).toMatch(/paused/);
	expect((await desk.call("job.list", {})).jobs).toHaveLength(4);
});

test("what such jobs cost comes from the rollups", async () => {
	const desk = await openDesk({ config: CONFIG });
	const { t } = desk;
	t.clock.pass(systemClock.now() - t.clock.now());
	for (const cost_micro of [1_000_000, 1_400_000]) {
		const added = await t.sluice.add({ agent: "claude", prompt: "do", lane: "code" });
		const id = added.outcome === "queued" ? added.job.id : 0;
		await t.start();
		await t.end(id, "completed", { usage: { cost_micro } });
	}
	const { cost } = await desk.call("job.preview", { agent: "claude", prompt: "more", lane: "docs" });
	expect(cost).toEqual({ micro: 1_200_000, jobs: 2, of: "agent claude" });
	expect((await desk.call("job.preview", { command: ["true"], lane: "code" })).cost).toBeNull();
});
