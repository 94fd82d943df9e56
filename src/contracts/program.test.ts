// `faultOf`: how a program ended, in one line.

import { expect, test } from "vitest";
import { faultOf } from "./program.ts";

const END = { code: 1, stdout: "", stderr: "", trouble: null };

test.each([
	[{ ...END, code: 0, stderr: "warning" }, null],
	[END, "exit code 1"],
	[{ ...END, stdout: "out\n", stderr: "first\nlast\n\n" }, "exit code 1: last"],
	[{ ...END, stdout: "out\n" }, "exit code 1: out"],
	[{ ...END, code: null, trouble: "took too long" }, "took too long"],
	// The text goes into the store, environment variables and prompts, so it must be free of control characters.
	[{ ...END, stderr: "a\u0000b\u001b[1;31mred\u001b[0m\u0007" }, "exit code 1: a bred"],
	[{ ...END, stderr: `${"x".repeat(499)}\u{1f600}y` }, `exit code 1: ${"x".repeat(499)}…`],
])("%j", (end, words) => {
	expect(faultOf(end)).toBe(words);
});
