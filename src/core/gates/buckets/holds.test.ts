// Gate `holds`: pauses at every scope, hours, limits, closed accounts, breakers, and which account a job would run on.

import { describe, expect, test } from "vitest";
import { makeBucket, worldAt } from "../../../../test/make/gates.ts";
import type { Bucket } from "../../bucket.ts";
import { type Config, DEFAULTS, LANE_DEFAULT } from "../../config.ts";
import { type Hold, holdKey } from "../../limits-view.ts";
import { accountsOf, breakerReason, holds } from "./holds.ts";

const NOW = Date.parse("2030-01-01T12:00:00Z");
const told = { by: "ann", since: 7, reason: "why" };

const world = worldAt(NOW);
const holding = (...all: Hold[]) => new Map(all.map((hold) => [holdKey(hold.kind, hold.scope), hold]));
const ask = (one: Partial<Bucket>, all: Hold[] = [], config: Config = DEFAULTS) =>
	holds.ask(makeBucket(one), world({ holds: holding(...all), config }));

const paused = (scope: string, until?: number): Hold => ({ kind: "paused", scope, ...told, ...(until === undefined ? {} : { until }) });
const limited = (account: string, until: number, next_at = until): Hold => ({
	kind: "rate_limited",
	scope: `account:${account}`,
	...told,
	until,
	hits: 1,
	reset: false,
	next_at,
});
const closed = (account: string): Hold => ({ kind: "account_closed", scope: `account:${account}`, ...told });
const breaker = (scope: string, until: number, probe?: number): Hold => ({
	kind: "breaker_open",
	scope,
	...told,
	until,
	...(probe === undefined ? {} : { probe }),
});

describe("pauses", () => {
	test.each([
		["all", {}, "everything paused by ann: why"],
		["lane:default", {}, "lane default paused by ann: why"],
		["repo:web", { repo: "web" }, "repo web paused by ann: why"],
		["account:work", { account: "work" }, "account work paused by ann: why"],
	] as [string, Partial<Bucket>, string][])("%s", (scope, one, detail) => {
		expect(ask(one, [paused(scope)])).toEqual([{ gate: "holds", code: "paused", subject: scope, detail, since: 7, holder: ["ann"] }]);
	});

	test.each(["lane:other", "repo:web", "account:work", "batch:b", "lane:defaul"])("%s does not concern it", (scope) => {
		expect(ask({}, [paused(scope)])).toBeNull();
	});

	test("until a time", () => {
		expect(ask({}, [paused("all", NOW + 1)])?.[0]?.clears_at).toBe(NOW + 1);
		expect(ask({}, [paused("all", NOW)])).toBeNull();
	});

	test("all pauses that apply are listed", () => {
		const reasons = ask({ repo: "web" }, [paused("repo:web"), paused("all"), paused("lane:default")]);
		expect(reasons?.map((reason) => reason.subject)).toEqual(["all", "lane:default", "repo:web"]);
	});
});

describe("active hours", () => {
	const lane = (...active_hours: string[]): Config => ({ ...DEFAULTS, lanes: { default: { ...LANE_DEFAULT, active_hours } } });

	test("inside", () => {
		expect(ask({}, [], lane("08:00-18:00"))).toBeNull();
	});
	test("outside, until they begin", () => {
		expect(ask({}, [], lane("22:00-06:00", "07:00-08:00"))).toEqual([
			{
				gate: "holds",
				code: "quiet_hours",
				subject: "lane:default",
				detail: "lane default starts jobs only in 22:00-06:00, 07:00-08:00 (UTC)",
				clears_at: Date.parse("2030-01-01T22:00:00Z"),
			},
		]);
	});
});

