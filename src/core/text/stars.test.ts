// Names with stars: what they match.

import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesStars } from "./stars.ts";

test("a name with stars matches what a regular expression with .* for each star matches", () => {
	const text = (letters: string[]) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
	fc.assert(
		fc.property(text(["a", "b", "*"]), text(["a", "b"]), (pattern, name) => {
			expect(matchesStars(pattern, name)).toBe(new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name));
		}),
		{ numRuns: 2000 },
	);
});
