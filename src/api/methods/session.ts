// The methods of a connection and of the dashboard page: who they are.

import * as check from "../../core/input/check.ts";
import { type At, doc, type Handlers } from "../call.ts";
import type { Caller, Tokens } from "../context.ts";
import type { RpcServer } from "../dispatch.ts";
import { rfc3339 } from "../documents.ts";
import { RPC_CODES } from "../protocol.ts";
import { Refusal, stillStarting } from "../refusal.ts";
import { CODE_LASTS_MS, type PageSignIns } from "../server/page-sign-ins.ts";
import type { PeopleBook } from "../server/people-book.ts";
import { bearer, personCaller } from "../server/tokens.ts";

export const sessionMethods: Handlers<"session"> = {
	"session.auth": async ({ token }, { tokens, people, context, session }: At & Partial<RpcServer>) => {
		if (session.caller.channel === "http") throw check.wrong("token", "goes into the header", "Authorization: Bearer …");
		const person = (people as PeopleBook).find(token);
		const caller: Caller | undefined = person
			? { ...personCaller(person), channel: "socket" }
			: bearer(token, tokens as Tokens, context.supervisor, "socket");
		// The token may be that of a run that the daemon, which has just started, has not found yet.
		if (!caller && !context.endpoints().ready) throw stillStarting();
		if (!caller) throw new Refusal(RPC_CODES.role, "this token is not known", { code: "unauthorised", field: "token" });
		session.caller = caller;
		return doc({ role: caller.role, by: caller.by, job: caller.job ?? null });
	},
	"session.code": async ({ role = "admin" }, { pages, context }: At & Partial<RpcServer>) => {
		const code = (pages as PageSignIns).makeCode(role);
		return doc({ code, role, expires_at: rfc3339(context.clock.now() + CODE_LASTS_MS), port: context.endpoints().port });
	},
};
