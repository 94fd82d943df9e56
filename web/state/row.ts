// A job as the dashboard stores it: what lists, charts and searches need, small enough for tens of thousands. Pure.

import type { JobDocument } from "../../src/api/documents.ts";
import { countDenied } from "../../src/core/agents/permissions/denied.ts";
import type { Status } from "../../src/core/job.ts";
import { localTimes } from "./words.ts";

/** The fields that the page requests. */
export const FIELDS = [
	"id",
	"name",
	"status",
	"blocked",
	"wait_reason",
	"waits_for",
	"exit_kind",
	"exit_code",
	"end_reason",
	"merge_status",
	"merge_report",
	"attempt",
	"last_failure",
	"created_at",
	"ready_at",
	"started_at",
	"ended_at",
	"backoff_until",
	"batch",
	"title",
	"command",
	"agent",
	"prompt",
	"repo",
	"base_branch",
	"worktree",
	"lane",
	"owner",
	"model",
	"run",
	"account",
	"question",
	"item",
	"denied",
	"usage",
] as const;

export type RowFields = Pick<JobDocument, Exclude<(typeof FIELDS)[number], "usage" | "denied" | "run">> & {
	run?: { host?: string | null } | null;
	usage?: Record<string, number>;
	denied?: string[];
};

export type PageRow = {
	id: number;
	status: Status;
	name: string | null;
	label: string;
	lane: string;
	repo: string | null;
	batch: string | null;
	agent: string | null;
	model: string | null;
	owner: string | null;
	/** Where it runs. */
	host: string | null;
	account: string | null;
	/** The branch that it begins from or writes to, if any. */
	branch: string | null;
	/** Why it waits or how it ended, in one line. */
	reason: string | null;
	/** What a person has to do. */
	asks: "approval" | "answer" | "merge" | null;
	/** Only its turn has not come yet. */
	ready: boolean;
	/** A person keeps it from starting. */
	held: boolean;
	createdAt: number;
	readyAt: number | null;
	startedAt: number | null;
	endedAt: number | null;
	attempt: number;
	costMicros: number | null;
	/** The text that a search looks through, in lower case. */
	text: string;
	/** The last event included in this row. */
	seq: number;
};

const time = (text: string | null | undefined): number | null => (text ? Date.parse(text) : null);
const firstLine = (text: string): string => text.trimStart().split("\n", 1)[0]?.trim() ?? "";
const SHELLS = /(?:^|\/)(?:ba|z|da)?sh$/;

/** `sh -c SCRIPT` is shown as its script. */
export function commandLine(command: readonly string[]): string {
	const [program = "", flag, script] = command;
	if (command.length === 3 && SHELLS.test(program) && /^-[a-z]*c$/.test(flag ?? "")) return script ?? "";
	return command.join(" ");
}

type Labelled = Pick<RowFields, "id" | "name" | "title" | "prompt" | "command">;

/** What it is about, besides its name. */
const aboutOf = (job: Labelled): string | null => job.title ?? (job.prompt ? firstLine(job.prompt) : null);

/** Its name and what it is about; without both its command. */
export function labelOf(job: Labelled): string {
	const about = aboutOf(job);
	const found = [job.name, about === job.name ? null : about].filter(Boolean).join(" · ");
	return (found || (job.command ? firstLine(commandLine(job.command)) : "") || `job ${job.id}`).slice(0, 300);
}

function asksOf(job: RowFields): PageRow["asks"] {
	// The daemon says that its turn to be asked about has come; an approval that is needed later is not asked for yet.
	if (job.wait_reason?.kind === "approval") return "approval";
	if (job.wait_reason?.kind === "needs_human") return "answer";
	return mergeTrouble(job) === null ? null : "merge";
}

/** Why its merge needs a person to continue. */
export function mergeTrouble({
	status,
	merge_status,
	merge_report,
}: Pick<RowFields, "status" | "merge_status" | "merge_report">): string | null {
	if (status !== "succeeded") return null;
	if (merge_status === "conflict") return "its merge has a conflict";
	if (merge_status === "base_dirty") return `not merged yet: ${merge_report?.target ?? "its base"} has uncommitted changes`;
	if (merge_status === "verify_failed") return "its merge did not pass verify";
	return merge_status === "pending" && merge_report?.uncommitted ? "not merged: uncommitted work" : null;
}

function reasonOf(job: RowFields, asks: PageRow["asks"]): string | null {
	if (asks === "approval") return "waits for approval";
	if (asks === "answer") return job.question;
	if (asks === "merge") return mergeTrouble(job);
	if (job.status === "succeeded") return deniedWords(job.denied);
	if (job.status === "running") return awaitedWords(job.waits_for) ?? (job.attempt > 1 ? `attempt ${job.attempt}` : null);
	if (job.ended_at !== null) return job.end_reason ?? job.last_failure ?? ended(job);
	return job.wait_reason ? localTimes(job.wait_reason.detail) : null;
}

/** What its last run was not allowed to do. An older daemon does not send it. */
function deniedWords(denied: readonly string[] | undefined): string | null {
	const [first] = denied ?? [];
	const others = countDenied(denied ?? []) - 1;
	return first === undefined ? null : `was not allowed ${first}${others > 0 ? ` and ${others} more` : ""}`;
}

/** For a run that waits for jobs and lends its slot meanwhile. An older daemon does not send it. */
export function awaitedWords(waits_for: readonly number[] | undefined): string | null {
	const [first, ...others] = waits_for ?? [];
	return first === undefined ? null : `waits for job ${first}${others.length > 0 ? ` and ${others.length} more` : ""}, lends its slot`;
}

const ended = ({ exit_kind, exit_code }: RowFields): string | null =>
	exit_kind === null ? null : exit_code !== null && exit_kind === "failed" ? `exit ${exit_code}` : exit_kind.replaceAll("_", " ");

/** Characters of a prompt or command that a row keeps for searches; the daemon searches all of it. */
const KEPT_TEXT = 500;

/** `most`: of a job that the daemon found, all of its text counts. */
export function rowOf(job: RowFields, seq: number, most = KEPT_TEXT): PageRow {
	const asks = asksOf(job);
	const label = labelOf(job);
	const reason = reasonOf(job, asks);
	const branch = job.worktree ?? job.base_branch ?? null;
	const does = (job.prompt ?? (job.command ? commandLine(job.command) : "")).slice(0, most);
	const words = [job.id, label, does, job.lane, job.repo, job.batch, job.agent, branch, job.item, job.owner, reason];
	return {
		id: job.id,
		status: job.status,
		name: job.name,
		label,
		lane: job.lane,
		repo: job.repo,
		batch: job.batch,
		agent: job.agent,
		model: job.model ?? null,
		owner: job.owner,
		host: job.run?.host ?? null,
		account: job.account,
		branch,
		reason: reason === null ? null : firstLine(reason).slice(0, 300),
		asks,
		ready: job.status === "queued" && !job.blocked,
		held: job.wait_reason?.kind === "held",
		createdAt: time(job.created_at) ?? 0,
		readyAt: time(job.ready_at),
		// A job that waits again still has the start time of its last run, which is over.
		startedAt: job.status === "running" || job.ended_at !== null ? time(job.started_at) : null,
		endedAt: time(job.ended_at),
		attempt: job.attempt,
		costMicros: job.usage?.cost_micro ?? null,
		text: words
			.filter((word) => word !== null && word !== undefined)
			.join(" ")
			.toLowerCase(),
		seq,
	};
}
