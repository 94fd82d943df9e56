// The syntax of patterns: parses text to a tree. It is the subset of JavaScript's regular expressions (flag `u`) that can be matched without backtracking.
//
//   accepted  a . [a-z] [^…] \d \w \s \b \B \n \t \xHH \uHHHH \u{…} \p{L}   (…) (?:…) (?<name>…)   a|b   * + ? {n} {n,} {n,m}, lazy with ?   ^ $
//   refused   \1 \k<name> (backreferences), (?=…) (?!…) (?<=…) (?<!…) (look-around): no bound on the work is known for these

export type CharTest = (codePoint: number) => boolean;
export type Assertion = "start" | "end" | "word" | "not_word";
export type PatternNode =
	/** `code`: of a literal character. */
	| { is: "char"; test: CharTest; code?: number }
	| { is: "assert"; what: Assertion }
	| { is: "all"; parts: PatternNode[] }
	| { is: "any"; choices: PatternNode[] }
	| { is: "repeat"; body: PatternNode; min: number; max: number; lazy: boolean }
	| { is: "group"; index: number; body: PatternNode };

/** What is wrong with a pattern, and at which character. */
export class PatternFault extends Error {
	readonly at: number;
	constructor(message: string, at: number) {
		super(message);
		this.at = at;
	}
}

const MAX_DEPTH = 100;
const MAX_REPEAT = 1000;

const inRange = (from: number, to: number): CharTest => {
	return (one) => one >= from && one <= to;
};
const anyOf = (tests: CharTest[]): CharTest => {
	return (one) => tests.some((test) => test(one));
};
const not = (test: CharTest): CharTest => {
	return (one) => !test(one);
};

const isDigit = inRange(48, 57);
export const isWord = anyOf([isDigit, inRange(65, 90), inRange(97, 122), (one) => one === 95]);
const isSpace: CharTest = (one) => /\s/u.test(String.fromCodePoint(one));
const isLineEnd: CharTest = (one) => one === 10 || one === 13 || one === 0x2028 || one === 0x2029;

const CLASSES: Record<string, CharTest> = {
	d: isDigit,
	D: not(isDigit),
	w: isWord,
	W: not(isWord),
	s: isSpace,
	S: not(isSpace),
};
const CONTROLS: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 };
const SYNTAX = "^$\\.*+?()[]{}|/-";

/** Matches a letter in both cases, as the flag `i` does. */
function foldCase(test: CharTest): CharTest {
	return (one) => {
		if (test(one)) return true;
		const text = String.fromCodePoint(one);
		const [lower, upper] = [text.toLowerCase(), text.toUpperCase()];
		return (
			([...lower].length === 1 && test(lower.codePointAt(0) as number)) || ([...upper].length === 1 && test(upper.codePointAt(0) as number))
		);
	};
}

