// Every regular expression of the program and of the page: none may do work that grows faster than the text. A caller, a run or a repository chooses the text,
// and JavaScript's engine goes back to every place where it could have gone on otherwise, while the daemon answers nothing.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { worstText } from "./backtracking.ts";

const ROOT = join(import.meta.dirname, "../..");
const FILES = ["src", "web"].flatMap((folder) =>
	readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.d\.ts$/.test(name))
		.map((name) => `${folder}/${name}`),
);

type Literal = { place: string; source: string; flags: string };
type Syntax = { type?: string; start?: number; callee?: { name?: string }; regex?: { pattern: string; flags: string } };

/** The literals of a file, and the places where it makes an expression from text. */
function expressionsIn(file: string): { literals: Literal[]; made: string[] } {
	const text = readFileSync(join(ROOT, file), "utf8");
	const literals: Literal[] = [];
	const made: string[] = [];
	const walk = (node: unknown): void => {
		if (typeof node !== "object" || node === null) return;
		const { type, start = 0, callee, regex } = node as Syntax;
		const place = () => `${file}:${text.slice(0, start).split("\n").length}`;
		if (regex) literals.push({ place: place(), source: regex.pattern, flags: regex.flags });
		if ((type === "NewExpression" || type === "CallExpression") && callee?.name === "RegExp") made.push(file);
		for (const [key, value] of Object.entries(node)) if (key !== "regex") walk(value);
	};
	walk(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }));
	return { literals, made };
}

const ALL = FILES.map(expressionsIn);
const LITERALS = ALL.flatMap(({ literals }) => literals);
const MADE = ALL.flatMap(({ made }) => made);

const words = ({ place, source }: Literal, { prefix, pump, suffix, steps }: NonNullable<ReturnType<typeof worstText>>) =>
	`${place} /${source}/: ${JSON.stringify(prefix)} + ${JSON.stringify(pump)} again and again + ${JSON.stringify(suffix)} takes ${steps.join(", ")} steps`;

describe("the counter of steps", () => {
	test.each([
		["(a+)+b", ""],
		["(a|aa)+$", ""],
		["\\/+$", ""],
		["^-+|-+$", "g"],
		["\\s*&&", ""],
		["x.*y.*z", ""],
		["^#[ \\t]+(.+?)[ \\t]*#*$", "m"],
		['"(?:[^"\\\\]|\\\\.)*"', "g"],
		["\\{\\{\\s*(after\\.[^{}]*?)\\s*\\}\\}", "g"],
		["a(?=.*b)", "g"],
		["(.*,){5}x", ""],
	])("/%s/%s can be made to work out of proportion", (source, flags) => {
		expect(worstText(source, flags)).not.toBeNull();
	});

	test.each([
		["^\\/+", ""],
		["^[\\w.-]+$", ""],
		["(?<!\\s)\\s*&&", ""],
		["\\{\\{([^{}]*)\\}\\}", "g"],
		["^\\s*(?:a|b)$", ""],
	])("/%s/%s cannot", (source, flags) => {
		expect(worstText(source, flags)).toBeNull();
	});
});

describe("regular expressions", () => {
	test("all literals do work that grows with the text and no faster", () => {
		expect(LITERALS.length).toBeGreaterThan(300);
		const seen = new Set<string>();
		const bad = LITERALS.flatMap((one) => {
			const name = `/${one.source}/${one.flags}`;
			if (seen.has(name)) return [];
			seen.add(name);
			const worst = worstText(one.source, one.flags);
			return worst ? [words(one, worst)] : [];
		});
		expect(bad).toEqual([]);
	});

	/** Where an expression is made from text, with what to call so that it is made. */
	const MAKERS: Record<string, () => Promise<unknown>> = {
		"src/cli/printing/sequences.ts": async () => {
			const { splitSequences, splitKeys } = await import("../../src/cli/printing/sequences.ts");
			return [splitSequences("a"), splitKeys("a")];
		},
		"src/core/recipes/after-result.ts": () => import("../../src/core/recipes/after-result.ts"),
		"src/core/recipes/prompt-context.ts": () => import("../../src/core/recipes/prompt-context.ts"),
		"src/core/runs/progress.ts": () => import("../../src/core/runs/progress.ts"),
		"src/core/text/pattern-chars.ts": async () => (await import("../../src/core/text/pattern-syntax.ts")).parsePattern("\\p{L}", false),
		"src/sources/cards/front-matter.ts": async () =>
			(await import("../../src/sources/cards/front-matter.ts")).withoutHistory("# History\n- x\n"),
		"src/stores/migrations/postgres.ts": () => import("../../src/stores/migrations/postgres.ts"),
		"src/stores/postgres/schema.ts": () => import("../../src/stores/postgres/schema.ts"),
	};

	test("nor do those that are made from text", async () => {
		expect([...new Set(MADE)].sort()).toEqual(Object.keys(MAKERS).sort());
		const made: Literal[] = [];
		const own = globalThis.RegExp;
		globalThis.RegExp = new Proxy(own, {
			construct(target, [source, flags = ""]: [string | RegExp, string?]) {
				if (typeof source === "string") made.push({ place: "made", source, flags });
				return new target(source, flags);
			},
		});
		try {
			for (const make of Object.values(MAKERS)) await make();
		} finally {
			globalThis.RegExp = own;
		}
		const ours = made.filter(({ source }) => source !== "");
		expect(ours.length).toBeGreaterThanOrEqual(MADE.length - 2);
		const bad = ours.flatMap((one) => {
			const worst = worstText(one.source, one.flags);
			return worst ? [words(one, worst)] : [];
		});
		expect(bad).toEqual([]);
	});
});
