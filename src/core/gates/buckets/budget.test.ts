// Gate `budget`: ledgers of owner and repo, dimension by dimension.

import { expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../../test/make/gates.ts";
import type { Bucket } from "../../bucket.ts";
import type { Ledger } from "../../limits-view.ts";
import { budget } from "./budget.ts";

const NOW = Date.parse("2030-01-01T12:00:00Z");

const world = worldAt(NOW);
const ledger = (subject: string, used: number, more: Partial<Ledger> = {}): Ledger => ({
	subject,
	dim: "tokens",
	used,
	limit: 100,
	warn_at: 0.8,
	window: null,
	window_at: 0,
	...more,
});
const ask = (one: Partial<Bucket>, ...all: Ledger[]) => {
	const ledgers = new Map<string, Ledger[]>();
	for (const each of all) ledgers.set(each.subject, [...(ledgers.get(each.subject) ?? []), each]);
	return budget.ask(makeBucket(one), world({ ledgers }));
};

test("passes without an owner, without a ledger, without a limit, and while something is left", () => {
	expect(ask({})).toBeNull();
	expect(ask({ owner: "ann" })).toBeNull();
	expect(ask({ owner: "ann" }, ledger("owner:ann", 99), ledger("owner:bob", 100))).toBeNull();
	expect(ask({ owner: "ann" }, ledger("owner:ann", 1e9, { limit: null }))).toBeNull();
});

test("dimension, used, limit", () => {
	expect(ask({ owner: "ann" }, ledger("owner:ann", 100))).toEqual([
		{ gate: "budget", code: "budget", subject: "owner:ann/tokens", detail: "owner:ann has used 100 of 100 tokens" },
	]);
});

test("every dimension of owner and repo that is used up", () => {
	const reasons = ask(
		{ owner: "ann", repo: "web" },
		ledger("owner:ann", 100),
		ledger("owner:ann", 5, { dim: "runs" }),
		ledger("owner:ann", 200, { dim: "cost_micro" }),
		ledger("repo:web", 100),
	);
	expect(reasons?.map((reason) => reason.subject)).toEqual(["owner:ann/tokens", "owner:ann/cost_micro", "repo:web/tokens"]);
});

test("a window says when it resets", () => {
	const day = Date.parse("2030-01-01T00:00:00Z");
	expect(ask({ owner: "ann" }, ledger("owner:ann", 100, { window: "day", window_at: day }))?.[0]?.clears_at).toBe(day + 86_400_000);
	expect(ask({ owner: "ann" }, ledger("owner:ann", 100, { window: "day", window_at: day - 86_400_000 }))).toBeNull();
});

test("reservations of live runs count, and are mentioned", () => {
	const one = ledger("owner:ann", 60);
	const at = (reserved: number) =>
		budget.ask(
			makeBucket({ owner: "ann" }),
			world({ ledgers: new Map([["owner:ann", [one]]]), usage: new Map([["budget:owner:ann/tokens", reserved]]) }),
		);
	expect(at(39)).toBeNull();
	expect(at(40)).toMatchObject([{ detail: "owner:ann has used 60 of 100 tokens; what runs now has reserved 40" }]);
});

test("money is shown in dollars", () => {
	const micro = ledger("owner:ann", 990_000, { dim: "cost_micro", limit: 1_000_000 });
	const usage = new Map([["budget:owner:ann/cost_micro", 12_500]]);
	expect(budget.ask(makeBucket({ owner: "ann" }), world({ ledgers: new Map([["owner:ann", [micro]]]), usage }))).toMatchObject([
		{ detail: "owner:ann has used $0.99 of $1.00; what runs now has reserved $0.0125" },
	]);
});
