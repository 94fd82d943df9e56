// config.yml as text: read with positions, changed with its comments and order kept. Pure.

import { Document, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parse, parseAllDocuments, type YAMLMap } from "yaml";
import { assert, SluiceError } from "../core/errors.ts";
import { repeatedKeyMessage, repeatedKeys, YAML_OPTIONS, yamlFault } from "../core/yaml-bounds.ts";
import { type Given, spellings, stepsOf } from "./config-layers.ts";

export type ConfigText = {
	given: Given;
	/** `:3:7`, where a field is written; empty when it is not. */
	position(field: string): string;
	/** The text with one key changed; `undefined` takes it out. */
	with(key: string, value: unknown): string;
};

const MOST = 1_000_000;
/** Every key is checked again for each mistake that is found. */
const MOST_MARKS = 10_000;
const bad = (message: string, hint?: string) => new SluiceError("invalid", message, { field: "config", hint });

/** Throws a SluiceError that begins with `name:line:column`. */
export function readConfigText(text: string, name = "config.yml"): ConfigText {
	const fault = yamlFault(text, MOST, MOST_MARKS);
	if (fault !== null) throw bad(`${name}: ${fault}`);
	const lines = new LineCounter();
	const documents = parseAllDocuments(text, { ...YAML_OPTIONS, lineCounter: lines });
	const all = Array.isArray(documents) ? documents : [];
	if (all.length > 1) throw bad(`${name}: ${all.length} documents in one file`, "leave out the lines with ---");
	const document = (all[0] ?? new Document(null)) as Document;
	const at = (offset: number | undefined) => {
		if (offset === undefined) return "";
		const { line, col } = lines.linePos(offset);
		return `:${line}:${col}`;
	};
	const [flaw] = flawsOf(document, name, at);
	if (flaw) throw flaw;
	const root = document.contents;
	if (root !== null && !isMap(root) && !(isScalar(root) && root.value === null))
		throw bad(`${name}${at(root.range?.[0])}: must be keys and values, such as "max_concurrent: 8"`);
	const given = (read(() => document.toJS({ maxAliasCount: 100 }), name) ?? {}) as Given;
	return {
		given,
		position: (field) => at(offsetOf(isMap(root) ? root : null, field)),
		with: (key, value) => edited(document.clone(), key, value),
	};
}

/** Every place at which a text is no YAML, in its order. */
export function flawsIn(text: string, name = "config.yml"): SluiceError[] {
	if (yamlFault(text, MOST, MOST_MARKS) !== null) return [];
	const lines = new LineCounter();
	const [document] = parseAllDocuments(text, { ...YAML_OPTIONS, lineCounter: lines }) as Document[];
	return document === undefined
		? []
		: flawsOf(document, name, (offset) => {
				const { line, col } = lines.linePos(offset);
				return `:${line}:${col}`;
			});
}

const flawsOf = (document: Document, name: string, at: (offset: number) => string) => [
	...[...document.errors, ...document.warnings].map((flaw) =>
		bad(`${name}${at(flaw.pos[0])}: ${flaw.message}`, flaw.code === "TAB_AS_INDENT" ? "indent with spaces" : undefined),
	),
	...repeatedKeys(document.contents).map(({ key, offset }) =>
		bad(`${name}${at(offset)}: ${repeatedKeyMessage(key)}`, "write each key once"),
	),
];

function read<T>(call: () => T, name: string): T {
	try {
		return call();
	} catch (error) {
		throw bad(`${name}: ${error instanceof Error ? error.message : String(error)}`);
	}
}

/** Follows `lanes.code.max` or `retry.on[2]` as far as it goes; a name may hold dots, so whole keys are compared. */
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
		const pair = node.items.find((one) => lengthOf(keyOf(one), rest) > 0);
		if (!pair) return found;
		found = (pair.key as Node).range?.[0] ?? found;
		rest = rest.slice(lengthOf(keyOf(pair), rest)).replace(/^\./, "");
		node = pair.value;
	}
	return found;
}

/** How much of a path this key stands for, with its unit if the path has it; 0 = it does not begin with it. */
function lengthOf(key: string, rest: string): number {
	const whole = spellings(key).find((name) => rest === name || rest.startsWith(`${name}.`) || rest.startsWith(`${name}[`));
	return whole?.length ?? 0;
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
			// `retry: 3` is short for a policy with that many; an empty `lanes:` becomes a map.
			const short = isScalar(next) && typeof next.value === "number" ? { max: next.value } : {};
			const fresh = document.createNode(short) as YAMLMap;
			map.set(name, fresh);
			map = fresh;
		}
	}
	const last = spelledIn(map, steps.at(-1) as string);
	assert(last !== undefined, "a key has at least one step");
	if (value === undefined) map.delete(last);
	else if (typeof value === "object" && value !== null) map.set(last, document.createNode(value, { flow: Array.isArray(value) }));
	else map.set(last, value);
	return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

const spelledIn = (map: YAMLMap, step: string): string => spellings(step).find((name) => map.has(name)) ?? step;

/** What a command line or a variable says: `8`, `null`, `5m`, `[a, b]`. Text that is no YAML is text. */
export function parseValue(text: string): unknown {
	if (yamlFault(text, MOST, MOST_MARKS) !== null) return text;
	try {
		return parse(text, { uniqueKeys: false, maxAliasCount: 0, logLevel: "error" });
	} catch {
		return text;
	}
}
