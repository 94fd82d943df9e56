// The fields of a job that a list or a block can show: those of its document, and three that combine several. `display.list` is checked against them.

import { nearest } from "./input/nearest.ts";

/** Fields of the document, in its order (src/api/documents.ts). */
export const DOCUMENT_FIELDS = [
	...["id", "name", "status", "kind", "blocked", "wait_reason", "held", "waited_on", "exit_code", "raw_exit_code", "exit_kind"],
	...[
		"end_reason",
		"merge_status",
		"merge_target",
		"merge_commit",
		"merge_report",
		"attempt",
		"failures",
		"dispatch_failures",
		"last_failure",
		"created_at",
	],
	...["enqueued_at", "runnable_at", "deadline", "ready_at", "backoff_until", "started_at", "ended_at", "run", "last_run", "batch"],
	...["parent", "depth", "item", "source", "phase", "title", "command", "agent", "prompt", "payload", "repo", "base_branch", "worktree"],
	...["merge", "no_merge", "input_patch", "cwd", "env", "host_labels", "lane", "priority", "rank", "forced", "trigger", "after", "needs"],
	...["on_missing", "produces", "pinned_head", "conditions", "locks", "parallelizable", "requires_approval", "approval", "unique"],
	...[
		"owner",
		"account",
		"timeout",
		"stall_timeout",
		"retry",
		"uses",
		"model",
		"permission",
		"may_add",
		"allow",
		"expect",
		"commit",
		"args",
		"vars",
		"recipe",
		"mode",
	],
	...[
		"owned",
		"raw",
		"waits_for",
		"session",
		"question",
		"answer",
		"asked",
		"verdict",
		"result",
		"granted",
		"denied",
		"closing_question",
		"usage",
		"broken",
		"version",
	],
] as const;

/** What the job is about, how old it is, and its most important remark. */
const ROW_FIELDS = ["subject", "age", "remark"] as const;

export const JOB_FIELDS: readonly string[] = [...DOCUMENT_FIELDS, ...ROW_FIELDS];

export const fieldHint = (field: string): string => {
	const guess = nearest(field, JOB_FIELDS) ?? JOB_FIELDS.find((one) => one.startsWith(`${field}_`));
	return `${guess === undefined ? "" : `did you mean "${guess}"? `}known: ${JOB_FIELDS.join(", ")}`;
};
