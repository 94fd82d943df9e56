// Trusted files compared with the files that are present.

import { describe, expect, test } from "vitest";
import { changesSince, fileProblem, readTrust, recipesProblem, recipesState, trustLines, trustsFile } from "./repo-files.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)];
const NO_TEXT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const files = (given: Record<string, string>) => new Map(Object.entries(given));
const NOW = files({ "sluice.yml": A, "recipes/a.yml": A });

describe("what was trusted", () => {
	test.each([
		["as it is", trustLines(NOW), "trusted", [], true],
		["nothing", false, "untrusted", ["recipes/a.yml added", "sluice.yml added"], false],
		["whatever there is", true, "trusted", [], true],
		["sluice.yml alone, by a digest", A, "untrusted", ["recipes/a.yml added"], true],
		["no sluice.yml, by the digest of no text", NO_TEXT, "untrusted", ["recipes/a.yml added", "sluice.yml added"], false],
		["another recipe", [`${A}  sluice.yml`, `${B}  recipes/a.yml`], "changed", ["recipes/a.yml changed"], true],
		["one more", [...trustLines(NOW), `${B}  recipes/b.yml`], "changed", ["recipes/b.yml removed"], true],
		["another sluice.yml", [`${B}  sluice.yml`, `${A}  recipes/a.yml`], "trusted", ["sluice.yml changed"], false],
		["no sluice.yml", [`${A}  recipes/a.yml`], "trusted", ["sluice.yml added"], false],
		["no recipe", [`${A}  sluice.yml`], "changed", ["recipes/a.yml added"], true],
	] as const)("%s", (_, trust, recipes, changes, counts) => {
		expect(recipesState(trust, NOW, null)).toBe(recipes);
		expect(changesSince(trust, NOW).map(({ file, change }) => `${file} ${change}`)).toEqual(changes);
		expect(trustsFile(trust, A)).toBe(counts);
		expect(recipesProblem("app", trust, NOW, null) === null).toBe(recipes === "trusted");
		expect(fileProblem("app", trust, NOW) === null).toBe(counts);
	});

	test("files that cannot be read are not in force, whatever was trusted", () => {
		for (const trust of [true, false, A, trustLines(NOW)]) {
			expect(recipesState(trust, files({}), "recipes/x.yml is not a plain file")).toBe("bad");
			expect(recipesProblem("app", trust, files({}), "recipes/x.yml is not a plain file")).toContain("recipes/x.yml");
		}
	});

	test("removing all recipes is a change, too; without recipes there is none", () => {
		expect(recipesState(trustLines(NOW), files({ "sluice.yml": A }), null)).toBe("changed");
		expect(recipesState([`${A}  sluice.yml`], files({ "sluice.yml": A }), null)).toBe("none");
		expect(recipesState(false, files({}), null)).toBe("none");
	});

	test("names three files, and counts the rest", () => {
		const many = files(Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`recipes/${at}.yml`, A])));
		expect(recipesProblem("app", [], many, null)).toBe(
			"the recipes of repo app do not count: recipes/1.yml was added, recipes/2.yml was added, recipes/3.yml was added and 2 more since they were trusted",
		);
	});
});

test.each([["x"], [7], [["x"]], [[`${A}  ../x`]], [[`${A}  recipes/a/b`]], [[`${A} sluice.yml`]], [[`${A}  sluice.yml\n`]]])(
	"trusted: %j is refused",
	(value) => expect(() => readTrust(value, "trusted")).toThrow(/^trusted/),
);
