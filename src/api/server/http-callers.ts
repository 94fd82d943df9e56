// Who calls over HTTP: a token of the home, a run's token, a page or a person that has signed in, or a person whom a proxy names. Wrong tokens are counted and slowed down.

import type { IncomingMessage } from "node:http";
import type { Caller } from "../context.ts";
import type { RpcServer } from "../dispatch.ts";
import type { Page } from "./page-sign-ins.ts";
import { callerByProxy, type ProxyRule, peerOf } from "./proxy.ts";
import { type HttpReply, json, refusal } from "./reply.ts";
import { bearer, personCaller } from "./tokens.ts";
import { WrongTokens } from "./wrong-tokens.ts";

/** `page`: the caller is a page that has signed in. */
export type Identified = { caller: Caller; page?: Page };

const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="sluice"' };
const DEAD = {
	restarted: "the daemon was restarted since this page signed in: sluice open prints a new link",
	signed_out: "this page was not used for too long and is signed out: sluice open prints a new link",
	person: "this person was removed, or the session has ended: an admin makes a new link with sluice people link NAME",
};
const REFUSED_LINKS = {
	unknown:
		"this sign-in code is not known, was used already, or is too old: sluice open prints a new link, for a person sluice people link NAME",
	used: "this link was used already, and signs in once: if you did not use it, tell an admin. sluice people link NAME makes a new one",
	expired: "this link is older than three days: an admin makes a new one with sluice people link NAME",
};

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "";
const presentedIn = ({ headers }: IncomingMessage): string | undefined => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

/** `proxy`: the rule in force; null: no proxy is trusted. */
export function createCallers(rpc: RpcServer, proxy: () => ProxyRule | null = () => null) {
	const { context, people } = rpc;
	const wrong = new WrongTokens(context);

	/** A right token is accepted whatever wrong ones came before, so other users cannot lock the owner out. */
	function identify(request: IncomingMessage): Identified | HttpReply {
		const rule = proxy();
		const named = rule && callerByProxy(request, rule, people);
		if (named) return "status" in named ? named : { caller: named };
		const presented = presentedIn(request);
		if (presented === undefined) return refusal(401, "unauthorised", "a bearer token is needed: the home's file token has it", CHALLENGE);
		const from = peerOf(request);
		const caller = bearer(presented, rpc.tokens, context.supervisor, "http");
		if (caller) return { caller: { ...caller, from } };
		const person = people.find(presented);
		if (person) return { caller: { ...personCaller(person), channel: "http", from } };
		const page = rpc.pages.find(presented);
		if (page) return { caller: { role: page.role, by: page.role === "viewer" ? "viewer" : "page", channel: "http", from }, page };
		if (people.isToken(presented)) return refuseWrong(request, DEAD.person, "signed_out");
		const dead = rpc.pages.whyDead(presented);
		// Pages that were open before a restart present a token of that term, once each. Such a token is not a guess, so it is not counted.
		if (dead === "signed_out") wrong.count(addressOf(request));
		if (dead !== null) return refusal(401, dead, DEAD[dead], CHALLENGE);
		return refuseWrong(request, "this token is not known");
	}

	/** Exchanges a code of `session.code` for a page token, or a person's link for a session token. */
	async function signIn(request: IncomingMessage): Promise<HttpReply> {
		const code = presentedIn(request);
		if (code === undefined) return refusal(401, "unauthorised", "a sign-in code is needed: it is in the link of sluice open", CHALLENGE);
		const signed = rpc.pages.signIn(code);
		if (signed) return json(200, { schema_version: 1, ...signed });
		if (wrong.isFull(addressOf(request)) && !people.hasLink(code)) return refuseWrong(request, REFUSED_LINKS.unknown);
		const from = peerOf(request);
		const person = await people.signIn(code, from);
		const { audit } = context;
		const entry = { from, method: "sign-in", what: {}, kind: "call" as const };
		if ("token" in person) {
			audit.note({ ...entry, by: person.name, role: person.role, outcome: "ok" });
			return json(200, { schema_version: 1, token: person.token, role: person.role, name: person.name });
		}
		if (person.why !== "unknown") audit.note({ ...entry, by: "unknown", role: "none", outcome: `link_${person.why}` });
		return refuseWrong(request, REFUSED_LINKS[person.why]);
	}

	/** Ends the session of the person whose token is presented; a page of the owner's ends with its tab. */
	async function signOut({ caller: { person } }: Identified): Promise<HttpReply> {
		if (person?.session) await people.signOut(person.session);
		return { status: 204 };
	}

	function refuseWrong(request: IncomingMessage, message: string, code = "unauthorised"): HttpReply {
		const left = wrong.count(addressOf(request));
		if (left === 0) return refusal(401, code, message, CHALLENGE);
		return refusal(429, "locked_out", `${message}; there were too many wrong ones`, { "Retry-After": String(Math.ceil(left / 1000)) });
	}

	return { identify, signIn, signOut, close: () => wrong.close() };
}
