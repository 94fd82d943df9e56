// A key of the configuration as one value: its default, its check, and its line in docs/reference/config.md. The scheduler's keys (config.ts) and those of a
// host (daemon/config/settings.ts) are tables of these; types, defaults, readers, known names and the reference come from them.

import * as check from "../input/check.ts";

/** `before`: the value so far; a group or a map changes only what it names. */
export type ValueReader<T> = (value: unknown, field: string, before: T) => T;

export type SettingRow<T = unknown> = {
	readonly usual: T;
	/** Returns the normalised value, or throws an error that names `field`. */
	read(value: unknown, field: string, before: T): T;
	/** Its meaning. Absent: the reference has a line for each of its keys instead. Null: no file may have the key; the daemon sets it. */
	readonly about?: string | null | undefined;
	/** The default in the reference, in words. */
	readonly shown?: string | undefined;
	/** The keys of a group. */
	readonly rows?: Rows;
	/** The keys of each entry of a map, whose names the user chooses. */
	readonly entry?: Rows;
};
export type Rows = { readonly [key: string]: SettingRow };

type ValueOf<S> = S extends { readonly usual: infer T } ? T : never;
type Sometimes<R> = { [K in keyof R]: undefined extends ValueOf<R[K]> ? K : never }[keyof R];
type Merged<T> = { [K in keyof T]: T[K] };
/** A key whose default is undefined is optional. */
export type ValuesOf<R> = Merged<
	{ -readonly [K in keyof R as K extends Sometimes<R> ? never : K]: ValueOf<R[K]> } & {
		-readonly [K in keyof R as K extends Sometimes<R> ? K : never]?: ValueOf<R[K]>;
	}
>;

/** Needs its meaning: `setting(4, whole(0)).about("…")`. */
export const setting = <T>(usual: NoInfer<T>, read: ValueReader<T>) => ({
	about: (about: string | null, shown?: string): SettingRow<T> => ({ usual, read, about, shown }),
});
/** A setting without a default. */
export const optional = <T>(read: (value: unknown, field: string, before: T | undefined) => T) => setting<T | undefined>(undefined, read);

/** The defaults of some keys. */
export const usualOf = <R extends Rows>(rows: R): ValuesOf<R> =>
	Object.fromEntries(Object.entries(rows).flatMap(([key, { usual }]) => (usual === undefined ? [] : [[key, usual]]))) as ValuesOf<R>;

/** `spawn_delay_ms` → `spawn_delay`; undefined if a key has no unit. */
export const withoutUnit = (name: string): string | undefined => /^(.+)_(?:ms|bytes)$/.exec(name)?.[1];

/** The names that people may write: with the unit (`spawn_delay_ms: 500`) or without it (`spawn_delay: 500ms`). */
export const namesOf = (rows: Rows): string[] =>
	Object.entries(rows).flatMap(([name, { about }]) => (about === null ? [] : [name, ...[withoutUnit(name) ?? []].flat()]));

/** Reads an object with some of these keys. */
export function rowsReader<R extends Rows>(rows: R): ValueReader<ValuesOf<R>> {
	const spellings = new Map(Object.keys(rows).flatMap((name) => [[name, name] as const, [withoutUnit(name) ?? name, name] as const]));
	const known = [...spellings.keys()];
	return (value, field, before) => {
		const given = check.record(value, field === "" ? "config" : field);
		check.knownKeys(given, known, field);
		const result: Record<string, unknown> = { ...before };
		for (const [key, one] of Object.entries(given)) {
			const name = spellings.get(key) as string;
			result[name] = rows[name]?.read(one, field === "" ? key : `${field}.${key}`, result[name]);
		}
		return result as ValuesOf<R>;
	};
}

export const group = <R extends Rows>(rows: R) => ({ usual: usualOf(rows), read: rowsReader(rows), rows });

/** A map by name, as its reader: a named entry is changed, `null` removes it. */
const mapReader =
	<T>(read: ValueReader<T>, fresh: T): ValueReader<Record<string, T>> =>
	(value, field, before) => {
		const result = { ...before };
		for (const [name, one] of Object.entries(check.record(value, field))) {
			const path = `${field}.${name.slice(0, 60)}`;
			check.label(name, path);
			if (one === null) delete result[name];
			else result[name] = read(one, path, (Object.hasOwn(result, name) ? result[name] : undefined) ?? fresh);
		}
		return result;
	};

export const map = <R extends Rows>(entry: R, about?: string) => {
	const usual: Record<string, ValuesOf<R>> = {};
	return { usual, read: mapReader(rowsReader(entry), usualOf(entry)), about, entry };
};

/** A map whose entries are also checked as a whole. */
export const checkedMap = <R extends Rows>(entry: R, entryCheck: (one: ValuesOf<R>, field: string) => void, about?: string) => {
	const row = map(entry, about);
	const read: typeof row.read = (value, field, before) => {
		const all = row.read(value, field, before);
		for (const [name, one] of Object.entries(all)) entryCheck(one, `${field}.${name}`);
		return all;
	};
	return { ...row, read };
};

/** A map whose entries are single values. */
export const plainMap = <T>(read: ValueReader<T>, fresh: T, about: string) => {
	const usual: Record<string, T> = {};
	return { usual, read: mapReader(read, fresh), about, entry: {} };
};
