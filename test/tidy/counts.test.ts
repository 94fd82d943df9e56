// What must not grow: files a folder, lines a function, comments that name no actor, casts, types of one name. `lists.json` has what was over its limit when
// the limit came; its numbers may only fall.

import { describe, expect, test } from "vitest";
import { commentsOf, isNameless } from "../../scripts/measure/comments.ts";
import { LISTS } from "../../scripts/measure/counts.ts";
import { differences, LIST_NAMES, lowered, readLists } from "../../scripts/measure/lists.ts";
import { castsOf, exportedTypesOf, functionsOf } from "../../scripts/measure/syntax.ts";
import { parseSource } from "../../scripts/measure/tree.ts";

describe("does not grow beyond its list, and the list follows when it shrinks", () => {
	test.each(LIST_NAMES)("%s", (name) => {
		expect(differences(readLists()[name] ?? {}, LISTS[name]())).toEqual([]);
	});

	test("the file has no other lists", () => {
		expect(Object.keys(readLists())).toEqual(LIST_NAMES);
	});
});

describe("a list and what is found", () => {
	test("what grew, what is new and what shrank are each told apart", () => {
		expect(differences({ same: 30, grew: 30, shrank: 30, gone: 30 }, { same: 30, grew: 31, shrank: 29, fresh: 21 })).toEqual([
			"fresh: 21 is over the limit",
			"gone: within the limit now, listed with 30: lower the list (npm run measure -- --lower)",
			"grew: 31, was 30",
			"shrank: 29, listed with 30: lower the list (npm run measure -- --lower)",
		]);
	});

	test("lowering takes what shrank, and nothing that grew or is new", () => {
		expect(lowered({ same: 30, grew: 30, shrank: 30, gone: 30 }, { same: 30, grew: 31, shrank: 29, fresh: 21 })).toEqual({
			same: 30,
			grew: 30,
			shrank: 29,
		});
	});
});

describe("counting", () => {
	const source = (text: string) => parseSource("example.ts", text);
	const isCounted = (comment: string) => commentsOf(source(`// ${comment}\n`)).some(isNameless);

	test("lines of // that follow each other are one comment, a block is one, one behind code is one", () => {
		const text = [
			"// First,",
			"// and on.",
			"",
			"// Second.",
			"const a = 1; // Third.",
			"/**",
			" * Fourth,",
			" * to its end.",
			" */",
			"const b = '// none';",
		];
		expect(commentsOf(source(text.join("\n"))).map(({ line, text }) => `${line} ${text}`)).toEqual([
			"1 First, and on.",
			"4 Second.",
			"5 Third.",
			"6 Fourth, to its end.",
		]);
	});

	test("comments that name no actor", () => {
		const nameless = [
			"Whoever frees it wakes it.",
			"Kept until somebody asks.",
			"For those who wait.",
			"Those that are ready start.",
			"It starts. One that is refused is left out.",
			"The same for those that wait.",
			"The others come later.",
			"The other waits.",
		];
		const named = [
			"The leader wakes the job.",
			"One of the hosts starts it.",
			"Of the jobs, those that are ready.",
			"Two hosts: one starts, the other waits.",
			"The other host waits.",
			"Takes one of them.",
		];
		expect(nameless.filter((comment) => !isCounted(comment))).toEqual([]);
		expect(named.filter(isCounted)).toEqual([]);
	});

	test("functions, from their first line to their last, with the name that a reader searches for", () => {
		const text = [
			"export function outer(",
			"	a: number,",
			") {",
			"	const inner = () => {",
			"		return a;",
			"	};",
			"	return [1].map((one) =>",
			"		one + inner());",
			"}",
			"class Box { open() {} }",
			"declare function none(): void;",
		];
		expect(functionsOf(source(text.join("\n"))).map(({ name, lines }) => `${name} ${lines}`)).toEqual([
			"outer 9",
			"outer > inner 3",
			"outer > map(…) 2",
			"Box > open 1",
		]);
	});

	test("casts, and not `as const`, renamed imports or words", () => {
		const text = "import { a as b } from 'node:fs';\nconst c = b as const; const d = c as unknown as string; // as T\nconst e = 'x as T';";
		expect(castsOf(source(text))).toBe(2);
	});

	test("types that a file declares and exports", () => {
		const text =
			"export type A = 1; export interface B {} export class C {} type D = 1; export type { E } from 'node:fs'; export const f = 1;";
		expect(exportedTypesOf(source(text))).toEqual(["A", "B", "C"]);
	});
});
