// A separate program that ends a host's runs before its lease expires, whatever has become of the daemon: `node lease-guard.js LEASE ID PREFIX RUNS`.
//
//   the lease's file        the guard
//   is gone                 exits: there is nothing left to guard
//   names another guard     exits: a later daemon has started its own
//   until − margin passed   sends SIGTERM to every process with a mark of this home's runs, after noting it in the run's folder
//   until − margin/2        sends SIGKILL, again and again
//
// Times are in the machine's uptime, which goes on while it sleeps. A daemon that is merely restarted renews the file in time.

import { readFileSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { LEASE_NOTE } from "../core/fleet.ts";
import { hasProc, procTable } from "./processes/proc.ts";
import { findPrograms } from "./processes/programs.ts";
import { psTable } from "./processes/ps.ts";
import { signalOne } from "./processes/sight.ts";

/** Times in seconds of uptime. */
export type Lease = { id: string; until: number; margin: number };

const [file = "", id = "", prefix = "", runs = ""] = process.argv.slice(2);
const daemon = process.ppid;
const LONGEST_MS = 1000;

function readLease(): Lease | null {
	try {
		return JSON.parse(readFileSync(file, "utf8")) as Lease;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") process.exit(0);
		// The file cannot be read now: the last known lease still counts.
		return null;
	}
}

let lease: Lease = { id, until: Number.POSITIVE_INFINITY, margin: 0 };
const table = hasProc() ? procTable() : psTable(findPrograms().ps ?? "/bin/ps");
const isRun = (mark: string) => mark.startsWith(prefix) && /^\d+\.\d+$/.test(mark.slice(prefix.length));
const noted = new Set<string>();

/** Notes in the run's folder why the run was ended, so that its end does not count as the run's own fault. */
function note(mark: string): void {
	if (noted.has(mark)) return;
	noted.add(mark);
	try {
		writeFileSync(`${runs}/${mark.slice(prefix.length).replace(".", "/")}/lease`, `${LEASE_NOTE}\n`, { mode: 0o600 });
	} catch {
		// A full disk must not keep the run alive.
	}
}

function end(signal: "SIGTERM" | "SIGKILL"): number {
	let count = 0;
	for (const [mark, pids] of table.carriers(isRun)) {
		note(mark);
		for (const pid of pids)
			if (table.carries(pid, mark)) {
				count++;
				signalOne(pid, signal);
				// A stopped process receives the SIGTERM only after it is continued.
				if (signal === "SIGTERM") signalOne(pid, "SIGCONT");
			}
	}
	return count;
}

let termed = Number.NEGATIVE_INFINITY;
function look(): void {
	lease = readLease() ?? lease;
	if (lease.id !== id) process.exit(0);
	const now = uptime();
	const from = lease.until - lease.margin;
	let left = 0;
	if (now >= lease.until - lease.margin / 2) left = end("SIGKILL");
	else if (now >= from) {
		// Send SIGTERM only once, so that a program that is cleaning up is not interrupted again.
		if (termed !== from) end("SIGTERM");
		termed = from;
	}
	// The daemon that could renew the lease is gone, and so are the runs.
	if (now > lease.until && left === 0 && process.ppid !== daemon) process.exit(0);
	setTimeout(look, Math.min(LONGEST_MS, Math.max(50, (lease.margin * 1000) / 8)));
}
look();
