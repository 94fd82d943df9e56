// People who share a daemon: their roles, sign-in links and sessions, and what each change makes of them. The store keeps all of it as one record, so two
// changes at the same moment are carried out one after the other: the second caller with a link finds it used.
//
//   link      made by an admin; signs in once, within LINK_LASTS_MS
//   session   what a link was exchanged for: the token of one browser or script; ends after SESSION_LASTS_MS, with its person, or when it is signed out
//
// Links and tokens have at least 128 random bits, and only their digests are kept and compared: a reader of the record cannot sign in with it, and how long a
// comparison takes tells nothing about the secret behind a digest.

import { SluiceError } from "../errors.ts";
import * as check from "../input/check.ts";
import { suggest } from "../input/nearest.ts";

export const PERSON_ROLES = ["viewer", "operator", "admin"] as const;
export type PersonRole = (typeof PERSON_ROLES)[number];

/** Days, not minutes: a link travels by mail or chat, and must survive clocks that differ by a day. */
export const LINK_LASTS_MS = 3 * 86_400_000;
export const SESSION_LASTS_MS = 90 * 86_400_000;
const MOST_PEOPLE = 500;
/** Of one person; beyond, the oldest goes. */
const MOST_LINKS = 5;
const MOST_SPENT = 20;
const MOST_SESSIONS = 20;

export type PersonSession = { digest: string; at: number; from: string };
export type Person = {
	role: PersonRole;
	added_at: number;
	added_by: string;
	links: { digest: string; until: number }[];
	/** Digests of links that were used: a second use is told apart from a guess. */
	spent: { digest: string; at: number }[];
	sessions: PersonSession[];
};
/** By name. */
export type People = Record<string, Person>;

export type PeopleChange =
	| { do: "add"; name: string; role: PersonRole; link: string }
	| { do: "link"; name: string; link: string }
	| { do: "role"; name: string; role: PersonRole }
	| { do: "remove"; name: string }
	/** Exchanges a link for a session; both are digests. `from`: the address of the caller. */
	| { do: "sign_in"; link: string; session: string; from: string }
	| { do: "sign_out"; session: string };

/** `why`: the link was refused. Null: nothing has changed. */
export type PeopleResult = { name: string; role: PersonRole } | { why: "unknown" | "used" | "expired"; at: number | null } | null;

export type PeopleOutcome = { people: People; result: PeopleResult; changed: string | null };

/** Words that the record of acts uses for callers that are no person. */
const TAKEN_NAMES = ["token", "page", "viewer", "daemon", "library", "mcp", "cron"];

/** Names are kept in lower case: addresses of mail, which proxies pass on, do not differ by case. */
export function personName(value: unknown, field: string): string {
	const name = check.text(value, field, { max: 100, lines: "one" }).toLowerCase();
	if (!/^[\p{L}\p{N}][\p{L}\p{N}._@+-]*$/u.test(name))
		throw check.wrong(
			field,
			`${check.shown(name)} is no name of a person`,
			'letters, digits and . _ - @ +, for example "anna" or "anna@example.org"',
		);
	if (TAKEN_NAMES.includes(name)) throw check.wrong(field, `${check.shown(name)} is a word of Sluice's own`, "take another name");
	return name;
}

export function afterChange(people: People, change: PeopleChange, now: number, by: string): PeopleOutcome {
	switch (change.do) {
		case "add":
			return added(people, change, now, by);
		case "link": {
			const person = known(people, change.name);
			const links = [...openLinks(person, now), { digest: change.link, until: now + LINK_LASTS_MS }].slice(-MOST_LINKS);
			return changed(people, change.name, { ...person, links });
		}
		case "role":
			return changed(people, change.name, { ...known(people, change.name), role: change.role });
		case "remove": {
			const { role } = known(people, change.name);
			const { [change.name]: _, ...rest } = people;
			return { people: rest, result: { name: change.name, role }, changed: change.name };
		}
		case "sign_in":
			return signedIn(people, change, now);
		case "sign_out": {
			const found = sessionIn(people, change.session);
			if (!found) return { people, result: null, changed: null };
			const sessions = found.person.sessions.filter(({ digest }) => digest !== change.session);
			return changed(people, found.name, { ...found.person, sessions });
		}
	}
}

function added(people: People, { name, role, link }: Extract<PeopleChange, { do: "add" }>, now: number, by: string): PeopleOutcome {
	if (Object.hasOwn(people, name))
		throw new SluiceError("conflict", `there is a person ${JSON.stringify(name)} already`, {
			field: "name",
			hint: `sluice people role ${name} ${role} changes the role, sluice people link ${name} makes a new link`,
		});
	if (Object.keys(people).length >= MOST_PEOPLE)
		throw new SluiceError("limit", `there are ${MOST_PEOPLE} people already`, {
			field: "name",
			hint: "sluice people remove NAME makes room",
		});
	const links = [{ digest: link, until: now + LINK_LASTS_MS }];
	return changed(people, name, { role, added_at: now, added_by: by, links, spent: [], sessions: [] });
}

function signedIn(people: People, { link, session, from }: Extract<PeopleChange, { do: "sign_in" }>, now: number): PeopleOutcome {
	for (const [name, person] of Object.entries(people)) {
		const found = person.links.find(({ digest }) => digest === link);
		const spent = person.spent.find(({ digest }) => digest === link);
		if (spent) return { people, result: { why: "used", at: spent.at }, changed: null };
		if (!found) continue;
		if (found.until <= now) return { people, result: { why: "expired", at: found.until }, changed: null };
		return changed(people, name, {
			...person,
			links: person.links.filter((one) => one !== found),
			spent: [...person.spent, { digest: link, at: now }].slice(-MOST_SPENT),
			sessions: [...person.sessions.filter((one) => isOpen(one, now)), { digest: session, at: now, from }].slice(-MOST_SESSIONS),
		});
	}
	return { people, result: { why: "unknown", at: null }, changed: null };
}

const changed = (people: People, name: string, person: Person): PeopleOutcome => ({
	people: { ...people, [name]: person },
	result: { name, role: person.role },
	changed: name,
});

/** Links that can still be used, and expired ones of which a caller can still be told so. */
const openLinks = ({ links }: Person, now: number) => links.filter(({ until }) => until > now - LINK_LASTS_MS);

export const isOpen = ({ at }: PersonSession, now: number): boolean => now - at < SESSION_LASTS_MS;

function known(people: People, name: string): Person {
	const person = Object.hasOwn(people, name) ? people[name] : undefined;
	if (person) return person;
	throw new SluiceError("not_found", `there is no person ${JSON.stringify(name)}`, {
		field: "name",
		hint: suggest(name, Object.keys(people), "sluice people list shows those that there are"),
	});
}

export function sessionIn(people: People, digest: string): { name: string; person: Person; session: PersonSession } | undefined {
	for (const [name, person] of Object.entries(people)) {
		const session = person.sessions.find((one) => one.digest === digest);
		if (session) return { name, person, session };
	}
	return undefined;
}
