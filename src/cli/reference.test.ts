// docs/reference/cli.md equals what its generator makes from the commands' descriptions.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cliReference } from "../../scripts/generate-cli-docs.ts";

test("the reference is up to date; node dist/scripts/generate-cli-docs.js writes it anew", async () => {
	expect(readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8")).toBe(cliReference());
});
