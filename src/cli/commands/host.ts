// sluice host list, show, drain, undrain and remove.

import type { HostDocument } from "../../api/documents/status.ts";
import type { Result } from "../../api/protocol.ts";
import { byVerb, type Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { labelOf } from "../printing/job-lines.ts";
import { cap, count, field, type ListColumn, printList, time } from "../printing/list.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { instantOf, relative } from "../times.ts";

export const run = byVerb({ list, show, drain, undrain, remove });

const COLUMNS: readonly ListColumn<HostDocument>[] = [
	field("name", "HOST"),
	{
		title: "STATE",
		cell: ({ state, gone }, { print }) =>
			print.paint(state === "live" ? "green" : "yellow", gone ? `${plain(state)} (${plain(gone)})` : plain(state)),
	},
	count("running"),
	cap("max", "MAX"),
	field("labels"),
	time("heartbeat_at", "SEEN"),
];

async function list(_call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("host.list");
	answer(io, document, () => printList(io, document.hosts, COLUMNS, "no hosts"));
}

async function show(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("host.show", { name: call.arg("NAME") });
	answer(io, document, () => {
		for (const line of hostLines(document, io)) io.print.out(line);
	});
}

async function drain(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	const stop = call.flag("stop");
	const document = await io.ask("host.drain", { name, ...(stop ? { stop } : {}), reason: call.text("reason") });
	answer(io, document, () => io.print.say(drainedWords(name, document)));
}

function drainedWords(name: string, { host, stopping: { length: stopping } }: Result<"host.drain">): string {
	const runs = host.running === 1 ? "one run" : `${host.running} runs`;
	if (stopping > 0) return `host ${name} starts nothing more; ${stopping === 1 ? "one run is" : `${stopping} runs are`} being stopped`;
	return `host ${name} starts nothing more; ${host.running === 0 ? "nothing runs there" : `${runs} there ${host.running === 1 ? "goes" : "go"} on`}`;
}

async function undrain(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	const document = await io.ask("host.undrain", { name });
	const { state } = document.host;
	answer(io, document, () =>
		io.print.say(state === "live" ? `host ${name} starts jobs again` : `host ${name} is no longer drained; it is ${state}`),
	);
}

async function remove(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	answer(io, await io.ask("host.remove", { name }), () => io.print.say(`host ${name} is forgotten`));
}

function hostLines({ host, jobs }: Result<"host.show">, io: Io): string[] {
	const { name, state, labels, repos, running, max, heartbeat_at, joined_at, lease_until, drain: drained, gone } = host;
	const ago = (value: unknown) => {
		const at = instantOf(value);
		return at === undefined ? "" : relative(at, io.world.now());
	};
	const rows: [string, string][] = [
		["host", printable(name)],
		["state", gone === null ? state : `${state} (${gone})`],
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
