// sluice stats: what it sends to the daemon, and what it prints.

import { expect, test } from "vitest";
import { ago, openCommandLine } from "../../../test/make/daemons/command-line.ts";
import { HOUR_MS } from "../../core/rollups/cell.ts";
import { type RollupSlice, type StatsBy, statsOf } from "../../core/rollups/stats.ts";
import { widthOf } from "../printing/table.ts";
import { trend } from "./stats.ts";

const UNTIL = Math.floor(Date.parse(ago(0)) / HOUR_MS) * HOUR_MS;
const SINCE = UNTIL - 6 * HOUR_MS;

function document(by: StatsBy = "lane", known_since: number | null = SINCE) {
	const counts = { started: 40, succeeded: 30, failed: 3, runs: 40, retried: 4, slot_ms: 2 * HOUR_MS, cost_micro: 12_345_678 };
	const cell = (lane: string, share: number) => ({
		of: [lane, "", "", "", "", ""] as const,
		counts: { ...counts, succeeded: share, wait_ms: { capacity: share * 60_000, locks: 60_000 }, start_bins: { 10: share } },
	});
	const slices: RollupSlice[] = [0, 1, 3, 5].map((hour) => ({
		at: SINCE + hour * HOUR_MS,
		period: { caps: { all: 8, lanes: { code: 4 } }, cells: [cell("code", hour), cell("a-lane-with-a-rather-long-name", 30)] },
	}));
	const asked = { since: SINCE, until: UNTIL, by, bucket: "hour" as const, timezone: "UTC", known_since, caps: {} };
	const { since, until, times, known_since: known, by: per, ...rest } = statsOf(known_since === null ? [] : slices, asked);
	const text = (at: number) => new Date(at).toISOString();
	return {
		schema_version: 1,
		since: text(since),
		until: text(until),
		known_since: known === null ? null : text(known),
		times: times.map(text),
		per,
		...rest,
	};
}

test("a summary and a line for each group, in eighty columns", async () => {
	const line = await openCommandLine({ "stats.show": document() });
	const { out } = await line.run("stats --since 6h");
	expect(out).toContain("Ended   ██·█·█          153 jobs, 24 failed".replace("██·█·█", trend(document().series.ended)));
	expect(out).toMatch(/Waited .*capacity 9\d %, locks \d %/);
	expect(out).toMatch(/Slots .*2\.67 of 8 in use, 33 %/);
	expect(out).toMatch(/LANE +ENDED +FAILED +RETRY +WAITED +SLOTS +USED +COST +TREND/);
	expect(out).toMatch(/code +21 +12 +10 % +13m +1\.33 +33 % +\$49\.38/);
	for (const text of out.split("\n")) expect(widthOf(text)).toBeLessThanOrEqual(80);
	expect(JSON.parse((await line.run("stats --json")).out).total.ended).toBe(153);
});

test("by cause: what jobs waited for", async () => {
	const line = await openCommandLine({ "stats.show": document("cause") });
	const { out } = await line.run("stats --by cause");
	expect(out).toMatch(/CAUSE +WAITED +SHARE +TREND/);
	expect(out).toMatch(/capacity +2h 9m +94 % +█+/);
	for (const text of out.split("\n")) expect(widthOf(text)).toBeLessThanOrEqual(80);
});

test("nothing has run yet", async () => {
	const line = await openCommandLine({ "stats.show": document("lane", null) });
	expect(await line.run("stats")).toMatchObject({ code: 0, err: "nothing has run yet: figures begin with the first start\n" });
});

test.each([
	["stats --since yesterday", '--since: "yesterday" is no time in the past', "24h, 7d"],
	["stats --since 18:30", '--since: "18:30" is no time in the past', "24h, 7d"],
	["stats --since 2999-01-01", '--since: "2999-01-01" has not come yet', "24h, 7d"],
	["stats --since 7q", '--since: "7q" is no time in the past', "24h, 7d"],
	["stats --by colour", "--by", "lane"],
	["stats --per lane", "--per", "--by"],
	["stats --bucket week", "--bucket", "hour"],
])("%s is refused", async (words, said, hint) => {
	const line = await openCommandLine({});
	const { code, err } = await line.run(words);
	expect(code).toBe(2);
	expect(err).toContain(said);
	expect(err).toContain(hint);
});

test("a trend: bars of one character, several values in one where there is no room", () => {
	expect(trend([0, 1, 4, 8])).toBe("·▂▅█");
	expect(trend([])).toBe("");
	expect(trend([null, 0])).toBe("");
	expect(trend(Array.from({ length: 365 }, (_, index) => index)).length).toBeLessThanOrEqual(14);
});
