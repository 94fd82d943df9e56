// The filter language: what fits, what is said about mistakes, what the daemon is asked for.

import { expect, test } from "vitest";
import { parseQuery, queryMatcher, searchesOf } from "./query.ts";
import { type RowFields, rowOf } from "./row.ts";

const row = (id: number, more: Partial<RowFields>) =>
	rowOf(
		{
			id,
			name: null,
			title: null,
			prompt: null,
			command: null,
			status: "queued",
			lane: "code",
			repo: null,
			batch: null,
			agent: null,
			owner: null,
			account: null,
			exit_kind: null,
			exit_code: null,
			attempt: 1,
			ended_at: null,
			created_at: "2026-11-18T00:00:00Z",
			...more,
		} as RowFields,
		1,
	);
const ROWS = [
	row(1, { name: "build", lane: "code", agent: "claude", model: "opus", owner: "ann" }),
	row(2, { name: "deploy", lane: "docs", status: "failed", ended_at: "2026-11-18T00:00:00Z", prompt: "Fix the retry loop in upload" }),
	row(3, { name: "test", lane: "code", batch: "two words", status: "running", attempt: 2 }),
];
const found = (text: string) => ROWS.filter(queryMatcher(parseQuery(text))).map(({ id }) => id);

test("words, phrases, keys, lists, not, or", () => {
	expect(found("")).toEqual([1, 2, 3]);
	expect(found("retry loop")).toEqual([2]);
	expect(found('"loop retry"')).toEqual([]);
	expect(found("lane:code")).toEqual([1, 3]);
	expect(found("LANE:Code -build")).toEqual([3]);
	expect(found("-lane:code")).toEqual([2]);
	expect(found("lane:code,docs is:failed")).toEqual([2]);
	expect(found('batch:"two words"')).toEqual([3]);
	expect(found("agent:claude OR is:running")).toEqual([1, 3]);
	expect(found("owner:ann model:opus")).toEqual([1]);
	expect(found("#3")).toEqual([3]);
	expect(found("is:retried")).toEqual([3]);
	expect(found("status:running OR status:failed")).toEqual([2, 3]);
	expect(found("lane: OR")).toEqual([1, 2, 3]);
});

test("an unknown key or state is said, with what was meant; addresses and times are words", () => {
	expect(parseQuery("lan:code").problems).toEqual([expect.stringContaining("did you mean lane:?")]);
	expect(parseQuery("is:runing").problems).toEqual([expect.stringContaining("did you mean is:running?")]);
	expect(parseQuery("status:bogus").problems).toHaveLength(1);
	expect(parseQuery("https://example.org 10:41 lane:x").problems).toEqual([]);
});

test("the daemon is asked for the words that must occur, for each side of an or", () => {
	expect(searchesOf(parseQuery('lane:code "retry loop" -x is:failed OR upload'))).toEqual(["code retry loop", "upload"]);
	expect(searchesOf(parseQuery("is:failed"))).toEqual([]);
});

test("half-typed and hostile text breaks nothing", () => {
	for (const text of ['"', '-"', "lane:", '::"":', "-", "#", "OR OR", "a".repeat(100_000), '"'.repeat(5000)])
		expect(found(text)).toBeDefined();
});
