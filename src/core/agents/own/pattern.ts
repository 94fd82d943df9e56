// Patterns of the configuration: regular expressions without what makes matching slow. They run on whatever a program prints, in the daemon's own process, so they are matched
// by stepping through all possibilities at once (Thompson 1968, Pike): time grows with the length of the line times that of the pattern, whatever the pattern.
//
//   may be used      text · . [a-z] [^x] \d \w \s \b \D \W \S \t · ( ) (?: ) | · * + ? {2,5}, also lazy · ^ $
//   may not          \1 (back references), (?= (?! (?<= (?<! (look-around), (?<name> …, \p{…}: those need steps back
//
// Upper and lower case are the same. A pattern looks at one line at a time.

/** What a character must be, by its lower-case code. */
type Test = (code: number) => boolean;
type Node =
	| { is: "text"; code: number }
	| { is: "one"; test: Test }
	| { is: "start" }
	| { is: "end" }
	| { is: "edge"; inside: boolean }
	| { is: "all"; parts: Node[] }
	| { is: "any"; parts: Node[] }
	| { is: "group"; index: number; part: Node }
	| { is: "repeat"; part: Node; min: number; max: number; lazy: boolean };

type Step =
	| { do: "one"; test: Test }
	| { do: "split"; first: number; second: number }
	| { do: "jump"; to: number }
	| { do: "save"; slot: number }
	| { do: "start" }
	| { do: "end" }
	| { do: "edge"; inside: boolean }
	| { do: "done" };

/** `groups`: what its parentheses captured; undefined for one that took no part. */
export type Match = { text: string; groups: (string | undefined)[] };
export type Pattern = { source: string; groups: number; on(line: string): Match | null };

/** `at`: the character that is wrong, from 1 on. */
export class PatternError extends Error {
	constructor(
		message: string,
		readonly at: number,
	) {
		super(message);
	}
}

const LONGEST = 500;
const MOST_STEPS = 5000;
const MOST_TIMES = 1000;

const lower = (code: number): number =>
	code < 128 ? (code >= 65 && code <= 90 ? code + 32 : code) : String.fromCharCode(code).toLowerCase().charCodeAt(0);
const upper = (code: number): number => String.fromCharCode(code).toUpperCase().charCodeAt(0);
const isDigit: Test = (code) => code >= 48 && code <= 57;
const isWord: Test = (code) => isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
const isSpace: Test = (code) => /\s/.test(String.fromCharCode(code));
const not =
	(test: Test): Test =>
	(code) =>
		!test(code);
const CLASSES: Record<string, Test> = { d: isDigit, D: not(isDigit), w: isWord, W: not(isWord), s: isSpace, S: not(isSpace) };
const ESCAPED: Record<string, number> = { t: 9, n: 10, r: 13 };

/** Throws a `PatternError` that says what cannot be used, and where. */
export function patternOf(source: string): Pattern {
	if (source === "") throw new PatternError("is empty: it would match every line", 1);
	if (source.length > LONGEST) throw new PatternError(`is longer than ${LONGEST} characters`, LONGEST);
	const { node, groups } = parsed(source);
	const program = compiled(node);
	const needed = needs(node);
	return {
		source,
		groups,
		on(line) {
			// Most lines lack the words that every match has; that is found out fast.
			if (needed !== null) {
				const text = line.toLowerCase();
				if (!needed.some((word) => text.includes(word))) return null;
			}
			return matched(program, groups, line);
		},
	};
}

