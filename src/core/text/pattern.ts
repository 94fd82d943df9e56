// Regular expressions from outside (recipes, configuration), matched in time proportional to pattern × text at most. JavaScript's own engine
// backtracks: `(a+)+` against sixty letters would block the daemon forever.
//
// The pattern becomes a program; the matcher reads the text once and keeps the set of positions in the program where it could be (a "Pike VM").
// An earlier thread has priority over a later one. So whether a text matches, and where a match begins, is as in a backtracking engine; the end of a match and
// its groups differ only if a repeated part can match nothing, as in `(a*?)?`.

import { SluiceError } from "../errors.ts";
import { type CharTest, isWord, PatternFault } from "./pattern-chars.ts";
import { type Assertion, type PatternNode, parsePattern } from "./pattern-syntax.ts";

/** Maximum instructions of a program: `(a{100}){100}` is refused, not built. */
const MAX_PROGRAM = 2000;
/** Maximum steps of one match, about 50 ns each. */
export const MAX_STEPS = 4_000_000;

type Instruction =
	| { op: "char"; test: CharTest }
	| { op: "assert"; what: Assertion }
	| { op: "save"; slot: number }
	| { op: "jump"; to: number }
	/** `first` has priority. */
	| { op: "split"; first: number; second: number }
	| { op: "match" };

/** Steps left for all matches that share this budget. */
export type Budget = { steps: number };
type Found = { index: number; groups: (string | undefined)[] };
export type Pattern = {
	readonly source: string;
	readonly groups: number;
	/**
	 * The leftmost match; `groups[0]` is the whole match. Throws `limit` if the text is too long for this pattern. `lowered`: the text in lower case, for
	 * callers that try several patterns.
	 */
	exec(text: string, lowered?: string): Found | null;
	test(text: string): boolean;
};

/** `whole`: the pattern must match the whole text. Throws a PatternFault for an invalid pattern, or one that cannot be matched in bounded time. */
export function compilePattern(
	source: string,
	{
		ignoreCase = false,
		whole = false,
		maxSteps = MAX_STEPS,
		budget,
	}: { ignoreCase?: boolean; whole?: boolean; maxSteps?: number; budget?: Budget } = {},
): Pattern {
	const { tree, groups } = parsePattern(source, ignoreCase);
	const bounded: PatternNode = whole ? { is: "all", parts: [{ is: "assert", what: "start" }, tree, { is: "assert", what: "end" }] } : tree;
	const program = programOf({ is: "group", index: 0, body: bounded });
	const known = { words: wordsIn(bounded), first: firstOf(program), anchored: isAnchored(bounded), maxSteps, budget };
	const exec = (text: string, lowered?: string) => {
		// Fast path: most texts lack the words that every match contains.
		const searched = known.words === null ? "" : ignoreCase ? (lowered ?? text.toLowerCase()) : text;
		const isPossible = known.words === null || known.words.some((word) => searched.includes(ignoreCase ? word.toLowerCase() : word));
		return isPossible ? run(program, groups, text, source, known) : null;
	};
	return { source, groups, exec, test: (text) => exec(text) !== null };
}

/** Words of which every match contains one; null if there are none. */
function wordsIn(node: PatternNode): string[] | null {
	const shortest = (words: string[]) => Math.min(...words.map((word) => word.length));
	switch (node.is) {
		case "char":
			return node.code === undefined ? null : [String.fromCodePoint(node.code)];
		case "group":
			return wordsIn(node.body);
		case "repeat":
			return node.min === 0 ? null : wordsIn(node.body);
		case "any": {
			const each = node.choices.map(wordsIn);
			return each.some((one) => one === null) ? null : each.flatMap((one) => one as string[]);
		}
		case "all": {
			const found: string[][] = [];
			let word = "";
			for (const part of [...node.parts, null]) {
				if (part?.is === "char" && part.code !== undefined) {
					word += String.fromCodePoint(part.code);
					continue;
				}
				if (word !== "") found.push([word]);
				word = "";
				const inner = part === null ? null : wordsIn(part);
				if (inner !== null) found.push(inner);
			}
			return found.sort((one, other) => shortest(other) - shortest(one))[0] ?? null;
		}
		default:
			return null;
	}
}

