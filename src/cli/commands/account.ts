// sluice account list, show, limit and clear.

import type { AccountDocument } from "../../api/protocol/account.ts";
import { byVerb } from "../command.ts";
import type { Io } from "../io.ts";
import { named, nothing, oneMethod } from "../one-method.ts";
import { cap, count, field, type ListColumn, printList, time } from "../printing/list.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, instantOf, localTime, momentWords, timeOf, withLocalTimes } from "../times.ts";

export const run = byVerb({
	list: oneMethod("account.list", nothing, ({ accounts }, io) => printList(io, accounts, COLUMNS, NONE)),
	show: oneMethod("account.show", named, ({ account }, io) => lines(account, io)),
	limit: oneMethod(
		"account.limit",
		(call, io) => {
			const [until, span] = [call.text("until"), call.text("for")];
			return {
				...named(call),
				until: until === undefined ? undefined : timeOf(until, "until", io.world.now()),
				retry_after_ms: span === undefined ? undefined : durationOf(span, "for"),
				closed: call.text("closed"),
			};
		},
		({ account: { name, state, until } }) => {
			const at = instantOf(until);
			return state === "closed"
				? `account ${name} is closed`
				: `account ${name} is limited${at === undefined ? "" : ` until ${localTime(at)}`}`;
		},
	),
	clear: oneMethod("account.clear", named, (_, _io, call) => `account ${call.arg("NAME")} is open`),
});

const COLUMNS: readonly ListColumn<AccountDocument>[] = [
	field("name", "ACCOUNT"),
	{ title: "STATE", cell: ({ state }, { print }) => print.paint(state === "open" ? "green" : "yellow", plain(state).replaceAll("_", " ")) },
	time("since", "SINCE"),
	time("until", "ENDS"),
	count("running"),
	cap("max", "MAX"),
	field("lanes"),
	field("by"),
	field("reason"),
];
const NONE = "no accounts; accounts.<name> in the configuration makes one, and agents without one have their own";

const STATES: Record<string, string> = {
	open: "open",
	returning: "open again; starts are spaced until one has succeeded",
	paused: "paused",
	rate_limited: "limited",
	outage: "the provider is down (outage); one run at a time tries it",
	closed: "closed until a person clears it",
};

function lines(account: AccountDocument, { print, world }: Io): string[] {
	const now = world.now();
	const when = (value: unknown) => momentWords(value, now);
	const { name, state, running, max, max_api_calls, calls, lanes, hits, reasons } = account;
	const head = `${print.paint("bold", `account ${printable(name)}`)}  ${print.paint(state === "open" ? "green" : "yellow", STATES[state] ?? plain(state))}`;
	const rows: [string, string][] = [
		["since", when(account.since)],
		["until", state === "outage" ? "" : when(account.until)],
		[state === "outage" ? "next try" : "next start", when(account.next_at)],
		["by", plain(account.by)],
		["reason", plain(account.reason)],
		["limits", state !== "outage" && hits > 0 ? `${hits} in a row` : ""],
		["running", `${running}${max === null ? "" : ` of ${max}`}`],
		["calls", calls > 0 ? `${calls} of ${max_api_calls}` : ""],
		["lanes", plain(lanes)],
	];
	const why = (reasons ?? []).map(({ detail }) => `  ${print.paint("yellow", withLocalTimes(printable(detail), now))}`);
	const advice =
		state === "closed" || state === "rate_limited" || state === "outage"
			? [print.paint("dim", `  → sluice account clear ${printable(name)}`)]
			: [];
	return [head, ...pairs(rows, print.paint), ...(why.length > 0 ? ["", ...why, ...advice] : [])];
}