function parsed(source: string): { node: Node; groups: number } {
	let at = 0;
	let groups = 0;
	const wrong = (message: string, place = at) => new PatternError(message, place + 1);

	const alternatives = (): Node => {
		const parts = [sequence()];
		while (source[at] === "|") {
			at++;
			parts.push(sequence());
		}
		return parts.length === 1 ? (parts[0] as Node) : { is: "any", parts };
	};
	const sequence = (): Node => {
		const parts: Node[] = [];
		while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(repeated(atom()));
		return { is: "all", parts };
	};
	const repeated = (part: Node): Node => {
		const range = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at));
		const sign = source[at];
		if (sign !== "*" && sign !== "+" && sign !== "?" && range === null) return part;
		if (part.is === "start" || part.is === "end" || part.is === "edge") throw wrong(`"${sign}" repeats nothing`);
		const [min, max] =
			range !== null
				? [Number(range[1]), range[2] === "" ? Number(range[1]) : range[3] === "" ? Number.POSITIVE_INFINITY : Number(range[3])]
				: [sign === "+" ? 1 : 0, sign === "?" ? 1 : Number.POSITIVE_INFINITY];
		if (min > max || (Number.isFinite(max) && max > MOST_TIMES) || min > MOST_TIMES)
			throw wrong(`"${range?.[0]}" must go from a smaller number to a larger one, ${MOST_TIMES} at most`);
		at += range?.[0].length ?? 1;
		const lazy = source[at] === "?";
		if (lazy) at++;
		if (/[*+?]/.test(source[at] ?? "")) throw wrong(`"${source[at]}" repeats a repetition`);
		return { is: "repeat", part, min, max, lazy };
	};
	const atom = (): Node => {
		const sign = source[at] as string;
		switch (sign) {
			case "(":
				return group();
			case "[":
				return { is: "one", test: set() };
			case ".":
				at++;
				return { is: "one", test: () => true };
			case "^":
				at++;
				return { is: "start" };
			case "$":
				at++;
				return { is: "end" };
			case "\\":
				return escaped();
			case "*":
			case "+":
			case "?":
				throw wrong(`"${sign}" repeats nothing; for the character itself write \\${sign}`);
			default:
				at++;
				return { is: "text", code: lower(sign.charCodeAt(0)) };
		}
	};
	const group = (): Node => {
		const open = at;
		at++;
		let index: number | null = null;
		if (source.startsWith("?:", at)) at += 2;
		else if (source[at] === "?")
			throw wrong(
				`"(${source.slice(at, at + 2)}" cannot be used: look-around, names and flags are not there. (…) captures, (?:…) only groups`,
				open,
			);
		else index = ++groups;
		const part = alternatives();
		if (source[at] !== ")") throw wrong('"(" has no ")"; for the character itself write \\(', open);
		at++;
		return index === null ? part : { is: "group", index, part };
	};
	const escaped = (): Node => {
		const sign = source[at + 1];
		if (sign === undefined) throw wrong("ends with a lone \\");
		if (/[1-9]/.test(sign) || sign === "k") throw wrong(`"\\${sign}" cannot be used: a back reference needs steps back`);
		if (sign === "b" || sign === "B") {
			at += 2;
			return { is: "edge", inside: sign === "B" };
		}
		const test = CLASSES[sign];
		if (test === undefined && ESCAPED[sign] === undefined && /[A-Za-z0]/.test(sign))
			throw wrong(`"\\${sign}" cannot be used; known are \\d \\w \\s \\b \\D \\W \\S \\t, and \\ before a sign`);
		at += 2;
		return test === undefined ? { is: "text", code: lower(ESCAPED[sign] ?? sign.charCodeAt(0)) } : { is: "one", test };
	};
	const set = (): Test => {
		const open = at;
		at++;
		const negated = source[at] === "^";
		if (negated) at++;
		const tests: Test[] = [];
		/** One character of the set, or a class. */
		const member = (): number | Test => {
			if (source[at] !== "\\") return source.charCodeAt(at++);
			const sign = source[at + 1] ?? "";
			at += 2;
			return CLASSES[sign] ?? ESCAPED[sign] ?? sign.charCodeAt(0);
		};
		for (let first = true; first || source[at] !== "]"; first = false) {
			if (at >= source.length) throw wrong('"[" has no "]"; for the character itself write \\[', open);
			const from = member();
			if (typeof from === "function") tests.push(from);
			else if (source[at] === "-" && source[at + 1] !== "]" && at + 1 < source.length) {
				at++;
				const to = member();
				if (typeof to === "function" || to < from) throw wrong("a range in [ ] goes from a smaller character to a larger one", open);
				tests.push((code) => code >= from && code <= to);
			} else tests.push((code) => code === from);
		}
		at++;
		const has: Test = (code) => tests.some((test) => test(code) || test(upper(code)));
		return negated ? not(has) : has;
	};

	const node = alternatives();
	if (at < source.length) throw wrong('")" has no "("; for the character itself write \\)');
	return { node, groups };
}

