// The address of a store, a SQLite file or a PostgreSQL database; and how to show it, because an address can hold a password.

import { orElse } from "../errors.ts";

const POSTGRES = /^postgres(?:ql)?:\/\//;

export const isDatabase = (store: string): boolean => POSTGRES.test(store);

const MASKED_PASSWORD = "***";

/** The passwords in an address, both as written and decoded. */
export function secretsIn(store: string): string[] {
	if (!isDatabase(store)) return [];
	const found = [...store.matchAll(/^\w+:\/\/[^/?#@:]*:([^/?#]*)@|[?&](?:password|sslpassword)=([^&#]*)/g)].flatMap(([, user, query]) => [
		user,
		query,
	]);
	return found.flatMap((one) => (one === undefined || one === "" ? [] : [one, plain(one)]));
}

/** The address without passwords, for people, logs and settings. */
export const shownStore = (store: string): string =>
	isDatabase(store)
		? store
				.replace(/^(\w+:\/\/[^/?#@:]*:)[^/?#]*@/, `$1${MASKED_PASSWORD}@`)
				.replace(/([?&](?:password|sslpassword)=)[^&#]*/g, `$1${MASKED_PASSWORD}`)
		: store;

const plain = (text: string): string => orElse(() => decodeURIComponent(text), text);
