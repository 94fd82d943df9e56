// merge, promote, demote, priority, run-now, approve, reject, answer: one call that returns one job.

import { grantWords } from "../../../core/agents/permissions/denied.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { type AnswerDocument, answer, type Io, idOf, readAll } from "../../io.ts";
import { labelOf, type ShownJob } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";

/** What holds back a job that is first in the queue. An older daemon does not send it. */
type Reasons = { detail: string; code: string }[] | undefined;

const DONE: Record<string, (job: ShownJob, reasons: Reasons) => string> = {
	merge: (job) =>
		job.merge_status === "kept" ? "is not merged; its branch stays" : `is in line to be merged; sluice why ${job.id} tells how it goes`,
	promote: (job) => `is first in lane ${job.lane}`,
	demote: (job) => `is last in lane ${job.lane}`,
	priority: (job) => `has priority ${job.priority}`,
	"run-now": (job, reasons = []) =>
		reasons.length === 0
			? job.status === "running"
				? "starts now"
				: "goes before all others"
			: `goes first of all as soon as it can: ${reasons.map(({ detail }) => printable(detail)).join("; ")}${pastCaps(job, reasons)}`,
	approve: () => "is approved",
	reject: () => "is rejected",
	answer: ({ granted }) => (granted ? `goes on, and may now ${grantedWords(granted)}` : "has its answer and goes on"),
};

const grantedWords = ({ permission, allow }: NonNullable<ShownJob["granted"]>): string =>
	permission === "full" ? "do everything" : [permission && "edit files", ...grantWords(allow).map(printable)].filter(Boolean).join("; ");

/** --force only lifts caps. */
const pastCaps = (job: ShownJob, reasons: NonNullable<Reasons>): string =>
	!job.forced && reasons.every(({ code }) => code === "capacity") ? `; past the cap: sluice run-now ${job.id} --force` : "";

export async function run(call: Call, io: Io): Promise<undefined> {
	const { name } = call.command;
	const params: AnswerDocument = { id: idOf(call.arg("ID")) };
	if (name === "priority") {
		const text = call.arg("N");
		if (!/^[+-]?\d{1,7}$/.test(text))
			throw usage(`N must be a whole number, not ${JSON.stringify(text)}`, "for example: sluice priority 7 50");
		params.priority = Number(text);
	}
	if (name === "run-now" && call.flag("force")) params.force = true;
	if (name === "merge") {
		if (call.flag("drop")) params.drop = true;
		else if (call.has("reason")) throw usage("--reason goes with --drop");
	}
	if ((name === "reject" || name === "merge") && call.has("reason")) params.reason = call.text("reason");
	if (name === "answer") {
		const [text] = call.args("TEXT");
		if (call.has("permission")) params.permission = call.text("permission");
		else if (text === undefined)
			throw usage("an answer is missing", "for example: sluice answer 7 'yes', or sluice answer 7 --permission asked");
		if (text !== undefined) params.text = text === "-" ? await readAll(io.world.stdin) : text;
		if (params.text === "") throw usage("the answer is empty");
	}
	const document = await io.ask(`job.${name.replace("-", "_")}`, params);
	const job = document.job as ShownJob;
	answer(io, document, () => io.print.say(`${labelOf(job)} ${DONE[name]?.(job, document.reasons as Reasons)}`));
	return undefined;
}
