// How much work a regular expression of JavaScript can do: a small backtracking matcher that counts its steps, and texts that are made from the expression's own
// characters to make it go back as often as it can. It knows the syntax that src/ uses, and throws for all else.

type Node =
	| { is: "char"; test: (char: string) => boolean }
	| { is: "assert"; holds: (text: string, at: number) => boolean }
	| { is: "all"; parts: Node[] }
	| { is: "any"; choices: Node[] }
	| { is: "repeat"; body: Node; min: number; max: number; lazy: boolean }
	| { is: "group"; index: number; body: Node }
	| { is: "same"; index: number }
	| { is: "look"; body: Node; behind: boolean; wanted: boolean };

/** Characters that a text may be made of: those that expressions are usually about, and one that most of them refuse. */
const CANDIDATES = [
	..."aAbcdefghijklmnopqrstuvwxyzEPTZ019 \n\r\t\u0000\u0007\u001b\u009b!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~é字？。”\ud83d\udc4d\ufe0f",
];

class Expression {
	readonly chars: { source: string; test: (char: string) => boolean }[] = [];
	private readonly tree: Node;
	private at = 0;
	private groups = 0;
	private readonly bodies: Node[] = [];
	private readonly source: string;
	private readonly flags: string;

	constructor(source: string, flags: string) {
		this.source = source;
		this.flags = flags;
		this.tree = this.any();
		if (this.at < source.length) throw new Error(`what is ${source.slice(this.at)} in ${source}?`);
	}

	/** Steps of a search for all matches, as `matchAll`, `replace` with the flag `g` and `split` do it. Gives up at `most`. */
	steps(text: string, most: number): number {
		let steps = 0;
		const groups: (string | undefined)[] = [];
		const match = (node: Node, at: number, then: (at: number) => boolean): boolean => {
			if (++steps > most) throw new TooMany();
			switch (node.is) {
				case "char":
					return at < text.length && node.test(text[at] as string) && then(at + 1);
				case "assert":
					return node.holds(text, at) && then(at);
				case "all": {
					const from = (index: number, place: number): boolean =>
						index === node.parts.length ? then(place) : match(node.parts[index] as Node, place, (next) => from(index + 1, next));
					return from(0, at);
				}
				case "any":
					return node.choices.some((choice) => match(choice, at, then));
				case "group":
					return match(node.body, at, (end) => {
						const before = groups[node.index];
						groups[node.index] = text.slice(at, end);
						if (then(end)) return true;
						groups[node.index] = before;
						return false;
					});
				case "same":
					return text.startsWith(groups[node.index] ?? "", at) && then(at + (groups[node.index] ?? "").length);
				case "look": {
					const starts = node.behind ? Array.from({ length: Math.min(at, 8) + 1 }, (_, back) => at - back) : [at];
					const found = starts.some((start) => match(node.body, start, (end) => !node.behind || end === at));
					return found === node.wanted && then(at);
				}
				case "repeat": {
					// A character that repeats is walked through without a call for each: texts are longer than the stack is deep.
					if (node.body.is === "char" && !node.lazy) {
						let end = at;
						while (end < text.length && end - at < node.max && node.body.test(text[end] as string)) end++;
						steps += end - at;
						for (let place = end; place - at >= node.min; place--) {
							if (++steps > most) throw new TooMany();
							if (then(place)) return true;
						}
						return false;
					}
					const more = (count: number, place: number): boolean => {
						const again = () =>
							count < node.max && match(node.body, place, (next) => (next > place || count < node.min) && more(count + 1, next));
						if (count < node.min) return again();
						return node.lazy ? then(place) || again() : again() || then(place);
					};
					return more(0, at);
				}
			}
		};
		try {
			for (let start = 0; start <= (this.flags.includes("y") ? 0 : text.length); start++) {
				let end = start;
				match(this.tree, start, (at) => {
					end = at;
					return true;
				});
				start = Math.max(start, end - 1);
			}
		} catch (error) {
			if (!(error instanceof TooMany) && !(error instanceof RangeError)) throw error;
			return Number.POSITIVE_INFINITY;
		}
		return steps;
	}

	get canGrow(): boolean {
		const grows = (node: Node): boolean => {
			if (node.is === "repeat") return node.max > 100 || grows(node.body);
			if (node.is === "all") return node.parts.some(grows);
			if (node.is === "any") return node.choices.some(grows);
			return "body" in node && grows(node.body);
		};
		return grows(this.tree);
	}

	/** One character for each set of characters that the expression tells apart. */
	get letters(): string[] {
		const kinds = new Map<string, string>();
		for (const char of CANDIDATES) {
			const kind = this.chars.map(({ test }) => (test(char) ? "1" : "0")).join("");
			if (!kinds.has(kind)) kinds.set(kind, char);
		}
		return [...kinds.values()];
	}

	/** Texts that lead to each part that repeats, and the words that it repeats. */
	get ways(): { prefix: string; words: string[] }[] {
		const found: { prefix: string; words: string[] }[] = [];
		const { bodies: groups } = this;
		const word = (node: Node): string => {
			switch (node.is) {
				case "char":
					return CANDIDATES.find((char) => node.test(char)) ?? "";
				case "all":
					return node.parts.map(word).join("");
				case "any":
					return word(node.choices[0] as Node);
				case "repeat":
					return word(node.body).repeat(Math.min(node.min, 100));
				case "group":
					return word(node.body);
				case "same":
					return word(groups[node.index] as Node);
				default:
					return "";
			}
		};
		const walk = (node: Node, prefix: string): void => {
			if (node.is === "all") {
				let before = prefix;
				for (const part of node.parts) {
					walk(part, before);
					before += word(part);
				}
			} else if (node.is === "any") for (const choice of node.choices) walk(choice, prefix);
			else if (node.is === "repeat") {
				const choices = node.body.is === "group" && node.body.body.is === "any" ? node.body.body.choices : [node.body];
				if (node.max > 100) found.push({ prefix, words: choices.map(word).filter((one) => one !== "") });
				walk(node.body, prefix);
			} else if ("body" in node) walk(node.body, prefix);
		};
		walk(this.tree, "");
		return found;
	}

