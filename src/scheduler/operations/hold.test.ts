// hold and release: a waiting job that a person holds does not start, whatever else happens.

import { join } from "node:path";
import { expect, test } from "vitest";
import { HOUR } from "../../../test/make/fakes.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand } from "../../../test/make/stand.ts";

test("a ready job that is held is not started, not by run-now and not with force; released, it is", async () => {
	const t = await openStand();
	const [job, other] = [await t.add(), await t.add()];
	expect(await t.sluice.hold([job], { by: "ann", reason: "after the demo" })).toEqual({ done: [job], refused: [] });
	await t.sluice.runNow(job, { force: true });
	expect(await t.start()).toEqual([other]);
	expect(await t.show(job)).toMatchObject({
		status: "queued",
		blocked: true,
		hold: { by: "ann", reason: "after the demo", since: t.clock.now() },
		wait_reason: { kind: "held", detail: "held by ann: after the demo" },
	});
	expect(await t.sluice.release([job], { by: "bo" })).toEqual({ done: [job], refused: [] });
	expect((await t.show(job)).hold).toBeUndefined();
	expect(await t.start()).toEqual([job]);
	const events = (await t.sluice.history(job)).filter(({ kind }) => kind === "held" || kind === "released");
	expect(events).toMatchObject([
		{ kind: "held", by: "ann", data: { reason: "after the demo" } },
		{ kind: "released", by: "bo" },
	]);
});

test("a job can be added held, alone or in a manifest, in the name of its caller", async () => {
	const t = await openStand();
	const added = await t.sluice.add({ command: ["true"], hold: true }, { by: "ann" });
	expect(added).toMatchObject({ outcome: "queued", position: null, job: { hold: { by: "ann" }, wait_reason: { kind: "held" } } });
	const { jobs } = await t.sluice.apply({ jobs: [{ command: ["true"], hold: true }, { command: ["true"] }] }, { by: "bo" });
	expect((await t.show(jobs[0] as number)).hold).toEqual({ by: "bo", since: t.clock.now() });
	expect(await t.start()).toEqual([jobs[1]]);
});

test("a hold lasts while time passes, predecessors end and the process is opened again; a deadline and a failed predecessor still end the job", async () => {
	const t = await openStand({ path: join(makeFolder(), "q.db") });
	const first = await t.add();
	const [late, after, dead, blocked] = [
		await t.add({ runnable_at: t.clock.now() + HOUR, hold: true }),
		await t.add({ after: [first], hold: true }),
		await t.add({ deadline: t.clock.now() + HOUR, hold: true }),
		await t.add({ after: [{ job: first, policy: "failure" }], hold: true }),
	];
	await t.start();
	await t.succeed(first);
	await t.wait(2 * HOUR);
	expect(await t.start()).toEqual([]);
	expect([await t.status(dead), await t.status(blocked)]).toEqual(["expired", "blocked_by_dependency"]);
	expect((await t.show(dead)).hold).toBeUndefined();
	const again = await t.reopen();
	expect(await again.start()).toEqual([]);
	await again.sluice.release([late, after]);
	expect(await again.start()).toEqual([late, after]);
});

test("a back-off goes on while the job is held", async () => {
	const t = await openStand();
	const job = await t.add({ retry: { max: 1, base_ms: HOUR, jitter: 0 } });
	await t.start();
	await t.fail(job);
	await t.sluice.hold([job]);
	expect((await t.reasons(job)).map(({ code }) => code)).toEqual(["backoff", "held"]);
	await t.sluice.release([job]);
	expect(await t.start()).toEqual([]);
	await t.wait(HOUR);
	expect(await t.start()).toEqual([job]);
});

test("held again it stays as it was, unless a reason is given", async () => {
	const t = await openStand();
	const job = await t.add();
	await t.sluice.hold([job], { by: "ann", reason: "one" });
	await t.sluice.hold([job], { by: "bo" });
	expect((await t.show(job)).hold).toMatchObject({ by: "ann", reason: "one" });
	await t.sluice.hold([job], { by: "bo", reason: "two" });
	expect((await t.show(job)).hold).toMatchObject({ by: "bo", reason: "two" });
	expect((await t.show(job)).wait_reason?.detail).toBe("held by bo: two");
});

test("running and ended jobs are refused, alone with an error, among others by name; a number that does not exist changes nothing", async () => {
	const t = await openStand();
	const [runs, ended, waits] = [await t.add(), await t.done(), await t.add({ requires_approval: true })];
	await t.start();
	await expect(t.sluice.hold([runs])).rejects.toMatchObject({
		code: "illegal_transition",
		message: `job ${runs} is running: only a waiting job can be held`,
	});
	const refused = [runs, ended].map((job) => ({ job, code: "illegal_transition", message: expect.stringContaining(`job ${job} is `) }));
	await expect(t.sluice.hold([waits, 999])).rejects.toMatchObject({ code: "not_found" });
	expect((await t.show(waits)).hold).toBeUndefined();
	expect(await t.sluice.hold([runs, ended, waits])).toEqual({ done: [waits], refused });
	await expect(t.sluice.release([runs])).rejects.toMatchObject({ message: `job ${runs} is not held: nothing to release` });
});

test("more jobs than one transaction takes", async () => {
	const t = await openStand();
	const { jobs } = await t.sluice.apply({ jobs: Array.from({ length: 1201 }, () => ({ command: ["true"] })) });
	expect((await t.sluice.hold(jobs)).done).toEqual(jobs);
	expect(await t.start()).toEqual([]);
	const { causes, ready } = await t.sluice.queue();
	expect([ready, causes.map(({ kind, ids }) => [kind, ids?.length])]).toEqual([0, [["held", 100]]]);
	expect((await t.sluice.release(jobs)).done).toHaveLength(1201);
	expect(await t.start(5)).toHaveLength(4);
});

test("status and queue name each person and reason, with the jobs", async () => {
	const t = await openStand();
	const jobs = [await t.add(), await t.add(), await t.add()] as const;
	await t.sluice.hold([jobs[0], jobs[2]], { by: "ann", reason: "demo" });
	await t.sluice.hold([jobs[1]], { by: "ann" });
	const cause = { kind: "held", subject: "person:ann" };
	const causes = [
		{ ...cause, detail: "held by ann: demo", jobs: 2 },
		{ ...cause, detail: "held by ann", jobs: 1 },
	];
	expect((await t.sluice.status()).held).toEqual(causes);
	const named = [
		{ ...causes[0], ids: [jobs[0], jobs[2]] },
		{ ...causes[1], ids: [jobs[1]] },
	];
	expect((await t.sluice.queue()).causes).toEqual(named);
});

test("apply --update neither sets nor ends a hold", async () => {
	const t = await openStand();
	const manifest = (priority: number, hold: boolean) => ({ jobs: [{ name: "x", command: ["true"], priority, hold }] });
	const { jobs } = await t.sluice.apply(manifest(0, false));
	await t.sluice.hold(jobs, { by: "ann" });
	await t.sluice.apply(manifest(1, false), { update: true });
	expect(await t.show(jobs[0] as number)).toMatchObject({ priority: 1, hold: { by: "ann" } });
	await t.sluice.release(jobs);
	await t.sluice.apply(manifest(2, true), { update: true });
	expect((await t.show(jobs[0] as number)).hold).toBeUndefined();
});
