// What becomes of a manifest whose job names exist already: each row of the table.

import { describe, expect, test } from "vitest";
import { type Named, reapply } from "./reapply.ts";

const open = (name: string, same = true): Named => ({ name, known: { job: 7, status: "queued", same } });
const ended = (name: string, same = true): Named => ({ name, known: { job: 8, status: "succeeded", same } });
const fresh = (name: string): Named => ({ name });

describe("reapply", () => {
	test.each<[string, Named[], string | RegExp, string | RegExp, string | RegExp]>([
		["none is known", [fresh("a"), fresh("b")], "add_all", "add_all", "add_all"],
		[
			"some open, the file as it was",
			[open("a"), ended("b")],
			"nothing",
			"nothing",
			/1 job of this manifest is still open: a \(job 7, queued\)/,
		],
		["some open, one changed", [open("a", false), ended("b")], /changed: a \(job 7, queued\)/, "update", /still open/],
		["some open, one new", [open("a"), fresh("b")], /1 of 2 jobs are open, .*new: b/, "update", /still open/],
		["all ended", [ended("a"), ended("b")], /all of it has ended: a \(job 8, succeeded\), b/, /all of it has ended/, "add_all"],
		[
			"none open, one ended as it is written, one new",
			[ended("a"), fresh("b")],
			/1 job .* has ended \(a .*\), 1 is new \(b\)/,
			"update",
			"add_all",
		],
		["none open, the ended one was another job of that name", [ended("a", false), fresh("b")], "add_all", "update", "add_all"],
	])("%s", (_, named, plain, update, again) => {
		for (const [options, expected] of [
			[{}, plain],
			[{ update: true }, update],
			[{ again: true }, again],
		] as const) {
			const answer = () => reapply(named, options);
			if (typeof expected === "string") expect(answer()).toBe(expected);
			else expect(answer).toThrow(expected);
		}
	});

	test("each refusal says what to type", () => {
		const hintOf = (named: Named[], options = {}) => {
			try {
				return reapply(named, options);
			} catch (error) {
				return (error as { hint: string }).hint;
			}
		};
		expect(hintOf([ended("a")])).toBe("sluice apply FILE --again runs it anew");
		expect(hintOf([open("a", false)])).toBe("sluice apply FILE --update changes what waits, adds what is new and leaves what runs");
		expect(hintOf([ended("a"), fresh("b")])).toBe("sluice apply FILE --again runs all of it anew, --update adds only what is new");
		expect(hintOf([open("a")], { again: true })).toContain("wait until they have ended, or cancel them");
	});
});