	private any(): Node {
		const choices = [this.all()];
		while (this.eat("|")) choices.push(this.all());
		return choices.length === 1 ? (choices[0] as Node) : { is: "any", choices };
	}

	private all(): Node {
		const parts: Node[] = [];
		while (this.at < this.source.length && !/[|)]/.test(this.source[this.at] as string)) parts.push(this.repeated(this.one()));
		return { is: "all", parts };
	}

	private repeated(body: Node): Node {
		const sign = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\??)/.exec(this.source.slice(this.at));
		if (!sign) return body;
		this.at += sign[0].length;
		const [, mark, least, comma, top, lazy] = sign;
		const min = mark === "+" ? 1 : mark === undefined ? Number(least) : 0;
		const max =
			mark === "?"
				? 1
				: mark === undefined
					? comma === undefined
						? min
						: top === ""
							? Number.POSITIVE_INFINITY
							: Number(top)
					: Number.POSITIVE_INFINITY;
		return { is: "repeat", body, min, max, lazy: lazy === "?" };
	}

	private one(): Node {
		if (this.eat("^")) return { is: "assert", holds: (text, at) => at === 0 || (this.flags.includes("m") && isLineEnd(text[at - 1])) };
		if (this.eat("$"))
			return { is: "assert", holds: (text, at) => at === text.length || (this.flags.includes("m") && isLineEnd(text[at])) };
		for (const [mark, wanted] of [
			["\\b", true],
			["\\B", false],
		] as const)
			if (this.eat(mark)) return { is: "assert", holds: (text, at) => (isWord(text[at - 1]) !== isWord(text[at])) === wanted };
		for (const [mark, behind, wanted] of LOOKS) if (this.eat(mark)) return this.closed({ is: "look", body: this.any(), behind, wanted });
		if (this.eat("(?:")) return this.closed(this.any());
		if (this.eat("(")) {
			const index = ++this.groups;
			const body = this.any();
			this.bodies[index] = body;
			return this.closed({ is: "group", index, body });
		}
		const same = /^\\([1-9])/.exec(this.source.slice(this.at));
		if (same) {
			this.at += 2;
			return { is: "same", index: Number(same[1]) };
		}
		return this.char();
	}

	private char(): Node {
		const rest = this.source.slice(this.at);
		const found = /^(?:\[(?:\\.|[^\]\\])*\]|\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[pP]\{\w+\}|\\[\s\S]|[^\\])/i.exec(rest)?.[0];
		if (found === undefined || /^[()*+?]/.test(found)) throw new Error(`what is ${rest} in ${this.source}?`);
		this.at += found.length;
		const flags = this.flags.replace(/[gym]/g, "");
		const test = new RegExp(`^(?:${found})$`, flags);
		const known = new Map<string, boolean>();
		const node = {
			is: "char" as const,
			test: (char: string) => {
				const before = known.get(char);
				if (before !== undefined) return before;
				known.set(char, test.test(char));
				return known.get(char) as boolean;
			},
		};
		this.chars.push({ source: found, test: node.test });
		return node;
	}

	private closed(node: Node): Node {
		if (!this.eat(")")) throw new Error(`a bracket without its end in ${this.source}`);
		return node;
	}

	private eat(text: string): boolean {
		if (!this.source.startsWith(text, this.at)) return false;
		this.at += text.length;
		return true;
	}
}

class TooMany extends Error {}
const LOOKS = [
	["(?=", false, true],
	["(?!", false, false],
	["(?<=", true, true],
	["(?<!", true, false],
] as const;
const isLineEnd = (char: string | undefined) => char === "\n" || char === "\r";
const isWord = (char: string | undefined) => char !== undefined && /\w/.test(char);

const LENGTH = 60;
const MOST = 200_000;

/** The text that makes the expression work most out of proportion: with twice the text more than three times the steps. Null where there is none. */
export function worstText(source: string, flags: string): { prefix: string; pump: string; suffix: string; steps: number[] } | null {
	const expression = new Expression(source, flags);
	if (!expression.canGrow) return null;
	const { letters, ways } = expression;
	const pairs = letters.flatMap((one) => letters.map((other) => one + other));
	const prefixes = [...new Set(["", "\u0001", ...ways.map(({ prefix }) => prefix)])];
	const pumps = [
		...new Set([
			...letters,
			...ways.flatMap(({ words }) => words),
			...ways.flatMap(({ prefix, words }) => words.map((word) => prefix + word)),
			...(letters.length <= 12 ? pairs : []),
		]),
	];
	let worst: ReturnType<typeof worstText> = null;
	for (const prefix of prefixes)
		for (const pump of pumps)
			for (const suffix of ["", "\u0001", "!"]) {
				const text = (times: number) => prefix + pump.repeat(Math.ceil((times * LENGTH) / pump.length)) + suffix;
				const [once, twice, four] = [1, 2, 4].map((times) => expression.steps(text(times), MOST)) as [number, number, number];
				const isLinear = four < MOST && (four < 30 * text(4).length || four - twice < 3 * (twice - once));
				if (!isLinear && (worst === null || four > (worst.steps[2] as number)))
					worst = { prefix, pump, suffix, steps: [once, twice, four] };
			}
	return worst;
}
