// Lanes, accounts, budgets and the rest: what the commands send and print.

import { describe, expect, test } from "vitest";
import { ago, job, NOW, openCommandLine } from "../../../test/make/daemons/command-line.ts";

describe("nouns and upkeep", () => {
	test.each([
		[
			"lane",
			{ lanes: [{ name: "code", queued: 3, running: 1, max: 2, priority: 100, accounts: ["work"], retry: null, active_hours: [] }] },
			"LANE  QUEUED  RUNNING  MAX      BASE  ACCOUNTS\ncode       3        1    2  █░   100  work\n",
		],
		[
			"account",
			{
				accounts: [
					{
						name: "work",
						max: null,
						state: "rate_limited",
						since: ago(60_000),
						until: new Date(NOW + 60_000).toISOString(),
						by: null,
						reason: "429",
					},
				],
			},
			"ACCOUNT  STATE         SINCE   ENDS   MAX  REASON\nwork     rate limited  1m ago  in 1m    –  429\n",
		],
		[
			"budget",
			{ budgets: [{ subject: "owner:ann", dim: "tokens", used: 50, limit: 200, warn_at: 0.8, window: "day", over_limit: false }] },
			"SUBJECT    DIMENSION  USED  LIMIT        WINDOW\nowner:ann  tokens       50    200  25 %  each day\n",
		],
		[
			"lock",
			{
				locks: [
					{
						key: "db",
						holders: [
							{ job: 3, mode: "shared" },
							{ job: 4, mode: "shared" },
						],
						reserved_for: 9,
					},
				],
			},
			"LOCK  HELD BY                 KEPT FOR\ndb    3 (shared), 4 (shared)  9\n",
		],
		[
			"artifact",
			{ artifacts: [{ artifact: "custom:a:b", repo: null, present: true, observed_at: ago(1000), error: null }] },
			"ARTIFACT    STATE    SEEN\ncustom:a:b  present  1s ago\n",
		],
		[
			"host",
			{ hosts: [{ name: "here", labels: ["gpu", "mac"], heartbeat_at: ago(2000), state: "live", running: 1, max: null, gone: null }] },
			"HOST  STATE  RUNNING  MAX  LABELS    SEEN\nhere  live         1    –  gpu, mac  2s ago\n",
		],
		[
			"batch",
			{
				batches: [
					{
						name: "docs",
						state: "open",
						open: 1,
						total: 4,
						owned: false,
						counts: { running: 1, succeeded: 3 },
						progress: 0.75,
						cost_micro: 1_250_000,
					},
				],
			},
			"BATCH    DONE        JOBS                     COST\ndocs   3 of 4  ███░  1 running, 3 succeeded  $1.25\n",
		],
		[
			"batch",
			{
				batches: [
					{ name: "mine", state: "open", open: 0, total: 1, owned: true, counts: { succeeded: 1 }, progress: 1, cost_micro: null },
					{ name: "past", state: "closed", open: 0, total: 1, owned: true, counts: { succeeded: 1 }, progress: 1, cost_micro: null },
				],
			},
			[
				"BATCH    DONE     JOBS",
				"mine   1 of 1  █  1 succeeded  open until you close it: sluice batch close mine",
				"past   1 of 1  █  1 succeeded  closed",
				"",
			].join("\n"),
		],
	])("%s list", async (noun, answer, out) => {
		const line = await openCommandLine({ [`${noun}.list`]: answer });
		expect(await line.run(`${noun} list`)).toEqual({ code: 0, out, err: "" });
		expect(JSON.parse((await line.run(`${noun} list --json`)).out)).toEqual({ schema_version: 1, ...answer });
	});

	test("changes", async () => {
		const line = await openCommandLine({
			"lane.set": { lane: { name: "code", max: null, priority: 5 } },
			"account.clear": { account: {} },
			"account.limit": { account: { name: "work", state: "closed", until: null } },
			"budget.grant": { budget: { subject: "owner:ann", dim: "tokens", used: 1, limit: 5 } },
			"budget.report": { budget: { subject: "owner:ann", dim: "tokens", used: 1, limit: null } },
			"artifact.set": { artifact: "custom:a:b", present: true },
			"artifact.mark": { artifact: "custom:a:b", present: false },
			"scheduler.gc": { deleted: 5, kept: 1 },
		});
		const said = async (text: string) => [(await line.run(text)).err, line.asked.at(-1)?.params];
		expect(await said("lane set code --max none --priority 5")).toEqual([
			"lane code: no cap, base priority 5\n",
			{ name: "code", max: null, priority: 5 },
		]);
		expect(await said("account clear work")).toEqual(["account work is open\n", { name: "work" }]);
		expect(await said("budget grant owner:ann tokens 5 --window day --warn-at 0.5 --on-breach stop")).toEqual([
			"owner:ann has used 1 of 5 tokens\n",
			{ subject: "owner:ann", dim: "tokens", limit: 5, window: "day", warn_at: 0.5, on_breach: "stop" },
		]);
		expect(await said("budget report owner:ann tokens -5")).toEqual([
			"owner:ann has used 1 of unlimited tokens\n",
			{ subject: "owner:ann", dim: "tokens", amount: -5 },
		]);
		expect(await said("budget grant owner:ann cost_micro $5.25 --reserve $0.50")).toEqual([
			expect.any(String),
			{ subject: "owner:ann", dim: "cost_micro", limit: 5_250_000, reserve: 500_000 },
		]);
		expect(await said("account limit work --for 5m")).toEqual(["account work is closed\n", { name: "work", retry_after_ms: 300_000 }]);
		expect(await said("account limit work --closed why")).toEqual(["account work is closed\n", { name: "work", closed: "why" }]);
		expect(await said("artifact mark custom:a:b --absent")).toEqual([
			"custom:a:b is not there\n",
			{ artifact: "custom:a:b", absent: true },
		]);
		expect(await said("artifact set custom:a:b")).toEqual(["custom:a:b is there\n", { artifact: "custom:a:b" }]);
		expect(await said("gc --days 30")).toEqual(["deleted: 5 jobs; kept, since others still refer to them: 1\n", { days: 30 }]);
		for (const wrong of [
			"lane set code",
			"lane set code --max many",
			"budget grant a b many",
			"budget grant a b 1 --warn-at 2",
			"budget grant a tokens $5",
			"budget report owner:ann tokens",
			"budget report owner:ann tokens 5 --per owner",
			"budget report --per moon",
			"account limit work --for soon",
			"account limit work --for 5m --closed why",
			"account show",
			"gc --days -1",
		])
			expect([wrong, (await line.run(wrong)).code]).toEqual([wrong, 2]);
	});

	test("account show and the report of costs", async () => {
		const line = await openCommandLine({
			"account.show": {
				account: {
					name: "work",
					state: "closed",
					since: ago(60_000),
					until: null,
					next_at: null,
					by: "daemon",
					reason: "auth",
					hits: 0,
					reset: false,
					running: 1,
					max: 3,
					calls: 0,
					max_api_calls: 10,
					lanes: ["code"],
					reasons: [{ detail: "account work is closed: auth" }],
				},
			},
			"budget.report": {
				per: "batch",
				costs: [
					{ name: "night", jobs: 2, runs: 3, cost_micro: 1_250_000, tokens: 70, usage: { cost_micro: 1_250_000, tokens: 70, gpu_s: 4 } },
					{ name: null, jobs: 1, runs: 1, cost_micro: 0, tokens: 0, usage: {} },
				],
			},
		});
		const shown = (await line.run("account show work")).out;
		for (const part of [
			"account work  closed until a person clears it",
			"1 of 3",
			"account work is closed: auth",
			"sluice account clear work",
		])
			expect(shown).toContain(part);
		expect((await line.run("budget report --per batch --owner ann")).out).toBe(
			"BATCH       JOBS  RUNS  TOKENS   COST  BESIDES\nnight          2     3      70  $1.25  4 gpu_s\n(no batch)     1     1\n",
		);
		expect(line.asked.at(-1)?.params).toEqual({ per: "batch", owner: "ann" });
	});

	test("export", async () => {
		const line = await openCommandLine({
			"job.list": { jobs: [job(1), job(2)] },
			"job.history": ({ id }) => ({ events: [{ seq: id, kind: "added", job: id }] }),
		});
		const rows = (await line.run("export")).out
			.trimEnd()
			.split("\n")
			.map((row) => JSON.parse(row));
		expect(rows.map(({ type, id, job: of }) => [type, id ?? of])).toEqual([
			["job", 1],
			["event", 1],
			["job", 2],
			["event", 2],
		]);
	});
});
