// Runs that wait for jobs: what they lend, when they take it back, and which waits are refused.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand, type Stand, type StandOptions } from "../../../test/make/stand.ts";

/** A job that runs, and a child that it adds. */
async function withChild(options: StandOptions = {}, parent = {}, child = {}): Promise<{ t: Stand; parent: number; child: number }> {
	const t = await openStand({ config: { max_concurrent: 1, ...options.config }, ...options });
	const one = await t.add(parent);
	await t.start();
	return { t, parent: one, child: await t.add({ parent: one, ...child }) };
}
const refusal = (wait: Promise<unknown>) =>
	wait.then(
		() => "allowed",
		(error: { code: string; message: string }) => `${error.code}: ${error.message}`,
	);

describe("a run that waits", () => {
	test("lends its slot, and takes it back in the transaction in which the awaited job ends", async () => {
		const { t, parent, child } = await withChild();
		const next = await t.add();
		expect(await t.start()).toEqual([]);
		const { wait, open } = await t.sluice.beginWait(t.run(parent), [child]);
		expect([wait, open]).toEqual([expect.any(Number), [child]]);
		expect(await t.start()).toEqual([child]);
		expect(await t.show(parent)).toMatchObject({ status: "running", waits_for: [child] });
		expect(await t.sluice.why(child)).toMatchObject({ waiters: [parent] });
		expect(await t.sluice.status()).toMatchObject({ running: 2, lending: 1, lanes: { default: { running: 2, lending: 1 } } });
		expect((await t.reasons(next))[0]?.detail).toBe("max_concurrent is full: 1 of 1 running, 1 more waits for jobs and lends its slot");
		await t.succeed(child);
		expect((await t.show(parent)).waits_for).toBeUndefined();
		expect(await t.start()).toEqual([]);
		await t.succeed(parent);
		expect(await t.start()).toEqual([next]);
		expect((await t.sluice.history(parent)).map(({ kind }) => kind)).toEqual(["added", "started", "wait_began", "wait_ended", "ended"]);
	});

	test("lends the caps on lane, repo, account and host as well, but not the safety cap", async () => {
		const config = {
			max_concurrent: 4,
			safety_cap: 3,
			lanes: { code: { max: 1, accounts: ["work"] } },
			repos: { app: { max: 1 } },
			accounts: { work: { max: 1 } },
			hosts: { local: { max: 1 } },
		};
		const t = await openStand({ config });
		const job = { lane: "code", repo: "app", agent: "claude", prompt: "hi" };
		const runs: number[] = [];
		for (let depth = 0; depth < 3; depth++) {
			const id = await t.add({ ...job, ...(runs.length > 0 ? { parent: runs.at(-1) as number } : {}) });
			if (depth > 0) await t.sluice.beginWait(t.run(runs.at(-1) as number), [id]);
			expect(await t.start(10, { host: "local" })).toEqual([id]);
			runs.push(id);
		}
		const last = await t.add({ ...job, parent: runs[2] as number });
		expect(await refusal(t.sluice.beginWait(t.run(runs[2] as number), [last]))).toBe(
			`conflict: job ${runs[2]} cannot wait for job ${last}: safety_cap is reached (3 of 3 runs), and all other runs wait as well`,
		);
		expect(await t.gates(last)).toEqual(expect.arrayContaining(["capacity/safety_cap", "capacity/capacity"]));
	});

	test("counts again when the call gives up, the run ends, or its daemon restarts", async () => {
		const path = join(makeFolder(), "store.db");
		const { t, parent, child } = await withChild({ path });
		const free = async (of: Stand) => (await of.sluice.plan()).dispatch;
		const { wait } = await t.sluice.beginWait(t.run(parent), [child]);
		const other = await t.sluice.beginWait(t.run(parent), [child]);
		await t.sluice.endWait(t.run(parent), wait as number);
		expect(await free(t)).toEqual([child]);
		await t.sluice.endWait(t.run(parent), other.wait as number);
		await t.sluice.endWait(t.run(parent), other.wait as number);
		expect(await free(t)).toEqual([]);

		await t.sluice.beginWait(t.run(parent), [child]);
		const again = await t.reopen();
		expect(await free(again)).toEqual([child]);
		await again.sluice.endWaits("elsewhere");
		expect(await free(again)).toEqual([child]);
		await again.sluice.endWaits("");
		expect(await free(again)).toEqual([]);

		await again.sluice.beginWait(t.run(parent), [child]);
		again.runs.set(parent, t.runs.get(parent)!);
		await again.fail(parent, { exit_code: 3 });
		expect(await again.sluice.status()).toMatchObject({ running: 0, lending: 0 });
		expect(await again.start()).toEqual([child]);
		await again.succeed(child);
		expect(await refusal(again.sluice.beginWait(t.run(parent), [child]))).toMatch(/^fenced/);
	});

	test("goes on at once when its wait ends, even above the cap: no other job starts until the runs fit again", async () => {
		const t = await openStand({ config: { max_concurrent: 2 } });
		const [a, b] = [await t.add(), await t.add()];
		await t.start();
		const shared = await t.add();
		const [x, y] = [await t.add(), await t.add()];
		await t.sluice.beginWait(t.run(a), [shared]);
		await t.sluice.beginWait(t.run(b), [shared]);
		expect(await t.start()).toEqual([shared, x]);
		await t.succeed(shared);
		expect(await t.sluice.status()).toMatchObject({ running: 3, lending: 0 });
		await t.succeed(x);
		expect(await t.start()).toEqual([]);
		await t.succeed(a);
		expect(await t.start()).toEqual([y]);
	});

	test("only for jobs that have ended opens no wait", async () => {
		const { t, parent, child } = await withChild();
		await t.sluice.cancel(child);
		expect(await t.sluice.beginWait(t.run(parent), [child])).toEqual({ wait: null, open: [] });
		expect(await t.show(parent)).not.toHaveProperty("waits_for");
		expect(await refusal(t.sluice.beginWait(t.run(parent), [99]))).toBe("not_found: there is no job 99");
	});
});

