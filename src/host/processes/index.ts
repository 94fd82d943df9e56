// The process layer of this machine: opens the FIFO and the shims, and answers from run folders and the process table.

import { join } from "node:path";
import type { Processes } from "../../processes.ts";
import { openFifo } from "./fifo.ts";
import { hasProc, procTable } from "./proc.ts";
import { findPrograms } from "./programs.ts";
import { psTable } from "./ps.ts";
import { checkLaunch, prelude } from "./shim.ts";
import { openShims } from "./shims.ts";
import { forbidRun, recordFailure, sight, signalOne, signalRun } from "./sight.ts";

/** `home`: an absolute folder of ours alone; the FIFO `exits` lives there, and stays for the next one to open it. */
export async function openProcesses(options: { home: string }): Promise<Processes> {
	const programs = findPrograms();
	const table = hasProc() ? procTable() : psTable(programs.ps ?? "/bin/ps");
	const path = join(options.home, "exits");
	let listener: (run: string) => void = () => {};
	const shims = openShims({
		programs,
		prelude: prelude(programs, { boot: table.boot, fifo: path, self: table.self }),
		look: (dir) => sight(dir, table),
		giveUp: (dir, why) => recordFailure(dir, table, why),
		tell: (run) => listener(run),
	});
	const fifo = await openFifo(path, programs.mkfifo, shims.heard);

	return {
		async launch(launch) {
			checkLaunch(launch);
			await shims.hand(launch);
		},
		onNews(call) {
			listener = call;
		},
		look(run, dir) {
			const sighting = sight(dir, table);
			if (sighting.state === "alive") shims.started(run);
			else if (sighting.state !== "unstarted") shims.ended(run);
			return sighting;
		},
		signal: (_run, dir, signal) => signalRun(dir, table, signal),
		forbid: (_run, dir) => forbidRun(dir, table),
		sweep(marks) {
			const wanted = new Set(marks);
			return table.carriers((mark) => wanted.has(mark));
		},
		marked: (prefix) => table.carriers((mark) => mark.startsWith(prefix)),
		signalAll: (mark, pids, signal) => pids.filter((pid) => table.carries(pid, mark) && signalOne(pid, signal)).length,
		async close() {
			await shims.close();
			fifo?.close();
		},
	};
}
