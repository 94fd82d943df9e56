// The methods of people who share a daemon.

import { SluiceError } from "../../../core/errors.ts";
import { LINK_LASTS_MS } from "../../../core/trust/people.ts";
import { type At, doc, type Handlers } from "../../call.ts";
import type { Context } from "../../context.ts";
import type { RpcServer } from "../../dispatch.ts";
import { rfc3339 } from "../../documents.ts";
import type { InvitedDocument, PersonDocument } from "../../protocol/people/people.ts";
import type { PeopleBook } from "../../server/people-book.ts";

const bookOf = (at: At & Partial<RpcServer>): PeopleBook => at.people as PeopleBook;

function personDocument(book: PeopleBook, name: string, now: number): PersonDocument {
	const person = book.list()[name];
	if (!person) throw new SluiceError("not_found", `there is no person ${JSON.stringify(name)}`, { field: "name" });
	const last = person.sessions.at(-1);
	return {
		name,
		role: person.role,
		added_at: rfc3339(person.added_at),
		added_by: person.added_by,
		sessions: person.sessions.length,
		last_sign_in: last === undefined ? null : { at: rfc3339(last.at), from: last.from },
		open_links: person.links.filter(({ until }) => until > now).length,
	};
}

type Base = { url: string; reachable: boolean };

/** Where people find the page: on the network, or on this machine alone. Asked before a link is made: a refused call has changed nothing. */
function addressFor({ endpoints }: Context): Base {
	const { port, shared } = endpoints();
	if (shared?.url) return { url: shared.url, reachable: true };
	if (port !== null) return { url: `http://127.0.0.1:${port}/`, reachable: false };
	throw new SluiceError("conflict", "the daemon has no HTTP side, so a link would lead nowhere", {
		hint: "sluice serve --listen 0.0.0.0:7443 shares it on the network",
	});
}

function invited(at: At, name: string, code: string, { url, reachable }: Base): InvitedDocument {
	const now = at.context.scheduler.now();
	const person = personDocument(bookOf(at), name, now);
	return doc({ person, link: `${url}#code=${code}`, expires_at: rfc3339(now + LINK_LASTS_MS), reachable });
}

export const peopleMethods: Handlers<"people"> = {
	"people.list": async (_params, at) => {
		const [book, now] = [bookOf(at), at.context.scheduler.now()];
		return doc({
			people: Object.keys(book.list())
				.sort()
				.map((name) => personDocument(book, name, now)),
		});
	},
	"people.add": async ({ name, role }, at) => {
		const base = addressFor(at.context);
		const { code } = await bookOf(at).add(name, role, at.by);
		return invited(at, name, code, base);
	},
	"people.link": async ({ name }, at) => {
		const base = addressFor(at.context);
		const { code } = await bookOf(at).link(name, at.by);
		return invited(at, name, code, base);
	},
	"people.role": async ({ name, role }, at) => {
		await bookOf(at).change({ do: "role", name, role }, at.by);
		return doc({ person: personDocument(bookOf(at), name, at.context.scheduler.now()) });
	},
	"people.remove": async ({ name }, at) => {
		await bookOf(at).change({ do: "remove", name }, at.by);
		return doc({ removed: name });
	},
};
