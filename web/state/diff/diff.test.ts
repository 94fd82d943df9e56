// Patches of git, comments on them, and colours for code: by example, and for any text.

import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { highlight, languageOf } from "./highlight.ts";
import { filesOf, linesOf, splitRows } from "./patch.ts";
import { readComments, reviewWords, withComment } from "./review.ts";

describe("a patch", () => {
	test("of git itself: added, removed, renamed, binary, odd names, lines that look like heads", () => {
		const root = makeFolder();
		const git = (...args: string[]) =>
			execFileSync("git", ["-C", root, "-c", "user.name=x", "-c", "user.email=x@x", ...args], { encoding: "utf8" });
		const write = (path: string, text: string | Buffer) => writeFileSync(join(root, path), text);
		git("init", "-q");
		mkdirSync(join(root, "src"));
		write("src/a.ts", "one\ntwo\n-- dash\nfour\n");
		write("gone.txt", "x\ny\n");
		write("old name.txt", "same\n".repeat(20));
		write("pic.bin", Buffer.from([0, 1, 2, 255]));
		write('grün "q".txt', "a\n");
		git("add", "-A");
		git("commit", "-qm", "first");
		write("src/a.ts", "one\nTWO\nfour\n++ plus\n");
		rmSync(join(root, "gone.txt"));
		renameSync(join(root, "old name.txt"), join(root, "new name.txt"));
		write("pic.bin", Buffer.from([9, 0, 255, 1]));
		write('grün "q".txt', "a\nb");
		write("fresh.md", "# new\n");
		git("add", "-A");
		const patch = git("diff", "--cached", "--binary", "-M");
		const files = filesOf(patch);
		expect(files.map(({ path, before, status, isBinary, plus, minus }) => [path, before, status, isBinary, plus, minus])).toEqual([
			["fresh.md", null, "added", false, 1, 0],
			["gone.txt", null, "deleted", false, 0, 2],
			['grün "q".txt', null, "changed", false, 1, 0],
			["new name.txt", "old name.txt", "renamed", false, 0, 0],
			["pic.bin", null, "changed", true, 0, 0],
			["src/a.ts", null, "changed", false, 2, 2],
		]);
		const lines = linesOf(patch, files.find(({ path }) => path === "src/a.ts") ?? { from: -1, to: -1 });
		expect(lines.map(({ kind, text, old, new: fresh }) => [kind, kind === "hunk" ? "" : text, old, fresh])).toEqual([
			["hunk", "", null, null],
			["same", "one", 1, 1],
			["minus", "two", 2, null],
			["minus", "-- dash", 3, null],
			["plus", "TWO", null, 2],
			["same", "four", 4, 3],
			["plus", "++ plus", null, 4],
		]);
		expect(
			splitRows(lines)
				.map(({ left, right }) => [left?.text ?? null, right?.text ?? null])
				.slice(1),
		).toEqual([
			["one", "one"],
			["two", "TWO"],
			["-- dash", null],
			["four", "four"],
			[null, "++ plus"],
		]);
		expect(linesOf(patch, files[2] ?? { from: -1, to: -1 }).at(-1)).toMatchObject({ kind: "note", text: "No newline at end of file" });
	});

	test("of 50,000 files is listed in one pass; any text is read without harm", () => {
		const one = (n: number) => `diff --git a/f${n}.ts b/f${n}.ts\n--- a/f${n}.ts\n+++ b/f${n}.ts\n@@ -1 +1,2 @@\n-a\n+b\n+c\n`;
		const files = filesOf(Array.from({ length: 50_000 }, (_, n) => one(n)).join(""));
		expect([files.length, files.at(-1)]).toMatchObject([50_000, { path: "f49999.ts", plus: 2, minus: 1 }]);
		const piece = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.constantFrom("\n", "diff --git a/x b/x\n", "@@ -1,3 +1,2 @@\n", "+x\n", "-x\n", '+++ "b/\\303', "\\ No"),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
				const patch = pieces.join("");
				for (const file of filesOf(patch)) {
					const lines = linesOf(patch, file);
					expect(lines.filter(({ kind }) => kind === "plus").length).toBe(file.plus);
					expect(splitRows(lines).length).toBeLessThanOrEqual(lines.length);
				}
			}),
		);
	});
});

test("comments: one for each line, in the order of files and lines, in words for the agent", () => {
	const at = (path: string, line: number, text: string, side: "old" | "new" = "new") => ({ path, line, text, side });
	let all = withComment([], at("b.ts", 9, "why?"));
	all = withComment(all, at("a.ts", 12, "use the lock\nas in b"));
	all = withComment(all, at("a.ts", 3, "keep it", "old"));
	all = withComment(all, at("b.ts", 9, "why not `x`?"));
	expect(reviewWords(all)).toBe("a.ts:3 (removed): keep it\na.ts:12: use the lock\n  as in b\nb.ts:9: why not `x`?");
	expect(withComment(all, at("b.ts", 9, " "))).toHaveLength(2);
	expect(readComments(JSON.stringify(all))).toEqual(all);
	expect(["", "{}", "[1,null]", '[{"path":1}]', "x"].map(readComments)).toEqual([[], [], [], [], []]);
});

describe("colours for code", () => {
	const shown = (path: string, ...lines: string[]) => {
		const language = languageOf(path);
		if (!language) return null;
		let state: ReturnType<typeof highlight>["after"] = null;
		return lines.map((line) => {
			const { tokens, after } = highlight(line, language, state);
			state = after;
			return tokens.filter(({ kind }) => kind !== "").map(({ text, kind }) => `${kind[0]} ${text}`);
		});
	};

	test("keywords, strings, comments, numbers; what goes over lines", () => {
		expect(shown("x.ts", 'const a = "b \\" c"; // d 1', "/* e", "const */ return 0x1f", "`t x", "end`")).toEqual([
			["k const", 's "b \\" c"', "c // d 1"],
			["c /* e"],
			["c const */", "k return", "n 0x1f"],
			["s `t x"],
			["s end`"],
		]);
		expect(shown("a/b.py", "def f(): # x", '"""doc', 'if"""', "x#y")).toEqual([["k def", "c # x"], ['s """doc'], ['s if"""'], []]);
		expect(shown("q.sql", "SELECT a FROM b -- c")).toEqual([["k SELECT", "k FROM", "c -- c"]]);
		expect(shown("Dockerfile", "# x")).toEqual([["c # x"]]);
		expect([shown("README", "if"), shown("x.unknown", "if")]).toEqual([null, null]);
	});

	test("of any text in any language add up to the text", () => {
		fc.assert(
			fc.property(
				fc.constantFrom("a.ts", "a.py", "a.rs", "a.sql", "a.html", "a.json", "a.sh"),
				fc.array(fc.string({ unit: "grapheme" })),
				(path, lines) => {
					const language = languageOf(path);
					if (!language) throw new Error(path);
					let state: ReturnType<typeof highlight>["after"] = null;
					for (const line of lines) {
						const { tokens, after } = highlight(line, language, state);
						expect(tokens.map(({ text }) => text).join("")).toBe(line);
						state = after;
					}
				},
			),
		);
	});
});
