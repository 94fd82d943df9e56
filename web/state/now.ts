// Words for the home of the page: how a job ended, whether a cause is only the wait for a free slot, what an agent is doing. Pure.

import type { NowJob, RunningNow } from "../../src/api/documents/now.ts";
import type { CauseDocument } from "../../src/api/documents/queue.ts";
import type { ProgressDocument } from "../../src/api/documents.ts";
import { mergeWords } from "../../src/core/job.ts";
import type { RunProgress } from "../../src/core/runs/progress.ts";
import { inWords } from "./words.ts";

/** These jobs only wait for the next free slot, or for their worker. */
export const isOwnTurn = ({ kind, subject }: CauseDocument): boolean =>
	(kind === "capacity" && subject === "all") || kind === "worker" || subject === "cycle_interval" || subject === "spawn_delay";

export function aboutEnd(job: NowJob): string {
	if (job.status === "succeeded") return mergeWords(job) || "done";
	const exit = job.exit_kind === null ? inWords(job.status) : `${inWords(job.exit_kind)}${job.exit_code ? ` (${job.exit_code})` : ""}`;
	return job.end_reason ?? job.last_failure ?? exit;
}

/** What a run does now: the tool that runs and the last message of an agent, the last line of a command. */
export const activityOf = (progress: RunProgress | null): { tool: string | null; text: string | null } => ({
	tool: progress?.tool ?? null,
	text: progress?.message ?? progress?.last_line ?? null,
});

/** What was told of the run since it was read, or else what was read. */
export const latestProgress = (
	told: ProgressDocument | undefined,
	run: { attempt: number; progress: RunProgress | null } | null,
): RunProgress | null => (run === null ? null : told?.attempt === run.attempt ? told : run.progress);

/** `+88 −12`; empty while no lines have changed, or if they are not known. */
export const linesWords = ({ lines_added: added, lines_removed: removed }: Pick<RunProgress, "lines_added" | "lines_removed">): string =>
	added || removed ? `+${added ?? 0} −${removed ?? 0}` : "";

/** Nothing shorter is worth a mark. */
const SHORT_MS = 30_000;

/** `late`: longer than nine of ten such runs. */
export function lateness(elapsedMs: number, usual: RunningNow["usual"]): "late" | "usual" | "unknown" {
	if (usual === null) return "unknown";
	return elapsedMs > Math.max(usual.p90_ms, SHORT_MS) ? "late" : "usual";
}

/** `41 k`, `1.2 M`. */
export function short(n: number): string {
	if (n < 1000) return String(n);
	return n < 1_000_000 ? `${Math.round(n / 1000)} k` : `${(n / 1_000_000).toFixed(1)} M`;
}
