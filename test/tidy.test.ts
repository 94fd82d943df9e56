// Style as a test: reads the tree and fails on what a reader would trip over. Each failure names the file and the rule.

import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { FILES, isTest, ROOT, read, SOURCES } from "../scripts/measure/tree.ts";
import { GATES, REASON_CODES } from "../src/core/reason.ts";

const under = (...folders: string[]) => FILES.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
/** What is imported one way: the program, and the page that it serves. */
const SRC = SOURCES.filter((path) => path.startsWith("src/") || path.startsWith("web/"));

/** The places where a word is not code. (The `${…}` of a template is code again: see below.) */
const NOT_CODE = new RegExp(
	[
		/\/\/.*/, // comment
		/\/\*[\s\S]*?\*\//, // comment
		/"(?:\\.|[^"\\\n])*"/, // string
		/'(?:\\.|[^'\\\n])*'/, // string
		/`(?:\\[\s\S]|[^`\\])*`/, // template
		/(?<=(?:[(,=:[!&|?{};\n]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/, // regular expression
	]
		.map((part) => part.source)
		.join("|"),
	"g",
);

const withoutComments = (text: string) => text.replace(NOT_CODE, (part) => (/^\/[/*]/.test(part) ? " " : part));
const codeOnly = (text: string) =>
	text.replace(NOT_CODE, (part) => (part.startsWith("`") ? (part.match(/\$\{[^}`]*/g) ?? []).join(" ") : " "));

