// sluice account list, show, limit and clear.

import type { AccountDocument } from "../../api/protocol/account.ts";
import { byVerb, type Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { cap, count, field, type ListColumn, printList, time } from "../printing/list.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, instantOf, localTime, relative, timeOf, withLocalTimes } from "../times.ts";

export const run = byVerb({ list, show, limit, clear });

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

async function list(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("account.list");
	answer(io, document, () => printList(io, document.accounts, COLUMNS, NONE));
}

async function show(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("account.show", { name: call.arg("NAME") });
	answer(io, document, () => {
		for (const line of lines(document.account, io)) io.print.out(line);
	});
}

async function limit(call: Call, io: Io): Promise<undefined> {
	const [until, span] = [call.text("until"), call.text("for")];
	const document = await io.ask("account.limit", {
		name: call.arg("NAME"),
		...(until === undefined ? {} : { until: timeOf(until, "until", io.world.now()) }),
		...(span === undefined ? {} : { retry_after_ms: durationOf(span, "for") }),
		closed: call.text("closed"),
	});
	const { name, state, until: end } = document.account;
	const at = instantOf(end);
	answer(io, document, () =>
		io.print.say(
			state === "closed" ? `account ${name} is closed` : `account ${name} is limited${at === undefined ? "" : ` until ${localTime(at)}`}`,
		),
	);
}

async function clear(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	answer(io, await io.ask("account.clear", { name }), () => io.print.say(`account ${name} is open`));
}

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
	const when = (value: unknown) => {
		const at = instantOf(value);
		return at === undefined ? "" : `${localTime(at)} (${relative(at, now)})`;
	};
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
