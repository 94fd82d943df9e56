// job.freeze, job.thaw and job.signal: what is recorded, who is asked to send a signal, and what is refused.

import { expect, test } from "vitest";
import { openDesk } from "../../../test/make/daemons/served.ts";

const running = async () => {
	const desk = await openDesk();
	await desk.call("job.add", { command: ["make"], name: "build" });
	await desk.t.start();
	return desk;
};

test("freeze and thaw are in the document and the history", async () => {
	const desk = await running();
	expect(await desk.call("job.freeze", { ids: ["build"], reason: "hot" })).toMatchObject({ done: [1], refused: [] });
	const { job } = await desk.call("job.show", { id: 1 });
	expect(job.run).toMatchObject({ frozen: true, frozen_by: { by: "ann", reason: "hot", since: expect.stringMatching(/Z$/) } });
	expect(await desk.call("job.thaw", { ids: [1] })).toMatchObject({ done: [1] });
	expect((await desk.call("job.show", { id: 1 })).job.run).toMatchObject({ frozen: false, frozen_by: null });
	const { events } = await desk.call("job.history", { id: 1 });
	expect(events.filter(({ kind }) => kind === "frozen" || kind === "thawed")).toMatchObject([
		{ kind: "frozen", by: "ann", data: { attempt: 1, reason: "hot" } },
		{ kind: "thawed", data: { attempt: 1 } },
	]);
	expect(await desk.refused("job.thaw", { ids: [1] })).toMatchObject({ data: { hint: "if a pause froze it: sluice resume" } });
});

test("jobs that do not run, or run at an outside worker, are refused", async () => {
	const desk = await running();
	await desk.call("job.add", { command: ["make"], hold: true });
	await desk.call("job.add", { payload: {} });
	await desk.t.start();
	expect(await desk.refused("job.freeze", { ids: [2] })).toMatchObject({ data: { hint: "sluice hold 2 keeps it from starting" } });
	expect(await desk.refused("job.freeze", { ids: [3] })).toMatchObject({ message: expect.stringContaining("outside worker") });
	expect(await desk.refused("job.signal", { id: 2, signal: "HUP" })).toMatchObject({
		message: "job 2 is queued: only a running job can be signalled",
	});
	expect(await desk.refused("job.signal", { id: 3, signal: "HUP" })).toMatchObject({ message: expect.stringContaining("outside worker") });
	expect(await desk.call("job.freeze", { ids: [1, 2, 3] })).toMatchObject({ done: [1], refused: [{ job: 2 }, { job: 3 }] });
	expect(await desk.refused("job.hold", { ids: [1] })).toMatchObject({ data: { hint: expect.stringContaining("sluice freeze 1") } });
});

test("a signal goes to this host's run, else to the host that has it", async () => {
	const desk = await running();
	const { pretended, context } = desk;
	expect(await desk.refused("job.signal", { id: 1, signal: "HUP" })).toMatchObject({
		message: expect.stringContaining("has no process now"),
	});
	pretended.live.push({ run: "1.1", job: 1, pid: 5, since: 0, frozen: false, attached: null, progress: null });
	expect(await desk.call("job.signal", { id: "build", signal: "sigusr1" as never })).toMatchObject({
		run: "1.1",
		host: null,
		signal: "USR1",
	});
	expect(pretended.signals).toEqual(["1 USR1"]);
	pretended.live.length = 0;
	const asked: unknown[] = [];
	const elsewhere = (sent: boolean | null) => ({
		signal: async (...given: unknown[]) => {
			asked.push(given);
			return { host: "b", sent };
		},
	});
	Object.assign(context, { elsewhere: elsewhere(true) });
	expect(await desk.call("job.signal", { id: 1, signal: "TERM" })).toMatchObject({ host: "b" });
	expect(asked).toEqual([[1, 1, "TERM"]]);
	Object.assign(context, { elsewhere: elsewhere(null) });
	expect(await desk.refused("job.signal", { id: 1, signal: "TERM" })).toMatchObject({
		message: expect.stringContaining("host b, which does not answer"),
	});
	const { events } = await desk.call("job.history", { id: 1 });
	expect(events.filter(({ kind }) => kind === "signalled").map(({ data }) => data)).toEqual([
		{ attempt: 1, signal: "USR1" },
		{ attempt: 1, signal: "TERM" },
	]);
});

test("signals that have a command of their own", async () => {
	const desk = await running();
	expect(await desk.refused("job.signal", { id: 1, signal: "KILL" })).toMatchObject({
		data: { field: "signal", hint: expect.stringContaining("sluice cancel") },
	});
});
