// The configuration of a host that shares its store: the scheduler's settings are in the store, the same for all hosts; config.yml has this host's own.
//
//   key                                         is kept in      shown as
//   caps, lanes, order, retry …                 the store       store, default
//   repos.<name>.max, .prefix; accounts.…max    the store       store, default
//   other keys: paths, agents, port, hooks …    config.yml      config.yml:…
//
// The first host brings the scheduler's settings of its file into the store. A later host ignores such settings in its file, with a warning.

import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { type Config, DEFAULTS, readConfig } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { CONFIG } from "../../core/schema/config.ts";
import { namesOf } from "../../core/schema/setting.ts";
import { systemTimezone } from "../../host/local.ts";
import type { ConfigFile } from "./file.ts";
import { flat, isUnder, type Origin, stepsOf } from "./layers.ts";
import { parseValue } from "./text.ts";

const ENGINE = namesOf(CONFIG);

/** Whether a setting is the same for all hosts. */
export function isShared(key: string): boolean {
	const [top = "", , field] = stepsOf(key);
	if (top === "preset") return true;
	if (!ENGINE.includes(top)) return false;
	if (top === "agents") return key === "agents";
	// The rest of a repo or an account is the host's own.
	if (top === "repos" || top === "accounts") return field !== undefined && namesOf(CONFIG[top].entry).includes(field);
	return true;
}

export function shareConfig(file: ConfigFile, scheduler: Pick<Scheduler, "config" | "configure">): ConfigFile {
	const usual = new Map(flat(DEFAULTS).map(([key, value]) => [key, JSON.stringify(value)]));
	const kept = (): Origin[] =>
		flat(scheduler.config())
			.filter(([key]) => isShared(key))
			.map(([key, value]) => ({ key, value, origin: usual.get(key) === JSON.stringify(value) ? "default" : "store" }));
	const list = () => [...kept(), ...file.list().filter(({ key }) => !isShared(key))];
	const found = (key: string) => list().filter((one) => isUnder(key, one));

	async function change(key: string, value: unknown, by = "library"): Promise<Origin[]> {
		if (key === "preset")
			throw new SluiceError("invalid", "preset: it counts only in the file of the first host that joins a store", {
				field: key,
				hint: "change single settings; they count for all hosts",
			});
		const steps = stepsOf(key);
		const input = steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as Record<string, unknown>;
		await scheduler.configure(input, { by });
		return found(key);
	}

	/** The value of a key that was never set: null for an entry of a map, which removes it; for its fields, the value of a new entry. */
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
		engine: () => scheduler.config(),
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

/** Scheduler settings in this host's file that differ from the store's: they are ignored. */
export function unusedKeys(own: Config, stored: Config): string[] {
	const inForce = new Map(flat(stored).map(([key, value]) => [key, JSON.stringify(value)]));
	const usual = new Map(flat(DEFAULTS).map(([key, value]) => [key, JSON.stringify(value)]));
	return flat(own).flatMap(([key, value]) => {
		const text = JSON.stringify(value);
		// The zone of this machine is the default, not a setting of the file; the store has one zone for all hosts.
		if (key === "timezone" && value === systemTimezone()) return [];
		return isShared(key) && text !== inForce.get(key) && text !== usual.get(key) ? [key] : [];
	});
}

/** What the store does not know yet of this host's repos: their names, merge strategies and bases. */
export function missingRepos(own: Config, stored: Config): Record<string, unknown> | null {
	const missing = Object.entries(own.repos).flatMap(([name, { merge, prefix, base }]) => {
		const known = Object.hasOwn(stored.repos, name) ? stored.repos[name] : undefined;
		if (known && known.merge === merge && ((base ?? null) === null || known.base === base)) return [];
		return [[name, given({ merge, base: base ?? undefined, prefix: known ? undefined : (prefix ?? undefined) })] as const];
	});
	return missing.length === 0 ? null : { repos: Object.fromEntries(missing) };
}

/** The scheduler's settings are the store's; from this host's file, only new information about its repos is added. */
export async function bringAlong(scheduler: Pick<Scheduler, "config" | "configure">, own: Config, log: Log): Promise<void> {
	const missing = missingRepos(own, scheduler.config());
	if (missing) await scheduler.configure(missing);
	const keys = unusedKeys(own, scheduler.config());
	if (keys.length > 0)
		log.warn("settings of config.yml that do not count: those of the store do (sluice config set changes them)", { keys });
}
