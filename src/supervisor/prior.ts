// What a run is told of the one before it: how it ended, its last words, where. In its environment, and as a file.

import { TAIL_BYTES } from "./exit.ts";
import type { Floor } from "./floor.ts";
import { folderOf, type LiveRun } from "./run.ts";

export type Prior = { env: Record<string, string>; text: string };

/** Null for a first run, or when the folder of the last one is gone. */
export function priorOf(floor: Floor, run: LiveRun): Prior | null {
	for (let attempt = run.attempt - 1; attempt > 0; attempt--) {
		const dir = folderOf(floor, run.job, attempt);
		const outcome = outcomeIn(floor, dir);
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

function outcomeIn({ disk }: Floor, dir: string): Record<string, unknown> | null {
	try {
		const text = disk.read(`${dir}/outcome.json`);
		return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
	} catch {
		return null;
	}
}

function tail({ disk }: Floor, dir: string, stream: "stdout" | "stderr"): string {
	const path = `${dir}/${stream}.log`;
	const size = disk.size(path) ?? 0;
	return new TextDecoder().decode(disk.readAt(path, Math.max(0, size - TAIL_BYTES), TAIL_BYTES));
}
