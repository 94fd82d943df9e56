// Clearing up after a run: whatever still carries its mark gets SIGTERM, after a grace SIGKILL, until nothing does. One pass over the process table
// serves all runs that are due. It never gives up: until the last one is gone, whoever waits for it waits.

import type { Clock } from "../host.ts";
import type { Log } from "../log.ts";
import type { Processes } from "../processes.ts";

/** How often it looks again, at first and in the end. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 500;
/** Processes that stay after SIGKILL hang in the kernel: somebody should know. */
const COMPLAIN_MS = 30_000;
/** Leftovers of runs that exited by themselves are looked for at multiples of this, one pass for all; less often where a pass takes long. */
const LATER_MS = 500;
const LATER_SHARE = 50;

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
	/** Some time from now, together with others. When. */
	later(mark: string, now: number): number;
	/** Does what is due; the time of the next thing to do, Infinity for none. */
	beat(now: number): number;
	readonly size: number;
};

export function createClearing(parts: {
	processes: Processes;
	clock: Clock;
	log: Log;
	graceMs: () => number;
	signalled: (mark: string) => void;
}): Clearing {
	const entries = new Map<string, Entry>();
	let passMs = 0;
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

	function add(mark: string, at: number, done?: () => void): void {
		const entry = entries.get(mark) ?? { mark, nextAt: at, look: FIRST_LOOK_MS, termAt: null, killAt: null, complained: false, done: [] };
		entry.nextAt = Math.min(entry.nextAt, at);
		if (done) entry.done.push(done);
		entries.set(mark, entry);
	}

	return {
		add,
		later(mark, now) {
			const every = Math.max(LATER_MS, passMs * LATER_SHARE);
			const at = (Math.floor(now / every) + 1) * every;
			add(mark, at);
			return at;
		},
		beat(now) {
			const due = [...entries.values()].filter((entry) => entry.nextAt <= now);
			if (due.length > 0) {
				const found = processes.sweep(due.map((entry) => entry.mark));
				passMs = Math.min(200, parts.clock.monotonic() - now);
				// One that forks and ends in the middle of a pass can slip through it: where locks hang on it, two passes have to agree.
				const doubted = due.filter((entry) => entry.done.length > 0 && !found.has(entry.mark)).map((entry) => entry.mark);
				if (doubted.length > 0) for (const [mark, pids] of processes.sweep(doubted)) found.set(mark, pids);
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
	};
}
