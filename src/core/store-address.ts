// Where a store is: a SQLite file or a PostgreSQL database; and how that may be shown, since an address can hold a password.

import * as check from "./check.ts";

const POSTGRES = /^postgres(?:ql)?:\/\//;

export const isDatabase = (store: string): boolean => POSTGRES.test(store);

export const MASKED_PASSWORD = "***";

/** The passwords in an address, as they are written there and as they are meant. */
export function secretsIn(store: string): string[] {
	if (!isDatabase(store)) return [];
	const found = [...store.matchAll(/^\w+:\/\/[^/?#@]*?:([^/?#]*)@|[?&](?:password|sslpassword)=([^&#]*)/g)].flatMap(([, user, query]) => [
		user,
		query,
	]);
	return found.flatMap((one) => (one === undefined || one === "" ? [] : [one, plain(one)]));
}

/** For people, logs and settings: without passwords. */
export const shownStore = (store: string): string =>
	isDatabase(store)
		? store
				.replace(/^(\w+:\/\/[^/?#@]*?:)[^/?#]*@/, `$1${MASKED_PASSWORD}@`)
				.replace(/([?&](?:password|sslpassword)=)[^&#]*/g, `$1${MASKED_PASSWORD}`)
		: store;

function plain(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Not shown in what is wrong with it: it may hold a password. */
export function checkStore(value: unknown, field: string): string | null {
	if (value === null) return null;
	if (typeof value !== "string" || value.length > 4096 || /[\0\n]/.test(value) || !(isDatabase(value) || /^(?:\/|~\/)./.test(value)))
		throw check.wrong(
			field,
			"is neither a whole path nor an address of PostgreSQL",
			'"/srv/sluice/fleet.db", or "postgres://user@host/database"',
		);
	return value;
}
