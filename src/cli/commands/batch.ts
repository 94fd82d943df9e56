// sluice batch: progress of batches, and actions on all of their jobs.

import type { BatchDocument } from "../../api/protocol/batch.ts";
import { dollars } from "../../core/ledger.ts";
import { byVerb, type Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { cellOf, columnOf, LIST_FIELDS, shellWord, statusWords } from "../printing/job-lines.ts";
import { counted } from "../printing/print.ts";
import { rangeWords } from "../printing/ranges.ts";
import { printable } from "../printing/sequences.ts";
import { gauge } from "../printing/status-lines.ts";
import { table } from "../printing/table.ts";

export const run = byVerb({ list, show, close, cancel, retry });

async function list(call: Call, io: Io): Promise<undefined> {
	const all = call.flag("all");
	const document = await io.ask("batch.list", all ? { all } : {});
	answer(io, document, () => {
		if (document.batches.length > 0) printBatches(io, document.batches);
		else io.print.say(all ? "no batches" : "no open batches; --all shows those that are done");
	});
}

async function show(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("batch.show", { name: call.arg("NAME") });
	answer(io, document, () => {
		printBatches(io, [document.batch]);
		const rows = document.jobs.map((job) => LIST_FIELDS.map((field) => cellOf(field, job, io.print.paint, io.world.now())));
		io.print.out("");
		for (const line of table(LIST_FIELDS.map(columnOf), rows, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
	});
}

async function close(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("batch.close", { name: call.arg("NAME") });
	const { name, open } = document.batch;
	answer(io, document, () =>
		io.print.say(open === 0 ? `batch ${name} is closed` : `batch ${name} closes when its last ${counted(open, "job")} ended`),
	);
}

async function cancel(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("batch.cancel", { name: call.arg("NAME"), reason: call.text("reason") });
	const { cancelled, requested } = document;
	answer(io, document, () => {
		if (cancelled.length > 0) io.print.say(`cancelled: ${cancelled.join(", ")}`);
		if (requested.length > 0) io.print.say(`asked to stop: ${requested.join(", ")}`);
		if (cancelled.length + requested.length === 0) io.print.say("nothing to cancel: all of them had ended");
	});
}

async function retry(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("batch.retry", { name: call.arg("NAME") });
	const { reset, skipped } = document;
	answer(io, document, () => {
		io.print.say(reset.length === 0 ? "nothing to run again" : `run again: ${reset.join(", ")}`);
		for (const { job, reason } of skipped) io.print.say(`left job ${job}: ${printable(reason)}`);
	});
}

/** What becomes of a batch: an owned one stays open until its owner closes it. */
const batchWords = (name: string, owned: boolean, state: string): string =>
	state === "closed" ? "closed" : owned ? `open until you close it: sluice batch close ${shellWord(printable(name))}` : "";

function printBatches({ print, world }: Io, batches: readonly BatchDocument[]): void {
	const columns = [
		{ title: "BATCH", shrink: 12 },
		{ title: "DONE", align: "right" as const },
		{ title: "" },
		{ title: "JOBS", shrink: 16 },
		{ title: "COST", align: "right" as const },
		{ title: "ETA" },
		{ title: "" },
	];
	const rows = batches.map(({ name, open, total, counts, cost_micro, eta, owned, state }) => [
		printable(name),
		`${total - open} of ${total}`,
		print.paint("cyan", gauge(total - open, Math.max(1, total))),
		Object.entries(counts)
			.map(([status, count]) => `${count} ${statusWords(status)}`)
			.join(", "),
		cost_micro === null ? "" : dollars(cost_micro),
		eta ? rangeWords(eta, world.now()) : "",
		batchWords(name, owned, state),
	]);
	for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
}
