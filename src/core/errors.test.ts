// Errors as callers see them.

import { expect, test } from "vitest";
import { assert, never, SluiceError } from "./errors.ts";

test("code, field, hint and cause", () => {
	const cause = new Error("inside");
	const error = new SluiceError("invalid", "priority: must be a whole number", { field: "priority", hint: "give one", cause });
	expect(error).toBeInstanceOf(Error);
	expect(error.name).toBe("SluiceError");
	expect(error.cause).toBe(cause);
	expect(JSON.parse(JSON.stringify(error))).toEqual({
		code: "invalid",
		message: "priority: must be a whole number",
		field: "priority",
		hint: "give one",
	});
	expect("cause" in new SluiceError("closed", "x")).toBe(false);
});

test("our own mistakes are loud", () => {
	expect(() => assert(true, "x")).not.toThrow();
	expect(() => assert(0, "the sky is up")).toThrow("assertion failed: the sky is up");
	expect(() => never("x" as never)).toThrow('assertion failed: unexpected "x"');
});
