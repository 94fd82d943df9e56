// sluice batch: progress of batches, and actions on all of their jobs.

import type { BatchDocument } from "../../api/protocol/batch.ts";
import { dollars } from "../../core/ledger.ts";
import { byVerb } from "../command.ts";
import { asTyped, named, oneMethod } from "../one-method.ts";
import { cellOf, columnOf, LIST_FIELDS, shellWord, statusWords } from "../printing/job-lines.ts";
import { type ListColumn, printList, printTable, right } from "../printing/list.ts";
import { counted } from "../printing/print.ts";
import { rangeWords } from "../printing/ranges.ts";
import { printable } from "../printing/sequences.ts";
import { gauge } from "../printing/status-lines.ts";
import { printCancelled } from "./job/act.ts";

export const run = byVerb({
	list: oneMethod("batch.list", asTyped, ({ batches }, io, call) =>
		printList(io, batches, COLUMNS, call.flag("all") ? "no batches" : "no open batches; --all shows those that are done"),
	),
	show: oneMethod("batch.show", named, ({ batch, jobs }, io) => {
		printList(io, [batch], COLUMNS, "");
		io.print.out("");
		printTable(
			io,
			LIST_FIELDS.map(columnOf),
			jobs.map((job) => LIST_FIELDS.map((field) => cellOf(field, job, io.print.paint, io.world.now()))),
		);
	}),
	close: oneMethod("batch.close", named, ({ batch: { name, open } }) =>
		open === 0 ? `batch ${name} is closed` : `batch ${name} closes when its last ${counted(open, "job")} ended`,
	),
	cancel: oneMethod("batch.cancel", asTyped, printCancelled),
	retry: oneMethod("batch.retry", named, ({ reset, skipped }, io) => {
		io.print.say(reset.length === 0 ? "nothing to run again" : `run again: ${reset.join(", ")}`);
		for (const { job, reason } of skipped) io.print.say(`left job ${job}: ${printable(reason)}`);
	}),
});

/** What becomes of a batch: an owned one stays open until its owner closes it. */
const batchWords = ({ name, owned, state }: BatchDocument): string =>
	state === "closed" ? "closed" : owned ? `open until you close it: sluice batch close ${shellWord(printable(name))}` : "";

const COLUMNS: readonly ListColumn<BatchDocument>[] = [
	{ title: "BATCH", shrink: 12, cell: ({ name }) => printable(name) },
	{ title: "DONE", ...right, cell: ({ open, total }) => `${total - open} of ${total}` },
	{ title: "", cell: ({ open, total }, { print }) => print.paint("cyan", gauge(total - open, Math.max(1, total))) },
	{
		title: "JOBS",
		shrink: 16,
		cell: ({ counts }) =>
			Object.entries(counts)
				.map(([status, count]) => `${count} ${statusWords(status)}`)
				.join(", "),
	},
	{ title: "COST", ...right, cell: ({ cost_micro }) => (cost_micro === null ? "" : dollars(cost_micro)) },
	{ title: "ETA", cell: ({ eta }, { world }) => (eta ? rangeWords(eta, world.now()) : "") },
	{ title: "", cell: batchWords },
];
