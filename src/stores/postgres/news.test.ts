// What notices tell: only what was added, only to those who have the secret, and only as long as nothing is missing in between.

import { expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { makeRow } from "../../../test/store-conformance.ts";
import { type Changes, noChanges } from "../../contracts/store.ts";
import { Newsroom } from "./news.ts";

const adding = (id: number, more: Partial<Changes> = {}): Changes => ({
	...noChanges(),
	insert: [makeRow(makeJob({ id }))],
	specs: [[id, { version: 1, payload: "do not tell" } as never]],
	records: [["depth", "default", id]],
	...more,
});
const told = (version: number, changes = adding(version), counters: string | null = null) => ({ version, counters, changes, whole: true });

test("who has the secret reads what was added, and ours is no news", () => {
	const [one, other] = [new Newsroom("one", "s"), new Newsroom("other", "s")];
	const payload = one.payload(told(7, adding(7), "[]"));
	expect(payload.length).toBeLessThan(7_900);
	expect(payload).not.toContain("tell");
	expect(one.take(payload)).toBe("ours");
	expect(one.since(6)).toEqual([]);
	expect(other.take(payload)).toBe("told");
	const { insert, specs, events } = adding(7);
	expect(other.since(6)).toEqual([{ version: 7, counters: "[]", arrivals: { insert, specs, events } }]);
	expect(other.since(7)).toEqual([]);
});

test("who has another, or hears something else, knows only that there is something", () => {
	const other = new Newsroom("other", "another");
	const payload = new Newsroom("one", "s").payload(told(7));
	const changed = `${payload.slice(0, -5)}${payload.at(-5) === "A" ? "B" : "A"}${payload.slice(-4)}`;
	for (const heard of [payload, "one", "", "one x", `one ${"A".repeat(100)}`]) expect(other.take(heard)).toBe("something");
	expect(new Newsroom("x", "s").take(changed)).toBe("something");
	expect(other.since(6)).toEqual([]);
});

test("no two are sealed alike", () => {
	const one = new Newsroom("one", "s");
	const all = Array.from({ length: 50 }, () => one.payload(told(7)));
	expect(new Set(all).size).toBe(50);
	expect(new Set(all.map((payload) => payload.slice(0, 20))).size).toBe(50);
});

test("what does more than add, or is long, is not told", () => {
	const one = new Newsroom("one", "s");
	const row = makeRow(makeJob({ id: 1 }));
	for (const changes of [
		noChanges(),
		adding(1, { update: [row] }),
		adding(1, { links: [{ key: "k", role: "wants", job: 1 }] }),
		adding(1, { records: [["hold", "h", {}]] }),
		adding(1, { records: [["bucket", "b", { id: 1, stage: 3 }]] }),
		adding(1, { specs: [[1, { payload: "x".repeat(6_000) } as never]] }),
		adding(1, { specs: [[1, { payload: "ä".repeat(4_000) } as never]] }),
	])
		expect(one.payload(told(7, changes))).toBe("one");
	// Records that stand elsewhere would be missing.
	expect(one.payload({ ...told(7), whole: false })).toBe("one");
});

test("a gap is noticed; what is known already is left out", () => {
	const [one, other] = [new Newsroom("one", "s"), new Newsroom("other", "s")];
	for (const version of [5, 6, 8]) other.take(one.payload(told(version)));
	expect(other.since(4)).toBe(undefined);
	expect(other.since(7)?.map(({ version }) => version)).toEqual([8]);
	for (let version = 9; version < 200; version++) other.take(one.payload(told(version)));
	expect(other.since(8)).toBe(undefined);
	expect(other.since(150)?.length).toBe(49);
});
