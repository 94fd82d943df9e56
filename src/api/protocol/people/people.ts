// The methods of people who share a daemon.

import type { PersonRole } from "../../../core/trust/people.ts";
import { PERSON_ROLES, personName } from "../../../core/trust/people.ts";
import type { Doc, Timestamp } from "../../documents.ts";
import { adminMethod, choice, word } from "../../fields.ts";

export type PersonDocument = {
	name: string;
	role: PersonRole;
	added_at: Timestamp;
	added_by: string;
	/** Browsers and scripts that are signed in. */
	sessions: number;
	last_sign_in: { at: Timestamp; from: string } | null;
	/** Sign-in links that were not used yet. */
	open_links: number;
};
/** `link` is shown once: the daemon keeps only its digest. */
export type InvitedDocument = Doc<{ person: PersonDocument; link: string; expires_at: Timestamp; reachable: boolean }>;

const NAME = { name: { ...word("the person"), read: personName } };
const ROLE = { role: choice("viewer: reads; operator: acts on jobs; admin: everything", PERSON_ROLES) };
const LINK = "{person, link, expires_at, reachable}; `reachable` is false while the daemon listens on 127.0.0.1 alone";

export const PEOPLE_METHODS = {
	"people.list": adminMethod<Doc<{ people: PersonDocument[] }>>()({
		about: "The people who share this daemon, or all daemons of a fleet, with their roles.",
		params: {},
		result: "{people: [{name, role, added_at, added_by, sessions, last_sign_in: {at, from}, open_links}]}",
	}),
	"people.add": adminMethod<InvitedDocument>()({
		about: "Adds a person, and makes a link that signs in once, within three days.",
		params: { ...NAME, ...ROLE },
		result: LINK,
	}),
	"people.link": adminMethod<InvitedDocument>()({
		about: "Makes another sign-in link for a person, for one more browser or script.",
		params: NAME,
		result: LINK,
	}),
	"people.role": adminMethod<Doc<{ person: PersonDocument }>>()({
		about: "Gives a person another role. It counts at once, also on connections that are open.",
		params: { ...NAME, ...ROLE },
		result: "{person}",
	}),
	"people.remove": adminMethod<Doc<{ removed: string }>>()({
		about: "Removes a person: links and sessions end at once. Jobs that the person added stay.",
		params: NAME,
		result: "{removed}",
	}),
} as const;