describe("accounts", () => {
	const config: Config = {
		...DEFAULTS,
		accounts: { a: { max: null, max_api_calls: 1 }, b: { max: null, max_api_calls: 1 } },
		lanes: { default: { ...LANE_DEFAULT, accounts: ["a", "b"] } },
	};

	test("limited, until when", () => {
		expect(ask({ account: "a" }, [limited("a", NOW + 1000)])).toEqual([
			{
				gate: "holds",
				code: "rate_limited",
				subject: "account:a",
				detail: "account a is limited until 2030-01-01T12:00:01.000Z: why",
				since: 7,
				holder: ["ann"],
				clears_at: NOW + 1000,
			},
		]);
	});
	test("after a limit starts are spaced", () => {
		expect(ask({ account: "a" }, [limited("a", NOW, NOW + 500)])?.[0]).toMatchObject({ code: "rate_limited", clears_at: NOW + 500 });
		expect(ask({ account: "a" }, [limited("a", NOW, NOW)])).toBeNull();
	});
	test("closed, until a person clears it", () => {
		expect(ask({ account: "a" }, [closed("a")])).toEqual([
			{
				gate: "holds",
				code: "account_closed",
				subject: "account:a",
				detail: "account a is closed: why",
				since: 7,
				holder: ["ann"],
			},
		]);
	});
	test("one open account of a lane is enough; with none, the reasons of all", () => {
		expect(ask({}, [limited("a", NOW + 1)], config)).toBeNull();
		expect(ask({}, [limited("a", NOW + 1), closed("b")], config)?.map((reason) => reason.subject)).toEqual(["account:a", "account:b"]);
	});
	test("the job's own account comes before its lane's", () => {
		expect(accountsOf(makeBucket({ account: "b" }), world({ config }))).toEqual(["b"]);
		expect(accountsOf(makeBucket(), world({ config }))).toEqual(["a", "b"]);
		expect(accountsOf(makeBucket(), world())).toEqual([undefined]);
	});
	test("a session waits for its account, unless that is shut for longer than failover_after", () => {
		const minutes = (count: number) => NOW + count * 60_000;
		const of = (...all: Hold[]) => accountsOf(makeBucket({ prefer: "a" }), world({ config, holds: holding(...all) }));
		expect(of()).toEqual(["a"]);
		expect(of(limited("a", minutes(30)))).toEqual(["a"]);
		expect(of(limited("a", minutes(31)))).toEqual(["b"]);
		expect(of(closed("a"))).toEqual(["b"]);
		expect(accountsOf(makeBucket({ prefer: "a" }), world({ holds: holding(closed("a")) }))).toEqual(["a"]);
	});
});

describe("without an account", () => {
	const until = NOW + 60_000;
	test("an agent has its own, by its name; a lane's come first", () => {
		expect(accountsOf(makeBucket({ kind: "agent", agent: "claude" }), world({}))).toEqual(["claude"]);
		expect(ask({ kind: "agent", agent: "claude" }, [limited("claude", until)])).toMatchObject([
			{ code: "rate_limited", subject: "account:claude" },
		]);
		expect(ask({ kind: "agent", agent: "codex" }, [limited("claude", until), limited("default", until)])).toBeNull();
		const config: Config = {
			...DEFAULTS,
			accounts: { a: { max: null, max_api_calls: 1 } },
			lanes: { default: { ...LANE_DEFAULT, accounts: ["a"] } },
		};
		expect(ask({ kind: "agent", agent: "claude" }, [limited("claude", until)], config)).toBeNull();
	});
	test("payload jobs wait for the shared default account; commands for none", () => {
		expect(ask({ kind: "payload" }, [limited("default", until)])).toMatchObject([{ code: "rate_limited", subject: "account:default" }]);
		expect(ask({ kind: "command" }, [limited("default", until)])).toBeNull();
	});
});

describe("breakers", () => {
	test("open, until the next probe", () => {
		expect(ask({ agent: "claude" }, [breaker("agent:claude", NOW + 1000)])).toEqual([
			{
				gate: "holds",
				code: "breaker_open",
				subject: "agent:claude",
				detail: "launches of agent claude keep failing (why); next probe at 2030-01-01T12:00:01.000Z",
				since: 7,
				holder: ["ann"],
				clears_at: NOW + 1000,
			},
		]);
		expect(ask({ repo: "web" }, [breaker("repo:web", NOW + 1000)])).toHaveLength(1);
		expect(ask({ agent: "codex" }, [breaker("agent:claude", NOW + 1000)])).toBeNull();
	});
	test("half open: one probe, and no other until its outcome is known", () => {
		expect(breakerReason("agent:claude", world({ holds: holding(breaker("agent:claude", NOW)) }))).toBeUndefined();
		expect(breakerReason("agent:claude", world({ holds: holding(breaker("agent:claude", NOW, 9)) }))).toMatchObject({
			detail: "job 9 is probing agent claude",
			holder: ["job:9"],
		});
	});
});
