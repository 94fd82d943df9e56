// When a store lacks acknowledged work, by example, and the message for it.

import { expect, test } from "vitest";
import { lossOf, lossWords, type StoreFound, type StoreMark } from "./store-loss.ts";

const mark = (seq: number, more: Partial<StoreMark> = {}): StoreMark => ({ id: "a", seq, job: seq, token: seq, ...more });
const found = (holds: StoreMark | null, more: Partial<StoreFound> = {}): StoreFound => ({
	database: "there",
	walBytes: 0,
	isBackup: false,
	holds,
	...more,
});

test.each<[string, StoreMark | null, StoreFound, "loss" | "whole"]>([
	["the same number", mark(9), found(mark(9)), "whole"],
	["a higher number: the mark is not synced", mark(9), found(mark(12)), "whole"],
	["a lower number", mark(9), found(mark(8)), "loss"],
	["tables without any number", mark(9), found({ id: null, seq: 0, job: 0, token: 0 }), "loss"],
	["no tables", mark(9), found(null), "loss"],
	["no file", mark(9), found(null, { database: "missing", walBytes: null }), "loss"],
	["a lower number, and no identity yet", mark(9), found(mark(2, { id: null })), "loss"],
	["a lower number, and a mark from before the store had an identity", mark(9, { id: null }), found(mark(2)), "loss"],
	["another store", mark(9), found(mark(2, { id: "b" })), "whole"],
	["a back-up", mark(9), found(mark(2), { isBackup: true }), "whole"],
	["no mark", null, found(null), "whole"],
	["a store that never held anything", mark(0), found(null), "whole"],
])("%s", (_, known, now, answer) => {
	expect(lossOf(known, now) === null ? "whole" : "loss").toBe(answer);
});

test("the message names what is missing and what was found", () => {
	const words = (known: StoreMark, now: StoreFound) => lossWords(lossOf(known, now) as never, "/h/sluice.db", "2026-11-17T01:02:03.000Z");
	expect(words(mark(41, { job: 9 }), found(mark(12, { job: 2 }), { walBytes: 500 }))).toBe(
		"acknowledged jobs are missing from the queue /h/sluice.db: at 2026-11-17T01:02:03.000Z it held jobs up to 9 and events up to 41; now it holds jobs up to 2 and events up to 12, " +
			"and /h/sluice.db-wal is there (500 bytes) but holds nothing newer that can be read. Missing: jobs 3 to 9 and events 13 to 41; other jobs are as they were earlier, and what has ended since may run again",
	);
	expect(words(mark(41, { job: 1 }), found(null, { database: "empty", walBytes: null }))).toMatch(
		/now \/h\/sluice\.db is empty, and \/h\/sluice\.db-wal is not there\. Missing: job 1 and events 1 to 41$/,
	);
	expect(words(mark(41, { job: 9 }), found(mark(40, { job: 9 })))).toMatch(/Missing: events 41 to 41, so jobs are as they were earlier/);
});
