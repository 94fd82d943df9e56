// Copies are equal, and share nothing with what they were made from.

import fc from "fast-check";
import { expect, test } from "vitest";
import { copy } from "./copy.ts";

/** Every object and list inside a value. */
function parts(value: unknown): object[] {
	if (value === null || typeof value !== "object") return [];
	return [value, ...Object.values(value).flatMap(parts)];
}

test("any JSON", () => {
	fc.assert(
		fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
			const made = copy(value);
			expect(JSON.stringify(made)).toBe(JSON.stringify(value));
			const before = new Set(parts(value));
			expect(parts(made).some((part) => before.has(part))).toBe(false);
		}),
	);
});

test("a key called __proto__ is a key like any other", () => {
	const value = JSON.parse('{"__proto__": {"x": 1}, "a": {"__proto__": 2}}');
	const made = copy(value);
	expect(JSON.stringify(made)).toBe(JSON.stringify(value));
	expect((made as { x?: number }).x).toBeUndefined();
	expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
});

test("undefined, null and numbers", () => {
	expect(copy({ a: undefined, b: null, c: [null, 0, Number.NaN] })).toEqual({ a: undefined, b: null, c: [null, 0, Number.NaN] });
	expect(copy(null)).toBe(null);
	expect(copy(5)).toBe(5);
});
