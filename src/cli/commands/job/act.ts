// cancel, retry, rerun, merge, promote, demote, priority, run-now, hold, release, freeze, thaw, signal, tell, approve, reject, answer: one call, about one
// job or several.

import type { MethodName, Ref, Result } from "../../../api/protocol.ts";
import type { CancelReport, HoldReport } from "../../../contracts/scheduler.ts";
import { grantWords } from "../../../core/agents/permissions/denied.ts";
import { WAITING } from "../../../core/job.ts";
import type { RunSignal } from "../../../core/runs/signals.ts";
import { byVerb, type Call, type CommandRun } from "../../command.ts";
import { FILTER_NAMES } from "../../command-line/shared-options.ts";
import { EXIT, usage } from "../../failure.ts";
import { answer, type Io, idOf, readAll } from "../../io.ts";
import { ofJob, oneMethod, optionsOf } from "../../one-method.ts";
import { labelOf, type ShownJob } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";
import { askAll, chosenJobs, type Usual } from "./chosen-jobs.ts";

/** What holds back a job that is first in the queue. An older daemon does not send it. */
type Reasons = { detail: string; code: string }[] | undefined;

const grantedWords = ({ permission, allow }: NonNullable<ShownJob["granted"]>): string =>
	permission === "full" ? "do everything" : [permission && "edit files", ...grantWords(allow).map(printable)].filter(Boolean).join("; ");

/** --force only lifts caps. */
const pastCaps = (job: ShownJob, reasons: NonNullable<Reasons>): string =>
	!job.forced && reasons.every(({ code }) => code === "capacity") ? `; past the cap: sluice run-now ${job.id} --force` : "";

const few = (ids: readonly number[]) => (ids.length > 20 ? `${ids.slice(0, 20).join(", ")} and ${ids.length - 20} more` : ids.join(", "));

type Rewound = Result<"job.retry">;

function printRewound({ reset, restarted, last_successful, left_blocked = [], skipped = [] }: Rewound, io: Io, id: string): void {
	io.print.say(reset.length === 0 ? "nothing to run again" : `reset: ${few(reset)}`);
	const startable = restarted.filter((one) => !(reset.length === 1 && reset[0] === one));
	if (startable.length > 0) io.print.say(`goes on from: ${few(startable)}`);
	if (last_successful.length > 0) io.print.say(io.print.paintTalk("dim", `last successful point: ${few(last_successful)}`));
	if (left_blocked.length > 0) {
		io.print.say(`still blocked: ${few(left_blocked)}`);
		// The blocked job may depend on other jobs, too: retrying this one would not help it.
		const hint = `sluice retry ${id} brings back what comes after it; sluice why ${left_blocked[0]} says what else blocks it`;
		io.print.say(io.print.paintTalk("dim", `        ${hint}`));
	}
	for (const { job, reason } of skipped) io.print.say(`left job ${job}: ${printable(reason)}`);
}

/** What a filter means for a command, if it names no status; and the question before it acts on several. */
const ABOUT = {
	cancel: { asks: "End", usual: {} },
	retry: { asks: "Run again", usual: { status: ["failed", "expired", "blocked_by_dependency"] } },
	hold: { asks: "Hold", usual: { status: WAITING } },
	release: { asks: "Release", usual: { status: WAITING, held: true } },
	promote: { asks: "Move to the front", usual: { status: WAITING } },
	approve: { asks: "Approve", usual: { status: WAITING, asks: true } },
} satisfies Record<string, { asks: string; usual: Usual }>;

/** A command about several jobs. `one`: the parameter of a single job that was named, which older daemons know, too. */
const aboutSeveral =
	<T extends object>(
		about: { asks: string; usual: Usual },
		ask: (io: Io, params: { id: Ref } | { ids: Ref[] }, call: Call) => Promise<T>,
		show: (document: T, io: Io, call: Call) => string | undefined,
		exit: (document: T) => number = () => EXIT.done,
	): CommandRun =>
	async (call, io) => {
		const chosen = await chosenJobs(call, io, about);
		if (chosen === undefined) return EXIT.done;
		const [first, ...others] = chosen.ids;
		const document =
			first !== undefined && others.length === 0 && chosen.named
				? await ask(io, { id: first }, call)
				: await askAll(chosen.ids, (ids) => ask(io, { ids }, call));
		answer(io, document, () => {
			const text = show(document, io, call);
			if (text !== undefined) io.print.say(text);
		});
		return exit(document);
	};

const asIds = (params: { id: Ref } | { ids: Ref[] }) => ("id" in params ? [params.id] : params.ids);

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

const cancel = aboutSeveral(
	ABOUT.cancel,
	(io, params, call) => io.ask("job.cancel", { ...ownOptions<"job.cancel">(call), ids: asIds(params) }),
	printCancelled,
	exitOf,
);

/** The options of a command besides those of a filter. */
const ownOptions = <M extends MethodName>(call: Call) => optionsOf<M>(call, [...FILTER_NAMES, "yes"]);

/** Of one job its own words, of several the numbers. */
const eachWords =
	(words: (job: ShownJob) => string, several: string) =>
	(document: { job: ShownJob; done?: number[]; refused?: HoldReport["refused"] }, io: Io): string | undefined => {
		const { job, done = [job.id], refused = [] } = document;
		if (done.length + refused.length <= 1) return `${labelOf(job)} ${words(job)}`;
		return printEach({ done, refused }, io, (ids) => (ids.length === 1 ? `${labelOf(job)} ${words(job)}` : `jobs ${few(ids)} ${several}`));
	};

export const run = byVerb({
	cancel,
	retry: aboutSeveral(
		ABOUT.retry,
		(io, params) => io.ask("job.retry", params),
		(document, io, call) => void printRewound(document, io, call.args("ID")[0] ?? ""),
		({ skipped = [] }) => (skipped.length > 0 ? EXIT.illegal : EXIT.done),
	),
	rerun: oneMethod("job.rerun", ofJob, (document, io, call) => void printRewound(document, io, call.arg("ID"))),
	merge: oneMethod("job.merge", mergeOf, aboutJob(mergeWords)),
	promote: aboutSeveral(
		ABOUT.promote,
		(io, params) => io.ask("job.promote", params),
		eachWords(({ lane }) => `is first in lane ${lane}`, "are first in their lanes"),
		exitOf,
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
	hold: aboutSeveral(
		ABOUT.hold,
		(io, params, call) => io.ask("job.hold", { ...ownOptions<"job.hold">(call), ids: asIds(params) }),
		(report, io) =>
			printEach(report, io, (ids) => `${jobsWords(ids)} held until: sluice release ${ids.length > 20 ? "ID" : ids.join(" ")}`),
		exitOf,
	),
	release: aboutSeveral(
		ABOUT.release,
		(io, params) => io.ask("job.release", { ids: asIds(params) }),
		(report, io) => printEach(report, io, (ids) => `${jobsWords(ids)} released`),
		exitOf,
	),
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
	approve: aboutSeveral(
		ABOUT.approve,
		(io, params) => io.ask("job.approve", params),
		eachWords(() => "is approved", "are approved"),
		exitOf,
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
	if (cancelled.length > 0) print.say(`cancelled: ${few(cancelled)}`);
	if (requested.length > 0) print.say(`asked to stop: ${few(requested)}`);
	if (ended.length > 0) print.say(`ended with them: ${few(ended)}`);
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
