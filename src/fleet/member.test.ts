// A member's calls against a database that loses statements, answers and replies.

import { expect, test } from "vitest";
import { SluiceError } from "../core/errors.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";
import type { Outgoing, Polled, Post } from "./database.ts";
import { Unreachable } from "./database.ts";
import { Member } from "./member.ts";
import { writeError, writeValue } from "./messages.ts";

/** A database with one member: statements fail as `fail` says, timers run by hand. */
function stand({ patienceMs = 1000 } = {}) {
	const rows = new Map<number, Outgoing>();
	const replies = new Map<number, { failed: boolean; body: string }>();
	const sends: number[][] = [];
	const polls: number[] = [];
	const fail: ("before" | "after" | "unreachable")[] = [];
	let now = 0;
	const timers: { at: number; call: () => void }[] = [];
	const attempt = async (change: () => void) => {
		const how = fail.shift();
		if (how === "unreachable") throw new Unreachable("down");
		if (how === "before") throw new Error("lost before");
		change();
		if (how === "after") throw new Error("lost after");
	};
	const post: Post = {
		send: (requests, collected) =>
			attempt(() => {
				for (const n of collected) replies.delete(n);
				sends.push(requests.map(({ n }) => n));
				for (const one of requests) if (!rows.has(one.n)) rows.set(one.n, one);
			}),
		withdraw: (request) =>
			attempt(() => {
				const there = rows.get(request.n);
				rows.set(request.n, { ...(there ?? request), withdrawn: true });
			}),
		async poll(collected): Promise<Polled> {
			polls.push(now);
			await attempt(() => {});
			return { replies: [...replies].filter(([n]) => !collected.includes(n)).map(([n, reply]) => ({ n, ...reply })), assigned: 0, txn: 0 };
		},
		beat: async () => true,
	};
	const time = {
		monotonic: () => now,
		after(ms: number, call: () => void) {
			const timer = { at: now + ms, call };
			timers.push(timer);
			return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
		},
	};
	const member = new Member({ post, time, onPolled: () => {}, restMs: () => 250, patienceMs: () => patienceMs });
	const settle = async () => {
		for (let turn = 0; turn < 20; turn++) await Promise.resolve();
	};
	/** Lets the time pass, with every timer that falls due. */
	async function pass(ms: number) {
		const end = now + ms;
		for (;;) {
			await settle();
			const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
			if (!next) break;
			timers.splice(timers.indexOf(next), 1);
			now = Math.max(now, next.at);
			next.call();
		}
		now = end;
		await settle();
	}
	const outcomes: Settlement[] = [];
	const call = (name: string, more: { unhurried?: boolean } = {}) =>
		member.send({ name, args: "{}", by: undefined, ...more }, (outcome) => outcomes.push(outcome));
	return { rows, replies, sends, polls, fail, member, pass, outcomes, call };
}

test("a reply settles its call, and is deleted with the next request", async () => {
	const t = stand();
	t.call("add");
	await t.pass(0);
	expect(t.rows.get(1)).toMatchObject({ name: "add", n: 1, withdrawn: false });
	t.replies.set(1, { failed: false, body: writeValue({ id: 7 }) });
	await t.pass(20);
	expect(t.outcomes).toEqual([{ value: { id: 7 } }]);
	t.call("add");
	await t.pass(40);
	expect(t.replies.size).toBe(0);
});

test("a member that sends without a pause polls all the same", async () => {
	const t = stand();
	for (let n = 1; n <= 10; n++) {
		t.call("add");
		await t.pass(5);
	}
	expect(t.polls.length).toBeGreaterThan(1);
});

test("the first poll for a reply comes about when the last replies came", async () => {
	const t = stand();
	for (let n = 1; n <= 30; n++) {
		t.call("add");
		await t.pass(95);
		t.replies.set(n, { failed: false, body: writeValue(n) });
		await t.pass(100);
	}
	expect(t.outcomes).toHaveLength(30);
	const before = t.polls.length;
	t.call("add");
	await t.pass(60);
	expect(t.polls).toHaveLength(before);
	await t.pass(40);
	expect(t.polls.length).toBeGreaterThan(before);
});

