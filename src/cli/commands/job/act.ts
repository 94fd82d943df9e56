// cancel, retry, rerun, merge, promote, demote, priority, run-now, hold, release, freeze, thaw, signal, tell, approve, reject, answer: one call, about one
// job or several.

import type { CancelReport, HoldReport } from "../../../contracts/scheduler.ts";
import { grantWords } from "../../../core/agents/permissions/denied.ts";
import type { RunSignal } from "../../../core/runs/signals.ts";
import { byVerb, type Call } from "../../command.ts";
import { EXIT, usage } from "../../failure.ts";
import { type Io, idOf, readAll } from "../../io.ts";
import { ofJob, oneMethod, optionsOf } from "../../one-method.ts";
import { labelOf, type ShownJob } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";

/** What holds back a job that is first in the queue. An older daemon does not send it. */
type Reasons = { detail: string; code: string }[] | undefined;

const grantedWords = ({ permission, allow }: NonNullable<ShownJob["granted"]>): string =>
	permission === "full" ? "do everything" : [permission && "edit files", ...grantWords(allow).map(printable)].filter(Boolean).join("; ");

/** --force only lifts caps. */
const pastCaps = (job: ShownJob, reasons: NonNullable<Reasons>): string =>
	!job.forced && reasons.every(({ code }) => code === "capacity") ? `; past the cap: sluice run-now ${job.id} --force` : "";

const few = (ids: readonly number[]) => (ids.length > 20 ? `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more` : ids.join(", "));

const rewind = (method: "job.retry" | "job.rerun") =>
	oneMethod(method, ofJob, ({ reset, restarted, last_successful, left_blocked = [] }, io, call) => {
		io.print.say(`reset: ${few(reset)}`);
		const startable = restarted.filter((id) => !(reset.length === 1 && reset[0] === id));
		if (startable.length > 0) io.print.say(`goes on from: ${few(startable)}`);
		if (last_successful.length > 0) io.print.say(io.print.paintTalk("dim", `last successful point: ${few(last_successful)}`));
		if (left_blocked.length > 0) {
			io.print.say(`still blocked: ${few(left_blocked)}`);
			// The blocked job may depend on other jobs, too: retrying this one would not help it.
			const hint = `sluice retry ${call.arg("ID")} brings back what comes after it; sluice why ${left_blocked[0]} says what else blocks it`;
			io.print.say(io.print.paintTalk("dim", `        ${hint}`));
		}
	});

const aboutJob =
	(words: (job: ShownJob, reasons: Reasons) => string) =>
	({ job, reasons }: { job: ShownJob; reasons?: Reasons }) =>
		`${labelOf(job)} ${words(job, reasons)}`;

const ofJobs = (call: Call) => ({ ...optionsOf<"job.hold">(call), ids: call.args("ID").map(idOf) });

const jobsWords = (ids: readonly number[]): string => (ids.length === 1 ? `job ${ids[0]} is` : `jobs ${few(ids)} are`);

/** What was done, in a line, and a line for each job that was refused. */
function printEach({ done, refused }: HoldReport, { print }: Io, words: (ids: readonly number[]) => string): undefined {
	if (done.length > 0) print.say(words(done));
	for (const { message } of refused) print.warn(`${print.paintTalk("red", "sluice:")} ${printable(message)}`);
}

const exitOf = ({ refused = [] }: { refused?: readonly unknown[] }): number => (refused.length > 0 ? EXIT.illegal : EXIT.done);

const cancel = oneMethod(
	"job.cancel",
	(call) => ({ ...optionsOf<"job.cancel">(call), ids: call.args("ID").map(idOf) }),
	printCancelled,
	exitOf,
);

