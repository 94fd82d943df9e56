// The process layer of this machine: opens the FIFO and the shims, and answers questions from run folders and the process table.

import { join } from "node:path";
import type { Processes } from "../../contracts/processes.ts";
import { openFifo } from "./fifo.ts";
import { type LeaseFile, startWatcher } from "./lease-watcher.ts";
import { hasProc, procTable } from "./proc.ts";
import { findPrograms } from "./programs.ts";
import { psTable } from "./ps.ts";
import { checkLaunch, prelude } from "./shim.ts";
import { openShims } from "./shims.ts";
import { type Being, forbidRun, recordFailure, sight, signalOne, signalRun, startIf, unmarkedOf } from "./sight.ts";

/** Tolerance for the kernel's clock ticks, which are coarse. */
const NEAR_MS = 100;

/** How much nicer runs on a host with a lease are than its daemon, so that a machine full of agents can lead a fleet: the daemon decides for all of its hosts. */
const RUN_NICE = 5;

/**
 * `home`: an absolute folder that only this user can access. The FIFO `exits` is in it and stays for the next daemon. `lease`: for a host with a lease, whose
 * shims have watchers and whose runs have a lower priority than the daemon.
 */
export async function openProcesses(options: { home: string; lease?: LeaseFile }): Promise<Processes> {
	const programs = findPrograms();
	const table = hasProc() ? procTable() : psTable(programs.ps ?? "/bin/ps");
	const path = join(options.home, "exits");
	let listener: (run: string) => void = () => {};
	const nice = options.lease ? RUN_NICE : 0;
	const shims = openShims({
		programs,
		nice,
		prelude:
			prelude(programs, { boot: table.boot, fifo: path, self: table.self, nice }) +
			(options.lease ? startWatcher(programs, table.self, options.lease) : ""),
		look: (dir) => sight(dir, table),
		giveUp: (dir, why) => recordFailure(dir, table, why),
		exited: (run) => listener(run),
	});
	/** Processes seen below a run when it was asked to stop that do not carry its mark. They count as the run's until they are gone. */
	const unmarked = new Map<string, Being[]>();
	const stillThere = (mark: string): Being[] => {
		const left = (unmarked.get(mark) ?? []).filter((being) => startIf(being, table) !== null);
		if (left.length > 0) unmarked.set(mark, left);
		else unmarked.delete(mark);
		return left;
	};
	const fifo = await openFifo(path, programs.mkfifo, shims.heard);

	return {
		async launch(launch) {
			checkLaunch(launch);
			await shims.hand(launch);
		},
		onExit(call) {
			listener = call;
		},
		look(run, dir) {
			const sighting = sight(dir, table);
			if (sighting.state === "alive") shims.started(run);
			else if (sighting.state !== "unstarted") shims.ended(run);
			return sighting;
		},
		signal(_run, dir, signal) {
			const seen = unmarkedOf(dir, table);
			if (seen && seen.beings.length > 0) {
				const known = stillThere(seen.mark).filter(({ pid }) => !seen.beings.some((one) => one.pid === pid));
				unmarked.set(seen.mark, [...known, ...seen.beings]);
			}
			return signalRun(dir, table, signal);
		},
		forbid: (_run, dir) => forbidRun(dir, table),
		sweep(marks) {
			const wanted = new Set(marks);
			const found = table.carriers((mark) => wanted.has(mark));
			for (const mark of marks) {
				const more = stillThere(mark).map(({ pid }) => pid);
				if (more.length > 0) found.set(mark, [...new Set([...(found.get(mark) ?? []), ...more])]);
			}
			return found;
		},
		begunSince: (mark, at) =>
			[...table.carriers((one) => one === mark).values()].flat().some((pid) => (table.beganAt(pid) ?? 0) >= at - NEAR_MS),
		lineage: (caller) => table.lineage(caller),
		marked: (prefix) => table.carriers((mark) => mark.startsWith(prefix)),
		signalAll(mark, pids, signal) {
			const own = new Set(stillThere(mark).map(({ pid }) => pid));
			return pids.filter((pid) => (own.has(pid) || table.carries(pid, mark)) && signalOne(pid, signal)).length;
		},
		async close() {
			await shims.close();
			fifo?.close();
		},
	};
}
