// The fields of a job that a list or a block can show: those of its document, and three that combine several. `display.list` is checked against them.

import { nearest } from "./input/nearest.ts";
import { INPUT_KEYS, keysMarked } from "./schema/job.ts";

/** What the document (src/api/documents.ts) tells of a job besides its input; the name stands in front, where people look for it. */
const STATE_FIELDS = [
	...[
		"id",
		"name",
		"status",
		"kind",
		"blocked",
		"wait_reason",
		"held",
		"waited_on",
		"waits_for",
		"exit_code",
		"raw_exit_code",
		"exit_kind",
	],
	...["end_reason", "merge_status", "merge_target", "merge_commit", "merge_report", "attempt", "failures", "dispatch_failures"],
	...["last_failure", "created_at", "enqueued_at", "ready_at", "backoff_until", "started_at", "ended_at", "run", "last_run", "depth"],
	...["rank", "forced", "approval", "session", "told", "question", "answer", "asked", "verdict", "result", "granted", "denied"],
	...["closing_question", "usage", "broken", "version"],
];
const BECAME: readonly string[] = keysMarked("became");

export const DOCUMENT_FIELDS: readonly string[] = [...new Set([...STATE_FIELDS, ...INPUT_KEYS.filter((key) => !BECAME.includes(key))])];

/** What the job is about, how old it is, and its most important remark. */
const ROW_FIELDS = ["subject", "age", "remark"] as const;

export const JOB_FIELDS: readonly string[] = [...DOCUMENT_FIELDS, ...ROW_FIELDS];

export const fieldHint = (field: string): string => {
	const guess = nearest(field, JOB_FIELDS) ?? JOB_FIELDS.find((one) => one.startsWith(`${field}_`));
	return `${guess === undefined ? "" : `did you mean "${guess}"? `}known: ${JOB_FIELDS.join(", ")}`;
};
