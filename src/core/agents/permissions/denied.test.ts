// Tool calls that were denied: how the list is kept, and what a grant of it allows, in words.

import { expect, test } from "vitest";
import { allowedFor, callsOf, countDenied, DENIED_MAX, grantWords, isGrantable, keptDenied } from "./denied.ts";

const calls = (count: number) => Array.from({ length: count }, (_, index) => `Bash: make ${index}`);

test("twenty are kept, and the last entry counts the rest", () => {
	expect(keptDenied(calls(DENIED_MAX))).toEqual(calls(DENIED_MAX));
	const kept = keptDenied(calls(60));
	expect(kept).toEqual([...calls(20), "and 40 more"]);
	expect([countDenied(kept), countDenied(calls(3)), countDenied([])]).toEqual([60, 3, 0]);
	expect(callsOf(kept)).toEqual(calls(20));
	expect(isGrantable(kept)).toBe(true);
	expect(allowedFor(kept).tools).toEqual([]);
});

test("two lines are two commands", () => {
	expect(allowedFor(["Bash: npm ci\nnpm test", "bash: cd a && make;\nls"]).commands).toEqual(["npm ci", "npm test", "cd a", "make", "ls"]);
});

test("in words: commands, and whole tools", () => {
	expect(grantWords(["Bash: npm run lint && npm test", "Write: /etc/passwd", "WebFetch: https://x.test", "mcp__x: {}"])).toEqual([
		"run: npm run lint, npm test",
		"use Write, for any file",
		"use WebFetch, for any address",
		"use mcp__x, for anything",
	]);
});
