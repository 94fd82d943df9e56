// Words for the home of the page: how a job ended, whether a cause is only the wait for a free slot, what an agent is doing. Pure.

import type { NowJob, RunningNow } from "../../src/api/documents/now.ts";
import type { CauseDocument } from "../../src/api/documents/queue.ts";
import { mergeWords } from "../../src/core/job.ts";
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
export function activityOf({ job, last_line }: RunningNow): { tool: string | null; text: string | null } {
	const { progress } = job.run ?? { progress: null };
	if (progress === null) return { tool: null, text: last_line };
	const [first = ""] = (progress.message ?? "").trim().split("\n");
	return { tool: progress.tool, text: first === "" ? null : first };
}

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
