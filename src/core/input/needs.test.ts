// Artifacts that only a repo can have are refused for a job without a repo, with what to do: the job could never start.

import { expect, test } from "vitest";
import { presetConfig } from "../config.ts";
import type { JobInput } from "../job.ts";
import { draftJob } from "./job.ts";

test.each<[JobInput, object]>([
	[
		{ conditions: ["clean_worktree"] },
		{ code: "impossible", field: "conditions", hint: "name the repo: --repo NAME; sluice repo list shows them" },
	],
	[{ conditions: ["branch_exists:x"] }, { code: "impossible", field: "conditions" }],
	[{ pinned_head: { branch: "main", commit: "abcd" } }, { code: "impossible", field: "pinned_head" }],
	[{ needs: ["branch:x"] }, { code: "impossible", field: "needs[0]" }],
	[{ needs: ["custom:a:b", "doc:main:x"] }, { code: "impossible", field: "needs[1]" }],
	[{ produces: ["commits:x"] }, { code: "impossible", field: "produces[0]" }],
	[{ needs: ["ahead:x"] }, { code: "impossible", field: "needs[0]" }],
	[{ produces: ["patch:build"] }, { code: "invalid", field: "produces[0]" }],
])("%j is refused", (input, expected) => {
	try {
		draftJob({ command: ["make"], ...input }, presetConfig(undefined), { now: 1, force: false });
		expect.unreachable();
	} catch (error) {
		expect(error).toMatchObject(expected);
	}
});
