// Settings that are addresses: the URL a repo is cloned from, and the place of the store.

import * as check from "../../core/input/check.ts";
import { urlFault, withoutCredentials } from "../../core/text/repo-url.ts";
import { isDatabase } from "../../core/text/store-address.ts";

export function readUrl(value: unknown, field: string): string | null {
	if (value === null) return null;
	if (typeof value !== "string") throw check.wrong(field, `must be text, not ${check.shown(value)}`);
	const fault = urlFault(value);
	if (fault !== undefined)
		throw check.wrong(field, `${check.shown(withoutCredentials(value))} ${fault}`, 'for example "git@example.org:team/app.git"');
	return value;
}

/** The error message does not show the value, which may hold a password. */
export function readStore(value: unknown, field: string): string | null {
	if (value === null) return null;
	if (typeof value !== "string" || value.length > 4096 || /[\0\n]/.test(value) || !(isDatabase(value) || /^(?:\/|~\/)./.test(value)))
		throw check.wrong(
			field,
			"is neither a whole path nor an address of PostgreSQL",
			'"/srv/sluice/fleet.db", or "postgres://user@host/database"',
		);
	return value;
}
