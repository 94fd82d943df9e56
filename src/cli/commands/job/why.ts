// sluice why: everything that keeps a job from running, in words, with what can be done about each reason.

import type { EtaDocument } from "../../../api/documents/eta.ts";
import type { JobDocument, ReasonDocument } from "../../../api/documents.ts";
import type { Result } from "../../../api/protocol.ts";
import { fits } from "../../../core/gates/after.ts";
import { shellCommandFor } from "../../../core/input/shell-line.ts";
import type { ReasonCode } from "../../../core/reason.ts";
import type { Call } from "../../command.ts";
import { answer, type Io, idOf } from "../../io.ts";
import {
	grantAdvice,
	hasEnded,
	isMergeStuck,
	isUncommitted,
	isWaiting,
	labelOf,
	type ShownJob,
	statusWords,
	subjectOf,
	unmergedWords,
} from "../../printing/job-lines.ts";
import { type Paint, paintStatus, plain } from "../../printing/print.ts";
import { basisWords, rangeWords } from "../../printing/ranges.ts";
import { printable } from "../../printing/sequences.ts";
import { cut, pad } from "../../printing/table.ts";
import { durationWords, instantOf, relative, withLocalTimes } from "../../times.ts";
import { headline } from "./show.ts";
import { entryWhy } from "./why-kernel.ts";

/** An older daemon does not send all of it. */
type Why = Pick<Result<"job.why">, "reasons" | "position" | "priority"> & Partial<Omit<Result<"job.why">, "job">> & { job: ShownJob };

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("job.why", { id: idOf(call.arg("ID")) });
	const lines = io.json ? [] : await explained(document, io);
	answer(io, document, () => {
		for (const line of lines) io.print.out(line);
	});
}

/** Other jobs that the text mentions: the root cause if this job is blocked, and jobs whose merge it waits for. */
type Others = { culprit: ShownJob | undefined; unmerged: Map<string, ShownJob> };

export const explained = async (why: Why, io: Io): Promise<string[]> =>
	why.job.kind === "kernel"
		? entryWhy(why, io)
		: explain(why, io, { culprit: await culpritOf(why.job, io), unmerged: await unmergedOf(why, io) });

const find = async (id: number, io: Io): Promise<ShownJob | undefined> => (await io.ask("job.show", { id }).catch(() => undefined))?.job;

/** By the reason's subject. The reason only names the awaited job, which may have succeeded without being merged yet. */
async function unmergedOf({ job, reasons }: Why, io: Io): Promise<Map<string, ShownJob>> {
	const waited = new Set((job.after ?? []).filter(({ policy }) => policy === "merged").map((one) => `job:${one.job}`));
	const found = new Map<string, ShownJob>();
	for (const { code, subject } of reasons) {
		if (code !== "dependencies" || !waited.has(subject) || found.size >= MOST_LOOKED_UP) continue;
		const other = await find(Number(idIn(subject)), io);
		if (other && unmergedWords(other) !== "") found.set(subject, other);
	}
	return found;
}

/** `its prompt takes the result of job 3 (plan): job 3 left none` */
function resultLines({ results = [] }: Why, paint: Paint): string[] {
	return results.map(({ job, name, status, has_result }) => {
		const open = WAITING_OR_RUNNING.includes(status);
		const state = has_result
			? open
				? "there, as far as it has got"
				: "there"
			: open
				? "not there yet"
				: "it left none, and the prompt says so";
		return paint("dim", `  its prompt takes the result of ${labelOf({ id: job, name })}: ${state}`);
	});
}
/** Texts that no run has got yet. */
const toldLines = ({ told = [] }: ShownJob, paint: Paint): string[] =>
	told
		.filter(({ attempt }) => attempt === null)
		.map(({ text, by }) => paint("dim", `  to be told to its agent: ${printable(text)} (${printable(by)})`));

const WAITING_OR_RUNNING = ["queued", "waiting_on_deps", "waiting_on_locks", "running"];

/** Maximum length of the chain that is followed. */
const LONGEST_CHAIN = 100;
const MOST_LOOKED_UP = 20;

