// YAML from outside is bounded while it is parsed: the library's time grows with the tokens and with the errors of a text, with the square of its aliases, and too deep a
// nesting ends the process (V8 aborts when a regular expression is compiled at the end of the stack).

import { Composer, type Document, Lexer, type LineCounter, Parser, YAMLParseError } from "yaml";

/** The library takes about 2 µs for a token. The text of a long prompt is one token, whatever it holds. */
export const MAX_TOKENS = 60_000;
/** The library takes about 0.5 µs for a line of a text, too. */
export const MAX_LINES = 100_000;
/** Maps and lists within each other, with the scalar in the innermost one. */
const MAX_DEPTH = 100;
/** The library finds the anchor of an alias by a walk over the whole document. */
const MAX_ALIASES = 100;
/** The library takes 25 µs or more for an error; a person needs the first few. */
const MAX_ERRORS = 20;

/** For the parser: repeated keys are found by `repeatedKeys`, in one walk. */
export const YAML_OPTIONS = { prettyErrors: false, uniqueKeys: false } as const;

/** `fault`: what is too much of the text, in words; it has no document then. */
type ParsedYaml = { fault: string; document: null } | { fault: null; document: Document.Parsed };

class TooMuch extends Error {}
class EnoughErrors extends Error {}

/** The first document of a text. Of the errors `document.errors` has the first ones; a second document is one of them. */
export function parseYaml(text: string, lines: LineCounter, maxChars: number): ParsedYaml {
	if (text.length > maxChars) return { fault: `is ${text.length} characters long; the limit is ${maxChars}`, document: null };
	const composer = new Composer(YAML_OPTIONS);
	const errors = boundErrors(composer);
	const documents: Document.Parsed[] = [];
	let composed = false;
	try {
		for (const token of tokensOf(text, lines)) {
			// The composer keeps the errors of these two kinds of tokens itself, without its handler.
			if (token.type === "error" || (token.type === "doc-end" && !composed)) errors.count();
			composed ||= token.type === "document";
			documents.push(...composer.next(token));
			if (documents.length > 1) break;
		}
	} catch (error) {
		if (error instanceof TooMuch) return { fault: error.message, document: null };
		if (!(error instanceof EnoughErrors)) throw error;
	}
	errors.unbound();
	documents.push(...composer.end(true, text.length));
	const [document, second] = documents as [Document.Parsed, Document.Parsed?];
	if (second) document.errors.push(new YAMLParseError([second.range[0], second.range[0]], "MULTIPLE_DOCS", "more than one document"));
	return { fault: null, document };
}

/** Makes the composer throw at the error after the last one that it may report. `unbound`: its end may report one more. */
function boundErrors(composer: Composer): { count(): void; unbound(): void } {
	let errors = 0;
	const count = () => {
		errors += 1;
		if (errors > MAX_ERRORS) throw new EnoughErrors();
	};
	// The library has no option for it. The handler is an own property of each composer.
	const handler = composer as unknown as { onError: (...error: unknown[]) => void };
	const report = handler.onError;
	handler.onError = (...error) => {
		count();
		report(...error);
	};
	return {
		count,
		unbound() {
			handler.onError = report;
		},
	};
}

const SCALAR_NEXT = "\u001f";

function* tokensOf(text: string, lines: LineCounter) {
	const parser = new Parser(lines.addNewLine);
	let tokens = 0;
	let aliases = 0;
	let isScalar = false;
	lines.addNewLine(0);
	for (const lexeme of new Lexer().lex(text)) {
		if (lexeme !== SCALAR_NEXT && ++tokens > MAX_TOKENS)
			throw new TooMuch(`has too many keys, values and marks; the limit is ${MAX_TOKENS}`);
		if (!isScalar && lexeme.startsWith("*") && ++aliases > MAX_ALIASES)
			throw new TooMuch(`has too many aliases; the limit is ${MAX_ALIASES}`);
		isScalar = lexeme === SCALAR_NEXT && !isScalar;
		yield* parser.next(lexeme);
		if (lines.lineStarts.length > MAX_LINES) throw new TooMuch(`has too many lines; the limit is ${MAX_LINES}`);
		if (parser.stack.length > MAX_DEPTH) throw new TooMuch(`is nested too deeply; the limit is ${MAX_DEPTH}`);
	}
	yield* parser.end();
}

export const repeatedKeyMessage = (key: string): string => `the key "${key.slice(0, 60)}" stands here a second time`;

export type RepeatedKey = { key: string; offset: number };

/** The duplicate keys of all maps, in the order of the text. Takes the parser's nodes: a map has pairs, a list has nodes. */
export function repeatedKeys(root: unknown): RepeatedKey[] {
	const repeated: RepeatedKey[] = [];
	const open: unknown[] = [root];
	for (let node = open.pop(); node !== undefined; node = open.pop()) {
		const { items } = (node ?? {}) as { items?: unknown };
		if (!Array.isArray(items)) continue;
		const seen = new Set<string>();
		for (const item of items) {
			if (typeof item !== "object" || item === null) continue;
			if (!("key" in item)) {
				open.push(item);
				continue;
			}
			const { key, value } = item as { key: unknown; value?: unknown };
			if (typeof value === "object" && value !== null) open.push(value);
			const { value: name, range } = (key ?? {}) as { value?: unknown; range?: [number, number, number] };
			if (name === undefined || typeof name === "object") continue;
			const text = `${typeof name} ${String(name)}`;
			if (seen.has(text)) repeated.push({ key: String(name), offset: range?.[0] ?? 0 });
			seen.add(text);
		}
	}
	return repeated.sort((one, other) => one.offset - other.offset);
}
