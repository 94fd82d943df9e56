// A card's text: YAML front matter and Markdown. Reads strictly, and a change leaves all other bytes as they were. Pure.

import { isMap, isNode, isScalar, LineCounter, type Pair, type YAMLMap } from "yaml";
import { messageOf, SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { withoutEnd } from "../../core/text/text-end.ts";
import { parseYaml, repeatedKeyMessage, repeatedKeys } from "../../host/yaml-bounds.ts";

export const MAX_CARD = 4_000_000;
const MOST_FRONT = 100_000;

export type CardText = {
	text: string;
	/** `\n` or `\r\n`, as in its first line. */
	newline: string;
	/** Null for a file without front matter. */
	front: { from: number; to: number; fields: Record<string, unknown> } | null;
	body: string;
};

/** Throws what is wrong, with the line if there is one. */
export function readCard(bytes: Uint8Array): CardText {
	if (bytes.length > MAX_CARD) throw new SluiceError("limit", `${bytes.length} bytes, at most ${MAX_CARD}`, { field: "card" });
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		throw new SluiceError("invalid", "is not UTF-8", { field: "card", hint: "save it as UTF-8" });
	}
	const start = /^\ufeff?---[ \t]*(\r?\n)/.exec(text);
	const newline = start?.[1] ?? /\r?\n/.exec(text)?.[0] ?? "\n";
	if (!start) return { text, newline, front: null, body: text };
	const from = start[0].length;
	const end = /^---[ \t]*(?:\r?\n|$)/m;
	const rest = text.slice(from);
	const close = end.exec(rest);
	if (!close) throw bad("front matter: has no end", 1, "close it with a line of ---");
	const to = from + close.index;
	return { text, newline, front: { from, to, fields: parseFields(text.slice(from, to)) }, body: rest.slice(close.index + close[0].length) };
}

const bad = (message: string, line: number, hint?: string) =>
	new SluiceError("invalid", `line ${line}: ${message}`, { field: "front matter", hint });

function parse(yaml: string) {
	const lines = new LineCounter();
	const { fault, document } = parseYaml(yaml, lines, MOST_FRONT);
	if (fault !== null) throw bad(`front matter: ${fault}`, 2);
	const flaw = document.errors[0] ?? document.warnings[0];
	// The front matter begins on the second line of the file.
	if (flaw) throw bad(`front matter: ${flaw.message}`, lines.linePos(flaw.pos[0]).line + 1);
	const [repeated] = repeatedKeys(document.contents);
	if (repeated) throw bad(`front matter: ${repeatedKeyMessage(repeated.key)}`, lines.linePos(repeated.offset).line + 1);
	const root = document.contents;
	if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null))
		throw bad("front matter: must be keys and values", 2, "for example: agent_flow: implement");
	return { document, root: isMap(root) ? root : null };
}

function parseFields(yaml: string): Record<string, unknown> {
	const { document } = parse(yaml);
	try {
		return (document.toJS({ maxAliasCount: 100 }) ?? {}) as Record<string, unknown>;
	} catch (error) {
		throw bad(`front matter: ${messageOf(error)}`, 2);
	}
}

/** The text with one field of the front matter set to a plain word. Throws if that is not possible without changing anything else. */
export function withField(card: CardText, key: string, value: string): string {
	const { front, text, newline } = card;
	if (!front) throw new SluiceError("invalid", "has no front matter", { field: key, hint: "begin it with a line of ---" });
	if (front.fields[key] === value) return text;
	const yaml = text.slice(front.from, front.to);
	const { root } = parse(yaml);
	const pair = root?.items.find((one) => isScalar(one.key) && one.key.value === key);
	const next = pair ? replaced(yaml, pair, value) : added(yaml, root, `${key}: ${value}`, newline);
	const whole = text.slice(0, front.from) + next + text.slice(front.to);
	const before = { ...front.fields, [key]: value };
	const after = readCard(new TextEncoder().encode(whole));
	const same = (fields: Record<string, unknown>) =>
		JSON.stringify(Object.keys(before).map((name) => [name, fields[name]])) +
		Object.keys(fields)
			.filter((name) => !Object.hasOwn(before, name))
			.join();
	if (!after.front || same(after.front.fields) !== same(before) || after.body !== card.body)
		throw new SluiceError("invalid", `${key} cannot be changed without touching more than it`, {
			field: key,
			hint: `write ${key} on a line of its own`,
		});
	return whole;
}

