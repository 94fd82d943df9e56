// What a run is told of the one before it: how it ended, its last words, where. In its environment, and as a file.

import type { Before } from "../core/agents/continuing.ts";
import { OUTCOMES } from "../core/agents/happening.ts";
import { EXIT_KINDS } from "../core/job.ts";
import { accountIn } from "./agent-end.ts";
import { TAIL_BYTES } from "./exit.ts";
import type { Floor } from "./floor.ts";
import { folderOf, type LiveRun } from "./run.ts";

export type Prior = { env: Record<string, string>; text: string };

/** Null for a first run, or when the folder of the last one is gone. */
export function priorOf(floor: Floor, run: LiveRun): Prior | null {
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const dir = folderOf(floor, run.job, attempt);
		const outcome = accountIn(floor, dir);
		if (outcome === null) continue;
		const { exit_kind = null, exit_code = null, message = null } = outcome;
		const account = {
			version: 1,
			attempt,
			exit_kind,
			exit_code,
			message,
			dir,
			stdout_tail: tail(floor, dir, "stdout"),
			stderr_tail: tail(floor, dir, "stderr"),
		};
		return {
			env: {
				SLUICE_PRIOR_ATTEMPT: String(attempt),
				SLUICE_PRIOR_EXIT: String(exit_kind),
				SLUICE_PRIOR_FILE: `${run.dir}/prior.json`,
			},
			text: `${JSON.stringify(account)}\n`,
		};
	}
	return null;
}

/** How the last run ended that was there at all: whether its session goes on hangs on it. */
export function beforeOf(floor: Floor, run: LiveRun): Before | null {
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const account = accountIn(floor, folderOf(floor, run.job, attempt));
		const exit_kind = EXIT_KINDS.find((kind) => kind === account?.exit_kind);
		// One that never started says nothing about the session.
		if (account === null || exit_kind === undefined || exit_kind === "launch_failed") continue;
		const session = typeof account.session === "string" ? account.session : null;
		const outcome = OUTCOMES.find((one) => one === account.outcome) ?? null;
		return { exit_kind, outcome, session, session_gone: account.session_gone === true };
	}
	return null;
}

function tail({ disk }: Floor, dir: string, stream: "stdout" | "stderr"): string {
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	return new TextDecoder().decode(disk.readAt(path, Math.max(0, size - TAIL_BYTES), TAIL_BYTES));
}
