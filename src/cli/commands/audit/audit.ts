// sluice audit: who did what, when and from where.

import type { AuditDocument } from "../../../api/protocol/audit/audit.ts";
import type { Params } from "../../../api/protocol.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { oneMethod } from "../../one-method.ts";
import { field, type ListColumn, printList } from "../../printing/list.ts";
import { plain } from "../../printing/print.ts";
import { durationOf, localTime } from "../../times.ts";

export const run = oneMethod("audit.list", paramsOf, ({ entries, missing_hosts }, io) => {
	const several = new Set(entries.map(({ host }) => host)).size > 1;
	printList(io, entries, several ? [...WHO, field("host"), ...WHAT] : [...WHO, ...WHAT], "nothing was called that changes something");
	for (const host of missing_hosts) io.print.say(`host ${plain(host)} does not answer: its calls are not listed`);
	return undefined;
});

function paramsOf(call: Call, io: Io): Params<"audit.list"> {
	const since = call.text("since");
	return {
		limit: call.number("limit"),
		caller: call.text("by"),
		method: call.text("method"),
		since: since === undefined ? undefined : timeOf(since, io.world.now()),
		workers: call.flag("workers") || undefined,
	};
}

/** A span back from now, or a date. */
function timeOf(text: string, now: number): number {
	if (/^[\d.]+(?:ms|s|m|h|d)/.test(text)) return now - durationOf(text, "since");
	const at = Date.parse(text);
	if (Number.isNaN(at)) throw usage(`--since: ${JSON.stringify(text)} is not a time`, "for example 2h, 3d, 2030-01-31 or 2030-01-31T12:00");
	return at;
}

const WHO: readonly ListColumn<AuditDocument>[] = [
	{ title: "TIME", cell: ({ at }) => localTime(Date.parse(at)) },
	field("by", "WHO"),
	field("role"),
	field("from"),
];
const WHAT: readonly ListColumn<AuditDocument>[] = [
	field("method", "CALL"),
	{
		title: "ON",
		shrink: 12,
		cell: ({ what }) =>
			Object.entries(what)
				.map(([name, value]) => (name === "id" || name === "job" || name === "name" ? plain(value) : `${name} ${plain(value)}`))
				.join(", "),
	},
	{ title: "RESULT", cell: ({ outcome }, { print }) => (outcome === "ok" ? "ok" : print.paint("red", plain(outcome))) },
];
