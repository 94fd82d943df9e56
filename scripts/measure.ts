// Prints how the source is written, in numbers: `npm run measure`, with `-- --nameless src/core` the comments that name no actor, with `-- --lower` lowers
// the numbers in test/tidy/lists.json to what is found.

import { readArguments } from "./arguments.ts";
import { type Comment, commentsOf, isNameless, isPerson, PRONOUN_FIRST, TOLD } from "./measure/comments.ts";
import { areas, type Counts, LISTS, MOST_CASTS, MOST_FILES, MOST_LINES } from "./measure/counts.ts";
import { LIST_NAMES, lowerLists } from "./measure/lists.ts";
import { PRODUCT, sourceOf } from "./measure/tree.ts";

const percent = (part: number, whole: number) => `${((100 * part) / Math.max(whole, 1)).toFixed(1)} %`;
const print = (line = "") => console.log(line);

function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
	print(`| ${head.join(" | ")} |`);
	print(`|${head.map(() => "---|").join("")}`);
	for (const row of rows) print(`| ${row.join(" | ")} |`);
	print();
}

function printAreas(): void {
	const all = [...areas()];
	const whole = { files: 0, lines: 0, casts: 0, comments: 0, nameless: 0 };
	for (const [, area] of all) for (const key of Object.keys(whole) as (keyof typeof whole)[]) whole[key] += area[key];
	printTable(
		["folder", "files", "lines", "comments", "with a nameless actor", "share", "casts", "casts a thousand lines"],
		[...all, ["**all**", whole] as const].map(([name, { files, lines, comments, nameless, casts }]) => [
			name,
			files,
			lines,
			comments,
			nameless,
			percent(nameless, comments),
			casts,
			((1000 * casts) / lines).toFixed(1),
		]),
	);
}

function printComments(): void {
	const all = PRODUCT.flatMap((path) => commentsOf(sourceOf(path)));
	const share = (isOne: (comment: Comment) => boolean) => [all.filter(isOne).length, percent(all.filter(isOne).length, all.length)];
	const words = all.reduce((sum, { text }) => sum + text.split(" ").length, 0);
	printTable(
		["comments with …", "number", "share"],
		[
			["a nameless actor", ...share(isNameless)],
			["whoever, somebody, nobody, anybody, everybody, those who", ...share(isPerson)],
			["told, tells, telling", ...share(({ text }) => TOLD.test(text))],
			["whoever", ...share(({ text }) => /\bwhoever\b/i.test(text))],
			["a pronoun as their first word", ...share(({ text }) => PRONOUN_FIRST.test(text))],
		],
	);
	print(`${all.length} comments, ${(words / all.length).toFixed(1)} words each.\n`);
}

function printCounts(title: string, counts: Counts): void {
	print(`### ${title}: ${Object.keys(counts).length}\n`);
	printTable(
		["name", "number"],
		Object.entries(counts).sort(([, a], [, b]) => b - a),
	);
}

/** Product code alone: without blank lines and lines that hold nothing but a comment. */
function codeLines(): number {
	return PRODUCT.reduce((sum, path) => {
		const { text, tree } = sourceOf(path);
		let code = "";
		let from = 0;
		for (const { start, end } of tree.comments) {
			code += text.slice(from, start) + text.slice(start, end).replaceAll(/[^\n]/g, "");
			from = end;
		}
		return sum + (code + text.slice(from)).split("\n").filter((line) => line.trim() !== "").length;
	}, 0);
}

function printNameless(area: string): void {
	for (const path of PRODUCT.filter((path) => path.startsWith(area))) {
		for (const comment of commentsOf(sourceOf(path)).filter(isNameless)) print(`${path}:${comment.line}: ${comment.text}`);
	}
}

const values = readArguments("measure", { nameless: { type: "string" }, lower: { type: "boolean" } });
if (values.nameless !== undefined) printNameless(values.nameless);
else if (values.lower) lowerLists();
else {
	const lines = PRODUCT.reduce((sum, path) => sum + sourceOf(path).lines, 0);
	print(`Product: ${PRODUCT.length} files of src/ and web/ without tests, ${lines} lines, ${codeLines()} of them code.\n`);
	printAreas();
	printComments();
	const limits = { "files a folder": MOST_FILES, "lines a function": MOST_LINES, "casts a thousand lines": MOST_CASTS };
	for (const name of LIST_NAMES) {
		const limit: number | undefined = limits[name as keyof typeof limits];
		printCounts(limit === undefined ? name : `${name}, over ${limit}`, LISTS[name]());
	}
}