/** The first job in a chain of blocked jobs that is not blocked itself; undefined if no job is the cause, or if it is deleted. */
async function culpritOf(job: ShownJob, io: Io): Promise<ShownJob | undefined> {
	let found: ShownJob | undefined = job;
	for (let steps = 0; found?.status === "blocked_by_dependency" && steps < LONGEST_CHAIN; steps++) {
		found = await blockerOf(found, io);
	}
	return found;
}

/** The predecessor whose end blocked the job: the first to end of those that can never satisfy their edge. */
async function blockerOf({ after = [] }: ShownJob, io: Io): Promise<ShownJob | undefined> {
	if (after.length === 0) return undefined;
	const policies = new Map(after.map(({ job, policy }) => [job, policy]));
	const { jobs } = await io.ask("job.list", { ids: [...policies.keys()] }).catch(() => ({ jobs: [] }));
	const isNever = ({ id, status, merge_status }: JobDocument) =>
		fits(policies.get(id) ?? "success", status, merge_status ?? undefined) === "never";
	return jobs.filter(isNever).sort((a, b) => (instantOf(a.ended_at) ?? 0) - (instantOf(b.ended_at) ?? 0))[0];
}

/**
 * Job 7 (deploy) waits on locks.
 *
 *   1. waiting on locks: db, held by job 3 (for 2m 10s)
 *      → wait, or end the holder: sluice cancel 3
 */
async function explain(why: Why, io: Io, { culprit, unmerged }: Others): Promise<string[]> {
	const { job, reasons } = why;
	const { paint } = io.print;
	const now = io.world.now();
	const label = paint("bold", capital(labelOf(job)));
	const width = Math.min(io.print.width, 120);
	const lines = [cut(`${label} ${opening(job, reasons, io)}`, io.print.width)];
	const subject = subjectOf(job);
	if (subject) lines.push(paint("dim", cut(`  ${subject}`, width)));
	lines.push(...(await frozenAdvice(job, io)), ...awaitedBy(why, paint), ...resultLines(why, paint), ...toldLines(job, paint));
	if (reasons.length > 0) lines.push("");
	reasons.forEach((reason, index) => {
		const number = reasons.length > 1 ? `${index + 1}. ` : "";
		const other = unmerged.get(reason.subject);
		lines.push(`  ${number}${sentence(reason, paint, now)}${other ? `: it has succeeded, ${unmergedWords(other)}` : ""}`);
		const advice = other && !isMergeStuck(other) ? "it goes on as soon as that is merged" : ADVICE[reason.code]?.(reason, job);
		if (advice) lines.push(paint("dim", `  ${pad("", number.length)}→ ${advice}`));
	});
	if (isWaiting(job)) lines.push("", ...standing(why, paint));
	if (why.eta) lines.push(...(isWaiting(job) ? [] : [""]), `  ${paint("dim", "eta     ")}  ${etaWords(why.eta, job, now)}`);
	else if (hasEnded(job) && job.status !== "succeeded") lines.push("", paint("dim", `  → ${afterwards(job, culprit)}`));
	if (job.status === "succeeded" && job.merge_report?.message)
		lines.push("", `  ${paint(unmergedWords(job) === "" ? "dim" : "yellow", mergeSentence(job))}`);
	if (isMergeStuck(job)) lines.push(paint("dim", `  → ${mergeAdvice(job)}`));
	else if (job.status === "succeeded" && job.merge_status === "pending" && job.merge_report?.message)
		lines.push(paint("dim", `  → it is tried again; to try now: sluice merge ${job.id}; or give it up: sluice merge ${job.id} --drop`));
	if (why.warning) lines.push("", `  ${paint("yellow", printable(why.warning))}`);
	return [...lines, ...saidAtTheEnd(job, paint)];
}

/** The merge's own message, with files that the message does not name. */
function mergeSentence({ merge_status, merge_report }: ShownJob): string {
	const { message = "", files = [] } = merge_report ?? {};
	const missing = merge_status === "base_dirty" ? files.filter((file) => !message.includes(file)) : [];
	const more = missing.length === 0 ? "" : `\n    ${missing.map(printable).join("\n    ")}`;
	return `${merge_status === "base_dirty" ? "not merged yet: " : ""}${printable(message)}${more}`;
}

