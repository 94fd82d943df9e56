// Finds all mistakes of a configuration. Reading stops at the first one, so each mistake is noted and removed, and the rest is read again. Pure.

import { SluiceError } from "../../core/errors.ts";
import { type ConfigValues, effective, type Layer, LayerError, spellingIn } from "./layers.ts";

/** Maximum number of mistakes. Each costs a read of the whole configuration, so fewer are reported for a large file. */
const MAX_MISTAKES = 100;
const MOST_KEYS_READ = 100_000;

export function mistakesIn(layers: readonly Layer[]): LayerError[] {
	const found: LayerError[] = [];
	let rest = [...layers];
	const keys = layers.reduce((sum, { given }) => sum + sizeOf(given), 1);
	const most = Math.min(MAX_MISTAKES, Math.max(3, Math.floor(MOST_KEYS_READ / keys)));
	while (found.length < most) {
		const error = firstIn(rest);
		if (error === null) break;
		const { layer, field = "" } = error;
		const foreign = foreignIn(layer, field);
		found.push(...(foreign.length > 0 ? foreign : [error]));
		const without = taken(layer.given, field);
		if (!without) break;
		rest = rest.map((one) => (one === layer ? { ...layer, given: without } : one));
	}
	return found.sort((a, b) => lineOf(a) - lineOf(b));
}

/** The number of keys and list items. The nesting is bounded by the parser. */
function sizeOf(given: unknown): number {
	if (typeof given !== "object" || given === null) return 1;
	return Object.values(given).reduce((sum: number, one) => sum + sizeOf(one), 1);
}

/** For sorting by line; mistakes outside the file come last. */
const lineOf = ({ layer, field = "" }: LayerError): number => layer.lineOf?.(field) ?? Number.MAX_SAFE_INTEGER;

function firstIn(layers: readonly Layer[]): LayerError | null {
	try {
		effective(layers);
		return null;
	} catch (error) {
		if (error instanceof LayerError) return error;
		throw error;
	}
}

/**
 * The configuration without the part that a field names, or without its deepest existing parent; null when there is nothing of it. Names may hold dots, so
 * whole keys are compared.
 */
function taken(given: ConfigValues, field: string): ConfigValues | null {
	const key = Object.keys(given).find((one) => restOf(one, field) !== null);
	if (key === undefined) return null;
	const rest = restOf(key, field) ?? "";
	const { [key]: value, ...others } = given;
	const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
	const inner = rest !== "" && isMap ? taken(value as ConfigValues, rest) : null;
	return inner === null ? others : { ...others, [key]: inner };
}

/** The rest of a path after this key; `null` when the path does not begin with it. */
function restOf(key: string, field: string): string | null {
	// Error messages cut long names.
	const cut = field.endsWith("…") && key.startsWith(field.slice(0, -1)) ? field : undefined;
	const name = cut ?? spellingIn(field, key);
	return name === undefined ? null : field.slice(name.length).replace(/^\./, "");
}

/** Keys of other schedulers' files, and their names here. `{}` stands for the value. */
const FOREIGN: Record<string, Record<string, string>> = {
	scheduler: {
		poll_interval_secs: "write poll_interval: {}s",
		priority:
			"write lanes.<name>.priority for plan, spec, phase and code, and order.age_boost_… and the others; `preset: loops` has these values",
		max_polecats: "write max_concurrent: {}",
		batch_size: "write batch_size: {}",
		spawn_delay: "write spawn_delay: {}",
	},
	concurrency: {
		max_loops: "write max_concurrent: {}",
		max_api_calls: "write accounts.<name>.max_api_calls: {}",
		per_type: "write lanes.<name>.max for each of them; `preset: loops` has these values",
	},
};

/** One error for each key below, with a hint where the name here is known. */
function foreignIn(layer: Layer, field: string): LayerError[] {
	const names = Object.hasOwn(FOREIGN, field) ? FOREIGN[field] : undefined;
	const value = layer.given[field];
	if (names === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return [];
	return Object.entries(value).map(([key, one]) => {
		const path = `${field}.${key}`;
		const hint = Object.hasOwn(names, key)
			? names[key]?.replaceAll("{}", typeof one === "object" ? "…" : String(one).slice(0, 60))
			: undefined;
		const mistake = { field: path, hint: hint ?? "docs/reference/config.md lists every key" };
		return new LayerError(layer, new SluiceError("unknown_key", `${path}: there is no such key`, mistake));
	});
}
