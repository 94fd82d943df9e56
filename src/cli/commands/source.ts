// sluice source list, show and scan: which work there is.

import type { Result } from "../../api/protocol.ts";
import type { ItemView, SourceView } from "../../contracts/intake.ts";
import type { ItemFault } from "../../contracts/source.ts";
import { byVerb } from "../command.ts";
import type { Io } from "../io.ts";
import { asTyped, nothing, oneMethod } from "../one-method.ts";
import { printTable, titled } from "../printing/list.ts";
import { counted, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";

export const run = byVerb({
	list: oneMethod("source.list", nothing, ({ sources }, io) => printSources(io, sources)),
	show: oneMethod("source.show", asTyped, (document, io) => printItems(io, document)),
	scan: oneMethod("source.scan", asTyped, ({ sources, added }, io) => {
		printSources(io, sources);
		return added.length === 0 ? "nothing was added" : `added: ${added.join(", ")}`;
	}),
});

function printSources(io: Io, sources: readonly SourceView[]): undefined {
	if (sources.length === 0) {
		io.print.say("no sources; sources.<name> in the configuration makes one");
		return;
	}
	const rows = sources.map(({ name, kind, items, open, eligible, faults, watch, root }) =>
		[name, kind, plain(items), plain(open), plain(eligible), String(faults.filter(isFault).length || ""), watch ? "watched" : "", root].map(
			printable,
		),
	);
	printTable(io, titled("SOURCE", "KIND", "ITEMS", "OPEN", "ELIGIBLE", "FAULTS", "", "ROOT"), rows);
	for (const source of sources) printFaults(io, source);
}

function printFaults({ print }: Io, { error, faults }: SourceView): void {
	if (error !== null) print.warn(`${print.paintTalk("red", "sluice:")} ${printable(error)}`);
	for (const { message, hint } of faults.filter(isFault)) {
		print.warn(`${print.paintTalk("yellow", "fault:")} ${printable(message)}`);
		if (hint !== null) print.warn(print.paintTalk("dim", `       ${printable(hint)}`));
	}
	printDeferred(print, faults);
}

/** An item that the queue's hard limit keeps out has no fault itself. */
const isFault = ({ code }: ItemFault): boolean => code !== "deferred";

/** Maximum ids that are named; a full queue may keep out hundreds. */
const NAMED_ITEMS = 10;

function printDeferred(print: Io["print"], faults: readonly ItemFault[]): void {
	const kept = faults.filter((one) => !isFault(one));
	const [first] = kept;
	if (first === undefined) return;
	const ids = kept.slice(0, NAMED_ITEMS).map(({ id }) => id ?? "?");
	const more = kept.length > NAMED_ITEMS ? ` and ${kept.length - NAMED_ITEMS} more` : "";
	print.warn(
		`${print.paintTalk("yellow", "stays:")} ${printable(`${ids.join(", ")}${more}: ${first.message.slice(first.place.length + 2)}`)}`,
	);
	if (first.hint !== null) print.warn(print.paintTalk("dim", `       ${printable(first.hint)}`));
}

function printItems(io: Io, { source, items }: Result<"source.show">): undefined {
	const rows = items.map((item) =>
		[item.id, item.kind, item.status, item.phase ?? "", item.flow ?? "", stateOf(item), item.title].map(printable),
	);
	if (rows.length > 0) printTable(io, titled("ITEM", "KIND", "STATUS", "PHASE", "FLOW", "", "TITLE"), rows);
	else if (source.error === null) io.print.say("no open items; --all shows the closed ones");
	printFaults(io, source);
}

const stateOf = ({ eligible, held, blocked_by, in_progress, members, open }: ItemView): string => {
	if (!open) return "closed";
	if (held !== null) return `not ready: ${held}`;
	if (blocked_by.length > 0) return `blocked by ${blocked_by.join(", ")}`;
	if (members.length > 0) return `holds ${counted(members.length, "item")}`;
	return in_progress ? "in progress" : eligible ? "eligible" : "";
};
