// Gate `capacity`: each cap at, under and over its limit; which account has room; what a start adds to the counts.

import { describe, expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../../test/make/gates.ts";
import type { Bucket } from "../../bucket.ts";
import { type Config, DEFAULTS, LANE_DEFAULT } from "../../config.ts";
import type { LimitsView } from "../../limits-view.ts";
import { capacity, chooseAccount, footprint, freeOn, freeSlots } from "./capacity.ts";

const NOW = 0;

const world = worldAt(NOW);
const counts = (used: Record<string, number>) => new Map(Object.entries(used));
const ask = (one: Partial<Bucket>, config: Partial<Config>, used: Record<string, number>, host?: string) =>
	capacity.ask(
		makeBucket(one),
		world({ config: { ...DEFAULTS, ...config }, usage: counts(used), ...(host === undefined ? {} : { host }) }),
	);

describe("one cap at a time", () => {
	const lanes = (max: number | null) => ({ lanes: { default: { ...LANE_DEFAULT, max } } });
	const accounts = (max: number | null) => ({ accounts: { a: { max, max_api_calls: 1 } } });

	test.each([
		["max_concurrent", {}, { max_concurrent: 2 }, "all", "max_concurrent is full: 2 of 2 running"],
		["lane", {}, lanes(2), "lane:default", "lane default is full: 2 of 2 running"],
		["repo", { repo: "web" }, { repos: { web: { max: 2, prefix: null } } }, "repo:web", "repo web is full: 2 of 2 running"],
		["account", { account: "a" }, accounts(2), "account:a", "account a is full: 2 of 2 running"],
		["resource", { uses: { build: 1 } }, { resources: { build: 2 } }, "resource:build", "resource build is full: 2 of 2 running"],
	] as [string, Partial<Bucket>, Partial<Config>, string, string][])("%s", (_name, one, config, subject, detail) => {
		expect(ask(one, config, { [subject]: 1 })).toBeNull();
		expect(ask(one, config, { [subject]: 2 })).toEqual([{ gate: "capacity", code: "capacity", subject, detail }]);
		expect(ask(one, config, { [subject]: 3 })).toHaveLength(1);
	});

	test("host, when one asks", () => {
		const config = { hosts: { h1: { max: 1 } } };
		expect(ask({}, config, { "host:h1": 1 }, "h1")?.[0]?.subject).toBe("host:h1");
		expect(ask({}, config, { "host:h1": 1 }, "h2")).toBeNull();
		expect(ask({}, config, { "host:h1": 1 })).toBeNull();
	});

	test("null is no cap, 0 is none at all", () => {
		expect(ask({}, lanes(null), { "lane:default": 3 })).toBeNull();
		expect(ask({}, lanes(0), {})?.[0]?.detail).toBe("lane default is full: 0 of 0 running");
		expect(ask({ account: "a" }, accounts(0), {})).toHaveLength(1);
	});

	test("resources are used by amount", () => {
		const config = { resources: { build: 5 } };
		expect(ask({ uses: { build: 3 } }, config, { "resource:build": 2 })).toBeNull();
		expect(ask({ uses: { build: 3 } }, config, { "resource:build": 3 })).toHaveLength(1);
		expect(ask({ uses: { gpu: 1 } }, config, { "resource:gpu": 99 })).toBeNull();
	});

	test("direct mode has no max_concurrent, but a safety cap", () => {
		expect(ask({}, { max_concurrent: -1 }, { all: 24 })).toBeNull();
		expect(ask({}, { max_concurrent: 0 }, { all: 24 })).toBeNull();
		expect(ask({}, { max_concurrent: -1 }, { all: 25 })).toEqual([
			{ gate: "capacity", code: "safety_cap", subject: "safety_cap", detail: "safety_cap is full: 25 of 25 running" },
		]);
		expect(ask({}, { max_concurrent: -1, safety_cap: 0 }, { all: 9999 })).toBeNull();
	});

	test("every full cap is listed", () => {
		const reasons = ask({}, { max_concurrent: 1, safety_cap: 1, ...lanes(1) }, { all: 1, "lane:default": 1 });
		expect(reasons?.map((reason) => reason.subject)).toEqual(["safety_cap", "all", "lane:default"]);
	});
});

test("run-now with force goes past max_concurrent and the lane, never past the rest", () => {
	const config = {
		max_concurrent: 1,
		lanes: { default: { ...LANE_DEFAULT, max: 1 } },
		repos: { web: { max: 1, prefix: null } },
	};
	expect(ask({ forced: true }, config, { all: 5, "lane:default": 5 })).toBeNull();
	expect(ask({ forced: true }, config, { all: 25 })?.[0]?.code).toBe("safety_cap");
	expect(ask({ forced: true, repo: "web" }, config, { "repo:web": 1 })).toHaveLength(1);
});

test("kernel entries use no cap", () => {
	expect(footprint({ kind: "kernel", lane: "kernel" }, undefined, "h1")).toEqual([]);
});

test.each([
	[4, 25, 0, 4],
	[4, 25, 3, 1],
	[4, 25, 4, 0],
	[4, 25, 9, 0],
	[-1, 25, 3, 22],
	[0, 25, 30, 0],
	[40, 25, 3, 22],
	[-1, 0, 3, Number.POSITIVE_INFINITY],
	[4, 0, 1, 3],
])("free slots: max_concurrent %d, safety_cap %d, %d running", (max_concurrent, safety_cap, all, free) => {
	expect(freeSlots(world({ config: { ...DEFAULTS, max_concurrent, safety_cap }, usage: counts({ all }) }))).toBe(free);
});

describe("which account", () => {
	const config: Config = {
		...DEFAULTS,
		accounts: { a: { max: 1, max_api_calls: 1 }, b: { max: null, max_api_calls: 1 } },
		lanes: { default: { ...LANE_DEFAULT, accounts: ["a", "b"] } },
	};
	const choose = (one: Partial<Bucket>, used: Record<string, number>, more: Partial<LimitsView> = {}) =>
		chooseAccount(makeBucket(one), world({ config, usage: counts(used), ...more }));

	test("the first that has room", () => {
		expect(choose({}, {})).toBe("a");
		expect(choose({}, { "account:a": 1 })).toBe("b");
		expect(choose({ account: "a" }, { "account:a": 1 })).toBeNull();
		expect(choose({}, {}, { config: DEFAULTS })).toBeUndefined();
	});
	test("and is open", () => {
		const hold = { kind: "account_closed", scope: "account:a", by: "x", since: 0, reason: "" } as const;
		expect(choose({}, {}, { holds: new Map([["account_closed/account:a", hold]]) })).toBe("b");
	});
	test("one full account of several is no reason to wait", () => {
		expect(capacity.ask(makeBucket(), world({ config, usage: counts({ "account:a": 1 }) }))).toBeNull();
	});
});

test("what a start adds to the counts", () => {
	expect(footprint({ kind: "command", lane: "code", repo: "web", uses: { build: 3 } }, "a", "h1")).toEqual([
		["all", 1],
		["lane:code", 1],
		["repo:web", 1],
		["account:a", 1],
		["host:h1", 1],
		["resource:build", 3],
	]);
	expect(footprint({ kind: "payload", lane: "code" }, undefined, undefined)).toEqual([
		["all", 1],
		["lane:code", 1],
	]);
});

test("free slots of one host: by its own cap or the shared one, whichever is less", () => {
	const at = (used: Record<string, number>) =>
		world({ config: { ...DEFAULTS, max_concurrent: 4, hosts: { h1: { max: 2 } } }, usage: counts(used) });
	expect(freeOn("h1", at({ all: 1, "host:h1": 1 }))).toBe(1);
	expect(freeOn("h1", at({ all: 4, "host:h1": 1 }))).toBe(0);
	expect(freeOn("h1", at({ all: 3, "host:h1": 3 }))).toBe(0);
	expect(freeOn("h2", at({ all: 1, "host:h1": 1 }))).toBe(3);
	expect(freeOn(undefined, at({ all: 1 }))).toBe(3);
});
