// Describes jobs in words: the row of a list, what a job runs, its state.

import type { JobDocument } from "../../api/documents.ts";
import { countDenied, isGrantable } from "../../core/agents/permissions/denied.ts";
import { mergeWords } from "../../core/job.ts";
import { writeJson } from "../../core/text/json-text.ts";
import { durationWords, instantOf, relative, shortDuration, withLocalTimes } from "../times.ts";
import { fieldWords } from "./cells.ts";
import { type Paint, paintStatus } from "./print.ts";
import { printable, shellWord } from "./sequences.ts";
import type { TableColumn } from "./table.ts";

export { shellWord };

/** A document of another version may have more or fewer fields than ours. */
export type ShownJob = Partial<JobDocument> & { id: number; status: string };

/** What the job is about, in one line: its title, or what it runs. */
export function subjectOf(job: ShownJob): string {
	if (job.title) return printable(job.title);
	if (job.command) return printable(job.command.map(shellWord).join(" "));
	if (job.agent) return printable(`${job.agent}: ${job.prompt ?? job.args ?? job.recipe ?? "payload"}`);
	return job.payload === null || job.payload === undefined ? "" : printable(`payload ${writeJson(job.payload)}`);
}

export const labelOf = (job: { id: number; name?: string | null | undefined }): string =>
	`job ${job.id}${job.name ? ` (${printable(job.name)})` : ""}`;

const WORDS: Record<string, string> = {
	waiting_on_deps: "waiting on deps",
	waiting_on_locks: "waiting on locks",
	blocked_by_dependency: "blocked",
};
/** Statuses as shown in a row. */
export const statusWords = (status: string): string => WORDS[status] ?? status;

const WAITING = ["queued", "waiting_on_deps", "waiting_on_locks"];
export const isWaiting = (job: ShownJob): boolean => WAITING.includes(job.status);
export const hasEnded = (job: ShownJob): boolean => !isWaiting(job) && job.status !== "running";

/** Waits for more than its turn. */
export const isHeldBack = (job: ShownJob): boolean => job.blocked === true || (isWaiting(job) && Boolean(job.held));

/** The most important remark: why it waits, how long it has been running, how it ended. */
export function remark(job: ShownJob, now: number): string {
	if (job.status === "running") {
		const since = instantOf(job.run?.started_at ?? job.started_at);
		const attempt = (job.attempt ?? 1) > 1 ? `, attempt ${job.attempt}` : "";
		if (job.run?.attached) return attachedWords(job.run.attached);
		if (job.run?.stop) return `stopping: ${printable(job.run.stop.reason)}`;
		const more = [
			attempt,
			job.run?.frozen ? `, frozen${job.run.frozen_by ? ` by ${printable(job.run.frozen_by.by)}` : ""}` : "",
			awaitedWords(job),
		].join("");
		return since === undefined ? more.replace(/^, /, "") : `for ${durationWords(now - since)}${more}`;
	}
	if (isWaiting(job)) {
		if (job.question) return `asks: ${printable(job.question)}`;
		const backoff = instantOf(job.backoff_until);
		if (backoff !== undefined && backoff > now)
			return `${printable(job.wait_reason?.detail ?? "in back-off").replace(/ not before \S+/, "")}, again ${relative(backoff, now)}`;
		const due = instantOf(job.runnable_at);
		if (due !== undefined && due > now) return startWords(job, relative(Math.max(due, now + SOON_MS), now));
		return withLocalTimes(printable(job.wait_reason?.detail ?? job.held?.detail ?? ""), now);
	}
	const took = tookOf(job);
	const reason = printable(job.end_reason ?? "");
	if (job.status === "succeeded")
		return [
			took === "" ? reason : `in ${took}`,
			job.merge_status === "merged" ? printable(mergeWords(job)) : unmergedWords(job),
			deniedWords(job),
		]
			.filter(Boolean)
			.join(", ");
	const launch = launchWords(job);
	if (launch !== undefined) return launch;
	// No reason was given: leave out a reason that only repeats the status, and the exit kind of the stop.
	if (job.status === "cancelled" && (reason === "" || reason === job.status)) return took && `after ${took}`;
	if (reason !== "") return reason;
	const code = typeof job.exit_code === "number" && job.exit_code !== 0 ? `exit code ${job.exit_code}` : "";
	const kind = job.exit_kind && !["failed", "cancelled", "completed"].includes(job.exit_kind) ? job.exit_kind.replaceAll("_", " ") : "";
	return [kind, code, took && `after ${took}`].filter(Boolean).join(", ");
}

/** `attached by ann` */
const attachedWords = ({ by, state }: { by: string; state: string }): string =>
	state === "ready" ? `attached by ${printable(by)}` : `to be attached by ${printable(by)} at the end of its turn`;

/** `was not allowed Bash: npm test and 2 more`; empty for a job without denied calls. */
export function deniedWords({ denied = [] }: Pick<ShownJob, "denied">): string {
	const [first] = denied;
	const others = countDenied(denied) - 1;
	return first === undefined ? "" : `was not allowed ${printable(first)}${others > 0 ? ` and ${others} more` : ""}`;
}

