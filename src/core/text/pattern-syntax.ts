// The syntax of patterns: parses text to a tree. It is the subset of JavaScript's regular expressions (flag `u`) that can be matched without backtracking.
//
//   accepted  a . [a-z] [^…] \d \w \s \b \B \n \t \xHH \uHHHH \u{…} \p{L}   (…) (?:…) (?<name>…)   a|b   * + ? {n} {n,} {n,m}, lazy with ?   ^ $
//   refused   \1 \k<name> (backreferences), (?=…) (?!…) (?<=…) (?<!…) (look-around): no bound on the work is known for these

import { type CharTest, foldCase, isLineEnd, not, PatternCursor, readEscape, readSet } from "./pattern-chars.ts";

export type Assertion = "start" | "end" | "word" | "not_word";
export type PatternNode =
	/** `code`: of a literal character. */
	| { is: "char"; test: CharTest; code?: number }
	| { is: "assert"; what: Assertion }
	| { is: "all"; parts: PatternNode[] }
	| { is: "any"; choices: PatternNode[] }
	| { is: "repeat"; body: PatternNode; min: number; max: number; lazy: boolean }
	| { is: "group"; index: number; body: PatternNode };

const MAX_DEPTH = 100;
const MAX_REPEAT = 1000;

/** Throws a PatternFault. `groups` counts the capturing groups. */
export function parsePattern(source: string, ignoreCase: boolean): { tree: PatternNode; groups: number } {
	return new PatternParser(source, ignoreCase).parse();
}

/** One method for each rule of the syntax. */
class PatternParser {
	private readonly on: PatternCursor;
	private groups = 0;
	private depth = 0;
	constructor(
		source: string,
		private readonly ignoreCase: boolean,
	) {
		this.on = new PatternCursor(source);
	}

	parse(): { tree: PatternNode; groups: number } {
		const { on } = this;
		const tree = this.alternatives();
		if (on.at < on.chars.length) throw on.fault('")" has no beginning; write \\) for the character');
		return { tree, groups: this.groups };
	}

	private cased(test: CharTest): CharTest {
		return this.ignoreCase ? foldCase(test) : test;
	}

	private alternatives(): PatternNode {
		const { on } = this;
		if (++this.depth > MAX_DEPTH) throw on.fault(`groups are nested more than ${MAX_DEPTH} deep`);
		const choices = [this.sequence()];
		while (on.chars[on.at] === "|") {
			on.at++;
			choices.push(this.sequence());
		}
		this.depth--;
		return choices.length === 1 ? (choices[0] as PatternNode) : { is: "any", choices };
	}

	private sequence(): PatternNode {
		const { on } = this;
		const parts: PatternNode[] = [];
		while (on.at < on.chars.length && on.chars[on.at] !== "|" && on.chars[on.at] !== ")") parts.push(this.repeated());
		return { is: "all", parts };
	}

	private repeated(): PatternNode {
		const { on } = this;
		const from = on.at;
		const body = this.atom();
		const bounds = this.repetition();
		if (bounds === null) return body;
		if (body.is === "assert") throw on.fault("there is nothing to repeat here", from);
		if (bounds.max < bounds.min) throw on.fault(`{${bounds.min},${bounds.max}} is out of order`, from);
		const lazy = on.chars[on.at] === "?";
		if (lazy) on.at++;
		if (this.repetition() !== null) throw on.fault("a repetition cannot be repeated: put it into (?:…)");
		return { is: "repeat", body, ...bounds, lazy };
	}

	private repetition(): { min: number; max: number } | null {
		const { on } = this;
		const sign = on.chars[on.at];
		if (sign === "*" || sign === "+" || sign === "?") {
			on.at++;
			return { min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
		}
		if (sign !== "{") return null;
		const found = /^\{(\d+)(,(\d+)?)?\}/.exec(on.chars.slice(on.at, on.at + 64).join(""));
		if (!found) throw on.fault('"{" begins a repetition such as {2,5}; write \\{ for the character');
		const min = Number(found[1]);
		const max = found[2] === undefined ? min : found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]);
		if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) throw on.fault(`repeats more than ${MAX_REPEAT} times`);
		on.at += found[0].length;
		return { min, max };
	}

	private atom(): PatternNode {
		const { on } = this;
		const one = on.chars[on.at] as string;
		switch (one) {
			case "(":
				return this.group();
			case "[":
				return { is: "char", test: this.cased(readSet(on)) };
			case ".":
				on.at++;
				return { is: "char", test: not(isLineEnd) };
			case "^":
			case "$":
				on.at++;
				return { is: "assert", what: one === "^" ? "start" : "end" };
			case "\\":
				if (on.chars[on.at + 1] === "b" || on.chars[on.at + 1] === "B") {
					on.at += 2;
					return { is: "assert", what: on.chars[on.at - 1] === "b" ? "word" : "not_word" };
				}
				return { is: "char", test: this.cased(readEscape(on).test) };
			case "*":
			case "+":
			case "?":
			case "{":
				throw on.fault("there is nothing to repeat here");
			case "]":
			case "}":
				throw on.fault(`"${one}" has no beginning; write \\${one} for the character`);
			default: {
				on.at++;
				const code = one.codePointAt(0) as number;
				return { is: "char", test: this.cased((other) => other === code), code };
			}
		}
	}

	private group(): PatternNode {
		const { on } = this;
		const from = on.at++;
		let index: number | null = null;
		if (on.chars[on.at] === "?") {
			const rest = on.chars.slice(on.at, on.at + 64).join("");
			const named = /^\?<[A-Za-z_]\w*>/.exec(rest);
			if (rest.startsWith("?:")) on.at += 2;
			else if (named) {
				on.at += named[0].length;
				index = ++this.groups;
			} else throw on.fault(groupFault(rest), from);
		} else index = ++this.groups;
		const body = this.alternatives();
		if (on.chars[on.at] !== ")") throw on.fault("this group has no end", from);
		on.at++;
		return index === null ? body : { is: "group", index, body };
	}
}

/** Why a group that begins with `?` is not supported. `rest` begins with the `?`. */
function groupFault(rest: string): string {
	const [, flags] = /^\?([a-z]+(?:-[a-z]+)?|-[a-z]+)[:)]/.exec(rest) ?? [];
	if (flags !== undefined) return `flags such as (?${flags}) cannot be used in a pattern`;
	const what = /^\?<?[=!]/.test(rest) ? "look-around cannot be used in a pattern" : "this kind of group is not known";
	return `${what}; (?:…) groups without capturing`;
}
