// JSON that a JavaScript value cannot represent completely: numbers past 2^53, `1.0`, keys like "10" before "9", duplicate keys, very deep nesting. A
// payload is opaque, so if parsing would lose something, its text is kept and passed on instead.

const BRAND = Symbol.for("sluice.JsonText");

/** A JSON value as text, without whitespace between its parts. `readJson` creates it, `writeJson` writes it unchanged. */
export class JsonText {
	readonly text: string;
	readonly [BRAND] = true;

	/** Recognised by a brand, because the product is built as several programs, each with its own copy of this class. */
	static [Symbol.hasInstance](value: unknown): boolean {
		return typeof value === "object" && value !== null && BRAND in value;
	}

	/** Throws a SyntaxError if `text` is not JSON. */
	constructor(text: string) {
		JSON.parse(text);
		this.text = compact(text);
	}

	/** The value as JavaScript parses it. */
	value(): unknown {
		return JSON.parse(this.text);
	}

	toJSON(): unknown {
		if (written === undefined) return this.value();
		written.push(this.text);
		return `${MARK}${written.length - 1}`;
	}
}

/** The texts that `writeJson` has met so far. JSON.stringify is synchronous, so there is only one call at a time. */
let written: string[] | undefined;
const MARK = "\u0001json:";
const MARKED = /"\\u0001json:(\d+)"/g;

/** JSON.stringify that writes each `JsonText` unchanged. */
export function writeJson(value: unknown): string {
	written = [];
	let text: string;
	let texts: readonly string[];
	try {
		text = JSON.stringify(value);
	} finally {
		texts = written;
		written = undefined;
	}
	if (texts.length === 0) return text;
	// A string of the caller looks like a mark: use the slower way, which cannot confuse them.
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

/** Maximum characters of a payload that is compared: the receiver refuses a longer one, so it need not be kept exactly. */
const MAX_EXACT = 2_000_000;
/** Deeper payloads stay text, so that code that walks through documents need not handle them. */
const MAX_PAYLOAD_DEPTH = 60;

/** JSON.parse, but the value of a key `payload` becomes a `JsonText` if JavaScript would lose something of it. */
export function readJson(text: string): unknown {
	const root: unknown = JSON.parse(text);
	if (!/"payload"\s*:\s*[[{\d-]/.test(text)) return root;
	for (const { holder, from, to } of payloads(text, root))
		if (to - from <= MAX_EXACT && Object.hasOwn(holder, "payload")) holder.payload = exactJson(text.slice(from, to));
	return root;
}

/** One JSON value: a JavaScript value, or a `JsonText` if that would lose something. Throws a SyntaxError if it is not JSON. */
export function exactJson(text: string): unknown {
	const whole = new JsonText(text);
	if (depthOf(whole.text) > MAX_PAYLOAD_DEPTH) return whole;
	const value = whole.value();
	return JSON.stringify(value) === whole.text ? value : whole;
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
	value !== null && typeof value === "object" && !(value instanceof JsonText);

type Found = { holder: Record<string | number, unknown>; from: number; to: number };
/**
 * `value`: what was parsed at this position. It is tracked along with the text: a path from the root for each payload would cost as much as the payload is
 * deep.
 */
type Frame = { list: boolean; key: string | number; value: unknown };

/** Finds the values of keys `payload` in a JSON text, and the objects that hold them. Does not search inside such a value. */
function payloads(text: string, root: unknown): Found[] {
	const found: Found[] = [];
	const frames: Frame[] = [];
	const open = (list: boolean) => {
		const above = frames[frames.length - 1];
		const at = above?.value;
		const inner = above && isHolder(at) && Object.hasOwn(at, above.key) ? at[above.key] : undefined;
		frames.push({ list, key: list ? 0 : "", value: above === undefined ? root : inner });
	};
	for (let at = 0; at < text.length; at++) {
		const top = frames[frames.length - 1];
		switch (text[at]) {
			case "{":
				open(false);
				break;
			case "[":
				open(true);
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
				if (isHolder(top.value)) found.push({ holder: top.value, from, to });
				at = to - 1;
			}
		}
	}
	return found;
}

function endOfString(text: string, from: number): number {
	for (let at = from + 1; ; ) {
		const quote = text.indexOf('"', at);
		if (quote < 0) return text.length;
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
			// The bracket closes what surrounds a bare number.
			if (depth === 0) return at;
			if (--depth === 0) return at + 1;
		} else if (depth === 0 && (char === "," || isSpace(char))) return at;
	}
	return text.length;
}

/** The same JSON without whitespace between its parts: answers are lines, so no newline may remain. */
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

/** Maximum nesting of brackets; for text that is not JSON, an arbitrary number. */
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
