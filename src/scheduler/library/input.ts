// Checks the arguments of `add`, `apply` and `openScheduler`; arguments.ts checks those of all other methods.

import type { Act, ClaimOptions, OpenOptions } from "../../contracts/scheduler.ts";
import { PRESETS } from "../../core/config.ts";
import * as check from "../../core/input/check.ts";
import type { Reader } from "../../core/schema/field.ts";
import { copy } from "../../core/text/copy.ts";
import type { Claimer } from "../operations/claim.ts";

const KINDS: NonNullable<ClaimOptions["kinds"]> = ["command", "agent", "payload"];

export const claimerOf = ({ worker, max = 1, lanes, kinds = KINDS, host }: ClaimOptions): Claimer => ({ worker, max, lanes, kinds, host });

/** Checks the `by` and `reason` of a call. */
export function checkAct<T extends Act>(act: T | null | undefined): T | undefined {
	if (act === undefined || act === null) return undefined;
	return check.taking("options", () => {
		const { by, reason } = check.record(act, "options") as Act;
		if (by !== undefined) check.word(by, "by");
		if (reason !== undefined) check.text(reason, "reason", { max: 10_000 });
		return act;
	});
}

export type Readers = Record<string, Reader<unknown>>;

/** The keys of an object, each optional and read by its own rule. `prefix`: what errors put before a key. */
export function readKeys(given: Record<string, unknown>, readers: Readers, prefix: string): Record<string, unknown> {
	check.knownKeys(given, Object.keys(readers), prefix);
	const own: Record<string, unknown> = {};
	for (const [key, read] of Object.entries(readers))
		if (given[key] !== undefined) own[key] = read(given[key], prefix === "" ? key : `${prefix}.${key}`);
	return own;
}
const unread = (value: unknown) => value;
const line = (value: unknown, field: string) => check.text(value, field, { max: 4096, lines: "one" });

/** The options of `openScheduler`. */
const OPEN: Record<keyof OpenOptions, Reader<unknown>> = {
	url: (value, field) => {
		if (!/^postgres(?:ql)?:\/\//.test(line(value, field)))
			throw check.wrong(field, "is no address of a PostgreSQL database", "postgres://user@host:5432/database");
		return value;
	},
	path: line,
	lead: (value, field) => check.oneOf(value, ["prefer", "may", "never"], field),
	by: check.word,
	preset: (value, field) => check.oneOf(value, Object.keys(PRESETS), field),
	drive: (value, field) => check.oneOf(value, ["auto", "manual"], field),
	settings: (value, field) => check.oneOf(value, ["own", "shared"], field),
	piece: (value, field) => check.integer(value, field, 1),
	poll_others_ms: (value, field) => check.integer(value, field, 1, 3_600_000),
	config: (value, field) => copy(check.json(check.record(value, field), field)),
	join: (value, field) => copy(readKeys(check.record(value, field), JOIN, field)),
	clock: unread,
	host: unread,
	chance: unread,
	fault: unread,
	agents: unread,
	log: unread,
};
const JOIN: Record<keyof NonNullable<OpenOptions["join"]>, Reader<unknown>> = {
	name: check.label,
	home: check.word,
	labels: check.labels,
	repos: (value, field) => check.list(value, field).map((repo, index) => check.label(repo, `${field}[${index}]`)),
};

export function checkOpen(options: OpenOptions): OpenOptions {
	return check.taking("options", () => {
		const given = check.record(options, "options");
		const own: OpenOptions = readKeys(given, OPEN, "");
		if (own.url !== undefined && own.path !== undefined)
			throw check.wrong("path", "is given together with url", "give one of them: a file, or a database");
		if (own.url === undefined && line(own.path, "path") === "")
			throw check.wrong("path", "is empty", 'give a file, or ":memory:" for a queue that ends with the process');
		return own;
	});
}