/** Module names that a file imports, types included. */
function importsOf(path: string): string[] {
	const text = withoutComments(read(path));
	return [...text.matchAll(/(?:\bfrom|\bimport|\bimport\s*\(|\brequire\s*\()\s*["']([^"'\n]+)["']/g)].map((match) => match[1] as string);
}

describe("imports point one way", () => {
	const FOLDERS = [
		"core",
		"stores",
		"host",
		"scheduler",
		"fleet",
		"supervisor",
		"workspaces",
		"sources",
		"intake",
		"api",
		"daemon",
		"cli",
		"mcp",
	] as const;
	type Zone = (typeof FOLDERS)[number] | "web" | "protocol" | "files" | "contract" | "wiring" | "node" | "npm";

	/** who → whom it may import besides its own kind. Wiring chooses implementations, so it sees them all. */
	const MAY_IMPORT: Record<Exclude<Zone, "node" | "npm" | "protocol" | "files">, readonly Zone[]> = {
		core: [],
		contract: ["core"],
		stores: ["core", "contract", "node", "npm"],
		host: ["core", "contract", "node", "npm"],
		scheduler: ["core", "contract"],
		fleet: ["core", "contract", "stores", "scheduler"],
		wiring: ["core", "contract", "stores", "host", "scheduler", "fleet", "node"],
		supervisor: ["core", "contract", "node"],
		sources: ["core", "contract", "files", "node", "npm"],
		intake: ["core", "contract", "files", "node", "npm"],
		workspaces: ["core", "contract", "node"],
		api: ["core", "contract", "supervisor", "host", "node"],
		web: ["core", "protocol", "npm"],
		daemon: ["core", "contract", "wiring", "stores", "host", "supervisor", "workspaces", "sources", "intake", "api", "node", "npm"],
		cli: ["core", "contract", "api", "host", "node", "npm"],
		mcp: ["core", "api", "npm"],
	};

	/** What can be asked of a daemon, and the documents it answers with: all that a page in a browser may see of it. */
	const PROTOCOL = /^src\/api\/(?:protocol(?:\/[\w-]+)?|documents(?:\/[\w-]+)?)\.ts$/;

	/** How a file or a YAML text that other people wrote is read, with its bounds. Stateless, and shared by all readers: a second copy would soon have another rule. */
	const FILES_READ = ["src/host/plain-file.ts", "src/host/yaml-bounds.ts"];

	function zoneOf(path: string): Exclude<Zone, "node" | "npm" | "protocol" | "files"> | undefined {
		if (path.startsWith("web/")) return "web";
		if (path.startsWith("src/contracts/")) return "contract";
		if (path === "src/index.ts" || path === "src/open.ts") return "wiring";
		const folder = path.split("/").length > 2 ? path.split("/")[1] : undefined;
		return FOLDERS.find((one) => one === folder);
	}

	function zoneOfImport(from: string, name: string): Zone | undefined {
		if (name.startsWith("node:")) return "node";
		if (!name.startsWith(".")) return "npm";
		const path = posix.join(posix.dirname(from), name);
		if (from.startsWith("web/") && PROTOCOL.test(path)) return "protocol";
		if (/^src\/(?:sources|intake)\//.test(from) && FILES_READ.includes(path)) return "files";
		return zoneOf(path);
	}

	test("every file of src has its place in the picture", () => {
		expect(SRC.filter((path) => !isTest(path) && !zoneOf(path))).toEqual([]);
	});

	test("and imports only what that place may see", () => {
		const wrong = SRC.filter((path) => !isTest(path)).flatMap((path) => {
			const zone = zoneOf(path);
			if (!zone) return [];
			const allowed = (other: Zone | undefined) => other !== undefined && (other === zone || MAY_IMPORT[zone].includes(other));
			return importsOf(path).flatMap((name) => (allowed(zoneOfImport(path, name)) ? [] : [`${path} (${zone}) imports ${name}`]));
		});
		expect(wrong).toEqual([]);
	});

	test("no file imports itself by way of others, types aside", () => {
		const VALUES = /^(?:import|export)\s+(?!type\b)(?!\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?,?)*\s*\})[^;"']*?\bfrom\s*"(\.[^"\n]+)"/gm;
		const valuesOf = (path: string) =>
			[...withoutComments(read(path)).matchAll(VALUES)].map(([, name]) => posix.join(posix.dirname(path), name as string));
		const state = new Map<string, "open" | "done">();
		const circles: string[] = [];
		const visit = (path: string, way: readonly string[]): void => {
			if (state.get(path) === "open") circles.push([...way.slice(way.indexOf(path)), path].join(" → "));
			if (state.has(path) || !SRC.includes(path)) return;
			state.set(path, "open");
			for (const next of valuesOf(path)) visit(next, [...way, path]);
			state.set(path, "done");
		};
		for (const path of SRC) visit(path, []);
		expect(circles).toEqual([]);
	});

	test("relative imports name a file that is there, with its extension", () => {
		const wrong = SOURCES.flatMap((path) =>
			importsOf(path)
				.filter((name) => name.startsWith(".") && !existsSync(join(ROOT, posix.dirname(path), name)))
				.map((name) => `${path} imports ${name}`),
		);
		expect(wrong).toEqual([]);
	});

	test("nothing imports a test, but for those that run others again on another store", () => {
		const rest = SOURCES.filter((path) => !/\/on-[\w-]+\.test\.ts$/.test(path));
		expect(rest.flatMap((path) => importsOf(path).flatMap((name) => (isTest(name) ? [`${path} imports ${name}`] : [])))).toEqual([]);
	});
});

describe("clock, chance and timers come in through the host", () => {
	const BANNED = [
		/\bDate\.now\b/,
		/\bnew Date(?:\(\s*\)|(?!\s*\()\b)/,
		/(?<!new )\bDate\(/,
		/\bMath\.random\b/,
		/\bperformance\.now\b/,
		/\bset(?:Timeout|Interval|Immediate)\b/,
		/\bprocess\.hrtime\b/,
		/\b(?:random(?:UUID|Bytes|Int|Fill|FillSync)|getRandomValues)\b/,
	];
	const banned = (text: string) => BANNED.flatMap((pattern) => pattern.exec(codeOnly(text))?.[0] ?? []);

	test("the search finds them in code, not in words", () => {
		const code = ["Date.now()", "new Date()", "f(new Date)", "Math.random", `\`\${setTimeout}\``, "crypto.randomUUID()"];
		const words = ["// Date.now()", "/* setTimeout */", '"Math.random"', "`setTimeout`", "x = /Date.now/", "new Date(at)", "updates.now"];
		expect(code.filter((text) => banned(text).length !== 1)).toEqual([]);
		expect(words.filter((text) => banned(text).length !== 0)).toEqual([]);
	});

	test("no file outside src/host/ reaches for one, and of the page only web/outside.ts", () => {
		const outside = SRC.filter((path) => !path.startsWith("src/host/") && path !== "web/outside.ts");
		const timers = /^(?:node:)?(?:timers|perf_hooks)(?:\/|$)/;
		expect(
			outside.flatMap((path) =>
				[...banned(read(path)), ...importsOf(path).filter((name) => timers.test(name))].map((what) => `${path}: ${what}`),
			),
		).toEqual([]);
	});
});

describe("the reference names everything, and nothing that is gone", () => {
	const sorted = (words: Iterable<string>) => [...new Set(words)].sort();

	/** Rows of a page's tables whose first cell is one word in backticks: cells without their backticks. */
	const rows = (page: string, heading = "") => {
		const text = read(`docs/reference/${page}.md`);
		const section = heading ? (text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "") : text;
		return [...section.matchAll(/^\| `.*$/gm)].map(([row]) =>
			row
				.slice(1, -1)
				.split(/(?<!\\)\|/)
				.map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
		);
	};
	const firsts = (table: string[][]) => sorted(table.map((row) => row[0] as string));

	test("error codes", () => {
		const union = /export type ErrorCode =([^;]*);/.exec(read("src/core/errors.ts"))?.[1] ?? "";
		const codes = sorted([...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string));
		expect(codes.length).toBeGreaterThan(0);
		expect(firsts(rows("errors"))).toEqual(codes);
	});

	test("gates, in their order", () => {
		expect(rows("reasons", "Gates").map((row) => row[0])).toEqual([...GATES]);
	});

	test("reason codes, each with the status it waits in", () => {
		expect(Object.fromEntries(rows("reasons", "Codes").map((row) => [row[0], row[1]]))).toEqual(REASON_CODES);
	});

	test("methods of the scheduler and of its kernel", () => {
		const source = ["scheduler", "steering", "fleet", "kernel"].map((name) => read(`src/contracts/${name}.ts`)).join("");
		const methods = (name: string) => {
			const body = source.split(new RegExp(`export interface ${name} (?:extends [\\w, ]+ )?{`))[1]?.split("\n}")[0] ?? "";
			return sorted([...body.matchAll(/^\t+(\w+)\(/gm)].map((match) => match[1] as string));
		};
		expect(methods("Scheduler").length).toBeGreaterThan(0);
		const headings = [...read("docs/reference/library.md").matchAll(/^### `(\w+)\(/gm)].map((match) => match[1] as string);
		expect(sorted(headings)).toEqual(sorted([...methods("Scheduler"), ...methods("Steering"), ...methods("Fleet"), ...methods("Voice")]));
		expect(sorted(rows("library", "Kernel").map((row) => (row[0] as string).replace(/^(?:\w+\.)?(\w+)\(.*$/, "$1")))).toEqual(
			methods("Kernel"),
		);
	});
});

describe("files", () => {
	const NAMED_FOLDERS = ["src", "web", "sim", "bench", "test", "scripts", "bin", "docs"];

	test("say in their first line what they are for", () => {
		expect(SOURCES.filter((path) => !path.includes("/fixtures/") && !/^\/\/ \S/.test(read(path)))).toEqual([]);
	});

	test("of src stay under 400 lines", () => {
		expect(SRC.filter((path) => read(path).trimEnd().split("\n").length > 400)).toEqual([]);
	});

	test("have names that say something", () => {
		const vague = /^(?:utils?|helpers?|common|types?|managers?|services?)$/;
		const named = (path: string) => path.replace(/^src\/daemon\/service\//, "").split(/[/.-]/);
		expect(SOURCES.filter((path) => named(path).some((word) => vague.test(word)))).toEqual([]);
	});

	test("are in kebab-case", () => {
		const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/;
		const wrong = under(...NAMED_FOLDERS).filter(
			(path) => !path.includes("/fixtures/") && !path.split("/").every((part) => kebab.test(part) || /^[A-Z]+\.md$/.test(part)),
		);
		expect(wrong).toEqual([]);
	});

	test("name no path of somebody's machine", () => {
		expect(FILES.filter((path) => /(?<![\w.})-])\/(?:root|work)\//.test(read(path)))).toEqual([]);
	});

	test("package-lock.json names no registry", () => {
		expect(read("package-lock.json")).not.toContain('"resolved"');
	});

	test("package-lock.json holds every optional package, also those of other platforms: npm ci refuses a lock without them", () => {
		const { packages } = JSON.parse(read("package-lock.json")) as {
			packages: Record<string, { optionalDependencies?: Record<string, string>; version?: string }>;
		};
		/** Node's rule: a package is looked for in the folder of its user first, then in each folder above. */
		const isLocked = (user: string, name: string): boolean => {
			for (let folder = user; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, "")) {
				const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
				if (packages[path]?.version) return true;
				if (folder === "") return false;
			}
		};
		const optional = Object.entries(packages).flatMap(([user, locked]) =>
			Object.keys(locked.optionalDependencies ?? {}).map((name) => ({ user, name })),
		);
		expect(optional.length).toBeGreaterThan(50);
		expect(optional.filter(({ user, name }) => !isLocked(user, name))).toEqual([]);
	});
});