function compiled(node: Node): Step[] {
	const steps: Step[] = [];
	const add = (step: Step): number => {
		if (steps.length >= MOST_STEPS) throw new PatternError("has too many repetitions of repetitions: write it shorter", 1);
		return steps.push(step) - 1;
	};
	const split = (lazy: boolean, into: number, past: number) => ({
		do: "split" as const,
		...(lazy ? { first: past, second: into } : { first: into, second: past }),
	});
	const emit = (one: Node): void => {
		switch (one.is) {
			case "text":
				add({ do: "one", test: (code) => code === one.code });
				return;
			case "one":
				add({ do: "one", test: one.test });
				return;
			case "start":
			case "end":
				add({ do: one.is });
				return;
			case "edge":
				add({ do: "edge", inside: one.inside });
				return;
			case "all":
				for (const part of one.parts) emit(part);
				return;
			case "group":
				add({ do: "save", slot: one.index * 2 });
				emit(one.part);
				add({ do: "save", slot: one.index * 2 + 1 });
				return;
			case "any": {
				const ends: number[] = [];
				for (const part of one.parts.slice(0, -1)) {
					const fork = add({ do: "split", first: steps.length + 1, second: 0 });
					emit(part);
					ends.push(add({ do: "jump", to: 0 }));
					steps[fork] = { do: "split", first: fork + 1, second: steps.length };
				}
				emit(one.parts.at(-1) as Node);
				for (const end of ends) steps[end] = { do: "jump", to: steps.length };
				return;
			}
			case "repeat": {
				for (let time = 0; time < one.min; time++) emit(one.part);
				if (one.max === Number.POSITIVE_INFINITY) {
					const fork = add({ do: "jump", to: 0 });
					emit(one.part);
					add({ do: "jump", to: fork });
					steps[fork] = split(one.lazy, fork + 1, steps.length);
					return;
				}
				const forks: number[] = [];
				for (let time = one.min; time < one.max; time++) {
					forks.push(add({ do: "jump", to: 0 }));
					emit(one.part);
				}
				for (const fork of forks) steps[fork] = split(one.lazy, fork + 1, steps.length);
				return;
			}
			default:
				one satisfies never;
		}
	};
	emit(node);
	add({ do: "done" });
	return steps;
}

/** Words of which every match has one, in lower case; null where there are none such. */
function needs(node: Node): string[] | null {
	const shortest = (words: string[]) => Math.min(...words.map((word) => word.length));
	switch (node.is) {
		case "text":
			return [String.fromCharCode(node.code)];
		case "group":
			return needs(node.part);
		case "repeat":
			return node.min === 0 ? null : needs(node.part);
		case "any": {
			const each = node.parts.map(needs);
			return each.some((one) => one === null) ? null : each.flatMap((one) => one as string[]);
		}
		case "all": {
			const found: string[][] = [];
			let run = "";
			for (const part of [...node.parts, null]) {
				if (part?.is === "text") run += String.fromCharCode(part.code);
				else {
					if (run !== "") found.push([run]);
					run = "";
					const inner = part === null ? null : needs(part);
					if (inner !== null) found.push(inner);
				}
			}
			return found.sort((one, other) => shortest(other) - shortest(one))[0] ?? null;
		}
		default:
			return null;
	}
}

/** Where a possibility is, and what it has captured so far: a list that it shares with those it came from. */
type Thread = { step: number; saved: (number | undefined)[] };

function matched(program: readonly Step[], groups: number, line: string): Match | null {
	const seen = new Int32Array(program.length).fill(-1);
	let now: Thread[] = [];
	let best: (number | undefined)[] | null = null;
	const wordAt = (at: number) => at >= 0 && at < line.length && isWord(line.charCodeAt(at));

	const follow = (into: Thread[], first: number, firstSaved: (number | undefined)[], at: number): void => {
		const open: Thread[] = [{ step: first, saved: firstSaved }];
		for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
			const { step, saved } = thread;
			if (seen[step] === at) continue;
			seen[step] = at;
			const one = program[step] as Step;
			switch (one.do) {
				case "jump":
					open.push({ step: one.to, saved });
					break;
				case "split":
					open.push({ step: one.second, saved }, { step: one.first, saved });
					break;
				case "save": {
					const copy = saved.slice();
					copy[one.slot] = at;
					open.push({ step: step + 1, saved: copy });
					break;
				}
				case "start":
					if (at === 0) open.push({ step: step + 1, saved });
					break;
				case "end":
					if (at === line.length) open.push({ step: step + 1, saved });
					break;
				case "edge":
					if ((wordAt(at - 1) === wordAt(at)) === one.inside) open.push({ step: step + 1, saved });
					break;
				default:
					into.push(thread);
			}
		}
	};

	for (let at = 0; at <= line.length; at++) {
		// The first place counts: once there is a match, none begins further on.
		if (best === null) follow(now, 0, [at], at);
		else if (now.length === 0) break;
		const code = at < line.length ? lower(line.charCodeAt(at)) : -1;
		const next: Thread[] = [];
		for (const { step, saved } of now) {
			const one = program[step] as Step;
			if (one.do === "done") {
				best = saved.slice();
				best[1] = at;
				break;
			}
			if (one.do === "one" && code >= 0 && one.test(code)) follow(next, step + 1, saved, at + 1);
		}
		now = next;
	}
	if (best === null) return null;
	const found = best;
	const part = (index: number) => {
		const [from, to] = [found[index * 2], found[index * 2 + 1]];
		return from === undefined || to === undefined ? undefined : line.slice(from, to);
	};
	return { text: part(0) as string, groups: Array.from({ length: groups }, (_, index) => part(index + 1)) };
}
