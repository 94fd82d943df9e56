// The parts of the reference that are made from the source, or that must name what it has: compared.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { rpcReference } from "../scripts/rpc-reference.ts";
import { Metrics } from "../src/api/metrics.ts";
import { INPUT_KEYS } from "../src/core/input.ts";
import { JOB_FIELDS, manifestSchemaText } from "../src/core/manifest-schema.ts";
import { openStand } from "./make/stand.ts";

const page = (name: string) => readFileSync(join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "reference", `${name}.md`), "utf8");

describe("the reference", () => {
	test("rpc.md is what scripts/generate-docs.ts makes of the protocol", () => {
		expect(page("rpc")).toBe(rpcReference());
	});

	test("manifest.schema.json is what scripts/generate-docs.ts makes of the table, which has every field of a job", () => {
		expect(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "../docs/reference/manifest.schema.json"), "utf8")).toBe(
			manifestSchemaText(),
		);
		expect(Object.keys(JOB_FIELDS).sort()).toEqual([...INPUT_KEYS].sort());
	});

	test("metrics.md names each metric, with its type and meaning, and no other", async () => {
		const t = await openStand();
		const metrics = new Metrics(t.sluice, 0, "1");
		const text = await metrics.text();
		const real = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, type]) => [name, type, help]);
		const rows = [...page("metrics").matchAll(/^\| `(\w+)` \| (\w+) \|[^|]*\| (.*) \|$/gm)].map(([, name, type, help]) => [
			name,
			type,
			help,
		]);
		expect(real.length).toBeGreaterThan(10);
		expect(rows).toEqual(real);
	});
});
