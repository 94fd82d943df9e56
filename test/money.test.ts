// Accounts, budgets and questions over the whole engine: what holds work back, what is set aside, what the next run gets.

import { describe, expect, test } from "vitest";
import { makeFolder } from "./make/folder.ts";
import { openStand } from "./make/stand.ts";

const AGENT = { agent: "claude", prompt: "do it" };

describe("accounts", () => {
	test("an agent that nobody gave an account waits for its own program's limit, and does not start again at once", async () => {
		const t = await openStand();
		const [id, other] = [await t.add(AGENT), await t.add({ agent: "codex", prompt: "x" })];
		await t.start(1);
		await t.end(id, "rate_limited", { until: t.clock.now() + 3_600_000 });
		expect(await t.start()).toEqual([other]);
		expect(await t.gates(id)).toEqual(["holds/rate_limited"]);
		await t.wait(3_600_000);
		expect(await t.start()).toEqual([]);
		await t.wait(5_000);
		expect(await t.start()).toEqual([id]);
		expect((await t.show(id)).failures).toBeUndefined();
	});

	test("so does what an outside worker runs without one; commands have no quota", async () => {
		const t = await openStand();
		const id = await t.add({ payload: { n: 1 } });
		await t.start(1);
		await t.end(id, "rate_limited", { retry_after_ms: 60_000 });
		const command = await t.add({ command: ["true"] });
		expect(await t.start()).toEqual([command]);
		await t.wait(60_000);
		expect(await t.start()).toEqual([id]);
	});

	test("a session goes on where it was, on the account that its job names", async () => {
		const t = await openStand({ config: { accounts: { work: {} } } });
		const id = await t.add({ ...AGENT, account: "work" });
		await t.start();
		await t.end(id, "rate_limited", { until: t.clock.now() + 1_000, session: "s-1" });
		await t.wait(10_000);
		expect(await t.start()).toEqual([id]);
		expect((await t.show(id)).session).toBe("s-1");
	});

	test("one that was left for another account is not waited for any more", async () => {
		const config = { accounts: { a: {}, b: {} }, lanes: { default: { accounts: ["a", "b"] } }, rate_limit: { stagger_ms: 0 } };
		const t = await openStand({ config });
		const id = await t.add(AGENT);
		await t.start();
		await t.end(id, "rate_limited", { until: t.clock.now() + 40 * 60_000, session: "s-1" });
		expect(await t.start()).toEqual([id]);
		// On the other one it was cut off before it had a session.
		await t.wait(20 * 60_000);
		await t.end(id, "lost", { reboot: true });
		expect(await t.start()).toEqual([id]);
		expect((await t.show(id)).run?.account).toBe("b");
	});

	test("a limit without an end that anybody can write down still has one, and bad reports are refused", async () => {
		const t = await openStand({ config: { accounts: { a: {} } } });
		for (const report of [{ until: 8.64e15 }, { retry_after_ms: 8.64e15 }]) {
			await t.sluice.limit("a", report);
			const [account] = await t.sluice.accounts();
			expect(new Date(account?.until ?? Number.NaN).toISOString()).toMatch(/^\+275760/);
			expect(new Date(account?.next_at ?? Number.NaN).toISOString()).toMatch(/^\+275760/);
		}
		for (const report of [{ until: Number.NaN }, { until: 1.5 }, { retry_after_ms: -1 }, { closed: "a\u0000" }])
			await expect(t.sluice.limit("a", report)).rejects.toMatchObject({ code: "invalid" });
	});

	test("a run from before the limit does not end the spacing of starts after it", async () => {
		const t = await openStand({ config: { max_concurrent: 10 } });
		const ids = [await t.add(AGENT), await t.add(AGENT)];
		await t.start();
		await t.end(ids[1] as number, "rate_limited", { until: t.clock.now() + 60_000 });
		for (let n = 0; n < 4; n++) ids.push(await t.add(AGENT));
		await t.wait(65_000);
		await t.succeed(ids[0] as number);
		expect(await t.start()).toHaveLength(1);
		expect(await t.start()).toHaveLength(0);
		await t.wait(1_000);
		expect(await t.start()).toHaveLength(1);
		await t.succeed([...t.runs.keys()][0] as number);
		expect(await t.start()).toHaveLength(3);
	});
});

