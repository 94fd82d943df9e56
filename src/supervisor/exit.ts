// How a run ended, from what can be seen of it. Pure.
//
//   seen                         exit_kind        message
//   program could not start      launch_failed    why
//   exit code 0                  completed        –
//   another exit code            failed           the last line of its stderr
//   a usual signal               crashed          which, and that line
//   no process, no exit          lost             "scheduler recovery"
//   ended for its host's lease   lost             the same, and why
//   anything, after a stop       the stop's       the stop's reason

import type { ExitKind } from "../core/job.ts";
import { oneLine } from "../core/storable.ts";
import type { Sighting } from "../processes.ts";
import type { Ending } from "../scheduler.ts";
import type { LiveRun } from "./run.ts";

export { MESSAGE_MAX, oneLine, storable } from "../core/storable.ts";

/** As much of a log's end as one line is looked for in. */
export const TAIL_BYTES = 4096;

export type Over = Extract<Sighting, { state: "exited" | "gone" }>;

export function endingOf(run: LiveRun, seen: Over, stderrTail: () => string): Ending {
	const at = { job: run.job, token: run.token };
	const stopped = run.stop ? { exit_kind: run.stop.kind satisfies ExitKind, message: oneLine(run.stop.reason) } : null;
	if (seen.state === "gone")
		return stopped
			? { ...at, ...stopped }
			: { ...at, exit_kind: "lost", message: "scheduler recovery", ...(seen.reboot ? { reboot: true } : {}) };
	if (stopped) return { ...at, ...stopped, exit_code: seen.code };
	if (seen.launch_failed !== null) {
		const failed = { ...at, exit_kind: "launch_failed" as const, exit_code: seen.code, message: oneLine(seen.launch_failed) };
		return isOwnFault(seen.missing, run) ? { ...failed, fault: "job" } : failed;
	}
	if (seen.signal !== null) {
		const last = stderrTail();
		return { ...at, exit_kind: "crashed", exit_code: seen.code, message: oneLine(`killed by ${seen.signal}${last ? `: ${last}` : ""}`) };
	}
	if (seen.code === 0) return { ...at, exit_kind: "completed", exit_code: 0 };
	return { ...at, exit_kind: "failed", exit_code: seen.code, message: oneLine(stderrTail() || `exit code ${seen.code}`) };
}

/** The job named the program, and its folder unless it works in a worktree: a worktree that is gone is not the job's doing. */
const isOwnFault = (missing: "program" | "folder" | undefined, { housed }: LiveRun): boolean =>
	missing === "program" || (missing === "folder" && !housed);

/** The last line with something in it. */
export function lastLine(text: string): string {
	const lines = text.split(/[\r\n]+/);
	for (let index = lines.length - 1; index >= 0; index--) {
		const line = oneLine(lines[index] as string);
		if (line !== "") return line;
	}
	return "";
}

/** Its host could not renew its lease and ended it: whatever its program made of the signal is not its own doing. */
export const endedForLease = ({ job, token, session, usage }: Ending): Ending => ({
	job,
	token,
	exit_kind: "lost",
	message: "scheduler recovery: its host could not renew its lease",
	reboot: true,
	...(session === undefined ? {} : { session }),
	...(usage === undefined ? {} : { usage }),
});
