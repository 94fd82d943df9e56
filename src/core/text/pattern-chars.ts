// The characters of patterns: sets, classes and escapes, each read from the pattern as a test of one character.

export type CharTest = (codePoint: number) => boolean;
/** `code` is null for a class such as \d. */
type Char = { test: CharTest; code: number | null };

/** What is wrong with a pattern, and at which character. */
export class PatternFault extends Error {
	readonly at: number;
	constructor(message: string, at: number) {
		super(message);
		this.at = at;
	}
}

/** A place in the text of a pattern. */
export class PatternCursor {
	readonly chars: readonly string[];
	at = 0;
	constructor(source: string) {
		this.chars = [...source];
	}
	fault(message: string, place = this.at): PatternFault {
		return new PatternFault(message, place);
	}
}

const inRange = (from: number, to: number): CharTest => {
	return (one) => one >= from && one <= to;
};
const anyOf = (tests: CharTest[]): CharTest => {
	return (one) => tests.some((test) => test(one));
};
export const not = (test: CharTest): CharTest => {
	return (one) => !test(one);
};

const isDigit = inRange(48, 57);
export const isWord = anyOf([isDigit, inRange(65, 90), inRange(97, 122), (one) => one === 95]);
const isSpace: CharTest = (one) => /\s/u.test(String.fromCodePoint(one));
export const isLineEnd: CharTest = (one) => one === 10 || one === 13 || one === 0x2028 || one === 0x2029;

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
export function foldCase(test: CharTest): CharTest {
	return (one) => {
		if (test(one)) return true;
		const text = String.fromCodePoint(one);
		const [lower, upper] = [text.toLowerCase(), text.toUpperCase()];
		return (
			([...lower].length === 1 && test(lower.codePointAt(0) as number)) || ([...upper].length === 1 && test(upper.codePointAt(0) as number))
		);
	};
}

export function readEscape(on: PatternCursor): Char {
	const from = on.at++;
	const one = on.chars[on.at++];
	const single = (code: number) => ({ test: (other: number) => other === code, code });
	if (one === undefined) throw on.fault("a backslash at the end escapes nothing", from);
	if (Object.hasOwn(CLASSES, one)) return { test: CLASSES[one] as CharTest, code: null };
	if (/[1-9]/.test(one) || one === "k") throw on.fault("a reference back to a group cannot be used in a pattern", from);
	if (Object.hasOwn(CONTROLS, one)) return single(CONTROLS[one] as number);
	const rest = on.chars.slice(on.at, on.at + 64).join("");
	if (one === "x" || one === "u") {
		const found = (one === "x" ? /^([0-9a-f]{2})/i : /^(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})/i).exec(rest);
		const code = found ? Number.parseInt(found[1] ?? (found[2] as string), 16) : Number.NaN;
		if (!found || code > 0x10ffff) throw on.fault(`\\${one} needs the number of a character, such as \\x41 or \\u{1f600}`, from);
		on.at += found[0].length;
		return single(code);
	}
	if (one === "p" || one === "P") {
		const found = /^\{[\w=]{1,60}\}/.exec(rest);
		const property = found && propertyTest(one + found[0]);
		if (!found || !property) throw on.fault(`\\${one} needs a property of characters, such as \\p{L}`, from);
		on.at += found[0].length;
		return { test: property, code: null };
	}
	if (SYNTAX.includes(one)) return single(one.codePointAt(0) as number);
	throw on.fault(`\\${one} is not known; write ${one} for the character`, from);
}

export function readSet(on: PatternCursor): CharTest {
	const from = on.at++;
	const isNegated = on.chars[on.at] === "^";
	if (isNegated) on.at++;
	const tests: CharTest[] = [];
	for (;;) {
		if (on.at >= on.chars.length) throw on.fault("this set of characters has no end", from);
		if (on.chars[on.at] === "]") break;
		const low = readMember(on);
		if (on.chars[on.at] !== "-" || on.chars[on.at + 1] === "]" || on.chars[on.at + 1] === undefined) {
			tests.push(low.test);
			continue;
		}
		const dash = on.at++;
		const high = readMember(on);
		if (low.code === null || high.code === null || low.code > high.code) throw on.fault("this range of characters is out of order", dash);
		tests.push(inRange(low.code, high.code));
	}
	on.at++;
	const test = anyOf(tests);
	return isNegated ? not(test) : test;
}

function readMember(on: PatternCursor): Char {
	if (on.chars[on.at] === "\\" && on.chars[on.at + 1] === "b") {
		on.at += 2;
		return { test: (other) => other === 8, code: 8 };
	}
	if (on.chars[on.at] === "\\") return readEscape(on);
	const code = (on.chars[on.at++] as string).codePointAt(0) as number;
	return { test: (other) => other === code, code };
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
