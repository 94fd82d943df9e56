// Clearing up after a run: whatever still carries its mark gets SIGTERM, after a grace SIGKILL, until nothing does. One pass over the process table
// serves all runs that are due. It never gives up: until the last one is gone, whoever waits for it waits.

import type { Log } from "../log.ts";
import type { Processes } from "../processes.ts";

/** How often it looks again, at first and in the end. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 500;
/** Processes that stay after SIGKILL hang in the kernel: somebody should know. */
const COMPLAIN_MS = 30_000;

type Entry = {
	mark: string;
	nextAt: number;
	look: number;
	termAt: number | null;
	killAt: number | null;
	complained: boolean;
	done: (() => void)[];
};

export type Clearing = {
	/** From this monotonic time on. `done` when nothing is left. */
	add(mark: string, at: number, done?: () => void): void;
	/** Does what is due; the time of the next thing to do, Infinity for none. */
	beat(now: number): number;
	readonly size: number;
	/** Somebody waits for these. */
	readonly awaited: number;
};

export function createClearing(parts: {
	processes: Processes;
	log: Log;
	graceMs: () => number;
	signalled: (mark: string) => void;
}): Clearing {
	const entries = new Map<string, Entry>();
	const { processes, log } = parts;

	function press(entry: Entry, pids: number[], now: number): void {
		if (entry.termAt === null) {
			entry.termAt = now;
			processes.signalAll(entry.mark, pids, "SIGTERM");
			// One that was frozen hears it only now.
			processes.signalAll(entry.mark, pids, "SIGCONT");
			parts.signalled(entry.mark);
		} else if (now - entry.termAt >= parts.graceMs()) {
			entry.killAt ??= now;
			processes.signalAll(entry.mark, pids, "SIGKILL");
			if (now - entry.killAt > COMPLAIN_MS && !entry.complained) {
				entry.complained = true;
				log.warn("processes do not go away", { mark: entry.mark, pids });
			}
		}
		entry.look = Math.min(LAST_LOOK_MS, entry.look * 2);
		entry.nextAt = now + entry.look;
		if (entry.killAt === null) entry.nextAt = Math.min(entry.nextAt, entry.termAt + parts.graceMs());
	}

	return {
		add(mark, at, done) {
			const entry = entries.get(mark) ?? { mark, nextAt: at, look: FIRST_LOOK_MS, termAt: null, killAt: null, complained: false, done: [] };
			entry.nextAt = Math.min(entry.nextAt, at);
			if (done) entry.done.push(done);
			entries.set(mark, entry);
		},
		beat(now) {
			const due = [...entries.values()].filter((entry) => entry.nextAt <= now);
			if (due.length > 0) {
				const found = processes.sweep(due.map((entry) => entry.mark));
				for (const entry of due) {
					const pids = found.get(entry.mark) ?? [];
					if (pids.length > 0) press(entry, pids, now);
					else {
						entries.delete(entry.mark);
						for (const call of entry.done) call();
					}
				}
			}
			let next = Number.POSITIVE_INFINITY;
			for (const entry of entries.values()) next = Math.min(next, entry.nextAt);
			return next;
		},
		get size() {
			return entries.size;
		},
		get awaited() {
			let count = 0;
			for (const entry of entries.values()) if (entry.done.length > 0) count++;
			return count;
		},
	};
}
