// The tables of docs/reference/config.md, made from the rows of the settings. The page keeps its prose, and says which table has which keys: a row that it does
// not have yet is put below the row before it.

import { DEFAULTS, PRESETS } from "../src/core/config.ts";
import { CONFIG } from "../src/core/schema/config.ts";
import { type Rows, type SettingRow, setting } from "../src/core/schema/setting.ts";
import { HOST } from "../src/daemon/config/settings.ts";

const PRESET: Rows = { preset: setting(null, () => null).about("The defaults of another scheduler: see [Presets](#presets).") };

/** `lanes.<name>.max` → its line. */
function linesOf(rows: Rows, path = ""): [key: string, line: string][] {
	return Object.entries<SettingRow>(rows).flatMap(([name, { usual, about, shown, rows: inner, entry }]) => {
		const key = `${path}${name}`;
		const own = `| \`${key}\` | ${shown ?? `\`${JSON.stringify(usual)}\``} | ${about === "" ? "" : `${about} `}|`;
		return [
			...(typeof about === "string" ? [[key, own] as [string, string]] : []),
			...linesOf(inner ?? {}, `${key}.`),
			...linesOf(entry ?? {}, `${key}.<name>.`),
		];
	});
}

const LANES = (lanes: typeof DEFAULTS.lanes) =>
	Object.entries(lanes)
		.map(([name, { max, priority }]) => `${name} ${max}/${priority}`)
		.join(", ");

/** `order.age_boost_max` → 50. */
function flat(value: unknown, path = ""): [key: string, value: string][] {
	if (path === "lanes") return [[path, LANES(value as typeof DEFAULTS.lanes)]];
	const isBranch = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
	if (!isBranch) return [[path, JSON.stringify(value)]];
	return Object.entries(value).flatMap(([key, inner]) => flat(inner, path ? `${path}.${key}` : key));
}

function presetLines(): string[] {
	const presets = Object.values(PRESETS).map((preset) => new Map(flat(preset)));
	return flat(DEFAULTS).flatMap(([key, usual]) => {
		const cells = presets.map((preset) => (preset.get(key) === usual ? "" : `\`${preset.get(key)}\` `));
		return cells.some((cell) => cell !== "") ? [`| \`${key}\` | ${cells.join("| ")}|`] : [];
	});
}

const keyOf = (line: string) => /^\| `([^`]+)` \|.*\|.*\|$/.exec(line)?.[1];

/** The page with its tables as the source has them. */
export function configReference(page: string): string {
	const [settings = "", presets = ""] = page.split(/(?<=\n## Presets\n)/);
	const known = new Map([PRESET, CONFIG, HOST].flatMap((rows) => linesOf(rows)));
	const keys = [...known.keys()];
	const listed = new Set(settings.split("\n").map(keyOf));
	/** New rows that follow a listed one, in the order of the source. */
	const behind = (key: string): string[] => {
		const next = keys[keys.indexOf(key) + 1];
		return next === undefined || listed.has(next) ? [] : [known.get(next) as string, ...behind(next)];
	};
	const tables = settings.split("\n").flatMap((line) => {
		const key = keyOf(line);
		if (key === undefined) return [line];
		return known.has(key) ? [known.get(key) as string, ...behind(key)] : [];
	});
	const head = presets.split("\n").filter((line) => keyOf(line) === undefined);
	head.splice(head.findIndex((line) => line.startsWith("|---")) + 1, 0, ...presetLines());
	return tables.join("\n") + head.join("\n");
}
