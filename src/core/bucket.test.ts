// Buckets: jobs that the bucket gates cannot tell apart have one key, all others another.

import fc from "fast-check";
import { expect, test } from "vitest";
import { makeJob } from "../../test/make/job.ts";
import { bucketKey, bucketOf } from "./bucket.ts";
import type { Job } from "./job.ts";

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
	.map((given) => makeJob(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))));

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

test("keys are equal exactly if everything that the gates look at is equal", () => {
	fc.assert(
		fc.property(traits, traits, (one, other) => {
			expect(bucketKey(one) === bucketKey(other)).toBe(meaning(one) === meaning(other));
		}),
		{ numRuns: 1000 },
	);
});

test("the order of labels and of uses does not matter", () => {
	expect(bucketKey(makeJob({ host_labels: ["a", "b"], uses: { x: 1, y: 2 } }))).toBe(
		bucketKey(makeJob({ host_labels: ["b", "a"], uses: { y: 2, x: 1 } })),
	);
});

test("other fields of a job do not matter", () => {
	const plain = bucketKey(makeJob());
	expect(bucketKey(makeJob({ id: 9, name: "n", priority: 5, batch: "b", locks: [{ key: "k", mode: "shared" }], failures: 3 }))).toBe(plain);
	expect(plain).toBe("command/default");
});

test("an apply that is not committed yet has buckets of its own", () => {
	expect(new Set([bucketKey(makeJob()), bucketKey(makeJob(), 1), bucketKey(makeJob(), 2)]).size).toBe(3);
});

test("a bucket has the traits that its key stands for", () => {
	const one = makeJob({ repo: "r", account: "a", prefer: "p", owner: "o", agent: "g", uses: { x: 1 }, host_labels: ["l"], forced: true });
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
	expect(bucketOf(makeJob(), 7)).toEqual({ id: 7, kind: "command", lane: "default", ready: 0 });
});