/** What was paused when the processes were frozen, and how to resume them. */
async function frozenAdvice(job: ShownJob, io: Io): Promise<string[]> {
	if (!job.run?.frozen) return [];
	if (job.run.frozen_by) {
		const { by, reason, since } = job.run.frozen_by;
		const why = `frozen by ${printable(by)} ${relative(instantOf(since) ?? io.world.now(), io.world.now())}${reason ? `: ${printable(reason)}` : ""}`;
		return [
			`  ${io.print.paint("yellow", why)}`,
			io.print.paint("dim", `  → its processes are stopped; let them go on: sluice thaw ${job.id}`),
		];
	}
	const holds = (await io.ask("scheduler.status").catch(() => undefined))?.holds ?? [];
	const account = job.run.account ?? job.account;
	const scopes = ["all", `lane:${job.lane}`, `repo:${job.repo}`, `batch:${job.batch}`, `account:${account}`];
	const found = scopes.find((scope) => holds.some((hold) => hold.kind === "paused" && hold.scope === scope)) ?? "all";
	const [kind = "all", name = ""] = [found.split(":")[0], found.slice(found.indexOf(":") + 1)];
	return [
		io.print.paint(
			"dim",
			`  → its processes are stopped; let them go on: sluice resume${kind === "all" ? "" : ` --${kind} ${printable(name)}`}`,
		),
	];
}

function awaitedBy({ waiters = [], job }: Why, paint: Paint): string[] {
	if (waiters.length === 0 || hasEnded(job)) return [];
	const [first, ...others] = waiters;
	const who = `job ${first}${others.length > 0 ? ` and ${others.length} more` : ""}`;
	return [paint("dim", `  awaited by ${who}, which ${others.length > 0 ? "lend their slots" : "lends its slot"} until it has ended`)];
}

/** What can be done about a merge that needs a person. */
function mergeAdvice(job: ShownJob): string {
	const where = job.merge_report?.path ? printable(job.merge_report.path) : undefined;
	if (job.merge_status === "base_dirty") {
		const { files = [], cause } = job.merge_report ?? {};
		const what = files.length > 0 ? "move or commit them" : cause === "changes" ? "commit or stash them" : "finish it";
		return `${what}: the merge goes on by itself; or give it up: sluice merge ${job.id} --drop`;
	}
	const then = `then: sluice merge ${job.id}; or give it up: sluice merge ${job.id} --drop`;
	if (isUncommitted(job)) {
		const next = job.commit == null ? "; next time add it with --commit auto" : "";
		return `commit it in ${where ?? `the folder of sluice open ${job.id}`}, ${then}${next}`;
	}
	const inside = `cd "$(sluice open ${job.id} -q)"`;
	return job.merge_status === "conflict"
		? `${inside} && git rebase ${printable(job.merge_target ?? "BASE")}, resolve, ${then}`
		: `${inside}, fix and commit it there, ${then}`;
}

/** A job whose program is a whole shell line can never start. */
function shellAdvice({ command }: ShownJob): string | null {
	const shell = shellCommandFor(command ?? []);
	return shell === null ? null : `for a shell line, add it anew: ${printable(shell)}`;
}

/** What can be done about a job that has ended badly. */
function afterwards(job: ShownJob, culprit: ShownJob | undefined): string {
	if (job.status === "blocked_by_dependency") {
		if (culprit === undefined) return `see to what is missing, then once more: sluice retry ${job.id}`;
		if (culprit.merge_report?.given_up)
			return `the merge of ${labelOf(culprit)} was given up; merge it after all: sluice merge ${culprit.id}, then: sluice retry ${job.id}`;
		if (culprit.status === "succeeded")
			return `${labelOf(culprit)} did not end as it should for this one; add it anew if it is still wanted`;
		// Run again alone, it would be blocked at once for the same reason.
		const said = culprit.verdict?.verdict === "fail" ? `, which said: ${printable(culprit.verdict.text).replace(/\s+/g, " ")}` : "";
		return `see what became of ${labelOf(culprit)}: sluice why ${culprit.id}${said}; once more from there: sluice retry ${culprit.id}`;
	}
	// A retry would read the same record, and there was no run that could have written output.
	if (job.broken) return "its record cannot be used: add the job anew";
	const shell = job.exit_kind === "launch_failed" ? shellAdvice(job) : null;
	if (shell !== null) return shell;
	const first =
		job.exit_kind === "launch_failed" ? "fix it, then " : (job.attempt ?? 0) > 0 ? `what it wrote: sluice logs ${job.id}; ` : "";
	return `${first}once more, with all that comes after it: sluice retry ${job.id}`;
}