/** Whether a match can only begin at the start of the text. */
function isAnchored(node: PatternNode): boolean {
	if (node.is === "assert") return node.what === "start";
	if (node.is === "group") return isAnchored(node.body);
	if (node.is === "any") return node.choices.every(isAnchored);
	return node.is === "all" && node.parts[0] !== undefined && isAnchored(node.parts[0]);
}

/** Which characters a match can begin with; null if a match may be empty. */
function firstOf(program: readonly Instruction[]): CharTest | null {
	const tests = new Set<CharTest>();
	const open = [0];
	const seen = new Set<number>();
	for (let at = open.pop(); at !== undefined; at = open.pop()) {
		if (seen.has(at)) continue;
		seen.add(at);
		const instruction = program[at] as Instruction;
		if (instruction.op === "match") return null;
		if (instruction.op === "char") tests.add(instruction.test);
		else if (instruction.op === "jump") open.push(instruction.to);
		else if (instruction.op === "split") open.push(instruction.first, instruction.second);
		else open.push(at + 1);
	}
	const all = [...tests];
	return tabled((code) => all.some((test) => test(code)));
}

const ASCII = 128;
/** The same test, with a lookup table for ASCII. */
function tabled(test: CharTest): CharTest {
	const table = Uint8Array.from({ length: ASCII }, (_, code) => (test(code) ? 1 : 0));
	return (code) => (code < ASCII ? table[code] === 1 : test(code));
}

function programOf(tree: PatternNode): Instruction[] {
	const program: Instruction[] = [];
	const emit = (instruction: Instruction): number => {
		if (program.length >= MAX_PROGRAM) throw new PatternFault("is too large: its repetitions multiply", 0);
		return program.push(instruction) - 1;
	};
	// A repeated part occurs many times in the program, each time with the same test.
	const tables = new Map<CharTest, CharTest>();
	const tableOf = (test: CharTest): CharTest => {
		const table = tables.get(test) ?? tabled(test);
		tables.set(test, table);
		return table;
	};
	const split = (lazy: boolean) => {
		const at = emit({ op: "split", first: 0, second: 0 });
		return (body: number, after: number) => {
			program[at] = { op: "split", first: lazy ? after : body, second: lazy ? body : after };
		};
	};
	const write = (node: PatternNode): void => {
		switch (node.is) {
			case "char":
				emit({ op: "char", test: tableOf(node.test) });
				return;
			case "assert":
				emit({ op: "assert", what: node.what });
				return;
			case "all":
				for (const part of node.parts) write(part);
				return;
			case "group":
				emit({ op: "save", slot: 2 * node.index });
				write(node.body);
				emit({ op: "save", slot: 2 * node.index + 1 });
				return;
			case "any": {
				const ends: number[] = [];
				for (const [index, choice] of node.choices.entries()) {
					if (index === node.choices.length - 1) {
						write(choice);
						break;
					}
					const place = split(false);
					const body = program.length;
					write(choice);
					ends.push(emit({ op: "jump", to: 0 }));
					place(body, program.length);
				}
				for (const end of ends) program[end] = { op: "jump", to: program.length };
				return;
			}
			case "repeat":
				repeat(node);
				return;
		}
	};
	const repeat = ({ body, min, max, lazy }: Extract<PatternNode, { is: "repeat" }>): void => {
		for (let n = 0; n < min; n++) write(body);
		if (max === Number.POSITIVE_INFINITY) {
			const from = program.length;
			const place = split(lazy);
			write(body);
			emit({ op: "jump", to: from });
			place(from + 1, program.length);
			return;
		}
		const places: ((after: number) => void)[] = [];
		for (let n = min; n < max; n++) {
			const place = split(lazy);
			const from = program.length;
			places.push((after) => place(from, after));
			write(body);
		}
		for (const place of places) place(program.length);
	};
	write(tree);
	emit({ op: "match" });
	return program;
}

