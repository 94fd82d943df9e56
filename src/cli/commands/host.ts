// sluice host list, show, drain, undrain and remove.

import type { HostDocument } from "../../api/documents/status.ts";
import type { Result } from "../../api/protocol.ts";
import { byVerb } from "../command.ts";
import type { Io } from "../io.ts";
import { asTyped, named, nothing, oneMethod } from "../one-method.ts";
import { labelOf } from "../printing/job-lines.ts";
import { cap, count, field, type ListColumn, printList, time } from "../printing/list.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { agoWords } from "../times.ts";

export const run = byVerb({
	list: oneMethod("host.list", nothing, ({ hosts }, io) => printList(io, hosts, COLUMNS, "no hosts")),
	show: oneMethod("host.show", named, hostLines),
	drain: oneMethod("host.drain", asTyped, (document, _io, call) => drainedWords(call.arg("NAME"), document)),
	undrain: oneMethod("host.undrain", named, ({ host: { state } }, _io, call) =>
		state === "live" ? `host ${call.arg("NAME")} starts jobs again` : `host ${call.arg("NAME")} is no longer drained; it is ${state}`,
	),
	remove: oneMethod("host.remove", named, (_, _io, call) => `host ${call.arg("NAME")} is forgotten`),
});

const COLUMNS: readonly ListColumn<HostDocument>[] = [
	field("name", "HOST"),
	{
		title: "STATE",
		cell: (host, { print }) => print.paint(host.state === "live" ? "green" : "yellow", stateWords(host)),
	},
	count("running"),
	cap("max", "MAX"),
	field("labels"),
	time("heartbeat_at", "SEEN"),
];

/** A host that is gone cannot lead, though no other host may have taken over yet. */
function stateWords({ state, gone, leads, lease_until }: HostDocument): string {
	if (gone !== null) return `${plain(state)} (${plain(gone)})`;
	return leads && lease_until !== null ? `${plain(state)}, leads` : plain(state);
}

function drainedWords(name: string, { host, stopping: { length: stopping } }: Result<"host.drain">): string {
	const runs = host.running === 1 ? "one run" : `${host.running} runs`;
	if (stopping > 0) return `host ${name} starts nothing more; ${stopping === 1 ? "one run is" : `${stopping} runs are`} being stopped`;
	return `host ${name} starts nothing more; ${host.running === 0 ? "nothing runs there" : `${runs} there ${host.running === 1 ? "goes" : "go"} on`}`;
}

function hostLines({ host, jobs }: Result<"host.show">, io: Io): string[] {
	const { name, labels, repos, running, max, heartbeat_at, joined_at, lease_until, drain: drained } = host;
	const ago = (value: unknown) => agoWords(value, io.world.now());
	const rows: [string, string][] = [
		["host", printable(name)],
		["state", stateWords(host)],
		["labels", plain(labels)],
		["repos", repos === null ? "all" : plain(repos)],
		["running", `${running}${max === null ? "" : ` of ${max}`}`],
		["seen", ago(heartbeat_at)],
		["joined", ago(joined_at)],
		["lease ends", ago(lease_until)],
		[
			"drained",
			drained === null
				? ""
				: `by ${printable(drained.by)}, ${ago(drained.at)}${drained.reason === "" ? "" : `: ${printable(drained.reason)}`}`,
		],
		...jobs.map((job): [string, string] => ["runs", labelOf(job)]),
	];
	return pairs(rows, io.print.paint);
}
