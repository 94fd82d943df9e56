// Providers that are down, over the whole engine: which account is held, who tries next, what is burned, and what people are told.

import { describe, expect, test } from "vitest";
import { openStand, type Stand } from "./make/stand.ts";

const CLAUDE = { agent: "claude", prompt: "do it" };
const CODEX = { agent: "codex", prompt: "do it" };
const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

const down = (t: Stand, id: number) => t.end(id, "crashed", { outage: true, message: "transient: 529 Overloaded", session: "s-1" });
const failures = async (t: Stand, id: number) => (await t.show(id)).failures ?? 0;
const account = async (t: Stand, name: string) => (await t.sluice.accounts()).find((one) => one.name === name);
/** Until a job starts, a second at a time; how long that took. */
async function untilStart(t: Stand, atMost = 10 * MINUTE): Promise<{ started: number[]; after: number }> {
	for (let after = 0; after <= atMost; after += SECOND) {
		const started = await t.start();
		if (started.length > 0) return { started, after };
		await t.wait(SECOND);
	}
	throw new Error("nothing started");
}

describe("a provider that is down", () => {
	test("holds its account and burns nothing, however long it lasts", async () => {
		const t = await openStand();
		const id = await t.add(CLAUDE);
		await t.start();
		const waits: number[] = [];
		for (let tries = 0; tries < 10; tries++) {
			await down(t, id);
			expect([(await t.show(id)).status, await failures(t, id)]).toEqual(["queued", 0]);
			waits.push((await untilStart(t)).after / SECOND);
		}
		// 5 s, twice as long each time, five minutes at most; a tenth more or less.
		for (const [index, seconds] of [5, 10, 20, 40, 80, 160, 300, 300, 300, 300].entries()) {
			expect(waits[index]).toBeGreaterThanOrEqual(Math.floor(seconds * 0.9));
			expect(waits[index]).toBeLessThanOrEqual(Math.ceil(seconds * 1.1) + 2);
		}
		await t.succeed(id);
		expect(await account(t, "claude")).toMatchObject({ state: "open" });
	});

	test("is tried by one run at a time; when that is answered, all go", async () => {
		const t = await openStand({ config: { max_concurrent: 50 } });
		const ids = [];
		for (let n = 0; n < 20; n++) ids.push(await t.add(CLAUDE));
		await t.start(3);
		for (const id of ids.slice(0, 3)) await down(t, id);
		const { started } = await untilStart(t);
		expect(started).toHaveLength(1);
		await t.wait(MINUTE);
		expect(await t.start()).toEqual([]);
		await t.sluice.answered(t.run(started[0]!));
		expect(await t.start()).toHaveLength(19);
		for (const id of ids) expect(await failures(t, id)).toBe(0);
	});

	test("lets the next one try where the first has said nothing for five minutes, or ends without a word about it", async () => {
		const t = await openStand();
		const [first, second, third] = [await t.add(CLAUDE), await t.add(CLAUDE), await t.add(CLAUDE)];
		await t.start(1);
		await down(t, first);
		await t.wait(6 * SECOND);
		expect(await t.start()).toEqual([second]);
		await t.wait(5 * MINUTE - SECOND);
		expect(await t.start()).toEqual([]);
		await t.wait(SECOND);
		expect(await t.start()).toEqual([third]);
		await t.end(third, "cancelled");
		expect(await t.start()).toEqual([first]);
	});

	test("is another one's business: other agents go on, on the same account, too", async () => {
		const t = await openStand({ config: { accounts: { work: {} } } });
		const [claude, codex] = [await t.add({ ...CLAUDE, account: "work" }), await t.add({ ...CODEX, account: "work" })];
		const behind = await t.add({ ...CLAUDE, account: "work", runnable_at: t.clock.now() + 1 });
		await t.start();
		await down(t, claude);
		await t.wait(1);
		expect(await t.gates(behind)).toEqual(["holds/outage"]);
		const other = await t.add({ ...CODEX, account: "work" });
		const command = await t.add({ command: ["true"] });
		expect(await t.start()).toEqual([other, command]);
		expect((await t.show(codex)).status).toBe("running");
	});

	test("tells of jobs that were in flight nothing new: they wait, and the next try comes no later", async () => {
		const t = await openStand();
		const ids = [await t.add(CLAUDE), await t.add(CLAUDE), await t.add(CLAUDE)];
		await t.start();
		await down(t, ids[0]!);
		const until = (await account(t, "claude"))?.until;
		await t.wait(SECOND);
		await down(t, ids[1]!);
		await down(t, ids[2]!);
		expect((await account(t, "claude"))?.until).toBe(until);
		expect(await Promise.all(ids.map((id) => failures(t, id)))).toEqual([0, 0, 0]);
	});

	test("is left by jobs without a session at once, by those with one after failover_after", async () => {
		const config = { accounts: { a: {}, b: {} }, lanes: { default: { accounts: ["a", "b"] } } };
		const t = await openStand({ config });
		const id = await t.add(CLAUDE);
		await t.start();
		await down(t, id);
		const other = await t.add(CLAUDE);
		expect(await t.start()).toEqual([other]);
		expect((await t.show(other)).run?.account).toBe("b");
		// It tries its own account for as long as it is told to.
		for (let left = 30 * MINUTE; left > 0; ) {
			const { started, after } = await untilStart(t);
			expect(started).toEqual([id]);
			left -= after + SECOND;
			if (left <= 0) break;
			expect((await t.show(id)).run?.account).toBe("a");
			await t.wait(SECOND);
			await down(t, id);
		}
		expect((await t.show(id)).run?.account).toBe("b");
	});

	test("survives the daemon", async () => {
		const t = await openStand();
		const id = await t.add(CLAUDE);
		await t.start();
		await down(t, id);
		const behind = await t.add(CLAUDE);
		expect((await t.sluice.status()).holds).toMatchObject([{ scope: "account:claude", kind: "outage", agent: "claude" }]);
		expect(await t.gates(behind)).toEqual(["holds/outage"]);
		await t.sluice.clearAccount("claude");
		expect((await t.sluice.status()).holds).toEqual([]);
		expect(await t.start()).toEqual([id, behind]);
	});
});

