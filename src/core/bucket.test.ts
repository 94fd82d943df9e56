// Buckets: jobs that gates 10 to 13 cannot tell apart have one key, all others another.

import fc from "fast-check";
import { expect, test } from "vitest";
import { bucketKey, bucketOf } from "./bucket.ts";
import type { Job } from "./job.ts";

const job = (more: Partial<Job> = {}): Job => ({
	id: 1,
	status: "queued",
	kind: "command",
	lane: "default",
	trigger: "manual",
	priority: 0,
	created_at: 0,
	runnable_at: 0,
	attempt: 0,
	line: "",
	bucket: 1,
	...more,
});
const name = fc.option(fc.constantFrom("a", "b", "/", '","', "null"), { nil: undefined });
const traits = fc
	.record({
		kind: fc.constantFrom<Job["kind"]>("command", "agent", "payload", "kernel"),
		lane: fc.constantFrom("a", "b"),
		repo: name,
		account: name,
		prefer: name,
		owner: name,
		agent: name,
		uses: fc.option(fc.dictionary(fc.constantFrom("x", "y", "z"), fc.integer({ min: 1, max: 2 }), { minKeys: 1 }), { nil: undefined }),
		host_labels: fc.option(fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1 }), { nil: undefined }),
		forced: fc.option(fc.constant(true as const), { nil: undefined }),
	})
	.map((given) => job(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))));

/** What the gates look at, in a form in which equal means equal. */
const meaning = (one: Job) =>
	JSON.stringify([
		one.kind,
		one.lane,
		one.repo ?? null,
		one.account ?? null,
		one.prefer ?? null,
		one.owner ?? null,
		one.agent ?? null,
		Object.entries(one.uses ?? {}).sort(),
		[...(one.host_labels ?? [])].sort(),
		one.forced ?? null,
	]);

test("the key is equal exactly when all that the gates look at is", () => {
	fc.assert(
		fc.property(traits, traits, (one, other) => {
			expect(bucketKey(one) === bucketKey(other)).toBe(meaning(one) === meaning(other));
		}),
		{ numRuns: 1000 },
	);
});

test("the order of labels and of uses does not matter", () => {
	expect(bucketKey(job({ host_labels: ["a", "b"], uses: { x: 1, y: 2 } }))).toBe(
		bucketKey(job({ host_labels: ["b", "a"], uses: { y: 2, x: 1 } })),
	);
});

test("what else a job carries does not matter", () => {
	const plain = bucketKey(job());
	expect(bucketKey(job({ id: 9, name: "n", priority: 5, batch: "b", locks: [{ key: "k", mode: "shared" }], failures: 3 }))).toBe(plain);
	expect(plain).toBe("command/default");
});

test("an apply that is not committed yet has buckets of its own", () => {
	expect(new Set([bucketKey(job()), bucketKey(job(), 1), bucketKey(job(), 2)]).size).toBe(3);
});

test("a bucket carries what its key stands for", () => {
	const one = job({ repo: "r", account: "a", prefer: "p", owner: "o", agent: "g", uses: { x: 1 }, host_labels: ["l"], forced: true });
	expect(bucketOf(one, 7, 3)).toEqual({
		id: 7,
		kind: "command",
		lane: "default",
		ready: 0,
		repo: "r",
		account: "a",
		prefer: "p",
		owner: "o",
		agent: "g",
		uses: { x: 1 },
		labels: ["l"],
		forced: true,
		stage: 3,
	});
	expect(bucketOf(job(), 7)).toEqual({ id: 7, kind: "command", lane: "default", ready: 0 });
});
