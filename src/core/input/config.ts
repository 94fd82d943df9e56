// Configuration as people write it → the settings of config.ts. Every unknown key is an error with a suggestion; a configuration with an error is not
// applied at all.

import { type Config, DEFAULTS, LANE_DEFAULT, type LaneConfig, PRESETS, type PresetName, type RepoConfig } from "../config.ts";
import type { RetryPolicy } from "../job.ts";
import { readBranch, readRetry } from "../schema/job-values.ts";
import { isTimezone, parseHours } from "../time/window.ts";
import * as check from "./check.ts";

export type ValueReader<T> = (value: unknown, field: string, before: T) => T;
export type Readers<T> = { [K in keyof T]-?: ValueReader<T[K]> };

export const whole =
	(min: number, max = 1_000_000): ValueReader<number> =>
	(value, field) =>
		check.integer(value, field, min, max);
export const length: ValueReader<number> = (value, field) => check.duration(value, field);
export const cap: ValueReader<number | null> = (value, field) => (value === null ? null : check.integer(value, field, 0, 1_000_000));
export const prefix: ValueReader<string | null> = (value, field) => (value === null ? null : check.word(value, field));
const autoOr: ValueReader<number | "auto"> = (value, field) => (value === "auto" ? "auto" : check.integer(value, field, 0, 1_000_000_000));
const retry: ValueReader<RetryPolicy> = (value, field, before) => ({ ...before, ...readRetry(value, field) });

/** `spawn_delay_ms` → `spawn_delay`; undefined if a key has no unit. */
export const withoutUnit = (name: string): string | undefined => /^(.+)_(?:ms|bytes)$/.exec(name)?.[1];

/** Keys may be written with their unit (`spawn_delay_ms: 500`) or without it (`spawn_delay: 500ms`). */
export function group<T extends object>(readers: Readers<T>): ValueReader<T> {
	const names = Object.keys(readers);
	const spellings = new Map(names.flatMap((name) => [[name, name] as const, [withoutUnit(name) ?? name, name] as const]));
	const known = [...spellings.keys()];
	return (value, field, before) => {
		const given = check.record(value, field === "" ? "config" : field);
		check.knownKeys(given, known, field);
		const result = { ...before } as Record<string, unknown>;
		for (const [key, one] of Object.entries(given)) {
			const name = spellings.get(key) as string;
			const read = readers[name as keyof T] as ValueReader<unknown>;
			result[name] = read(one, field === "" ? key : `${field}.${key}`, before[name as keyof T]);
		}
		return result as T;
	};
}

/** A map by name. A named entry is changed, `null` removes it. */
export function map<T extends object>(fresh: T, readers: Readers<T>): ValueReader<Record<string, T>> {
	const read = group(readers);
	return (value, field, before) => {
		const result: Record<string, T> = { ...before };
		for (const [name, one] of Object.entries(check.record(value, field))) {
			const path = `${field}.${name.slice(0, 60)}`;
			check.label(name, path);
			if (one === null) delete result[name];
			else result[name] = read(one, path, (Object.hasOwn(result, name) ? result[name] : undefined) ?? fresh);
		}
		return result;
	};
}

const lanes = map<LaneConfig>(LANE_DEFAULT, {
	max: cap,
	priority: whole(-1_000_000),
	accounts: (value, field) => check.labels(value, field),
	retry: (value, field, before) => (value === null ? null : retry(value, field, before ?? DEFAULTS.retry)),
	active_hours: (value, field) =>
		check.list(value, field, 50).map((one, index) => {
			const text = check.text(one, `${field}[${index}]`, { max: 20, lines: "one" });
			if (!parseHours(text))
				throw check.wrong(`${field}[${index}]`, `${check.shown(text)} is not a range of hours`, 'for example "22:00-06:00"');
			return text;
		}),
});