export const run = byVerb({
	cancel,
	retry: rewind("job.retry"),
	rerun: rewind("job.rerun"),
	merge: oneMethod("job.merge", mergeOf, aboutJob(mergeWords)),
	promote: oneMethod(
		"job.promote",
		ofJob,
		aboutJob(({ lane }) => `is first in lane ${lane}`),
	),
	demote: oneMethod(
		"job.demote",
		ofJob,
		aboutJob(({ lane }) => `is last in lane ${lane}`),
	),
	priority: oneMethod(
		"job.priority",
		priorityOf,
		aboutJob(({ priority }) => `has priority ${priority}`),
	),
	"run-now": oneMethod("job.run_now", ofJob, aboutJob(startWords)),
	hold: oneMethod(
		"job.hold",
		ofJobs,
		(report, io) => printEach(report, io, (ids) => `${jobsWords(ids)} held until: sluice release ${ids.join(" ")}`),
		exitOf,
	),
	release: oneMethod("job.release", ofJobs, (report, io) => printEach(report, io, (ids) => `${jobsWords(ids)} released`), exitOf),
	freeze: oneMethod(
		"job.freeze",
		ofJobs,
		(report, io) => printEach(report, io, (ids) => `${jobsWords(ids)} frozen until: sluice thaw ${ids.join(" ")}`),
		exitOf,
	),
	thaw: oneMethod(
		"job.thaw",
		ofJobs,
		(report, io) => printEach(report, io, (ids) => `${ids.length === 1 ? `job ${ids[0]} goes` : `jobs ${few(ids)} go`} on`),
		exitOf,
	),
	signal: oneMethod(
		"job.signal",
		// The daemon reads the word, and says what to do instead of a signal that it does not send.
		(call) => ({ id: idOf(call.arg("ID")), signal: call.arg("SIGNAL") as RunSignal }),
		({ job, run, host, signal, frozen }) =>
			`sent ${signal} to run ${run}${host ? ` on host ${printable(host)}` : ""}${frozen ? `; it is frozen, and gets it when it goes on: sluice thaw ${job}` : ""}`,
	),
	attach: async (call, io) => (await import("./attach.ts")).attach(call, io),
	tell: oneMethod(
		"job.tell",
		tellOf,
		({ job, how, detail }) => `${labelOf(job)} ${how === "turn" ? "is told" : "will be told"}: ${printable(detail)}`,
	),
	approve: oneMethod(
		"job.approve",
		ofJob,
		aboutJob(() => "is approved"),
	),
	reject: oneMethod(
		"job.reject",
		ofJob,
		aboutJob(() => "is rejected"),
	),
	answer: oneMethod(
		"job.answer",
		answerOf,
		aboutJob(({ granted }) => (granted ? `goes on, and may now ${grantedWords(granted)}` : "has its answer and goes on")),
	),
});

/** A batch has no `ended` and `refused`, and an older daemon does not send them. */
type Cancelled = Pick<CancelReport, "cancelled" | "requested"> & Partial<CancelReport>;

export function printCancelled({ cancelled, requested, ended = [], refused = [] }: Cancelled, { print }: Io): string | undefined {
	if (cancelled.length > 0) print.say(`cancelled: ${cancelled.join(", ")}`);
	if (requested.length > 0) print.say(`asked to stop: ${requested.join(", ")}`);
	if (ended.length > 0) print.say(`ended with them: ${ended.join(", ")}`);
	for (const { message } of refused) print.warn(`${print.paintTalk("red", "sluice:")} ${printable(message)}`);
	const isNone = cancelled.length + requested.length + ended.length + refused.length === 0;
	return isNone ? "nothing to cancel: all of them had ended" : undefined;
}

function mergeWords({ id, merge_status }: ShownJob): string {
	return merge_status === "kept" ? "is not merged; its branch stays" : `is in line to be merged; sluice why ${id} tells how it goes`;
}

function startWords(job: ShownJob, reasons: Reasons = []): string {
	if (reasons.length === 0) return job.status === "running" ? "starts now" : "goes before all others";
	return `goes first of all as soon as it can: ${reasons.map(({ detail }) => printable(detail)).join("; ")}${pastCaps(job, reasons)}`;
}

function mergeOf(call: Call) {
	if (!call.flag("drop") && call.has("reason")) throw usage("--reason goes with --drop");
	return ofJob(call);
}

function priorityOf(call: Call) {
	const text = call.arg("N");
	if (!/^[+-]?\d{1,7}$/.test(text))
		throw usage(`N must be a whole number, not ${JSON.stringify(text)}`, "for example: sluice priority 7 50");
	return { ...ofJob(call), priority: Number(text) };
}

async function tellOf(call: Call, io: Io) {
	const given = call.arg("TEXT");
	const text = given === "-" ? await readAll(io.world.stdin) : given;
	if (text.trim() === "") throw usage("the text is empty", "for example: sluice tell 7 'use the new API'");
	return { ...ofJob(call), text };
}

async function answerOf(call: Call, io: Io) {
	const [given] = call.args("TEXT");
	const permission = call.choice("permission", ["edit", "full", "asked"]);
	if (permission === undefined && given === undefined)
		throw usage("an answer is missing", "for example: sluice answer 7 'yes', or sluice answer 7 --permission asked");
	const text = given === "-" ? await readAll(io.world.stdin) : given;
	if (text === "") throw usage("the answer is empty");
	return { ...ofJob(call), text };
}
