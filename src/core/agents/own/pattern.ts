// Patterns of the configuration: regular expressions without what makes matching slow. They run on whatever a program prints, in the daemon's own process, so they are matched
// by stepping through all possibilities at once (Thompson 1968, Pike): time grows with the length of the line times that of the pattern, whatever the pattern.
//
//   may be used      text · . [a-z] [^x] \d \w \s \b \D \W \S \t · ( ) (?: ) | · * + ? {2,5}, also lazy · ^ $
//   may not          \1 (back references), (?= (?! (?<= (?<! (look-around), (?<name> …, \p{…}: those need steps back
//
// Upper and lower case are the same. A pattern looks at one line at a time.

import { isWord, lower, type Node, PatternError, parsePattern, type Test } from "./pattern-syntax.ts";

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
/** `lowered`: the line in lower case, where the caller has several patterns for it. */
export type Pattern = { source: string; groups: number; on(line: string, lowered?: string): Match | null };

const LONGEST = 500;
const MOST_STEPS = 5000;

/** Throws a `PatternError` that says what cannot be used, and where. */
export function patternOf(source: string): Pattern {
	if (source === "") throw new PatternError("is empty: it would match every line", 1);
	if (source.length > LONGEST) throw new PatternError(`is longer than ${LONGEST} characters`, LONGEST);
	const { node, groups } = parsePattern(source);
	const steps = compiled(node);
	const program = { steps, begins: beginningOf(steps), onlyAtStart: isAnchored(node) };
	const needed = needs(node);
	return {
		source,
		groups,
		on(line, lowered) {
			// Most lines lack the words that every match has; that is found out fast.
			if (needed !== null) {
				const text = lowered ?? line.toLowerCase();
				if (!needed.some((word) => text.includes(word))) return null;
			}
			return matched(program, groups, line);
		},
	};
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
				add({ do: "one", test: tabled(one.test) });
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

/** Whether a match can begin only where the line does. */
function isAnchored(node: Node): boolean {
	if (node.is === "start") return true;
	if (node.is === "group") return isAnchored(node.part);
	if (node.is === "any") return node.parts.every(isAnchored);
	return node.is === "all" && node.parts[0] !== undefined && isAnchored(node.parts[0]);
}

/** Whether a match can begin with a character: a table for the usual ones. Null where a match may be empty. */
function beginningOf(steps: readonly Step[]): Test | null {
	const tests: Test[] = [];
	const open = [0];
	const seen = new Set<number>();
	for (let at = open.pop(); at !== undefined; at = open.pop()) {
		if (seen.has(at)) continue;
		seen.add(at);
		const step = steps[at] as Step;
		if (step.do === "done") return null;
		if (step.do === "one") tests.push(step.test);
		else if (step.do === "jump") open.push(step.to);
		else if (step.do === "split") open.push(step.first, step.second);
		else open.push(at + 1);
	}
	return tabled((code) => tests.some((test) => test(code)));
}

const ASCII = 128;
/** The same test, looked up where that can be. */
function tabled(test: Test): Test {
	const table = Uint8Array.from({ length: ASCII }, (_, code) => (test(code) ? 1 : 0));
	return (code) => (code < ASCII ? table[code] === 1 : test(code));
}

type Program = { steps: readonly Step[]; begins: Test | null; onlyAtStart: boolean };
/** Where a possibility is, and what it has captured so far: a list that it shares with those it came from. */
type Thread = { step: number; saved: (number | undefined)[] };

function matched({ steps: program, begins, onlyAtStart }: Program, groups: number, line: string): Match | null {
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
		const code = at < line.length ? lower(line.charCodeAt(at)) : -1;
		// The first place counts: once there is a match, none begins further on.
		const isOpen = best === null && (at === 0 || !onlyAtStart);
		if (isOpen && (begins === null || (code >= 0 && begins(code)))) follow(now, 0, [at], at);
		else if (now.length === 0) {
			if (!isOpen) break;
			continue;
		}
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
