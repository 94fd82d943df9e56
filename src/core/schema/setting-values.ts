// Values that settings of several kinds have: numbers, durations, names, commands, folders. Each is a reader for a row of setting.ts.

import * as check from "../input/check.ts";
import { withoutEnd } from "../text/text-end.ts";
import { isTimezone } from "../time/window.ts";
import type { Reader } from "./field.ts";
import { readBranch } from "./job-values.ts";

export const whole =
	(min: number, max = 1_000_000): Reader<number> =>
	(value, field) =>
		check.integer(value, field, min, max);
export const length =
	(min = 0, max?: number): Reader<number> =>
	(value, field) =>
		check.integer(check.duration(value, field), field, min, max);
export const flag: Reader<boolean> = (value, field) => check.flag(value, field);
export const oneOf =
	<const T extends string>(...options: T[]): Reader<T> =>
	(value, field) =>
		check.oneOf(value, options, field);
export const labels: Reader<string[]> = (value, field) => check.labels(value, field);

export const orNone =
	<T>(read: Reader<T>): Reader<T | null> =>
	(value, field) =>
		value === null ? null : read(value, field);
export const cap = orNone((value, field) => check.integer(value, field, 0, 1_000_000));
export const lengthOrNone = orNone(check.duration);
export const wordOrNone = orNone(check.word);
export const labelOrNone = orNone(check.label);
export const branchOrNone = orNone(readBranch);

export const argv: Reader<string[]> = (value, field) =>
	check.list(value, field, 1000).map((one, index) => check.text(one, `${field}[${index}]`, { max: 100_000 }));

export const someArgv: Reader<string[]> = (value, field) => {
	const words = argv(value, field);
	if (words.length === 0 || words[0] === "") throw check.wrong(field, "names no program", 'for example ["claude", "-p", "{prompt}"]');
	return words;
};

/** A folder on this machine, as an absolute path: only a shell expands `~`. */
export const folder = orNone((value, field) => {
	const path = check.text(value, field, { max: 4096, lines: "one" });
	if (!path.startsWith("/")) throw check.wrong(field, `${check.shown(path)} is not an absolute path`, "write the whole path, from / on");
	return path.length > 1 ? withoutEnd(path, "/") : path;
});

/** An IANA name. */
export const zone =
	(example: string): Reader<string> =>
	(value, field) => {
		const name = check.text(value, field, { max: 60, lines: "one" });
		if (!isTimezone(name)) throw check.wrong(field, `${check.shown(name)} is not a time zone`, `for example ${example}`);
		return name;
	};
