// The syntax of patterns: text → what it means. What pattern.ts can match, and nothing else.

/** What a character must be, by its lower-case code. */
export type Test = (code: number) => boolean;
export type Node =
	| { is: "text"; code: number }
	| { is: "one"; test: Test }
	| { is: "start" }
	| { is: "end" }
	| { is: "edge"; inside: boolean }
	| { is: "all"; parts: Node[] }
	| { is: "any"; parts: Node[] }
	| { is: "group"; index: number; part: Node }
	| { is: "repeat"; part: Node; min: number; max: number; lazy: boolean };

/** `at`: the character that is wrong, from 1 on. */
export class PatternError extends Error {
	constructor(
		message: string,
		readonly at: number,
	) {
		super(message);
	}
}

const MOST_TIMES = 1000;

export const lower = (code: number): number =>
	code < 128 ? (code >= 65 && code <= 90 ? code + 32 : code) : String.fromCharCode(code).toLowerCase().charCodeAt(0);
const upper = (code: number): number => String.fromCharCode(code).toUpperCase().charCodeAt(0);
const isDigit: Test = (code) => code >= 48 && code <= 57;
export const isWord: Test = (code) => isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
const isSpace: Test = (code) => /\s/.test(String.fromCharCode(code));
const not =
	(test: Test): Test =>
	(code) =>
		!test(code);
const CLASSES: Record<string, Test> = { d: isDigit, D: not(isDigit), w: isWord, W: not(isWord), s: isSpace, S: not(isSpace) };
const ESCAPED: Record<string, number> = { t: 9, n: 10, r: 13 };

/** `groups`: how many of them capture. Throws a `PatternError`. */
export function parsePattern(source: string): { node: Node; groups: number } {
	const parser = new Parser(source);
	return { node: parser.whole(), groups: parser.groups };
}

class Parser {
	groups = 0;
	private at = 0;
	constructor(private readonly source: string) {}

	whole(): Node {
		const node = this.alternatives();
		if (this.at < this.source.length) throw this.wrong('")" has no "("; for the character itself write \\)');
		return node;
	}

	private get sign(): string {
		return this.source[this.at] ?? "";
	}

	private wrong(message: string, place = this.at): PatternError {
		return new PatternError(message, place + 1);
	}

	private alternatives(): Node {
		const parts = [this.sequence()];
		while (this.sign === "|") {
			this.at++;
			parts.push(this.sequence());
		}
		return parts.length === 1 ? (parts[0] as Node) : { is: "any", parts };
	}

	private sequence(): Node {
		const parts: Node[] = [];
		while (this.sign !== "" && this.sign !== "|" && this.sign !== ")") parts.push(this.repeated(this.atom()));
		return { is: "all", parts };
	}

	private repeated(part: Node): Node {
		const range = /^\{(\d+)(,?)(\d*)\}/.exec(this.source.slice(this.at));
		const { sign } = this;
		if (!isRepeat(sign) && range === null) return part;
		if (part.is === "start" || part.is === "end" || part.is === "edge") throw this.wrong(`"${sign}" repeats nothing`);
		const [min, max] = range === null ? timesOf(sign) : timesIn(range);
		if (min > max || (Number.isFinite(max) && max > MOST_TIMES) || min > MOST_TIMES)
			throw this.wrong(`"${range?.[0]}" must go from a smaller number to a larger one, ${MOST_TIMES} at most`);
		this.at += range?.[0].length ?? 1;
		const lazy = this.sign === "?";
		if (lazy) this.at++;
		if (isRepeat(this.sign)) throw this.wrong(`"${this.sign}" repeats a repetition`);
		return { is: "repeat", part, min, max, lazy };
	}

	private atom(): Node {
		const { sign } = this;
		if (sign === "(") return this.group();
		if (sign === "[") return { is: "one", test: this.set() };
		if (sign === "\\") return this.escaped();
		if (isRepeat(sign)) throw this.wrong(`"${sign}" repeats nothing; for the character itself write \\${sign}`);
		this.at++;
		if (sign === ".") return { is: "one", test: () => true };
		if (sign === "^") return { is: "start" };
		if (sign === "$") return { is: "end" };
		return { is: "text", code: lower(sign.charCodeAt(0)) };
	}

	private group(): Node {
		const open = this.at++;
		let index: number | null = null;
		if (this.source.startsWith("?:", this.at)) this.at += 2;
		else if (this.sign === "?") {
			const what = this.source.slice(open, open + 3);
			throw this.wrong(`"${what}" cannot be used: look-around, names and flags are not there. (…) captures, (?:…) only groups`, open);
		} else index = ++this.groups;
		const part = this.alternatives();
		if (this.sign !== ")") throw this.wrong('"(" has no ")"; for the character itself write \\(', open);
		this.at++;
		return index === null ? part : { is: "group", index, part };
	}

	private escaped(): Node {
		const sign = this.source[this.at + 1];
		if (sign === undefined) throw this.wrong("ends with a lone \\");
		if (/[1-9k]/.test(sign)) throw this.wrong(`"\\${sign}" cannot be used: a back reference needs steps back`);
		const test = CLASSES[sign];
		const code = ESCAPED[sign] ?? sign.charCodeAt(0);
		if (test === undefined && ESCAPED[sign] === undefined && /[AC-Zac-z0]/.test(sign))
			throw this.wrong(`"\\${sign}" cannot be used; known are \\d \\w \\s \\b \\D \\W \\S \\t, and \\ before a sign`);
		this.at += 2;
		if (sign === "b" || sign === "B") return { is: "edge", inside: sign === "B" };
		return test === undefined ? { is: "text", code: lower(code) } : { is: "one", test };
	}

	private set(): Test {
		const open = this.at++;
		const negated = this.sign === "^";
		if (negated) this.at++;
		const tests: Test[] = [];
		for (let first = true; first || this.sign !== "]"; first = false) {
			if (this.sign === "") throw this.wrong('"[" has no "]"; for the character itself write \\[', open);
			const from = this.member();
			const isRange = this.sign === "-" && (this.source[this.at + 1] ?? "]") !== "]";
			if (typeof from === "function") tests.push(from);
			else if (!isRange) tests.push((code) => code === from);
			else {
				this.at++;
				const to = this.member();
				if (typeof to === "function" || to < from) throw this.wrong("a range in [ ] goes from a smaller character to a larger one", open);
				tests.push((code) => code >= from && code <= to);
			}
		}
		this.at++;
		const has: Test = (code) => tests.some((test) => test(code) || test(upper(code)));
		return negated ? not(has) : has;
	}

	/** One character of a set, or a class. */
	private member(): number | Test {
		if (this.sign !== "\\") return this.source.charCodeAt(this.at++);
		const sign = this.source[this.at + 1] ?? "";
		this.at += 2;
		return CLASSES[sign] ?? ESCAPED[sign] ?? sign.charCodeAt(0);
	}
}

const isRepeat = (sign: string) => sign === "*" || sign === "+" || sign === "?";
const timesOf = (sign: string): [min: number, max: number] => [sign === "+" ? 1 : 0, sign === "?" ? 1 : Number.POSITIVE_INFINITY];
const timesIn = ([, min, comma, max]: RegExpExecArray): [min: number, max: number] => [
	Number(min),
	comma === "" ? Number(min) : max === "" ? Number.POSITIVE_INFINITY : Number(max),
];