describe("bounds", () => {
	test("a job whose own request always fails does not try for ever: each outage after one that is over burns a retry", async () => {
		const t = await openStand({ config: { agent_retry: { max: 2, base_ms: 1000 } } });
		const poisoned = await t.add(CLAUDE);
		await t.start();
		const seen: string[] = [];
		for (let tries = 0; tries < 20 && (await t.show(poisoned)).ended_at === undefined; tries++) {
			await down(t, poisoned);
			seen.push(`${(await t.show(poisoned)).status} ${await failures(t, poisoned)}`);
			// Others work: the hold ends with the first of them.
			await t.wait(6 * SECOND);
			const other = await t.add({ ...CLAUDE, priority: 100 });
			expect(await t.start(1)).toEqual([other]);
			await t.succeed(other);
			if ((await t.show(poisoned)).ended_at === undefined) expect((await untilStart(t)).started).toEqual([poisoned]);
		}
		expect(seen).toEqual(["queued 0", "queued 1", "queued 2", "failed 3"]);
		expect(await t.show(poisoned)).toMatchObject({ status: "failed", exit_kind: "crashed", end_reason: "transient: 529 Overloaded" });
	});

	test("a job that fails as the only one, after it was answered, ends too", async () => {
		const t = await openStand({ config: { agent_retry: { max: 1, base_ms: 1000 } } });
		const id = await t.add(CLAUDE);
		await t.start();
		for (let tries = 0; (await t.show(id)).ended_at === undefined; tries++) {
			expect(tries).toBeLessThan(4);
			await down(t, id);
			if ((await t.show(id)).ended_at !== undefined) break;
			await untilStart(t);
			await t.sluice.answered(t.run(id));
		}
		expect((await t.show(id)).status).toBe("failed");
	});

	test("an outage of more than outage_max counts as failures again", async () => {
		const t = await openStand({ config: { rate_limit: { outage_max: "1h" }, agent_retry: { max: 1, base_ms: 1000 } } });
		const id = await t.add(CLAUDE);
		await t.start();
		const began = t.clock.now();
		for (;;) {
			await down(t, id);
			if ((await t.show(id)).ended_at !== undefined) break;
			if (await failures(t, id)) expect(t.clock.now() - began).toBeGreaterThan(HOUR);
			await untilStart(t);
		}
		expect((await t.show(id)).failures).toBe(2);
		expect(t.clock.now() - began).toBeLessThan(HOUR + 15 * MINUTE);
	});

	test("outage_max: 0 is as it was: every one is a failure of its job", async () => {
		const t = await openStand({ config: { rate_limit: { outage_max: 0 } } });
		const id = await t.add(CLAUDE);
		await t.start();
		await down(t, id);
		expect([await failures(t, id), (await t.sluice.status()).holds]).toEqual([1, []]);
	});

	test("a retry by hand begins anew", async () => {
		const t = await openStand();
		const id = await t.add(CLAUDE);
		await t.start();
		await down(t, id);
		await t.sluice.clearAccount("claude");
		await t.sluice.retry(id);
		expect(await t.start()).toEqual([id]);
		await down(t, id);
		expect(await failures(t, id)).toBe(0);
	});
});

test("what people are told: since when, what was said, when it is tried next, who tries it", async () => {
	const t = await openStand();
	const id = await t.add(CLAUDE);
	const since = t.clock.now();
	await t.start();
	await down(t, id);
	const behind = await t.add(CLAUDE);
	const held = (await account(t, "claude"))!;
	expect(held).toMatchObject({ state: "outage", since, hits: 1, reason: "the provider is down (outage): 529 Overloaded" });
	expect(held.next_at).toBe(held.until);
	const stamp = (at: number) => new Date(at).toISOString();
	const [reason] = (await t.sluice.why(behind)).reasons;
	expect(reason).toMatchObject({
		code: "outage",
		subject: "account:claude",
		since,
		clears_at: held.until,
		detail: `account claude: the provider is down (outage) since ${stamp(since)}; next try at ${stamp(held.until!)}`,
	});
	await t.wait(6 * SECOND);
	const [trying] = await t.start();
	expect(trying).toBe(behind);
	await t.wait(SECOND);
	expect((await t.sluice.why(id)).reasons[0]).toMatchObject({
		code: "outage",
		detail: `account claude: the provider is down (outage) since ${stamp(since)}; job ${trying} is trying it`,
		holder: [`job:${trying}`],
	});
	const events = await t.events();
	expect(events.filter(({ kind }) => kind === "outage")).toMatchObject([{ data: { account: "claude", agent: "claude", hits: 1 } }]);
	await t.succeed(trying!);
	expect((await t.events()).filter(({ kind }) => kind === "outage_over")).toMatchObject([{ data: { account: "claude", since } }]);
});
