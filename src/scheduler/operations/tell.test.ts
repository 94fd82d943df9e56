// What people tell a job: kept with it, given to one run, and a reason to go on; first in the order, so that slot and locks come back at once.

import { expect, test } from "vitest";
import { jsonCore } from "../../../test/make/json-core.ts";
import { openStand } from "../../../test/make/stand.ts";

const AGENT = { agent: "claude", prompt: "x" };
const open = (config = {}) => openStand({ config }, jsonCore);

test("a text is given once; the job goes on with its slot and lock before all others, and uses no retry", async () => {
	const { sluice } = await open({ max_concurrent: 1 });
	const claim = () => sluice.claim({ worker: "w", host: "local", max: 5 });
	await sluice.add({ ...AGENT, locks: ["db"] });
	const [first] = await claim();
	await sluice.add({ command: ["urgent"], locks: ["db"], priority: 1000 });
	const run = { job: 1, token: first?.run.token as number };
	expect(await sluice.tell(1, "Use the new API.", { by: "ann" })).toEqual({ number: 1 });
	await sluice.stop(run, { kind: "preempted", reason: "told", resumes: true });
	const [, [again]] = await Promise.all([sluice.complete({ ...run, exit_kind: "crashed", session: "s" }), claim()]);
	expect(again).toMatchObject({ job: { id: 1, attempt: 2, told: [{ number: 1, text: "Use the new API.", by: "ann" }] } });
	const next = { job: 1, token: again?.run.token as number };
	await sluice.toldGiven(next, [1, 7]);
	await sluice.toldGiven(next, [1]);
	await expect(sluice.toldGiven(run, [1])).rejects.toMatchObject({ code: "fenced" });
	expect(await sluice.show(1)).toMatchObject({ told: [{ number: 1, attempt: 2 }] });
	await sluice.complete({ ...next, exit_kind: "completed", session: "s" });
	const job = await sluice.show(1);
	expect([job.status, job.failures, job.rank]).toEqual(["succeeded", undefined, undefined]);
	expect((await sluice.history(1)).flatMap(({ kind, by }) => (kind.startsWith("told") ? [`${kind} ${by}`] : []))).toEqual([
		"told ann",
		"told_given library",
	]);
});

test("a run that completes while a text waits is not the end, if its session can go on", async () => {
	const { sluice } = await open();
	for (const session of ["s", undefined]) {
		const added = await sluice.add(AGENT);
		if (added.outcome !== "queued") throw new Error(added.outcome);
		const { id } = added.job;
		const [claimed] = await sluice.claim({ worker: "w", host: "local", max: 5 });
		await sluice.tell(id, "And the docs.");
		await sluice.complete({ job: id, token: claimed?.run.token as number, exit_kind: "completed", ...(session ? { session } : {}) });
		const { status, exit_kind, failures } = await sluice.show(id);
		expect([status, exit_kind, failures]).toEqual(session ? ["queued", "preempted", undefined] : ["succeeded", "completed", undefined]);
		if (session) await sluice.cancel(id);
	}
});

test("a job that is run again forgets what it was told", async () => {
	const { sluice } = await open();
	await sluice.add(AGENT);
	await sluice.tell(1, "Be brief.");
	await sluice.cancel(1);
	await sluice.retry(1);
	expect((await sluice.show(1)).told).toBeUndefined();
});

test("a stop after which the job would go on gives way to any other stop, and can be taken back", async () => {
	const { sluice } = await open();
	for (const id of [1, 2]) {
		await sluice.add({ ...AGENT, name: `job-${id}` });
		const [claimed] = await sluice.claim({ worker: "w", host: "local", max: 5 });
		const run = { job: id, token: claimed?.run.token as number };
		await sluice.stop(run, { kind: "preempted", reason: "attached by ann", resumes: true });
		if (id === 1) await sluice.cancel(id);
		expect(await sluice.takeBackStop(run)).toBe(id === 2);
		await sluice.complete({ ...run, exit_kind: "completed" });
		expect((await sluice.show(id)).status).toBe(id === 1 ? "cancelled" : "succeeded");
	}
});