test("a request whose caller does not wait is answered by a poll that comes anyway", async () => {
	const t = stand();
	t.call("started", { unhurried: true });
	await t.pass(200);
	expect(t.polls).toEqual([]);
	t.replies.set(1, { failed: false, body: writeValue(true) });
	await t.pass(50);
	expect(t.outcomes).toEqual([{ value: true }]);
});

test("an error of ours is the same error for the caller", async () => {
	const t = stand();
	t.call("add");
	await t.pass(0);
	t.replies.set(1, { failed: true, body: writeError(new SluiceError("conflict", "taken", { field: "name", hint: "another" })) });
	await t.pass(20);
	expect(t.outcomes).toMatchObject([{ error: { code: "conflict", message: "taken", field: "name", hint: "another" } }]);
});

test("an insert in doubt is repeated under the same numbers before the next one", async () => {
	const t = stand({ patienceMs: 10_000 });
	t.fail.push("after", "before");
	t.call("one");
	await t.pass(0);
	t.call("two");
	await t.pass(500);
	expect(t.sends).toEqual([[1], [1], [2]]);
});

test("a call that no leader answers is withdrawn, and its caller knows that it was not carried out", async () => {
	const t = stand();
	t.call("add");
	await t.pass(1500);
	expect(t.rows.get(1)?.withdrawn).toBe(true);
	expect(t.outcomes).toMatchObject([{ error: { code: "store", message: expect.stringContaining("was not carried out") } }]);
});

test("a call that was answered while it was withdrawn has its outcome", async () => {
	const t = stand();
	t.call("add");
	await t.pass(980);
	t.fail.push("before");
	t.replies.set(1, { failed: false, body: writeValue(1) });
	await t.pass(500);
	expect(t.outcomes).toEqual([{ value: 1 }]);
});

test("a call whose insert never left is refused in time, though the database stays away; its number is used up", async () => {
	const t = stand();
	t.fail.push(...Array.from({ length: 8 }, () => "unreachable" as const));
	t.call("add");
	await t.pass(1100);
	expect(t.outcomes).toMatchObject([{ error: { code: "store" } }]);
	t.call("later");
	await t.pass(900);
	expect(t.rows.get(1)?.withdrawn).toBe(true);
	expect(t.rows.get(2)).toMatchObject({ name: "later", withdrawn: false });
});

test("a body that is too long, and one call too many, are refused at once", async () => {
	const t = stand();
	t.member.send({ name: "apply", args: "x".repeat(16_000_001), by: undefined }, (outcome) => t.outcomes.push(outcome));
	expect(t.outcomes).toMatchObject([{ error: { code: "limit" } }]);
	for (let n = 0; n < 1000; n++) t.call("add");
	t.call("one more");
	expect(t.outcomes[1]).toMatchObject({ error: { code: "limit", message: expect.stringContaining("1000 calls") } });
});

test("closed while the database does not answer, it gives up and says so", async () => {
	const t = stand();
	t.call("add");
	await t.pass(0);
	t.fail.push(...Array.from({ length: 100 }, () => "before" as const));
	const closed = t.member.close();
	await t.pass(5000);
	await closed;
	expect(t.outcomes).toMatchObject([{ error: { code: "store", hint: "look whether the call was carried out" } }]);
});

test("closed, it withdraws what is under way", async () => {
	const t = stand();
	t.call("add");
	await t.pass(0);
	await t.member.close();
	expect(t.rows.get(1)?.withdrawn).toBe(true);
	expect(t.outcomes).toMatchObject([{ error: { code: "closed" } }]);
	t.call("add");
	expect(t.outcomes[1]).toMatchObject({ error: { code: "closed" } });
});