describe("a wait is refused", () => {
	test("for a child that comes after its parent's success, with the way out of it", async () => {
		const { t, parent, child } = await withChild({}, {}, { parent_gate: "success" });
		await expect(t.sluice.beginWait(t.run(parent), [child])).rejects.toMatchObject({
			code: "conflict",
			message: `job ${parent} cannot wait for job ${child}: job ${child} comes after job ${parent}`,
			hint: expect.stringContaining(`without --after ${parent}, and with --parent-gate none`),
		});
		expect(await t.sluice.status()).toMatchObject({ lending: 0 });
	});

	test("for itself, a later link of a chain, an artifact that the run makes", async () => {
		const { t, parent } = await withChild({}, { produces: ["custom:doc:plan"] });
		expect(await refusal(t.sluice.beginWait(t.run(parent), [parent]))).toBe(`conflict: job ${parent} cannot wait for itself`);
		const first = await t.add({ after: [{ job: parent, policy: "any" }] });
		const last = await t.add({ after: [first] });
		expect(await refusal(t.sluice.beginWait(t.run(parent), [last]))).toBe(
			`conflict: job ${parent} cannot wait for job ${last}: job ${last} comes after job ${first}, job ${first} comes after job ${parent}`,
		);
		const reader = await t.add({ needs: ["custom:doc:plan"] });
		expect(await refusal(t.sluice.beginWait(t.run(parent), [reader]))).toBe(
			`conflict: job ${parent} cannot wait for job ${reader}: job ${reader} needs custom:doc:plan, which job ${parent} makes`,
		);
		await t.sluice.mark("custom:doc:plan");
		expect(await refusal(t.sluice.beginWait(t.run(parent), [reader]))).toBe("allowed");
	});

	test("for a lock or a resource that the run keeps", async () => {
		const config = { max_concurrent: 4, resources: { build: 1 } };
		const { t, parent, child } = await withChild({ config }, { locks: ["db"], uses: { build: 1 } }, { locks: ["db"] });
		expect(await refusal(t.sluice.beginWait(t.run(parent), [child]))).toBe(
			`conflict: job ${parent} cannot wait for job ${child}: job ${child} needs lock db, which job ${parent} holds`,
		);
		const builder = await t.add({ uses: { build: 1 } });
		expect(await refusal(t.sluice.beginWait(t.run(parent), [builder]))).toBe(
			`conflict: job ${parent} cannot wait for job ${builder}: job ${builder} needs 1 of resource build, which job ${parent} keeps`,
		);
	});

	test("for a run that waits for it", async () => {
		const t = await openStand({ config: { max_concurrent: 2 } });
		const [a, b] = [await t.add(), await t.add()];
		await t.start();
		expect(await refusal(t.sluice.beginWait(t.run(a), [b]))).toBe("allowed");
		expect(await refusal(t.sluice.beginWait(t.run(b), [a]))).toBe(
			`conflict: job ${b} cannot wait for job ${a}: job ${a} waits for job ${b}`,
		);
	});
});