const readers: Readers<Config> = {
	max_concurrent: whole(-1),
	safety_cap: whole(0),
	batch_size: whole(0),
	spawn_delay_ms: length,
	cycle_interval_ms: length,
	poll_interval_ms: (value, field) => check.integer(check.duration(value, field), field, 10),
	lanes,
	repos: map<RepoConfig>(
		{ max: null, prefix: null },
		{
			max: cap,
			prefix,
			merge: (value, field) => check.oneOf(value, ["direct", "mr", "local", "none"] as const, field),
			base: (value, field) => (value === null ? null : readBranch(value, field)),
		},
	),
	accounts: map<Config["accounts"][string]>({ max: null, max_api_calls: 10 }, { max: cap, max_api_calls: whole(0) }),
	hosts: map<Config["hosts"][string]>({ max: null }, { max: cap }),
	resources: (value, field, before) => {
		const result = { ...before };
		for (const [name, one] of Object.entries(check.record(value, field))) {
			check.label(name, `${field}.${name.slice(0, 60)}`);
			if (one === null) delete result[name];
			else result[name] = check.integer(one, `${field}.${name}`, 0, 1_000_000);
		}
		return result;
	},
	agents: (value, field) => check.labels(value, field),
	flow_max: cap,
	queue: group<Config["queue"]>({
		soft_limit: autoOr,
		hard_limit: autoOr,
		count_serial: (value, field) => check.flag(value, field),
		limit_items: (value, field) => check.flag(value, field),
	}),
	order: group<Config["order"]>({
		age_boost_per_minute: whole(0, 1000),
		age_boost_max: whole(0, 1000),
		depth_boost_per_level: whole(-1000, 1000),
		retry_penalty_per_iteration: whole(0, 1000),
		retry_penalty_max: whole(0, 10_000),
		age_from: (value, field) => check.oneOf(value, ["ready", "created"], field),
		overdue_share: whole(0, 1000),
		overdue_after_ms: length,
	}),
	parents: group<Config["parents"]>({
		gate: (value, field) => check.oneOf(value, ["none", "success"], field),
		max_depth: whole(0, 1000),
		max_descendants: whole(0, 10_000_000),
	}),
	on_missing: (value, field) => check.oneOf(value, ["block", "wait"], field),
	retry,
	agent_retry: retry,
	dispatch_breaker: (value, field) => (value === "off" || value === "run" ? value : check.integer(value, field, 1, 1000)),
	dispatch_backoff_ms: length,
	environment_breaker: group<Config["environment_breaker"]>({ failures: whole(0, 1000), cooldown_ms: length }),
	rate_limit: group<Config["rate_limit"]>({ margin_ms: length, stagger_ms: length, failover_after_ms: length, outage_max_ms: length }),
	lease_ms: (value, field) => check.integer(check.duration(value, field), field, 1000, check.MAX_TIME),
	stale_after_ms: (value, field) => check.integer(check.duration(value, field), field, 1000, 86_400_000),
	timezone: (value, field) => {
		const name = check.text(value, field, { max: 60, lines: "one" });
		if (!isTimezone(name)) throw check.wrong(field, `${check.shown(name)} is not a time zone`, 'for example "Europe/Berlin" or "UTC"');
		return name;
	},
	kernel: group<Config["kernel"]>({ enabled: (value, field) => check.flag(value, field) }),
};

const read = group(readers);

/** Returns `before` with the changes of `value`; throws a SluiceError that names the key. */
export function readConfig(value: unknown, before: Config): Config {
	const config = read(value, "", before);
	for (const [name, lane] of Object.entries(config.lanes))
		for (const account of lane.accounts)
			if (!Object.hasOwn(config.accounts, account))
				throw check.wrong(`lanes.${name}.accounts`, `there is no account ${check.shown(account)}`, "add it under accounts");
	if (Object.keys(config.lanes).length === 0) throw check.wrong("lanes", "at least one lane must be left");
	return config;
}

export function presetConfig(preset: PresetName | undefined): Config {
	return preset === undefined ? DEFAULTS : PRESETS[check.oneOf(preset, Object.keys(PRESETS) as PresetName[], "preset")];
}
