// The methods of batches.

import type { CancelReport, RewindAllReport } from "../../contracts/scheduler.ts";
import type { Status } from "../../core/job.ts";
import type { RangeDocument } from "../documents/forecast.ts";
import type { Doc, JobDocument } from "../documents.ts";
import { flag, label, maybe, operatorMethod, text, viewerMethod, word } from "../fields.ts";

export type BatchDocument = {
	name: string;
	/** `closed` once all of its jobs have ended, unless its owner holds it open. */
	state: "open" | "closed";
	open: number;
	total: number;
	owned: boolean;
	/** Jobs by status, without those that gc has deleted. */
	counts: Partial<Record<Status, number>>;
	/** Share of its jobs that have ended. */
	progress: number;
	/** Attempts of its jobs, and their reported usage; null while no run has reported a cost. */
	runs: number;
	usage: Record<string, number>;
	cost_micro: number | null;
	/** When its last job is likely to end; null if that cannot be forecast. */
	eta: RangeDocument | null;
};

export const BATCH_METHODS = {
	"batch.list": viewerMethod<Doc<{ batches: BatchDocument[] }>>()({
		about:
			"Batches: how many jobs in which state, how many still open, what they cost and when they will be done, as far as that is known.",
		params: { all: maybe(flag("closed ones too")) },
		result: "{batches: [{name, state, open, total, owned, counts, progress, runs, usage, cost_micro, eta: {p50, p90}}]}",
	}),
	"batch.show": viewerMethod<Doc<{ batch: BatchDocument; jobs: JobDocument[] }>>()({
		about: "One batch with its jobs.",
		params: { name: word("the batch") },
		result: "{batch, jobs}",
	}),
	"batch.close": operatorMethod<Doc<{ batch: BatchDocument }>>()({
		about: "Closes a batch that its caller owns: now, or when its last open job ends.",
		params: { name: label("the batch") },
		result: "{batch}",
	}),
	"batch.cancel": operatorMethod<Doc<Pick<CancelReport, "cancelled" | "requested">>>()({
		about: "Ends all jobs of a batch: waiting ones at once, running ones after a stop.",
		params: { name: word("the batch"), reason: maybe(text("why, for the record", 10_000)) },
		result: "{cancelled, requested}",
	}),
	"batch.retry": operatorMethod<Doc<RewindAllReport>>()({
		about: "Rewinds the jobs of a batch that failed, were cancelled or expired, each with what comes after it.",
		params: { name: word("the batch") },
		result: "{reset, restarted, skipped: [{job, reason}]}",
	}),
} as const;