describe("budgets", () => {
	test("runs are set aside when they start: four slots do not start four of two runs", async () => {
		const t = await openStand();
		const ids = [await t.add({ owner: "ann" }), await t.add({ owner: "ann" }), await t.add({ owner: "ann" })];
		await t.sluice.grant("owner:ann", "runs", { limit: 2 });
		expect(await t.start()).toEqual(ids.slice(0, 2));
		expect((await t.reasons(ids[2] as number))[0]?.detail).toBe("owner:ann has used 0 of 2 runs; what runs now has reserved 2");
		await t.end(ids[0] as number, "launch_failed");
		expect(await t.start()).toEqual([ids[2]]);
		expect(await t.sluice.ledgers("owner:ann")).toMatchObject([{ used: 0, reserved: 2, over_limit: false }]);
	});

	test("a batch's jobs wait for what is set aside, and go on when it is given back", async () => {
		const t = await openStand();
		const ids = [await t.add({ batch: "b" }), await t.add({ batch: "b" })];
		await t.sluice.grant("batch:b", "cost_micro", { limit: 1_000, reserve: 1_000 });
		expect(await t.start()).toEqual(ids.slice(0, 1));
		await t.wait(1);
		expect((await t.show(ids[1] as number)).wait_reason?.kind).toBe("budget");
		await t.end(ids[0] as number, "completed", { usage: { cost_micro: 400 } });
		await t.wait(1);
		expect(await t.start()).toEqual([ids[1]]);
		await t.end(ids[1] as number, "completed", { usage: { cost_micro: 600, tokens: 9 } });
		expect((await t.show(ids[1] as number)).usage).toEqual({ cost_micro: 600, tokens: 9 });
		expect(await t.sluice.ledgers("batch:b")).toMatchObject([{ used: 1_000, reserved: 0, over_limit: true }]);
	});

	test("what is set aside survives a change of the grant and a restart", async () => {
		const t = await openStand({ path: `${makeFolder()}/q.db` });
		const id = await t.add({ owner: "ann" });
		await t.sluice.grant("owner:ann", "tokens", { limit: 100, reserve: 60 });
		await t.start();
		await t.sluice.grant("owner:ann", "tokens", { limit: 100, reserve: 10 });
		const again = await t.reopen();
		expect(await again.sluice.ledgers("owner:ann")).toMatchObject([{ reserved: 60, reserve: 10 }]);
		await again.sluice.complete({ ...t.run(id), exit_kind: "completed", usage: { tokens: 7 } });
		expect(await again.sluice.ledgers("owner:ann")).toMatchObject([{ used: 7, reserved: 0 }]);
	});

	test("whoever pays for a job pays for what it adds", async () => {
		const t = await openStand();
		const id = await t.add({ owner: "ann" });
		const child = await t.add({ parent: id });
		expect((await t.show(child)).owner).toBe("ann");
		expect((await t.show(await t.add({ parent: child, owner: "bob" }))).owner).toBe("bob");
		const { jobs } = await t.sluice.apply({ jobs: [{ command: ["true"], parent: id }] });
		expect((await t.show(jobs[0] as number)).owner).toBe("ann");
	});
});

describe("questions", () => {
	test("the answer and what was asked go to the next run, and a second question takes their place", async () => {
		const t = await openStand();
		const id = await t.add(AGENT);
		await t.start();
		await t.end(id, "needs_human", { question: "blue or red?", session: "s-1" });
		expect(await t.start()).toEqual([]);
		await t.sluice.answer(id, "blue");
		await t.start();
		expect(t.runs.get(id)?.job).toMatchObject({ asked: "blue or red?", answer: "blue", session: "s-1" });
		await t.end(id, "needs_human", { question: "sure?" });
		expect(await t.show(id)).toMatchObject({ question: "sure?", answer: "blue" });
	});
});
