// The method of the record of calls.

import type { Doc, Timestamp } from "../../documents.ts";
import { adminMethod, flag, maybe, time, whole, word } from "../../fields.ts";

export type AuditDocument = {
	at: Timestamp;
	/** The host that was called. */
	host: string;
	by: string;
	role: string;
	from: string;
	method: string;
	what: Record<string, unknown>;
	outcome: string;
};

export const AUDIT_METHODS = {
	"audit.list": adminMethod<Doc<{ entries: AuditDocument[]; missing_hosts: string[] }>>()({
		about: "Calls that changed something, or were to, the newest first: who, what, when, from where, on which host, how it ended.",
		params: {
			limit: maybe(whole("at most so many (100)", 1, 1000)),
			caller: maybe(word("only calls of this person or program")),
			method: maybe(word("only this method, or all of a noun: `job`")),
			since: maybe(time("only from then on")),
			workers: maybe(flag("also claims, heartbeats and ends of workers, which are kept apart")),
		},
		result:
			"{entries: [{at, host, by, role, from, method, what, outcome}], missing_hosts}; `missing_hosts` are hosts of the fleet that did not answer",
	}),
} as const;
