// Several mistakes are reported together, each once.

import { describe, expect, test } from "vitest";
import { SluiceError } from "../errors.ts";
import * as check from "./check.ts";
import { Faults, faultsOf } from "./mistakes.ts";

const read = (value: Record<string, unknown>) => {
	check.knownKeys(value, ["a", "b", "c"], "job");
	if (value.a === undefined) throw check.wrong("job.a", "is missing");
	check.integer(value.a, "job.a", 1);
	if (value.b !== undefined) for (const [index, one] of check.list(value.b, "job.b").entries()) check.integer(one, `job.b[${index}]`, 1);
	if (value.c !== undefined) check.flag(value.c, "job.c");
};

describe("faults", () => {
	test("all mistakes of one object, though its reader stops at the first", () => {
		const fields = (value: Record<string, unknown>) => faultsOf(value, "job", read, { a: 1 }).map(({ field }) => field);
		expect(fields({ a: 1 })).toEqual([]);
		expect(fields({ a: "x", b: ["y"], c: 3, d: 1 })).toEqual(["job.d", "job.a", "job.b[0]", "job.c"]);
		expect(fields({})).toEqual(["job.a"]);
		// A mistake that only follows from a wrong key is not reported a second time.
		expect(fields({ aa: 1, c: 3 })).toEqual(["job.aa", "job.c"]);
	});

	test("keys that every object has are mistakes like any other", () => {
		const job = JSON.parse('{"a": 1, "toString": 1, "constructor": 2, "__proto__": 3, "c": 4}');
		expect(faultsOf(job, "job", read, { a: 1 }).map(({ field }) => field)).toEqual([
			"job.toString",
			"job.constructor",
			"job.__proto__",
			"job.c",
		]);
	});

	test("a mistake that only follows from a wrong repo is not reported", () => {
		const needsRepo = (value: Record<string, unknown>) => {
			if (value.repo === "nowhere") throw check.wrong("job.repo", "is unknown");
			if (value.pinned_head !== undefined && value.repo === undefined) throw check.wrong("job.pinned_head", "needs a repo");
			if (value.name === 5) throw check.wrong("job.name", "must be text");
		};
		const job = { repo: "nowhere", pinned_head: { branch: "main" }, name: 5 };
		expect(faultsOf(job, "job", needsRepo).map(({ field }) => field)).toEqual(["job.repo", "job.name"]);
	});

	test("the first is the error, the rest is attached; very many are counted", () => {
		const faults = new Faults();
		faults.throwIfAny();
		for (let n = 1; n <= 150; n++) faults.keep(check.wrong(`x${n}`, "is wrong"));
		try {
			faults.throwIfAny();
			expect.unreachable();
		} catch (error) {
			const { field, also } = error as SluiceError;
			expect([field, also?.length, also?.[0]?.field, also?.at(-1)?.message]).toEqual(["x1", 100, "x2", "and 50 more mistakes"]);
		}
	});

	test("an error that is not the caller's mistake is rethrown", () => {
		expect(() => new Faults().keep(new Error("ours"))).toThrow("ours");
		expect(() => new Faults().keep(new SluiceError("store", "disk full"))).toThrow("disk full");
	});
});
