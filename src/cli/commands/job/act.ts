// merge, promote, demote, priority, run-now, approve, reject, answer: one call that returns one job.

import type { OneJob } from "../../../api/protocol/job.ts";
import { grantWords } from "../../../core/agents/permissions/denied.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { answer, type Io, idOf, readAll } from "../../io.ts";
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
	const document: { job: ShownJob; reasons?: Reasons } = await asked(call, io);
	answer(io, document, () => io.print.say(`${labelOf(document.job)} ${DONE[name]?.(document.job, document.reasons)}`));
	return undefined;
}

async function asked(call: Call, io: Io): Promise<OneJob> {
	const id = idOf(call.arg("ID"));
	switch (call.command.name) {
		case "merge": {
			const drop = call.flag("drop");
			if (!drop && call.has("reason")) throw usage("--reason goes with --drop");
			return io.ask("job.merge", drop ? { id, drop, reason: call.text("reason") } : { id });
		}
		case "promote":
			return io.ask("job.promote", { id });
		case "demote":
			return io.ask("job.demote", { id });
		case "priority": {
			const text = call.arg("N");
			if (!/^[+-]?\d{1,7}$/.test(text))
				throw usage(`N must be a whole number, not ${JSON.stringify(text)}`, "for example: sluice priority 7 50");
			return io.ask("job.priority", { id, priority: Number(text) });
		}
		case "run-now":
			return io.ask("job.run_now", call.flag("force") ? { id, force: true } : { id });
		case "approve":
			return io.ask("job.approve", { id });
		case "reject":
			return io.ask("job.reject", { id, reason: call.text("reason") });
		default:
			return io.ask("job.answer", { id, ...(await answerOf(call, io)) });
	}
}

async function answerOf(call: Call, io: Io) {
	const [given] = call.args("TEXT");
	const permission = call.choice("permission", ["edit", "full", "asked"]);
	if (permission === undefined && given === undefined)
		throw usage("an answer is missing", "for example: sluice answer 7 'yes', or sluice answer 7 --permission asked");
	const text = given === "-" ? await readAll(io.world.stdin) : given;
	if (text === "") throw usage("the answer is empty");
	return { permission, text };
}
