// The page on agents names the versions that the suites try.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_NAMES } from "../../src/core/agents/profile.ts";
import { versionsOf } from "./programs.ts";

test("docs/agents.md names the versions that are tried", () => {
	const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
	const row = `| tested with | ${AGENT_NAMES.map((name) => versionsOf(name).join(", ")).join(" | ")} |`;
	expect(page).toContain(row);
});
