// docs/security.md names the test behind each of its lines: every line has one, and the file has a test or a group with exactly that title.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Rows of all tables; the last column is the test. */
const ROWS = read("docs/security.md")
	.split("\n")
	.filter((line, at, all) => line.startsWith("| ") && !all[at + 1]?.startsWith("|---"))
	.map((line) => line.split("|").map((cell) => cell.trim()))
	.map((cells) => ({ what: cells[1] ?? "", protects: cells[2] ?? "", tests: cells.at(-2) ?? "" }));

type Syntax = {
	type?: string;
	name?: string;
	callee?: Syntax;
	object?: Syntax;
	tag?: Syntax;
	arguments?: Syntax[];
	value?: unknown;
	quasis?: { value: { cooked: string } }[];
};

/** `test(…)`, `describe.each(…)(…)`, `test.skipIf(…)(…)`: the word that all of them begin with. */
const wordOf = ({ name, callee, object, tag }: Syntax): string | undefined => {
	const before = callee ?? object ?? tag;
	return before ? wordOf(before) : name;
};

/** What is filled into a title is left out of it. */
const textOf = ({ value, quasis }: Syntax): string | undefined =>
	typeof value === "string" ? value : quasis?.map(({ value: { cooked } }) => cooked).join("");

/** The titles of a file's tests and groups. */
function titlesIn(file: string): Set<string> {
	const found = new Set<string>();
	const walk = (node: unknown): void => {
		if (typeof node !== "object" || node === null) return;
		const { type, callee, arguments: given } = node as Syntax;
		const title = type === "CallExpression" && callee && /^(?:test|describe)$/.test(wordOf(callee) ?? "") && given?.[0] && textOf(given[0]);
		if (title) found.add(title);
		for (const value of Object.values(node)) walk(value);
	};
	walk(parseAst(read(file), { lang: "ts" }));
	return found;
}

test("the page has rows", () => {
	expect(ROWS.length).toBeGreaterThan(45);
});

describe("each line has its test", () => {
	test.each(ROWS)("$what", ({ protects, tests }) => {
		// Only where the line says that nothing protects.
		if (tests === "nothing to show") return expect(protects).toMatch(/^none\b/);
		for (const one of tests.split(" · ")) {
			const [, file = "", title = ""] = /^`([\w./-]+\.test\.ts)`: (.+)$/.exec(one) ?? [];
			expect([one, file !== "" && existsSync(join(ROOT, file))]).toEqual([one, true]);
			expect([...titlesIn(file)]).toContain(title);
		}
	});
});
