// How a run ended, from what can be seen of it. Pure.
//
//   seen                         exit_kind        message
//   program could not start      launch_failed    why
//   exit code 0                  completed        –
//   another exit code            failed           the last line of its stderr that is not indented
//   a usual signal               crashed          which, and that line
//   no process, no exit          lost             "scheduler recovery"
//   ended for its host's lease   lost             "scheduler recovery", and why
//   anything, after a stop       the stop's       the stop's reason

import type { RunEnd } from "../../contracts/scheduler.ts";
import { given } from "../../core/given.ts";
import { oneLine } from "../../core/input/storable.ts";
import type { ExitKind } from "../../core/job.ts";
import type { Exited, Gone } from "../../core/runs/sighting.ts";
import type { LiveRun } from "../run.ts";

/** Bytes at the end of a log in which its last line is looked for. */
export const TAIL_BYTES = 4096;

export type Over = Exited | Gone;

export function endingOf(run: LiveRun, seen: Over, stderrTail: () => string): RunEnd {
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

/** True if the job is to blame: it names the program, and its folder unless it works in a worktree. A missing worktree is not the job's fault. */
const isOwnFault = (missing: "program" | "folder" | undefined, { housed }: LiveRun): boolean =>
	missing === "program" || (missing === "folder" && !housed);

/** The end of a run that its host stopped because it could not renew its lease. How the program reacted to the signal does not count. */
export const endedForLease = ({ job, token, session, usage }: RunEnd): RunEnd => ({
	job,
	token,
	exit_kind: "lost",
	message: "scheduler recovery: its host could not renew its lease",
	reboot: true,
	...given({ session, usage }),
});