/** Throws a PatternFault. `groups` counts the capturing groups. */
export function parsePattern(source: string, ignoreCase: boolean): { tree: PatternNode; groups: number } {
	const chars = [...source];
	let at = 0;
	let groups = 0;
	let depth = 0;
	const fault = (message: string, place = at) => new PatternFault(message, place);
	const cased = (test: CharTest) => (ignoreCase ? foldCase(test) : test);

	const alternatives = (): PatternNode => {
		if (++depth > MAX_DEPTH) throw fault(`groups are nested more than ${MAX_DEPTH} deep`);
		const choices = [sequence()];
		while (chars[at] === "|") {
			at++;
			choices.push(sequence());
		}
		depth--;
		return choices.length === 1 ? (choices[0] as PatternNode) : { is: "any", choices };
	};

	const sequence = (): PatternNode => {
		const parts: PatternNode[] = [];
		while (at < chars.length && chars[at] !== "|" && chars[at] !== ")") parts.push(repeated());
		return { is: "all", parts };
	};

	const repeated = (): PatternNode => {
		const from = at;
		const body = atom();
		const bounds = repetition();
		if (bounds === null) return body;
		if (body.is === "assert") throw fault("there is nothing to repeat here", from);
		if (bounds.max < bounds.min) throw fault(`{${bounds.min},${bounds.max}} is out of order`, from);
		const lazy = chars[at] === "?";
		if (lazy) at++;
		if (repetition() !== null) throw fault("a repetition cannot be repeated: put it into (?:…)");
		return { is: "repeat", body, ...bounds, lazy };
	};

	const repetition = (): { min: number; max: number } | null => {
		const sign = chars[at];
		if (sign === "*" || sign === "+" || sign === "?") {
			at++;
			return { min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Number.POSITIVE_INFINITY };
		}
		if (sign !== "{") return null;
		const found = /^\{(\d+)(,(\d+)?)?\}/.exec(chars.slice(at, at + 64).join(""));
		if (!found) throw fault('"{" begins a repetition such as {2,5}; write \\{ for the character');
		const min = Number(found[1]);
		const max = found[2] === undefined ? min : found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]);
		if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) throw fault(`repeats more than ${MAX_REPEAT} times`);
		at += found[0].length;
		return { min, max };
	};

	const atom = (): PatternNode => {
		const one = chars[at] as string;
		switch (one) {
			case "(":
				return group();
			case "[":
				return { is: "char", test: cased(set()) };
			case ".":
				at++;
				return { is: "char", test: not(isLineEnd) };
			case "^":
			case "$":
				at++;
				return { is: "assert", what: one === "^" ? "start" : "end" };
			case "\\":
				if (chars[at + 1] === "b" || chars[at + 1] === "B") {
					at += 2;
					return { is: "assert", what: chars[at - 1] === "b" ? "word" : "not_word" };
				}
				return { is: "char", test: cased(escaped().test) };
			case "*":
			case "+":
			case "?":
			case "{":
				throw fault("there is nothing to repeat here");
			case "]":
			case "}":
				throw fault(`"${one}" has no beginning; write \\${one} for the character`);
			default: {
				at++;
				const code = one.codePointAt(0) as number;
				return { is: "char", test: cased((other) => other === code), code };
			}
		}
	};

	const group = (): PatternNode => {
		const from = at++;
		let index: number | null = null;
		if (chars[at] === "?") {
			const rest = chars.slice(at, at + 64).join("");
			const named = /^\?<[A-Za-z_]\w*>/.exec(rest);
			if (rest.startsWith("?:")) at += 2;
			else if (named) {
				at += named[0].length;
				index = ++groups;
			} else throw fault(groupFault(rest), from);
		} else index = ++groups;
		const body = alternatives();
		if (chars[at] !== ")") throw fault("this group has no end", from);
		at++;
		return index === null ? body : { is: "group", index, body };
	};

	/** `code` is null for a class such as \d. */
	const escaped = (): { test: CharTest; code: number | null } => {
		const from = at++;
		const one = chars[at++];
		const single = (code: number) => ({ test: (other: number) => other === code, code });
		if (one === undefined) throw fault("a backslash at the end escapes nothing", from);
		if (Object.hasOwn(CLASSES, one)) return { test: CLASSES[one] as CharTest, code: null };
		if (/[1-9]/.test(one) || one === "k") throw fault("a reference back to a group cannot be used in a pattern", from);
		if (Object.hasOwn(CONTROLS, one)) return single(CONTROLS[one] as number);
		const rest = chars.slice(at, at + 64).join("");
		if (one === "x" || one === "u") {
			const found = (one === "x" ? /^([0-9a-f]{2})/i : /^(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})/i).exec(rest);
			const code = found ? Number.parseInt(found[1] ?? (found[2] as string), 16) : Number.NaN;
			if (!found || code > 0x10ffff) throw fault(`\\${one} needs the number of a character, such as \\x41 or \\u{1f600}`, from);
			at += found[0].length;
			return single(code);
		}
		if (one === "p" || one === "P") {
			const found = /^\{[\w=]{1,60}\}/.exec(rest);
			const property = found && propertyTest(one + found[0]);
			if (!found || !property) throw fault(`\\${one} needs a property of characters, such as \\p{L}`, from);
			at += found[0].length;
			return { test: property, code: null };
		}
		if (SYNTAX.includes(one)) return single(one.codePointAt(0) as number);
		throw fault(`\\${one} is not known; write ${one} for the character`, from);
	};

	const set = (): CharTest => {
		const from = at++;
		const isNegated = chars[at] === "^";
		if (isNegated) at++;
		const tests: CharTest[] = [];
		const member = (): { test: CharTest; code: number | null } => {
			if (chars[at] === "\\" && chars[at + 1] === "b") {
				at += 2;
				return { test: (other) => other === 8, code: 8 };
			}
			if (chars[at] === "\\") return escaped();
			const code = (chars[at++] as string).codePointAt(0) as number;
			return { test: (other) => other === code, code };
		};
		for (;;) {
			if (at >= chars.length) throw fault("this set of characters has no end", from);
			if (chars[at] === "]") break;
			const low = member();
			if (chars[at] !== "-" || chars[at + 1] === "]" || chars[at + 1] === undefined) {
				tests.push(low.test);
				continue;
			}
			const dash = at++;
			const high = member();
			if (low.code === null || high.code === null || low.code > high.code) throw fault("this range of characters is out of order", dash);
			tests.push(inRange(low.code, high.code));
		}
		at++;
		const test = anyOf(tests);
		return isNegated ? not(test) : test;
	};

	const tree = alternatives();
	if (at < chars.length) throw fault('")" has no beginning; write \\) for the character');
	return { tree, groups };
}

/** Why a group that begins with `?` is not supported. `rest` begins with the `?`. */
function groupFault(rest: string): string {
	const [, flags] = /^\?([a-z]+(?:-[a-z]+)?|-[a-z]+)[:)]/.exec(rest) ?? [];
	if (flags !== undefined) return `flags such as (?${flags}) cannot be used in a pattern`;
	const what = /^\?<?[=!]/.test(rest) ? "look-around cannot be used in a pattern" : "this kind of group is not known";
	return `${what}; (?:…) groups without capturing`;
}

/** Tests one character at a time, so it cannot backtrack. */
function propertyTest(property: string): CharTest | null {
	try {
		const expression = new RegExp(`^\\${property}$`, "u");
		return (one) => expression.test(String.fromCodePoint(one));
	} catch {
		return null;
	}
}
