// The methods of providers' accounts.

import type { AccountView } from "../../contracts/scheduler.ts";
import type { Doc, ReasonDocument, Timed } from "../documents.ts";
import { duration, label, maybe, operatorMethod, runMethod, text, time, viewerMethod, word } from "../fields.ts";

export type AccountDocument = Timed<Omit<AccountView, "reasons">, "since" | "until" | "next_at"> & { reasons: ReasonDocument[] };

export const ACCOUNT_METHODS = {
	"account.list": viewerMethod<Doc<{ accounts: AccountDocument[] }>>()({
		about: "Accounts, and which are limited, closed or with their provider down, until when, why.",
		params: {},
		result:
			"{accounts: [{name, max, max_api_calls, running, calls, lanes, state, since, until, next_at, hits, reset, by, reason, reasons: [Reason]}]}",
	}),
	"account.show": viewerMethod<Doc<{ account: AccountDocument }>>()({
		about: "One account: whether work may start on it, and all that keeps it from that.",
		params: { name: word("the account") },
		result: "{account}",
	}),
	"account.acquire": runMethod<Doc<{ granted: boolean; in_use: number; limit: number }>>()({
		about:
			"Takes one of an account's `max_api_calls` slots, if one is free. It comes back by itself after `lease_ms`; taking it again renews it.",
		params: { name: label("the account"), holder: maybe(word("who takes it; inside a run its own job, whatever is said")) },
		result: "{granted, in_use, limit}",
	}),
	"account.release": runMethod<Doc<{ released: boolean }>>()({
		about: "Gives a slot back.",
		params: { name: label("the account"), holder: maybe(word("who has it; inside a run its own job, whatever is said")) },
		result: "{released}",
	}),
	"account.clear": operatorMethod<Doc<{ account: AccountDocument }>>()({
		about: "Opens an account that was limited or closed, or whose provider was down.",
		params: { name: label("the account") },
		result: "{account}",
	}),
	"account.limit": operatorMethod<Doc<{ account: AccountDocument }>>()({
		about: "Reports that a provider has limited an account.",
		params: {
			name: label("the account"),
			until: maybe(time("the reset, where the provider named one")),
			retry_after_ms: maybe(duration("or how long it said to wait")),
			closed: maybe(text("closed until a person clears it; why", 10_000)),
		},
		result: "{account}",
	}),
} as const;
