// JSON that a JavaScript value cannot carry whole: numbers past 2^53, `1.0`, keys like "10" before "9", a key twice, very deep nesting. A payload is
// opaque, so where parsing would lose something of it, its text is kept and handed on instead.

const BRAND = Symbol.for("sluice.JsonText");

/** A JSON value as text, without spaces between its parts. `readJson` makes it, `writeJson` writes it as it is. */
export class JsonText {
	readonly text: string;
	readonly [BRAND] = true;

	/** By a brand: the product is built as several programs, each with a copy of this class. */
	static [Symbol.hasInstance](value: unknown): boolean {
		return typeof value === "object" && value !== null && BRAND in value;
	}

	/** Throws a SyntaxError where `text` is not JSON. */
	constructor(text: string) {
		JSON.parse(text);
		this.text = compact(text);
	}

	/** What JavaScript makes of it. */
	value(): unknown {
		return JSON.parse(this.text);
	}

	toJSON(): unknown {
		if (written === undefined) return this.value();
		written.push(this.text);
		return `${MARK}${written.length - 1}`;
	}
}

/** While `writeJson` runs: the texts that it has met. JSON.stringify is synchronous, so there is one at a time. */
let written: string[] | undefined;
const MARK = "\u0001json:";
const MARKED = /"\\u0001json:(\d+)"/g;

/** JSON.stringify, in which each `JsonText` is written as it is. */
export function writeJson(value: unknown, indent?: number): string {
	written = [];
	let text: string;
	let texts: readonly string[];
	try {
		text = JSON.stringify(value, null, indent);
	} finally {
		texts = written;
		written = undefined;
	}
	if (texts.length === 0) return text;
	// A text of the caller's that looks like a mark: slower, but never mistaken.
	if ((text.match(MARKED)?.length ?? 0) !== texts.length) return writePart(value);
	return text.replace(MARKED, (_, index: string) => texts[Number(index)] as string);
}

function writePart(value: unknown): string {
	if (value instanceof JsonText) return value.text;
	if (Array.isArray(value)) return `[${value.map((one) => writePart(one ?? null)).join(",")}]`;
	if (value === null || typeof value !== "object") return JSON.stringify(value);
	const parts = Object.entries(value).filter(([, one]) => one !== undefined);
	return `{${parts.map(([key, one]) => `${JSON.stringify(key)}:${writePart(one)}`).join(",")}}`;
}

/** Deeper payloads stay text: what walks through a document need not be made for them. */
const DEEP = 60;

/** JSON.parse, in which the value of a key `payload` is a `JsonText` where JavaScript would lose something of it. */
export function readJson(text: string): unknown {
	const root: unknown = JSON.parse(text);
	if (!/"payload"\s*:\s*[[{\d-]/.test(text)) return root;
	for (const { path, from, to } of payloads(text)) {
		const holder = path.reduce<unknown>((at, key) => (isHolder(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);
		if (isHolder(holder) && Object.hasOwn(holder, "payload")) holder.payload = exactJson(text.slice(from, to));
	}
	return root;
}

/** One JSON value: as JavaScript has it, or a `JsonText` where that would lose something. Throws a SyntaxError where it is not JSON. */
export function exactJson(text: string): unknown {
	const whole = new JsonText(text);
	if (depthOf(whole.text) > DEEP) return whole;
	const value = whole.value();
	return JSON.stringify(value) === whole.text ? value : whole;
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
	value !== null && typeof value === "object" && !(value instanceof JsonText);

type Found = { path: (string | number)[]; from: number; to: number };
type Frame = { list: boolean; key: string | number };

/** Where the values of keys `payload` stand in a text that is JSON; nothing inside of such a value is looked at. */
function payloads(text: string): Found[] {
	const found: Found[] = [];
	const frames: Frame[] = [];
	for (let at = 0; at < text.length; at++) {
		const top = frames[frames.length - 1];
		switch (text[at]) {
			case "{":
				frames.push({ list: false, key: "" });
				break;
			case "[":
				frames.push({ list: true, key: 0 });
				break;
			case "}":
			case "]":
				frames.pop();
				break;
			case ",":
				if (top?.list) top.key = (top.key as number) + 1;
				break;
			case '"': {
				const end = endOfString(text, at);
				const colon = top && !top.list ? afterSpaces(text, end) : -1;
				if (top === undefined || text[colon] !== ":") {
					at = end - 1;
					break;
				}
				top.key = JSON.parse(text.slice(at, end)) as string;
				at = colon;
				if (top.key !== "payload") break;
				const from = afterSpaces(text, colon + 1);
				const to = endOfValue(text, from);
				found.push({ path: frames.slice(0, -1).map(({ key }) => key), from, to });
				at = to - 1;
			}
		}
	}
	return found;
}

function endOfString(text: string, from: number): number {
	for (let at = from + 1; ; ) {
		const quote = text.indexOf('"', at);
		let slashes = 0;
		while (text[quote - 1 - slashes] === "\\") slashes++;
		if (slashes % 2 === 0) return quote + 1;
		at = quote + 1;
	}
}

const isSpace = (char: string | undefined) => char === " " || char === "\n" || char === "\r" || char === "\t";

function afterSpaces(text: string, from: number): number {
	let at = from;
	while (isSpace(text[at])) at++;
	return at;
}

function endOfValue(text: string, from: number): number {
	let depth = 0;
	for (let at = from; at < text.length; at++) {
		const char = text[at] as string;
		if (char === '"') {
			at = endOfString(text, at) - 1;
			if (depth === 0) return at + 1;
		} else if (char === "{" || char === "[") depth++;
		else if (char === "}" || char === "]") {
			// Of what is around a bare number.
			if (depth === 0) return at;
			if (--depth === 0) return at + 1;
		} else if (depth === 0 && (char === "," || isSpace(char))) return at;
	}
	return text.length;
}

/** The same JSON without spaces between its parts: answers are lines, so no newline may be left. */
function compact(text: string): string {
	if (!/\s/.test(text)) return text;
	let short = "";
	let kept = 0;
	for (let at = 0; at < text.length; at++) {
		if (text[at] === '"') at = endOfString(text, at) - 1;
		else if (isSpace(text[at])) {
			short += text.slice(kept, at);
			kept = at + 1;
		}
	}
	return short + text.slice(kept);
}

/** How many brackets stand within each other, at most. */
export function depthOf(text: string): number {
	let depth = 0;
	let most = 0;
	for (let at = 0; at < text.length; at++) {
		const char = text[at];
		if (char === '"') at = endOfString(text, at) - 1;
		else if (char === "{" || char === "[") most = Math.max(most, ++depth);
		else if (char === "}" || char === "]") depth--;
	}
	return most;
}
