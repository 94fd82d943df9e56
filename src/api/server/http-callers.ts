// Who calls over HTTP: a token of the home, a run's token, or a page that has signed in. Wrong tokens are counted and slowed down.

import type { IncomingMessage } from "node:http";
import type { Caller } from "../context.ts";
import type { RpcServer } from "../dispatch.ts";
import type { Page } from "./page-sign-ins.ts";
import { type HttpReply, json, refusal } from "./reply.ts";
import { bearer } from "./tokens.ts";
import { WrongTokens } from "./wrong-tokens.ts";

/** `page`: the caller is a page that has signed in. */
export type Identified = { caller: Caller; page?: Page };

const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="sluice"' };
const DEAD = {
	restarted: "the daemon was restarted since this page signed in: sluice open prints a new link",
	signed_out: "this page was not used for too long and is signed out: sluice open prints a new link",
};

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "";
const presentedIn = ({ headers }: IncomingMessage): string | undefined => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

export function createCallers(rpc: RpcServer) {
	const { context } = rpc;
	const wrong = new WrongTokens(context);

	/** A right token is accepted whatever wrong ones came before, so other users cannot lock the owner out. */
	function identify(request: IncomingMessage): Identified | HttpReply {
		const presented = presentedIn(request);
		if (presented === undefined) return refusal(401, "unauthorised", "a bearer token is needed: the home's file token has it", CHALLENGE);
		const caller = bearer(presented, rpc.tokens, context.supervisor, "http");
		if (caller) return { caller };
		const page = rpc.pages.find(presented);
		if (page) return { caller: { role: page.role, by: page.role === "viewer" ? "viewer" : "page", channel: "http" }, page };
		const dead = rpc.pages.whyDead(presented);
		// Pages that were open before a restart present a token of that term, once each. Such a token is not a guess, so it is not counted.
		if (dead === "signed_out") wrong.count(addressOf(request));
		if (dead !== null) return refusal(401, dead, DEAD[dead], CHALLENGE);
		return refuseWrong(request, "this token is not known");
	}

	/** Exchanges a code of `session.code` for a page token. */
	function signIn(request: IncomingMessage): HttpReply {
		const code = presentedIn(request);
		if (code === undefined) return refusal(401, "unauthorised", "a sign-in code is needed: it is in the link of sluice open", CHALLENGE);
		const signed = rpc.pages.signIn(code);
		return signed
			? json(200, { schema_version: 1, ...signed })
			: refuseWrong(request, "this sign-in code is not known, was used already, or is too old: sluice open prints a new link");
	}

	function refuseWrong(request: IncomingMessage, message: string): HttpReply {
		const left = wrong.count(addressOf(request));
		if (left === 0) return refusal(401, "unauthorised", message, CHALLENGE);
		return refusal(429, "locked_out", `${message}; there were too many wrong ones`, { "Retry-After": String(Math.ceil(left / 1000)) });
	}

	return { identify, signIn, close: () => wrong.close() };
}
