// sluice host show, drain, undrain and remove.

import type { HostDocument } from "../../api/documents/status.ts";
import type { JobDocument } from "../../api/documents.ts";
import type { Call } from "../command.ts";
import { type AnswerDocument, answer, type Io } from "../io.ts";
import { labelOf } from "../printing/job-lines.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { pad } from "../printing/table.ts";
import { instantOf, relative } from "../times.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	const method = call.command.name.replace(" ", ".");
	const document = await io.ask(method, method === "host.drain" ? { name, ...drainOf(call) } : { name });
	answer(io, document, () => {
		if (method === "host.show") return show(document, io);
		io.print.say(wordsOf(method, name, document));
	});
	return undefined;
}

function drainOf(call: Call): AnswerDocument {
	const reason = call.text("reason");
	return { ...(call.flag("stop") ? { stop: true } : {}), ...(reason === undefined ? {} : { reason }) };
}

function wordsOf(method: string, name: string, document: AnswerDocument): string {
	if (method === "host.remove") return `host ${name} is forgotten`;
	const host = document.host as HostDocument;
	if (method === "host.undrain")
		return host.state === "live" ? `host ${name} starts jobs again` : `host ${name} is no longer drained; it is ${host.state}`;
	const stopping = (document.stopping as number[]).length;
	const runs = host.running === 1 ? "one run" : `${host.running} runs`;
	if (stopping > 0) return `host ${name} starts nothing more; ${stopping === 1 ? "one run is" : `${stopping} runs are`} being stopped`;
	return `host ${name} starts nothing more; ${host.running === 0 ? "nothing runs there" : `${runs} there ${host.running === 1 ? "goes" : "go"} on`}`;
}

function show(document: AnswerDocument, io: Io): void {
	const { name, state, labels, repos, running, max, heartbeat_at, joined_at, lease_until, drain, gone } = document.host as HostDocument;
	const ago = (value: unknown) => {
		const at = instantOf(value);
		return at === undefined ? "" : relative(at, io.world.now());
	};
	const rows = [
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
			drain === null ? "" : `by ${printable(drain.by)}, ${ago(drain.at)}${drain.reason === "" ? "" : `: ${printable(drain.reason)}`}`,
		],
		...(document.jobs as JobDocument[]).map((job) => ["runs", labelOf(job)]),
	].filter(([, value]) => value !== "") as [string, string][];
	const width = Math.max(...rows.map(([key]) => key.length));
	for (const [key, value] of rows) io.print.out(`${io.print.paint("dim", pad(key, width))}  ${value}`);
}