/** `starts 14:02 – 14:05, ends 14:10 – 14:20 (based on 12 runs in lane code)`; or why there is no forecast. */
function etaWords({ start, end, basis, stuck }: EtaDocument, job: ShownJob, now: number): string {
	if (end === null) return `unknown${stuck === null ? "" : `: ${printable(stuck)}`}`;
	const from = job.status === "running" ? "" : `starts ${rangeWords(start, now)}, `;
	return `${from}ends ${rangeWords(end, now)}${basis ? ` (based on ${printable(basisWords(basis))})` : ""}`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function opening(job: ShownJob, reasons: readonly ReasonDocument[], io: Io): string {
	const { paint } = io.print;
	if (job.status === "running") return `is ${headline(job, io)}${runningWords(job)}.`;
	if (hasEnded(job)) return `has ended: ${headline(job, io)}.`;
	const status = paintStatus(paint, job.status, statusWords(job.status));
	if (reasons.length === 1 && reasons[0]?.code === "turn") return `is ${status} and could start: it only waits for its turn.`;
	if (reasons.length === 1 && reasons[0]?.code === "worker") return `is ${status}: only a worker can start it.`;
	const count = reasons.length === 1 ? "one thing holds" : `${reasons.length} things hold`;
	return `is ${status}: ${count} it back.`;
}

/** The headline already says that it is frozen, or what it waits for. */
const runningWords = (job: ShownJob): string =>
	job.run?.stop || job.run?.attached || job.run?.frozen || job.waits_for?.length ? "" : ": nothing holds it back";

const holderWords = (holders: readonly string[]) => holders.map((one) => printable(one.replace(/^job:(\d+)$/, "job $1"))).join(", ");

function sentence(reason: ReasonDocument, paint: Paint, now: number): string {
	const detail = withLocalTimes(printable(reason.detail), now);
	const key = reason.code === "locks" ? reason.subject.replace(/^lock:/, "") : "";
	const parts = [paint("yellow", `${detail}${key && !detail.endsWith(`: ${key}`) ? `: ${printable(key)}` : ""}`)];
	if (
		reason.code !== "held" &&
		reason.holder &&
		reason.holder.length > 0 &&
		!reason.holder.every((one) => detail.includes(one.replace(/^job:/, "job ")))
	)
		parts.push(`${reason.code === "paused" ? "by" : "held by"} ${holderWords(reason.holder)}`);
	const [since, clears, seen] = [instantOf(reason.since), instantOf(reason.clears_at), instantOf(reason.observed_at)];
	if (since !== undefined && now - since >= 1000) parts.push(`for ${durationWords(now - since)}`);
	if (clears !== undefined) parts.push(`clears ${relative(clears, now)}`);
	if (seen !== undefined) parts.push(`last looked ${relative(seen, now)}`);
	return parts.join(", ");
}

/** For an ended job: what its last run was not allowed, and the question in its last words. */
function saidAtTheEnd(job: ShownJob, paint: Paint): string[] {
	if (!hasEnded(job)) return [];
	const denied = (job.denied ?? []).map((one) => `  ${paint("yellow", `was not allowed ${printable(one)}`)}`);
	const asks = job.closing_question ? [`  ${paint("yellow", `its last words ask: ${printable(job.closing_question)}`)}`] : [];
	return denied.length + asks.length === 0 ? [] : ["", ...denied, ...asks];
}

const idIn = (subject: string) => /^job:(\d+)$/.exec(subject)?.[1];
const nameIn = (subject: string) => printable(subject.slice(subject.indexOf(":") + 1));

/** What can be done, by the reason's code. */
const ADVICE: Record<ReasonCode, ((reason: ReasonDocument, job: ShownJob) => string) | undefined> = {
	delayed: (_, job) => `do not wait for its time: sluice run-now ${job.id}`,
	backoff: (_, job) => `try at once: sluice rerun ${job.id}`,
	// The deadline ends a waiting job; only an entry of the kernel's queue waits past it, and `why` shows that one in other words.
	deadline: undefined,
	dependencies: ({ subject }) =>
		idIn(subject)
			? `see what that one waits for: sluice why ${idIn(subject)}`
			: /^(?:artifact:)?(?:custom|sentinel):/.test(subject)
				? `say that it is there: sluice artifact set ${plain(subject.replace(/^artifact:/, ""))}`
				: "it goes on as soon as that is there",
	probing: () => "it is looked at again by itself",
	item_blocked: ({ holder, subject }) =>
		(holder ?? []).length > 0
			? "finish what blocks the item first"
			: `it goes on by itself when the item is ready; sluice source show ${nameIn(subject).split(":")[0]} shows it`,
	pinned_head: () => "reset the branch, or add the job anew on the new head",
	condition: () => "make it true; it is looked at again by itself",
	held: (_, job) => `sluice release ${job.id}`,
	approval: (_, job) => `sluice approve ${job.id}, or sluice reject ${job.id}`,
	needs_human: (_, job) => `sluice answer ${job.id} TEXT${(job.denied ?? []).length > 0 ? `; ${grantAdvice(job)}` : ""}`,
	locks: ({ holder }) => {
		const [first] = (holder ?? []).map((one) => idIn(one)).filter(Boolean);
		return first ? `wait, or end the holder: sluice cancel ${first}` : "it is given out when it is free";
	},
	paused: ({ subject }) =>
		/^(lane|repo|batch|account):/.test(subject) ? `sluice resume --${subject.split(":")[0]} ${nameIn(subject)}` : "sluice resume",
	quiet_hours: ({ subject }) => `change lanes.${nameIn(subject)}.active_hours if it is urgent`,
	rate_limited: ({ subject }) => `if you know better: sluice account clear ${nameIn(subject)}`,
	outage: ({ subject }) => `it is tried again by itself and burns no retry; if you know better: sluice account clear ${nameIn(subject)}`,
	account_closed: ({ subject }) => `settle it with the provider, then: sluice account clear ${nameIn(subject)}`,
	breaker_open: ({ subject }) =>
		`fix what made the launches fail; a probe tries by itself, or at once: sluice resume --${subject.replace(":", " ")}`,
	review: ({ subject }) =>
		`review and merge what waits (sluice status; sluice merge ID, or --drop), or raise the cap: sluice config set repos.${nameIn(subject)}.max_open N`,
	budget: ({ subject }) => `grant more: sluice budget grant ${printable(subject.replace("/", " "))} LIMIT`,
	no_host: () => "start a host that has its repo and labels; see sluice host list",
	capacity: ({ subject }, job) =>
		subject === "cycle_interval"
			? "start a cycle now: sluice run; for starts without cycles: sluice config set cycle_interval 0s"
			: subject === "spawn_delay"
				? "it starts by itself; for starts without a pause between them: sluice config set spawn_delay 0s"
				: subject.startsWith("lane:")
					? `raise the cap: sluice lane set ${nameIn(subject)} --max N, or go past it: sluice run-now ${job.id} --force`
					: `raise the cap: sluice config set max_concurrent N, or go past it: sluice run-now ${job.id} --force`,
	safety_cap: () => "raise it if the machine can carry more: sluice config set safety_cap N",
	dispatch_failed: (_, job) => shellAdvice(job) ?? `fix it, then try at once: sluice rerun ${job.id}`,
	worker: () => "a program of yours claims such jobs with job.claim; a command or an agent is what hosts start",
	turn: (_, job) => `sooner: sluice promote ${job.id}, or sluice run-now ${job.id}`,
};

/** `Place  3rd in lane code` and `Priority  110 = 100 lane code + 10 depth`. */
function standing({ job, position, priority }: Why, paint: Paint): string[] {
	const terms = priority.terms.filter((term) => term.value !== 0);
	const sum = terms
		.map(
			({ name, value }, index) =>
				`${index === 0 ? (value < 0 ? "−" : "") : value < 0 ? " − " : " + "}${Math.abs(value)} ${printable(name)}`,
		)
		.join("");
	const place = position === null ? "not in line yet" : `number ${position} of lane ${printable(job.lane ?? "")}`;
	return [
		`  ${paint("dim", "place   ")}  ${place}`,
		`  ${paint("dim", "priority")}  ${String(priority.total).replace("-", "−")}${terms.length > 0 ? ` = ${sum}` : ""}`,
	];
}