/** How a person allows what was denied. */
export const grantAdvice = ({ id, agent, denied = [] }: Pick<ShownJob, "id" | "agent" | "denied">): string =>
	!isGrantable(denied, agent)
		? `to allow it everything: sluice answer ${id} --permission full`
		: `to allow what it was denied: sluice answer ${id} --permission asked`;

/** `, waits for job 7 and 2 more, lends its slot`; empty for a run that does not wait. */
function awaitedWords({ waits_for = [] }: ShownJob): string {
	const [first, ...others] = waits_for;
	return first === undefined ? "" : `, waits for job ${first}${others.length > 0 ? ` and ${others.length} more` : ""}, lends its slot`;
}

/** A due time is shown at least this far ahead, so that a job that has not started yet never `starts now`. */
const SOON_MS = 1000;

const startWords = (job: ShownJob, when: string): string =>
	job.hold || job.approval === "needed"
		? `${job.hold ? heldBy(job.hold) : "needs approval"}, starts ${when} at the earliest`
		: `starts ${when}`;

/** `held by ann`; the reason is in `wait_reason` when the hold is what the job waits for. */
const heldBy = ({ by }: NonNullable<ShownJob["hold"]>): string => `held by ${printable(by)}`;

const UNMERGED: Record<string, string | undefined> = {
	conflict: "not merged: conflict",
	verify_failed: "not merged: verify failed",
	pending: "to be merged",
	requested: "merge requested",
};
/** For a succeeded job whose work is not in its base; empty if it is, or is not meant to be. */
export const unmergedWords = (job: Merging): string => {
	if (job.status !== "succeeded") return "";
	if (job.merge_report?.given_up) return "merge given up";
	if (job.merge_status === "base_dirty") return `not merged yet: ${printable(job.merge_target ?? "its base")} has uncommitted changes`;
	return isUncommitted(job) ? "not merged: uncommitted work" : (UNMERGED[job.merge_status ?? ""] ?? "");
};
type Merging = Pick<ShownJob, "status" | "merge_status" | "merge_report" | "merge_target">;

export const isUncommitted = ({ merge_status, merge_report }: Merging): boolean =>
	merge_status === "pending" && merge_report?.uncommitted === true;

/** Only a person, or a repair run that the repo's settings ask for, can continue such a merge. */
export const isMergeStuck = (job: Merging): boolean =>
	job.status === "succeeded" && (["conflict", "verify_failed", "base_dirty"].includes(job.merge_status ?? "") || isUncommitted(job));

/** Why its last run could not be started; `circuit-broken` only says that no further attempt is made. */
export function launchWords(job: Pick<ShownJob, "exit_kind" | "end_reason" | "last_failure" | "attempt">): string | undefined {
	if (job.exit_kind !== "launch_failed") return undefined;
	const why = job.last_failure ?? (job.end_reason === "circuit-broken" ? "" : (job.end_reason ?? ""));
	const tries = (job.attempt ?? 1) > 1 ? `, tried ${job.attempt} times` : "";
	return `could not be started${tries}${why === "" ? "" : `: ${printable(why)}`}`;
}

export function tookOf(job: ShownJob): string {
	const [from, to] = [instantOf(job.started_at), instantOf(job.ended_at)];
	return from === undefined || to === undefined ? "" : durationWords(to - from);
}

/** Maximum characters of a table cell; `--json` has all of it. */
const CELL_CHARACTERS = 200;

/** Columns that show more than the field itself. */
const COLUMNS: Record<string, { column: TableColumn; cell(job: ShownJob, paint: Paint, now: number): string }> = {
	id: { column: { title: "ID", align: "right" }, cell: (job) => String(job.id) },
	status: {
		column: { title: "STATUS" },
		cell: (job, paint) => paintStatus(paint, job.status, `${isHeldBack(job) ? "!" : " "}${statusWords(job.status)}`),
	},
	name: { column: { title: "NAME", shrink: 8, most: CELL_CHARACTERS }, cell: (job) => printable(job.name ?? "") },
	subject: { column: { title: "WHAT", shrink: 14, most: CELL_CHARACTERS }, cell: (job) => subjectOf(job) },
	lane: { column: { title: "LANE", shrink: 6, most: CELL_CHARACTERS }, cell: (job) => printable(job.lane ?? "") },
	priority: { column: { title: "PRIO", align: "right" }, cell: (job) => (job.priority ? String(job.priority) : "") },
	age: { column: { title: "AGE", align: "right" }, cell: (job, _, now) => shortDuration(now - (instantOf(job.created_at) ?? now)) },
	remark: { column: { title: "", shrink: 16 }, cell: (job, paint, now) => paint("dim", remark(job, now)) },
};
export const LIST_FIELDS = ["id", "status", "name", "subject", "lane", "priority", "age", "remark"];

export function columnOf(field: string): TableColumn {
	return COLUMNS[field]?.column ?? { title: field.toUpperCase(), shrink: 8, most: CELL_CHARACTERS };
}
export function cellOf(field: string, job: ShownJob, paint: Paint, now: number): string {
	const known = COLUMNS[field];
	if (known) return known.cell(job, paint, now);
	const value = new Map<string, unknown>(Object.entries(job)).get(field);
	return /_(?:at|until)$|^deadline$/.test(field) && typeof value === "string"
		? relative(instantOf(value) ?? now, now)
		: fieldWords(field, value);
}
