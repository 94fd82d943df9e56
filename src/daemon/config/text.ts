// config.yml as text: parsed with positions, and edited so that comments and order stay. Pure.

import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, type YAMLMap } from "yaml";
import { assert, messageOf, nth, orElse, SluiceError } from "../../core/errors.ts";
import { parseYaml, repeatedKeyMessage, repeatedKeys } from "../../host/yaml-bounds.ts";
import { type ConfigValues, spellingIn, spellings, stepsOf } from "./layers.ts";

export type ConfigText = ReturnType<typeof readConfigText>;

const MAX_CHARACTERS = 1_000_000;
const bad = (message: string, hint?: string) => new SluiceError("invalid", message, { field: "config", hint });

/** Throws a SluiceError whose message begins with `name:line:column`. */
export function readConfigText(text: string, name = "config.yml") {
	const lines = new LineCounter();
	const { fault, document } = parseYaml(text, lines, MAX_CHARACTERS);
	if (fault !== null) throw bad(`${name}: ${fault}`);
	const at = positionsIn(lines);
	const [flaw] = flawsOf(document, name, at);
	if (flaw) throw flaw;
	const root = document.contents;
	if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null))
		throw bad(`${name}${at(root.range?.[0])}: must be keys and values, such as "max_concurrent: 8"`);
	const given = (read(() => document.toJS({ maxAliasCount: 100 }), name) ?? {}) as ConfigValues;
	const offsetIn = (field: string) => offsetOf(isMap(root) ? root : null, field);
	return {
		given,
		/** `:3:7`, the position of a field; empty when the file does not have it. */
		position: (field: string) => at(offsetIn(field)),
		lineOf(field: string): number | undefined {
			const offset = offsetIn(field);
			return offset === undefined ? undefined : lines.linePos(offset).line;
		},
		/** The text with one key changed; `undefined` removes the key. */
		with: (key: string, value: unknown) => edited(document.clone(), key, value),
	};
}

/** The first places where a text is not valid YAML, in order. */
export function flawsIn(text: string, name = "config.yml"): SluiceError[] {
	const lines = new LineCounter();
	const { document } = parseYaml(text, lines, MAX_CHARACTERS);
	return document === null ? [] : flawsOf(document, name, positionsIn(lines));
}

/** `:3:7` for an offset; empty without one. */
const positionsIn = (lines: LineCounter) => (offset: number | undefined) => {
	if (offset === undefined) return "";
	const { line, col } = lines.linePos(offset);
	return `:${line}:${col}`;
};

const HINTS: Record<string, string> = { TAB_AS_INDENT: "indent with spaces", MULTIPLE_DOCS: "leave out the lines with ---" };

const flawsOf = (document: Document, name: string, at: (offset: number) => string) => [
	...[...document.errors, ...document.warnings].map((flaw) => bad(`${name}${at(flaw.pos[0])}: ${flaw.message}`, HINTS[flaw.code])),
	...repeatedKeys(document.contents).map(({ key, offset }) =>
		bad(`${name}${at(offset)}: ${repeatedKeyMessage(key)}`, "write each key once"),
	),
];

function read<T>(call: () => T, name: string): T {
	try {
		return call();
	} catch (error) {
		throw bad(`${name}: ${messageOf(error)}`);
	}
}

/** The offset of `lanes.code.max` or `retry.on[2]`, or of its deepest existing parent. A name may hold dots, so whole keys are compared. */
function offsetOf(map: YAMLMap | null, field: string): number | undefined {
	let node: unknown = map;
	let found: number | undefined;
	let rest = field;
	while (rest !== "") {
		if (isSeq(node)) {
			const index = /^\[(\d+)\]\.?/.exec(rest);
			const item = index ? node.items[Number(index[1])] : undefined;
			if (!index || !item) return found;
			found = (item as Node).range?.[0] ?? found;
			rest = rest.slice(index[0].length);
			node = item;
			continue;
		}
		if (!isMap(node)) return found;
		const pair = node.items.find((one) => spellingIn(rest, keyOf(one)) !== undefined);
		if (!pair) return found;
		found = (pair.key as Node).range?.[0] ?? found;
		rest = rest.slice(spellingIn(rest, keyOf(pair))?.length).replace(/^\./, "");
		node = pair.value;
	}
	return found;
}

const keyOf = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

function edited(document: Document, key: string, value: unknown): string {
	const comments = !isMap(document.contents) && document.contents?.comment;
	if (!isMap(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
	if (comments) document.commentBefore = comments;
	const steps = stepsOf(key);
	let map = document.contents as unknown as YAMLMap;
	map.flow = false;
	for (const step of steps.slice(0, -1)) {
		const name = spelledIn(map, step);
		const next = map.get(name, true);
		if (isMap(next)) map = next;
		else if (value === undefined) return String(document);
		else {
			// `retry: 3` is short for a policy with that maximum; an empty `lanes:` becomes a map.
			const short = isScalar(next) && typeof next.value === "number" ? { max: next.value } : {};
			const fresh = document.createNode(short) as YAMLMap;
			map.set(name, fresh);
			map = fresh;
		}
	}
	const last = spelledIn(map, nth(steps, -1));
	assert(last !== undefined, "a key has at least one step");
	if (value === undefined) map.delete(last);
	else if (typeof value === "object" && value !== null) map.set(last, document.createNode(value, { flow: Array.isArray(value) }));
	else map.set(last, value);
	return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

const spelledIn = (map: YAMLMap, step: string): string => spellings(step).find((name) => map.has(name)) ?? step;

/** Parses a value from a command line or a variable: `8`, `null`, `5m`, `[a, b]`. Text that is not valid YAML stays text. */
export function parseValue(text: string): unknown {
	const { document } = parseYaml(text, new LineCounter(), MAX_CHARACTERS);
	if (document === null || document.errors.length > 0) return text;
	return orElse(() => document.toJS({ maxAliasCount: 0 }), text);
}
