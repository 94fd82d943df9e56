// Merges the layers of configuration into the settings in force: flag over environment over config.yml over preset over default. Pure.

import { type Config, DEFAULTS, PRESETS, type PresetName, presetConfig, readConfig } from "../../core/config.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { nearest, suggest } from "../../core/input/nearest.ts";
import { CONFIG } from "../../core/schema/config.ts";
import { namesOf, type SettingRow, withoutUnit } from "../../core/schema/setting.ts";
import { shownStore } from "../../core/text/store-address.ts";
import { HOST, readSettings, SETTINGS, type Settings } from "./settings.ts";

export type ConfigValues = Record<string, unknown>;
/** `place` precedes an error message and follows a value: `config.yml:3:7`, `SLUICE_PORT`, `--port`. `lineOf`: only of the layer of config.yml. */
export type Layer = { place: (field: string) => string; lineOf?: (field: string) => number | undefined; given: ConfigValues };
export type Effective = { preset: PresetName | null; config: Config; settings: Settings };
export type Origin = { key: string; value: unknown; origin: string };

/** `agents` has two forms: a list names the agents that jobs may use (engine), a map says how each is started (daemon). */
const isEngineKey = (key: string, value: unknown) => (key === "agents" ? Array.isArray(value) : ENGINE.includes(key));
const [ENGINE, OURS] = [namesOf(CONFIG), namesOf(HOST)];
export const KEYS: readonly string[] = ["preset", ...new Set([...ENGINE, ...OURS])];

/** Maps whose entries have names chosen by the user, and the fields of an entry. */
const ENTRY_FIELDS = new Map<string, string[]>();
for (const [key, { entry }] of [CONFIG, HOST].flatMap((table) => Object.entries<SettingRow>(table)))
	if (entry) ENTRY_FIELDS.set(key, [...(ENTRY_FIELDS.get(key) ?? []), ...namesOf(entry)]);

/** A mistake in one layer: the message begins with the layer's place, that of `mistake` does not. */
export class LayerError extends SluiceError {
	readonly layer: Layer;
	readonly mistake: SluiceError;

	constructor(layer: Layer, mistake: SluiceError) {
		const { code, field, hint, message } = mistake;
		super(code, `${layer.place(field ?? "")}: ${message}`, { field, hint, cause: mistake });
		this.layer = layer;
		this.mistake = mistake;
	}
}

/** Merges layers, given from the weakest to the strongest. */
export function effective(layers: readonly Layer[]): Effective {
	let preset: PresetName | null = null;
	for (const layer of layers) {
		const named = layer.given.preset;
		if (named === undefined || named === null) continue;
		within(layer, () => {
			presetConfig(named as PresetName);
		});
		preset = named as PresetName;
	}
	let config = presetConfig(preset ?? undefined);
	let settings = SETTINGS;
	for (const layer of layers)
		within(layer, () => {
			const engine: ConfigValues = {};
			const ours: ConfigValues = {};
			for (const [key, value] of Object.entries(layer.given)) {
				if (key === "preset" || isEmptyGroup(key, value)) continue;
				if (key === "repos" || key === "accounts") [engine[key], ours[key]] = split(key, value);
				else if (isEngineKey(key, value)) engine[key] = value;
				else if (OURS.includes(key)) ours[key] = value;
				else throw unknown(key);
			}
			config = readConfig(engine, config);
			settings = readSettings(ours, "", settings);
		});
	return { preset, config, settings };
}

/** Splits a repo or account: the engine needs its caps and prefix, the daemon the rest. Refuses a key that neither of them knows. */
function split(key: "repos" | "accounts", value: unknown): [engine: unknown, ours: unknown] {
	const known = ENTRY_FIELDS.get(key) ?? [];
	const mine = namesOf(HOST[key].entry);
	if (typeof value !== "object" || value === null || Array.isArray(value)) return [value, {}];
	const engine: ConfigValues = {};
	const ours: ConfigValues = {};
	for (const [name, entry] of Object.entries(value)) {
		if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
			engine[name] = entry;
			if (entry === null) ours[name] = null;
			continue;
		}
		const parts = Object.entries(entry);
		const isOurs = ([part]: [string, unknown]) => mine.includes(part);
		const unknown = parts.find(([part]) => !known.includes(part));
		if (unknown) check.knownKeys(entry as ConfigValues, known, `${key}.${name}`);
		engine[name] = Object.fromEntries(parts.filter((part) => !isOurs(part)));
		ours[name] = Object.fromEntries(parts.filter(isOurs));
	}
	return [engine, ours];
}

/** A group such as `lanes:` with nothing below it, or only comments, counts as absent. */
const isEmptyGroup = (key: string, value: unknown) => {
	const usual: unknown = Object.entries({ ...DEFAULTS, ...SETTINGS }).find(([name]) => name === key)?.[1];
	return value === null && typeof usual === "object" && usual !== null;
};

function unknown(key: string): SluiceError {
	const short = key.length > 60 ? `${key.slice(0, 60)}…` : key;
	const hint = suggest(key, KEYS, "docs/reference/config.md lists every key");
	return new SluiceError("unknown_key", `${short}: there is no such key`, { field: short, hint });
}

function within<T>(layer: Layer, read: () => T): T {
	try {
		return check.taking("config", read);
	} catch (error) {
		throw error instanceof SluiceError ? new LayerError(layer, error) : error;
	}
}

