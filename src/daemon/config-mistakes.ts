// All mistakes of a configuration at once. Reading stops at the first one; so what is wrong is noted, taken out, and the rest is read again. Pure.

import { SluiceError } from "../core/errors.ts";
import { effective, type Given, type Layer, spellings } from "./config-layers.ts";

/** No reader needs more; and each costs a reading of the whole file, so of a large file fewer are told. */
const MOST = 100;
const MOST_KEYS_READ = 100_000;

export function mistakesIn(layers: readonly Layer[]): SluiceError[] {
	const found: SluiceError[] = [];
	let rest = [...layers];
	const keys = layers.reduce((sum, { given }) => sum + sizeOf(given), 1);
	const most = Math.min(MOST, Math.max(3, Math.floor(MOST_KEYS_READ / keys)));
	while (found.length < most) {
		const error = firstIn(rest);
		if (error === null) break;
		const at = rest.findIndex((layer) => error.message.startsWith(`${layer.place(error.field ?? "")}: `));
		const layer = rest[at];
		const known = layer && foreignIn(layer, error.field ?? "");
		found.push(...(known && known.length > 0 ? known : [error]));
		const without = layer && taken(layer.given, error.field ?? "");
		if (!layer || !without) break;
		rest = rest.map((one) => (one === layer ? { ...layer, given: without } : one));
	}
	return found.sort((a, b) => lineOf(a) - lineOf(b));
}

/** Keys and members in all. A file's nesting is bounded by its parser. */
function sizeOf(given: unknown): number {
	if (typeof given !== "object" || given === null) return 1;
	return Object.values(given).reduce((sum: number, one) => sum + sizeOf(one), 1);
}

/** As the file is read; what stands elsewhere comes last. */
function lineOf({ message }: SluiceError): number {
	const line = /^config\.yml:(\d+):/.exec(message)?.[1];
	return line === undefined ? Number.MAX_SAFE_INTEGER : Number(line);
}

function firstIn(layers: readonly Layer[]): SluiceError | null {
	try {
		effective(layers);
		return null;
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
}

/** Without what a field names, or without as much of it as is there; null when nothing of it is. Names may hold dots, so whole keys are compared. */
function taken(given: Given, field: string): Given | null {
	const key = Object.keys(given).find((one) => restOf(one, field) !== null);
	if (key === undefined) return null;
	const rest = restOf(key, field) as string;
	const { [key]: value, ...others } = given;
	const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
	const inner = rest !== "" && isMap ? taken(value as Given, rest) : null;
	return inner === null ? others : { ...others, [key]: inner };
}

/** What is left of a path behind this key, `null` when the path does not begin with it. */
function restOf(key: string, field: string): string | null {
	// Long names are cut where they are told.
	const cut = field.endsWith("…") && key.startsWith(field.slice(0, -1)) ? field : undefined;
	const name = cut ?? spellings(key).find((one) => field === one || field.startsWith(`${one}.`) || field.startsWith(`${one}[`));
	return name === undefined ? null : field.slice(name.length).replace(/^\./, "");
}

/** Keys of other schedulers' files, and what they are called here. `{}` stands for the value. */
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

/** One for each key below it, where we know what it is called here. */
function foreignIn(layer: Layer, field: string): SluiceError[] {
	const names = Object.hasOwn(FOREIGN, field) ? FOREIGN[field] : undefined;
	const value = layer.given[field];
	if (names === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return [];
	return Object.entries(value).map(([key, one]) => {
		const path = `${field}.${key}`;
		const hint = Object.hasOwn(names, key)
			? names[key]?.replaceAll("{}", typeof one === "object" ? "…" : String(one).slice(0, 60))
			: undefined;
		return new SluiceError("unknown_key", `${layer.place(path)}: ${path}: there is no such key`, {
			field: path,
			hint: hint ?? "docs/reference/config.md lists every key",
		});
	});
}
