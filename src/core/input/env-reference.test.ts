// References to variables that are stored elsewhere: what is one, and what only looks like one.

import { expect, test } from "vitest";
import { envReferenceOf, isBrokenReference, revealed } from "./env-reference.ts";

test.each([
	["env:ANTHROPIC_API_KEY", { from: "env", name: "ANTHROPIC_API_KEY" }, false],
	["file:/run/secrets/key", { from: "file", path: "/run/secrets/key" }, false],
	["file:~/.keys/one", { from: "file", path: "~/.keys/one" }, false],
	["file:///x.db", null, false],
	["env:", null, true],
	["env:1A", null, true],
	["file:key.txt", null, true],
	["plain", null, false],
	["environment", null, false],
])("%s", (text, reference, broken) => {
	expect([envReferenceOf(text), isBrokenReference(text)]).toEqual([reference, broken]);
});

test("the first unavailable reference is named by where it is set", () => {
	const reveal = (text: string) => (text === "env:GONE" ? { problem: "is not set" } : { value: `<${text}>` });
	expect(revealed({ A: "1", B: "env:B" }, "agents.x.env", reveal)).toEqual({ env: { A: "<1>", B: "<env:B>" } });
	expect(revealed({ A: "1", B: "env:GONE" }, "agents.x.env", reveal)).toEqual({ problem: "agents.x.env.B: is not set" });
});