/** `SLUICE_MAX_CONCURRENT=8`: only keys that hold a single value. Other variables with this prefix are ignored. */
export function environmentLayers(env: Record<string, string | undefined>, parse: (text: string) => unknown): Layer[] {
	const simple = KEYS.filter((key) => {
		const value = { ...DEFAULTS, ...SETTINGS, preset: null }[key] ?? null;
		return typeof value !== "object" || value === null;
	});
	return simple.flatMap((key) => {
		const name = `SLUICE_${key.toUpperCase()}`;
		const text = env[name];
		return text === undefined || text === "" ? [] : [{ place: () => name, given: { [key]: parse(text) } }];
	});
}

/** Every setting in force, with its origin. */
export function origins(now: Effective, layers: readonly Layer[]): Origin[] {
	const base = flat({ ...DEFAULTS, ...SETTINGS, agents: [] });
	const preset = now.preset === null ? base : flat({ ...PRESETS[now.preset], ...SETTINGS, agents: [] });
	const { agents: profiles, repos: places, accounts: homes, ...settings } = now.settings;
	const accounts = Object.fromEntries(Object.entries(now.config.accounts).map(([name, one]) => [name, { ...one, ...homes[name] }]));
	const repos = Object.fromEntries(Object.entries(now.config.repos).map(([name, one]) => [name, { ...one, ...places[name] }]));
	const all = [
		["preset", now.preset] as const,
		...flat({ ...now.config, repos, accounts }),
		...flat(settings),
		...flat({ agents: profiles }).filter(([key]) => key !== "agents"),
	];
	return all.map(([key, plain]) => {
		const value = key === "store" && typeof plain === "string" ? shownStore(plain) : plain;
		for (const layer of [...layers].reverse()) if (isGiven(layer.given, key)) return { key, value, origin: layer.place(key) };
		const same = (table: [string, unknown][]) =>
			table.some(([one, other]) => one === key && JSON.stringify(other) === JSON.stringify(plain));
		return { key, value, origin: !same(base) && same(preset) ? `preset ${now.preset}` : "default" };
	});
}

/** Whether a setting is this one or below it. The key may leave the unit out. */
export const isUnder = (key: string, { key: one }: Origin): boolean =>
	[key, `${key}_ms`, `${key}_bytes`].includes(one) || one.startsWith(`${key}.`);

/** `order.age_boost_max` → 50; an empty map stays one value. */
export function flat(value: unknown, path = ""): [string, unknown][] {
	const isBranch = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
	if (!isBranch) return [[path, value]];
	return Object.entries(value).flatMap(([key, inner]) => flat(inner, path ? `${path}.${key}` : key));
}

/** Splits a key into steps. Names chosen by the user may hold dots, so `lanes.a.b.max` is lanes → a.b → max. */
export function stepsOf(key: string): string[] {
	const [top = "", ...rest] = key.split(".");
	const fields = ENTRY_FIELDS.get(top);
	if (!fields || rest.length === 0) return [top, ...rest];
	const at = rest.findIndex((part, index) => index > 0 && fields.includes(part));
	return at < 0 ? [top, rest.join(".")] : [top, rest.slice(0, at).join("."), ...rest.slice(at)];
}

/** Refuses `lanes.default.mx 3`: it would make an entry called `default.mx`, but means a field that the entry does not have. */
export function checkStep(key: string, value: unknown): void {
	const [top = "", ...rest] = key.split(".");
	const fields = ENTRY_FIELDS.get(top) ?? [];
	const isEntry = value === undefined || (typeof value === "object" && !Array.isArray(value));
	if (fields.length === 0 || rest.length < 2 || isEntry || stepsOf(key).length !== 2) return;
	// The mistyped part is the first one that resembles a field, otherwise the last one.
	const like = rest.findIndex((part, index) => index > 0 && nearest(part, fields) !== undefined);
	const at = like < 0 ? rest.length - 1 : like;
	const [name, wrong] = [rest.slice(0, at).join("."), nth(rest, at)];
	const guess = nearest(wrong, fields);
	throw new SluiceError("unknown_key", `${top}.${name} has no key ${wrong}`, {
		field: key,
		hint: guess ? `did you mean ${top}.${name}.${guess}?` : `known keys: ${fields.join(", ")}`,
	});
}

/** Other spellings of a key: `spawn_delay_ms` and `spawn_delay` are the same. */
export const spellings = (step: string): string[] => [step, withoutUnit(step) ?? `${step}_ms`, `${step}_bytes`];

/** The spelling of a key with which the path of a field begins; undefined when it does not begin with this key. */
export const spellingIn = (field: string, key: string): string | undefined =>
	spellings(key).find((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`));

function isGiven(given: ConfigValues, key: string): boolean {
	let at: unknown = given;
	for (const step of stepsOf(key)) {
		if (typeof at !== "object" || at === null || Array.isArray(at)) return step === "max";
		const name = spellings(step).find((one) => Object.hasOwn(at as object, one));
		if (name === undefined) return false;
		at = (at as ConfigValues)[name];
	}
	return true;
}

/** `next` as input that leaves nothing of `before`: entries of maps that are gone get null, which removes them. */
export function completeInput(next: Config, before: Config): Record<string, unknown> {
	const input: Record<string, unknown> = { ...next };
	const old: Record<string, unknown> = { ...before };
	const removed = (entries: unknown) => Object.fromEntries(Object.keys(entries as object).map((name) => [name, null]));
	for (const [key, { entry }] of Object.entries<SettingRow>(CONFIG))
		if (entry) input[key] = { ...removed(old[key]), ...(input[key] as object) };
	return input;
}
