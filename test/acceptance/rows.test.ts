// rows.tsv lists what the five documents describe, one behaviour a row: document, section, behaviour, and the tests that show it. Where Sluice does it
// otherwise, the row names the page that tells a user so, with its words. Here: every row is complete, and what it names is there.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const text = (path: string) => readFileSync(join(ROOT, path), "utf8");
const rows = text("test/acceptance/rows.tsv")
	.trimEnd()
	.split("\n")
	.map((line) => line.split("\t"));

/** A title stands after test(, it( or describe(, or after the table of an each; one that is skipped shows nothing. */
const TITLE =
	/(?:\b(?:test|it|describe)(?:\.(?!skip\b|todo\b)\w+)*|\))\(\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;
const titlesOf = (source: string): string[] =>
	[...source.matchAll(TITLE)].map(([, double, single, back]) => (double ?? single ?? back ?? "").replaceAll(/\\(.)/g, "$1"));

const known = new Map<string, Set<string>>();
function titles(file: string): Set<string> {
	let found = known.get(file);
	if (!found) {
		found = new Set(file.endsWith(".test.ts") && existsSync(join(ROOT, file)) ? titlesOf(text(file)) : []);
		known.set(file, found);
	}
	return found;
}

/** What is wrong with what a row says of its proof; nothing if it is right. */
function faultOf(proof: string): string | undefined {
	const otherwise = /^otherwise: (docs\/[\w/-]+\.md): "(.+)"$/.exec(proof);
	if (otherwise) {
		const [, page = "", phrase = ""] = otherwise;
		return existsSync(join(ROOT, page)) && text(page).includes(phrase) ? undefined : `${page} does not say "${phrase}"`;
	}
	const missing = proof.split(" | ").filter((one) => {
		const [file = "", title = ""] = one.split(/: (.*)/s);
		return !titles(file).has(title);
	});
	return missing.length === 0 ? undefined : `there is no test ${missing.join(" | ")}`;
}

test("every behaviour of the five documents has its row, in their order", () => {
	const counts = new Map<string, number>();
	for (const [document = ""] of rows) counts.set(document, (counts.get(document) ?? 0) + 1);
	expect(rows).toHaveLength(291);
	expect([...counts]).toEqual([
		["000", 47],
		["001", 94],
		["002", 67],
		["003", 29],
		["004", 54],
	]);
	expect(rows.map(([document]) => document)).toEqual(rows.map(([document]) => document).sort());
	expect(new Set(rows.map((row) => row.slice(0, 3).join("\t"))).size).toBe(rows.length);
	expect(rows.filter((row) => row.length !== 4 || row.some((cell) => cell.trim() === ""))).toEqual([]);
});

test("every row names tests that are there, or the page that says why it is otherwise", () => {
	const faults = rows.flatMap(([document, section, behaviour, proof = ""], index) => {
		const fault = faultOf(proof);
		return fault === undefined ? [] : [`row ${index + 1} (${document} ${section}: ${behaviour}): ${fault}`];
	});
	expect(faults).toEqual([]);
});

test("a test or a phrase that is not there is found", () => {
	expect(faultOf("test/acceptance/rows.test.ts: a test or a phrase that is not there is found")).toBeUndefined();
	expect(faultOf("test/acceptance/rows.test.ts: a test that was renamed")).toContain("there is no test");
	expect(faultOf("test/acceptance/gone.test.ts: one run at a time, over all flows")).toContain("there is no test");
	expect(faultOf('otherwise: docs/coming-from/cards.md: "words that are not on it"')).toContain("does not say");
	expect(faultOf('otherwise: docs/coming-from/gone.md: "no such setting"')).toContain("does not say");
	expect(
		titlesOf('test("a \\"b\\"", () => {}); test.each([\n[1],\n])("c %i", () => {}); it(`d`, go); say("e"); test.skip("f", go);'),
	).toEqual(['a "b"', "c %i", "d"]);
});
