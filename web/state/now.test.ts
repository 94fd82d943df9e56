// Words of the home: late runs, what an agent does, amounts.

import { expect, test } from "vitest";
import { NO_PROGRESS } from "../../src/core/runs/progress.ts";
import { activityOf, isOwnTurn, lateness, latestProgress, linesWords, short } from "./now.ts";
import { clock, microsOf } from "./words.ts";

test("a run is late when it takes longer than nine of ten such runs", () => {
	const usual = { p50_ms: 60_000, p90_ms: 120_000 };
	expect([lateness(119_000, usual), lateness(121_000, usual), lateness(1, null)]).toEqual(["usual", "late", "unknown"]);
});

test("what a run does: the tool and the message, or the last line of a command; how many lines it changed", () => {
	const agent = { ...NO_PROGRESS, tool: "Edit a.ts", message: "Adding the test", lines_added: 88, lines_removed: 0 };
	expect(activityOf(agent)).toEqual({ tool: "Edit a.ts", text: "Adding the test" });
	expect(activityOf({ ...NO_PROGRESS, last_line: "412 passed" })).toEqual({ tool: null, text: "412 passed" });
	expect([linesWords(agent), linesWords(NO_PROGRESS), linesWords({ lines_added: 0, lines_removed: 0 })]).toEqual(["+88 −0", "", ""]);
});

test("the progress that was told last counts, for the attempt that runs now", () => {
	const told = { kind: "progress", at: "", job: 7, attempt: 2, ...NO_PROGRESS, turns: 5 } as const;
	const run = { attempt: 2, progress: { ...NO_PROGRESS, turns: 3 } };
	expect(latestProgress(told, run)?.turns).toBe(5);
	expect(latestProgress(told, { ...run, attempt: 3 })?.turns).toBe(3);
	expect(latestProgress(undefined, run)?.turns).toBe(3);
	expect(latestProgress(told, null)).toBeNull();
});

test("a full machine is no trouble of its own; a full lane is", () => {
	const cause = (subject: string) => ({ kind: "capacity" as const, subject, detail: "", jobs: 1, clears_at: null, remedy: null });
	expect([isOwnTurn(cause("all")), isOwnTurn(cause("lane:test"))]).toEqual([true, false]);
});

test("amounts: dollars that were typed, tokens in short, a clock", () => {
	expect(["5", "$5", "2.50", "1,000", "five", "-1", ""].map(microsOf)).toEqual([
		5_000_000,
		5_000_000,
		2_500_000,
		1_000_000_000,
		null,
		null,
		null,
	]);
	expect([short(950), short(41_200), short(1_240_000)]).toEqual(["950", "41 k", "1.2 M"]);
	expect(clock(new Date(2026, 0, 1, 9, 5).getTime())).toBe("09:05");
});
