// Why an entry of the kernel's queue is not handed out, or what became of it. A worker claims it, so most of what holds jobs back does not apply.

import type { ReasonDocument } from "../../../api/documents.ts";
import { writeJson } from "../../../core/text/json-text.ts";
import type { Io } from "../../io.ts";
import type { ShownJob } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";
import { cut } from "../../printing/table.ts";
import { instantOf, relative, withLocalTimes } from "../../times.ts";

type EntryWhy = { job: ShownJob; reasons: ReasonDocument[]; position: number | null };

export function entryWhy({ job, reasons, position }: EntryWhy, { print, world }: Io): string[] {
	const { paint } = print;
	const now = world.now();
	const dim = (text: string) => paint("dim", `  → ${text}`);
	const lines = [`${paint("bold", `Entry ${job.id}`)} ${opening(job, reasons, now)}`];
	lines.push(
		paint(
			"dim",
			cut(`  ${printable(`agent ${pidOf(job)}, trigger ${job.trigger}, payload ${writeJson(job.payload)}`)}`, Math.min(print.width, 120)),
		),
	);
	if (job.status === "queued") {
		if (reasons.some(({ code }) => code !== "turn")) lines.push("");
		for (const reason of reasons) {
			if (reason.code !== "turn") lines.push(`  ${paint("yellow", withLocalTimes(printable(reason.detail), now))}`);
			lines.push(dim(ADVICE[reason.code]?.(reason, job) ?? "it is looked at again with each claim"));
		}
		lines.push("", `  ${paint("dim", "place   ")}  ${position === null ? "not in line yet" : `number ${position} of the kernel's queue`}`);
		lines.push(`  ${paint("dim", "priority")}  ${job.priority}`);
	} else
		lines.push(
			dim(
				job.status === "running"
					? withWorker(job)
					: `an entry that has ended stays so; another like it: sluice kernel enqueue ${pidOf(job)}`,
			),
		);
	return lines;
}

const pidOf = ({ owner }: ShownJob) => printable((owner ?? "").replace(/^pid:/, ""));

const withWorker = ({ id }: ShownJob) =>
	`ask its worker to stop: sluice cancel ${id}; if that worker is gone: sluice kernel gc --stale 10m puts it back, sluice kernel complete ${id} crashed ends it`;

function opening(job: ShownJob, reasons: readonly ReasonDocument[], now: number): string {
	if (job.status === "running") {
		const since = instantOf(job.run?.started_at);
		return `is dispatched: ${printable(job.run?.worker ?? "a worker")} has it${since === undefined ? "" : ` since ${relative(since, now)}`}.`;
	}
	if (job.status === "queued")
		return reasons.every(({ code }) => code === "turn")
			? "is queued, and goes to a worker that claims it."
			: "is queued, but no claim takes it now.";
	const isClaimed = (job.attempt ?? 0) > 0;
	if (job.status === "expired") return "is expired: its deadline passed before a worker claimed it.";
	if (job.status === "cancelled" && !isClaimed) return "is cancelled: it ended before a worker claimed it.";
	return `is completed: its worker ${printable(job.last_run?.worker ?? "")} said ${printable(job.exit_kind ?? "completed")}.`;
}

const ADVICE: Record<string, (reason: ReasonDocument, job: ShownJob) => string> = {
	turn: (_, job) => `a worker takes it with kernel.sched.claim, by hand: sluice kernel claim WORKER; sooner: sluice promote ${job.id}`,
	delayed: () => "it can be claimed by itself from then on",
	deadline: (_, job) => `sluice kernel gc makes it expired; or end it: sluice kernel cancel ${job.id}`,
	budget: ({ subject }, job) =>
		`grant more: sluice kernel grant ${printable(subject.replace(/^pid:/, "").replace("/", " "))} LIMIT; or end it: sluice kernel cancel ${job.id}`,
};
