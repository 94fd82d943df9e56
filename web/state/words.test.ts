// One-line descriptions.

import { expect, test } from "vitest";
import { facts } from "./words.ts";

test("empty facts leave no gap", () => {
	expect(facts("0 running", [].join(", "), "last heard of ")).toBe("0 running · last heard of ");
	expect(facts("1 of 4 running", ["web", "api"].join(", "))).toBe("1 of 4 running · web, api");
});
