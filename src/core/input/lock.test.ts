// Locks as callers write them: keys with colons, modes, and misspelt modes.

import { expect, test } from "vitest";
import { splitLock } from "./lock.ts";

test.each([
	["db", { key: "db" }],
	["db:shared", { key: "db", mode: "shared" }],
	["a:b:exclusive", { key: "a:b", mode: "exclusive" }],
	["repo:web", { key: "repo:web" }],
	["a:se", { key: "a:se" }],
	["a:", { key: "a:" }],
	["a:shard:exclusive", { key: "a:shard", mode: "exclusive" }],
])("%s", (written, meant) => {
	expect(splitLock(written, "locks[0]")).toEqual(meant);
});

test.each([
	["a:shard", "a:shared"],
	["a:Shared", "a:shared"],
	["a:excl", "a:exclusive"],
	["a:b:exlusive", "a:b:exclusive"],
])("%s is refused: it would be another lock", (written, meant) => {
	expect(() => splitLock(written, "locks[0]")).toThrow(
		expect.objectContaining({
			code: "invalid",
			field: "locks[0].mode",
			hint: `did you mean "${meant}"? if it is part of the key, say the mode: "${written}:exclusive"`,
		}),
	);
});
