// Which version is new enough.

import { describe, expect, test } from "vitest";
import { OPENCODE } from "./adapters/opencode.ts";
import { isOlder, permissionProblem } from "./version.ts";

test.each([
	["1.18.3", "1.18.3", false],
	["1.18.33", "1.18.3", false],
	["1.18.2", "1.18.3", true],
	["1.9.40", "1.18.3", true],
	["2.0", "1.18.3", false],
	["1.18", "1.18.3", true],
	["opencode v1.20.0 (beta)", "1.18.3", false],
	["local", "1.18.3", null],
])("%s is older than %s: %s", (version, than, older) => {
	expect(isOlder(version, than)).toBe(older);
});

describe("a program that may not obey a permission mode", () => {
	const problem = (permission: "ask" | "edit" | "full", version: string | null) =>
		permissionProblem("opencode", OPENCODE.known, permission, version);

	test("is refused below full if its version is too old or unknown", () => {
		expect(problem("ask", "1.18.2")).toBe(
			"opencode 1.18.2 may not obey permission ask: 1.18.3 is the first version that is known to. Update it, or give the job --permission full",
		);
		expect(problem("edit", "0.0.0-dev")).toContain("opencode 0.0.0-dev may not obey permission edit");
		expect(problem("edit", null)).toContain("opencode, whose --version tells no version, may not obey");
		expect(problem("edit", "local")).toContain("opencode, whose --version tells no version, may not obey");
	});

	test("may start with full, and when it is new enough", () => {
		expect([problem("full", null), problem("ask", "1.18.3"), problem("edit", "1.19.0")]).toEqual([null, null, null]);
		expect(permissionProblem("mine", null, "ask", null)).toBeNull();
	});
});
