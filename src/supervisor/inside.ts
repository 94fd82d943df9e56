// Finds the run of a process that calls on the socket without a token, by the process and its ancestors below the daemon. A program can change its own mark, but
// not its ancestors, so a run's program counts before any mark.
//
//   among the caller and its ancestors       the caller
//   the program of a live run                is that run, whatever marks are below it
//   else the nearest mark of a run           is that run; a leftover of it, if it is over
//   none of these                            is no run: an operator, or a hook or git that the daemon has started

import type { CallerProcess } from "../contracts/processes.ts";
import type { SupervisorContext } from "./context.ts";
import type { LiveRun } from "./run.ts";

export type Inside = { run: string; job: number; token: number } | { run: string; job: number; token: null };

export async function runOfProcess(
	{ processes, live, homeTag }: Pick<SupervisorContext, "processes" | "live" | "homeTag">,
	caller: CallerProcess,
): Promise<Inside | null> {
	const lineage = await processes.lineage(caller);
	if (lineage.length === 0) return null;
	const programs = new Map(live.all().map((run) => [pidOf(run, processes), run]));
	for (const { pid } of lineage) {
		const run = programs.get(pid);
		if (run) return insideOf(run);
	}
	const prefix = `${homeTag}-`;
	for (const { mark } of lineage) {
		const id = mark?.startsWith(prefix) ? mark.slice(prefix.length) : "";
		const run = live.get(id);
		if (run) return insideOf(run);
		// A mark that names no run, such as a hook's, does not end the search.
		const [, job] = /^(\d+)\.\d+$/.exec(id) ?? [];
		if (job !== undefined) return { run: id, job: Number(job), token: null };
	}
	return null;
}

const insideOf = ({ id, job, token }: LiveRun): Inside => ({ run: id, job, token });

/** The pid of a run's program; looked up if it is not known yet, because a program may call in its first milliseconds. */
export function pidOf(run: LiveRun, processes: SupervisorContext["processes"]): number | null {
	if (run.pid === null && (run.stage.is === "launching" || run.stage.is === "running")) {
		const seen = processes.look(run.id, run.dir);
		if (seen.state === "alive") run.pid = seen.pid;
	}
	return run.pid;
}
