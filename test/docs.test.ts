// The parts of the reference that are made from the source, or that must name what it has: compared.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { configReference } from "../scripts/config-reference.ts";
import { mcpReference } from "../scripts/mcp-reference.ts";
import { rpcReference } from "../scripts/rpc-reference.ts";
import { Metrics } from "../src/api/server/metrics.ts";
import { manifestSchemaText } from "../src/core/input/manifest-schema.ts";
import { REASON_CODES } from "../src/core/reason.ts";
import { openStand } from "./make/stand.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = (name: string) => readFileSync(join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "reference", `${name}.md`), "utf8");

describe("the reference", () => {
	test("rpc.md is what scripts/generate-docs.ts makes of the protocol", () => {
		expect(page("rpc")).toBe(rpcReference());
	});

	test("the tables of config.md are what scripts/generate-docs.ts makes of the rows of the settings", () => {
		expect(page("config")).toBe(configReference(page("config")));
	});

	test("mcp.md is what scripts/generate-docs.ts makes of the tools", () => {
		expect(page("mcp")).toBe(mcpReference());
	});

	test("manifest.schema.json is what scripts/generate-docs.ts makes of the table of a job's fields", () => {
		expect(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "../docs/reference/manifest.schema.json"), "utf8")).toBe(
			manifestSchemaText(),
		);
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

	test("events.md names each kind of event with its fields, and no other", () => {
		const source = readFileSync(join(ROOT, "src/core/event.ts"), "utf8");
		const kinds = [...source.matchAll(/^\t(\w+): (?:Empty|\{ (.*) \}(?: & MergeReport)?);$/gm)].map(([, kind, fields = ""]) => [
			kind as string,
			...[...fields.matchAll(/(\w+\??): /g)].map(([, field]) => field as string).sort(),
		]);
		const rows = [...page("events").matchAll(/^\| `(\w+)` \| (.*?) ?\|/gm)].map(([, kind, fields = ""]) => [
			kind as string,
			...[...fields.matchAll(/`(\w+\??)`/g)].map(([, field]) => field as string).sort(),
		]);
		expect(kinds.length).toBeGreaterThan(50);
		expect(rows.map(([kind]) => kind)).toEqual(kinds.map(([kind]) => kind));
		// The fields of a merge's report are those of its type.
		expect(rows.filter(([kind]) => kind !== "merge")).toEqual(kinds.filter(([kind]) => kind !== "merge"));
	});
});

describe("the guide", () => {
	const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

	test("operating.md has a section for each reason, in their order", () => {
		const part = read("docs/operating.md").split("\n## By reason\n")[1]?.split("\n## ")[0] ?? "";
		expect([...part.matchAll(/^### (\w+)$/gm)].map(([, code]) => code)).toEqual(Object.keys(REASON_CODES));
	});

	test("the pages for contributors name files that are there", () => {
		// Paths of the table of a run are from src/supervisor/; all others from src/ or from the root.
		const isThere = (path: string) => ["", "src", "src/supervisor"].some((base) => existsSync(join(ROOT, base, path)));
		const gone = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/where-to-look.md"].flatMap((page) =>
			[...read(page).matchAll(/`([\w-]+\/[\w./-]+\.tsx?)`/g)].flatMap(([, path = ""]) => (isThere(path) ? [] : [`${page}: ${path}`])),
		);
		expect(gone).toEqual([]);
	});

	test("links lead to files that are there, and to headings that they have", () => {
		const pages = ["README.md", ...readdirSync(join(ROOT, "docs"), { recursive: true }).map((name) => `docs/${name}`)].filter((name) =>
			name.endsWith(".md"),
		);
		const anchors = (text: string) =>
			[...text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
				title
					.toLowerCase()
					.replace(/[^\p{L}\p{N} _-]/gu, "")
					.replaceAll(" ", "-"),
			);
		const broken = pages.flatMap((from) =>
			[...read(from).matchAll(/(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)/g)].flatMap(([, to = ""]) => {
				if (/^[a-z]+:/.test(to)) return [];
				const [path = "", anchor] = to.split("#");
				const target = path === "" ? from : join(dirname(from), path);
				if (!existsSync(join(ROOT, target))) return [`${from}: ${to}`];
				return anchor !== undefined && !anchors(read(target)).includes(anchor) ? [`${from}: ${to}`] : [];
			}),
		);
		expect(broken).toEqual([]);
	});
});
