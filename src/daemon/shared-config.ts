// The configuration of a host that shares its store: the scheduler's settings are the store's, the same for all hosts; config.yml has what is this host's own.
//
//   key                                         is kept in      seen as
//   caps, lanes, order, retry …                 the store       store, default
//   repos.<name>.max, .prefix; accounts.…max    the store       store, default
//   all others: paths, agents, port, hooks …    config.yml      config.yml:…
//
// The first host brings the settings of its file along; what a later one's file says of them does not count, and it is told so.

import { type Config, DEFAULTS } from "../core/config.ts";
import { readConfig, withoutUnit } from "../core/config-input.ts";
import { SluiceError } from "../core/errors.ts";
import { systemTimezone } from "../host/local.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ConfigFile } from "./config-file.ts";
import { flat, type Origin, stepsOf } from "./config-layers.ts";
import { parseValue } from "./config-text.ts";

const ENGINE = Object.keys(DEFAULTS).flatMap((name) => [name, withoutUnit(name) ?? name]);
/** Of a repo or an account only these are the scheduler's. */
const OF_ENTRIES = ["max", "prefix", "max_api_calls"];

/** Whether a setting is the same for all hosts. */
export function isShared(key: string): boolean {
	const [top = "", , field] = stepsOf(key);
	if (top === "preset") return true;
	if (!ENGINE.includes(top)) return false;
	if (top === "agents") return key === "agents";
	if (top === "repos" || top === "accounts") return field !== undefined && OF_ENTRIES.includes(field);
	return true;
}

type Parts = { scheduler: () => Pick<Scheduler, "config" | "configure"> };

export function shareConfig(file: ConfigFile, { scheduler }: Parts): ConfigFile {
	const usual = new Map(flat(DEFAULTS).map(([key, value]) => [key, JSON.stringify(value)]));
	const kept = (): Origin[] =>
		flat(scheduler().config())
			.filter(([key]) => isShared(key))
			.map(([key, value]) => ({ key, value, origin: usual.get(key) === JSON.stringify(value) ? "default" : "store" }));
	const list = () => [...kept(), ...file.list().filter(({ key }) => !isShared(key))];
	const found = (key: string) =>
		list().filter((one) => one.key === key || one.key.startsWith(`${key}.`) || one.key === `${key}_ms` || one.key === `${key}_bytes`);

	async function change(key: string, value: unknown, by = "library"): Promise<Origin[]> {
		if (key === "preset")
			throw new SluiceError("invalid", "preset: it counts only in the file of the first host that joins a store", {
				field: key,
				hint: "change single settings; they count for all hosts",
			});
		const steps = stepsOf(key);
		const input = steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as Record<string, unknown>;
		await scheduler().configure(input, { by });
		return found(key);
	}

	/** As it would be if nobody had ever set it: entries of maps go, their fields have the value that a new entry has. */
	function usualOf(key: string): unknown {
		const [top = "", name, ...rest] = stepsOf(key);
		const isEntry = name !== undefined && rest.length === 0 && !Object.hasOwn((DEFAULTS as Record<string, unknown>)[top] ?? {}, name);
		if (isEntry) return null;
		const fresh = readConfig(rest.length > 0 ? { [top]: { [name as string]: {} } } : {}, DEFAULTS) as unknown as Record<string, unknown>;
		return stepsOf(key).reduce<unknown>((at, step) => {
			const entry = at as Record<string, unknown>;
			return Object.hasOwn(entry, step) ? entry[step] : entry[`${step}_ms`];
		}, fresh);
	}

	return {
		...file,
		engine: () => scheduler().config(),
		list,
		get: (key) => {
			const some = found(key);
			return some.length > 0 ? some : file.get(key);
		},
		set: (key, value, by) =>
			isShared(key) ? change(key, typeof value === "string" ? parseValue(value) : value, by) : file.set(key, value, by),
		unset: (key, by) => (isShared(key) ? change(key, usualOf(key), by) : file.unset(key, by)),
	};
}

/** Settings of this host's file that the store has otherwise: they do not count. */
export function unusedKeys(own: Config, stored: Config): string[] {
	const inForce = new Map(flat(stored).map(([key, value]) => [key, JSON.stringify(value)]));
	const usual = new Map(flat(DEFAULTS).map(([key, value]) => [key, JSON.stringify(value)]));
	return flat(own).flatMap(([key, value]) => {
		const text = JSON.stringify(value);
		// The zone of this machine, where no file says so: the store has one for all hosts.
		if (key === "timezone" && value === systemTimezone()) return [];
		return isShared(key) && text !== inForce.get(key) && text !== usual.get(key) ? [key] : [];
	});
}

/** What the store has to know of this host's repos: that they are there, how and into what they merge. */
export function missingRepos(own: Config, stored: Config): Record<string, unknown> | null {
	const missing = Object.entries(own.repos).flatMap(([name, { merge, prefix, base }]) => {
		const known = Object.hasOwn(stored.repos, name) ? stored.repos[name] : undefined;
		if (known && known.merge === merge && ((base ?? null) === null || known.base === base)) return [];
		return [
			[
				name,
				{
					...(merge === undefined ? {} : { merge }),
					...((base ?? null) === null ? {} : { base }),
					...(known || prefix === null ? {} : { prefix }),
				},
			] as const,
		];
	});
	return missing.length === 0 ? null : { repos: Object.fromEntries(missing) };
}

/** The scheduler's settings are the store's; of this host's file only what is new about its repos goes there. */
export async function bringAlong(scheduler: Pick<Scheduler, "config" | "configure">, own: Config, log: Log): Promise<void> {
	const missing = missingRepos(own, scheduler.config());
	if (missing) await scheduler.configure(missing);
	const keys = unusedKeys(own, scheduler.config());
	if (keys.length > 0)
		log.warn("settings of config.yml that do not count: those of the store do (sluice config set changes them)", { keys });
}
