// One daemon: its parts are opened in stages, each of which gets what the earlier ones have opened. Stopping is the reverse.
//
//   home         created or repaired, and locked: one daemon for each home
//   config       config.yml, the store that it names, git and the environment of programs
//   queue        the scheduler: opened, joined with a lease, given this host's settings
//   work         sources and recipes, triggers, processes, worktrees
//   supervisor   runs, and what other hosts may see of them
//   doors        socket and HTTP: calls are answered
//   begin        runs of an earlier daemon are found again, then claims begin; then triggers and daemon.json

import type { DaemonOptions } from "./config/options.ts";
import { begin } from "./start/begin.ts";
import { openConfig } from "./start/config.ts";
import { openDoors } from "./start/doors.ts";
import { openHome } from "./start/home.ts";
import { openQueue } from "./start/queue.ts";
import { openSupervisor } from "./start/supervisor.ts";
import { createUndo } from "./start/undo.ts";
import { openWork } from "./start/work.ts";

export type { DaemonOptions } from "./config/options.ts";

export type Daemon = Awaited<ReturnType<typeof startDaemon>>;

/**
 * Throws a SluiceError when the daemon cannot start; then nothing is left running. `httpProblem`: why there is no HTTP, or why it uses another port than the
 * configured one. `signInCode` makes a code for a link that signs the page in, like `session.code`. `reload` reads config.yml again. `stop` drains and closes; a
 * second call waits for the first. `stopped` resolves with the exit code when the daemon has stopped, for whatever reason.
 */
export async function startDaemon(options: DaemonOptions) {
	const undo = createUndo();
	try {
		const home = openHome(options, undo);
		const config = await openConfig(home, undo);
		const queue = await openQueue(home, config, undo);
		const work = await openWork(home, config, queue, undo);
		const runs = openSupervisor(home, config, queue, work, undo);
		const stages = { home, config, queue, work, runs };
		const doors = await openDoors(stages, undo);
		await begin(stages, doors, undo);
		const { port, problem: httpProblem, signInCode } = doors.serving;
		const { stop, stopped } = doors.stopping;
		const reload = () => queue.config.reload();
		return { pid: process.pid, port, httpProblem, socket: runs.socket, home: home.home.path, signInCode, reload, stop, stopped };
	} catch (error) {
		await undo.unwind();
		throw error;
	}
}
