// sluice batch: progress of batches, and actions on all of their jobs.

import type { BatchDocument } from "../../api/protocol/batch.ts";
import type { Call } from "../command.ts";
import { type AnswerDocument, answer, type Io } from "../io.ts";
import { cellOf, columnOf, LIST_FIELDS, type ShownJob, shellWord, statusWords } from "../printing/job-lines.ts";
import { counted } from "../printing/print.ts";
import { rangeWords } from "../printing/ranges.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";
import { dollars } from "./noun-set.ts";
import { gauge } from "./scheduler/status.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const verb = call.command.name.split(" ")[1] as Verb;
	const params: AnswerDocument = verb === "list" ? (call.flag("all") ? { all: true } : {}) : { name: call.arg("NAME") };
	if (verb === "cancel" && call.has("reason")) params.reason = call.text("reason");
	const document = await io.ask(`batch.${verb}`, params);
	answer(io, document, () => TELL[verb](io, document, call));
	return undefined;
}

type Verb = "list" | "show" | "close" | "cancel" | "retry";

const TELL: Record<Verb, (io: Io, document: AnswerDocument, call: Call) => void> = {
	list(io, { batches }, call) {
		if ((batches as BatchDocument[]).length > 0) printBatches(io, batches as BatchDocument[]);
		else io.print.say(call.flag("all") ? "no batches" : "no open batches; --all shows those that are done");
	},
	show(io, { batch, jobs }) {
		printBatches(io, [batch as BatchDocument]);
		const rows = (jobs as ShownJob[]).map((job) => LIST_FIELDS.map((field) => cellOf(field, job, io.print.paint, io.world.now())));
		io.print.out("");
		for (const line of table(LIST_FIELDS.map(columnOf), rows, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
	},
	close(io, { batch }) {
		const { name, open } = batch as BatchDocument;
		io.print.say(open === 0 ? `batch ${name} is closed` : `batch ${name} closes when its last ${counted(open, "job")} ended`);
	},
	cancel(io, { cancelled, requested }) {
		const [ended, asked] = [cancelled as number[], requested as number[]];
		if (ended.length > 0) io.print.say(`cancelled: ${ended.join(", ")}`);
		if (asked.length > 0) io.print.say(`asked to stop: ${asked.join(", ")}`);
		if (ended.length + asked.length === 0) io.print.say("nothing to cancel: all of them had ended");
	},
	retry(io, { reset, skipped }) {
		const again = reset as number[];
		io.print.say(again.length === 0 ? "nothing to run again" : `run again: ${again.join(", ")}`);
		for (const { job, reason } of skipped as { job: number; reason: string }[]) io.print.say(`left job ${job}: ${printable(reason)}`);
	},
};

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