type Thread = { at: number; slots: number[] };
type Known = { first: CharTest | null; anchored: boolean; maxSteps: number; budget: Budget | undefined };

function run(program: Instruction[], groups: number, text: string, source: string, known: Known): Found | null {
	const { first, anchored, budget = { steps: known.maxSteps } } = known;
	const step = () => {
		if (--budget.steps < 0)
			throw new SluiceError("limit", `the text is too long (${text.length} characters) for the pattern ${source.slice(0, 80)}`);
	};
	/** At which position of the text an instruction was last added to the list: each is on it once. */
	const seen = new Int32Array(program.length).fill(-1);
	/** Follows instructions that consume no character, in order of priority. */
	const add = (list: Thread[], from: Thread, position: number): void => {
		const open: Thread[] = [from];
		for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
			step();
			if (seen[thread.at] === position) continue;
			seen[thread.at] = position;
			const instruction = program[thread.at] as Instruction;
			const { slots } = thread;
			switch (instruction.op) {
				case "jump":
					open.push({ at: instruction.to, slots });
					break;
				case "split":
					open.push({ at: instruction.second, slots }, { at: instruction.first, slots });
					break;
				case "save": {
					const saved = slots.slice();
					saved[instruction.slot] = position;
					open.push({ at: thread.at + 1, slots: saved });
					break;
				}
				case "assert":
					if (isAt(text, instruction.what, position)) open.push({ at: thread.at + 1, slots });
					break;
				default:
					list.push(thread);
			}
		}
	};
	const none = new Array<number>(2 * (groups + 1)).fill(-1);
	let threads: Thread[] = [];
	let best: number[] | null = null;
	for (let position = 0; ; ) {
		const code = position < text.length ? (text.codePointAt(position) as number) : null;
		const width = code !== null && code > 0xffff ? 2 : 1;
		// A match that begins further left has priority, so a new thread comes last.
		const mayBegin = best === null && (position === 0 || !anchored);
		if (mayBegin && (first === null || (code !== null && first(code)))) add(threads, { at: 0, slots: none }, position);
		else if (threads.length === 0) {
			if (!mayBegin || code === null) break;
			step();
			position += width;
			continue;
		}
		const next: Thread[] = [];
		for (const thread of threads) {
			step();
			const instruction = program[thread.at] as Instruction;
			if (instruction.op === "match") {
				best = thread.slots;
				break;
			}
			if (code !== null && instruction.op === "char" && instruction.test(code))
				add(next, { at: thread.at + 1, slots: thread.slots }, position + width);
		}
		threads = next;
		if (code === null || (threads.length === 0 && best !== null)) break;
		position += width;
	}
	return best === null ? null : foundIn(text, best);
}

function isAt(text: string, what: Assertion, position: number): boolean {
	if (what === "start") return position === 0;
	if (what === "end") return position === text.length;
	const isWordAt = (at: number) => at >= 0 && at < text.length && isWord(text.codePointAt(at) as number);
	const isBorder = isWordAt(position - 1) !== isWordAt(position);
	return what === "word" ? isBorder : !isBorder;
}

/** `slots`: where each group begins and ends; below zero if it took no part. */
function foundIn(text: string, slots: readonly number[]): Found {
	const groups = Array.from({ length: slots.length / 2 }, (_, index) => {
		const [from = -1, to = -1] = [slots[2 * index], slots[2 * index + 1]];
		return from < 0 || to < 0 ? undefined : text.slice(from, to);
	});
	return { index: slots[0] as number, groups };
}
