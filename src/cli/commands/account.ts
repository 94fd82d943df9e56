// sluice account show: one account in words, with everything that keeps runs from starting on it.

import type { AccountDocument } from "../../api/protocol/account.ts";
import type { Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { instantOf, localTime, relative, withLocalTimes } from "../times.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("account.show", { name: call.arg("NAME") });
	answer(io, document, () => {
		for (const line of lines(document.account as AccountDocument, io)) io.print.out(line);
	});
	return undefined;
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