function replaced(yaml: string, pair: Pair, value: string): string {
	const range = isNode(pair.value) ? pair.value.range : null;
	const isEmpty = isScalar(pair.value) && pair.value.source === "" && pair.value.type === "PLAIN";
	if (range && !isEmpty && range[1] > range[0]) return yaml.slice(0, range[0]) + value + yaml.slice(range[1]);
	// `agent_status:` with nothing behind it.
	const key = isNode(pair.key) ? pair.key.range : null;
	const colon = yaml.indexOf(":", key?.[1] ?? 0) + 1;
	return `${yaml.slice(0, colon)} ${value}${yaml.slice(colon)}`;
}

function added(yaml: string, root: YAMLMap | null, line: string, newline: string): string {
	if (root?.flow)
		throw new SluiceError("invalid", "the front matter is written in braces", { field: "front matter", hint: "write a key a line" });
	const open = yaml === "" || yaml.endsWith("\n") ? "" : newline;
	return `${yaml}${open}${line}${newline}`;
}

const HEADING = /^(#{1,6})[ \t]+History[ \t]*(?:#+[ \t]*)?\r?$/im;
/** Lines that write-back writes: the time to the second, then a run, a job or a flow. */
const OWN_LINE = /^- \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ .*(?:\r?\n|$)/gm;

/** The text without the lines that `withHistory` added, for readers that want the work and not its history; a person's lines among them stay. */
export function withoutHistory(text: string): string {
	const history = historyIn(text);
	if (!history) return text;
	const { at, from, to } = history;
	const section = text.slice(from, to).replace(OWN_LINE, "");
	return section.trim() === "" ? text.slice(0, at) + text.slice(to) : text.slice(0, from) + section + text.slice(to);
}

/** Where the heading `History` begins, and where the text below it begins and ends; null if there is none. */
function historyIn(text: string): { at: number; from: number; to: number } | null {
	const heading = HEADING.exec(text);
	if (!heading) return null;
	const from = heading.index + heading[0].length;
	const next = new RegExp(`^#{1,${heading[1]?.length}}[ \\t]`, "m").exec(text.slice(from));
	return { at: heading.index, from, to: next ? from + next.index : text.length };
}

/** The text with a line added at the end of its section `History`, which is created if there is none. */
export function withHistory(text: string, newline: string, line: string): string {
	const history = historyIn(text);
	if (!history) {
		const gap = text === "" ? "" : text.endsWith("\n") ? newline : `${newline}${newline}`;
		return `${text}${gap}## History${newline}${newline}- ${line}${newline}`;
	}
	const { from, to } = history;
	const filled = text.slice(from, to).trimEnd().length;
	let at = from + filled;
	const step = (pattern: RegExp) => {
		const found = pattern.exec(text.slice(at))?.[0] ?? "";
		at += found.length;
		return found !== "";
	};
	let gap = step(/^[ \t]*\r?\n/) ? "" : newline;
	// After a bare heading, a blank line comes first.
	if (filled === 0 && (gap !== "" || !step(/^[ \t]*\r?\n/))) gap += newline;
	return `${text.slice(0, at)}${gap}- ${line}${newline}${text.slice(at)}`;
}

/** The first heading, or `title` of the front matter. */
export function titleOf({ front, body }: CardText): string | null {
	const named = front?.fields.title;
	if (typeof named === "string" && named.trim() !== "") return named.trim();
	const heading = /^#[ \t]+(\S.*)$/m.exec(body)?.[1];
	if (heading === undefined) return null;
	const line = withoutEnd(heading, " \t");
	// Trailing `#` close a heading; a heading of nothing else keeps its first.
	const words = withoutEnd(withoutEnd(line, "#"), " \t");
	return words === "" ? line.slice(0, 1) || null : words;
}

export const oneLine = (text: string, field: string): string =>
	check.text(text.replaceAll("\t", " "), field, { max: 10_000, lines: "one" });
