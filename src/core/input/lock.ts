// A lock as callers write it: `db`, `db:shared`.

import * as check from "./check.ts";
import { nearest } from "./nearest.ts";

export const MODES = ["shared", "exclusive"] as const;

/** `db:shared` → key db, shared. Keys may contain colons, but a misspelt mode is refused: it would become part of the key and lock something else. */
export function splitLock(one: string, field: string): Record<string, unknown> {
	const [, key, last = ""] = /^(.+):([^:]*)$/s.exec(one) ?? [];
	const mode = MODES.find((known) => known === last);
	if (mode) return { key, mode };
	const small = last.toLowerCase();
	const meant = MODES.find((known) => small.length > 2 && known.startsWith(small)) ?? nearest(small, MODES);
	if (!meant) return { key: one };
	const hint = `did you mean "${key}:${meant}"? if it is part of the key, say the mode: "${one}:exclusive"`;
	throw check.wrong(`${field}.mode`, `must be one of ${MODES.join(", ")}, not ${check.shown(last)}`, hint);
}
