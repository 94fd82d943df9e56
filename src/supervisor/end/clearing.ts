// Clears up after a run: every process that still carries its mark gets SIGTERM, after a grace period SIGKILL, until none is left. One pass over the
// process table serves all runs that are due. Clearing never gives up: a stopped or lost run does not end before its last process is gone.

import type { Clock } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { Processes } from "../../contracts/processes.ts";

/** Interval between two passes for one run: doubles from the first to the last. */
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 500;
/** A process that survives SIGKILL for this long hangs in the kernel: log a warning. */
const COMPLAIN_MS = 30_000;
/** Leftovers of runs that exited by themselves are looked for at multiples of this, in one pass for all; less often if a pass takes long. */
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

export type Clearing = ReturnType<typeof createClearing>;

export function createClearing(parts: {
	processes: Processes;
	clock: Clock;
	log: Log;
	graceMs: () => number;
	signalled: (mark: string) => void;
}) {
	const entries = new Map<string, Entry>();
	let passMs = 0;
	const { processes, log } = parts;

	function press(entry: Entry, pids: number[], now: number): void {
		if (entry.termAt === null) {
			entry.termAt = now;
			processes.signalAll(entry.mark, pids, "SIGTERM");
			// A frozen process handles SIGTERM only after SIGCONT.
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

	/** Clears from this monotonic time on; calls `done` when no process is left. */
	function add(mark: string, at: number, done?: () => void): void {
		const entry = entries.get(mark) ?? { mark, nextAt: at, look: FIRST_LOOK_MS, termAt: null, killAt: null, complained: false, done: [] };
		entry.nextAt = Math.min(entry.nextAt, at);
		if (done) entry.done.push(done);
		entries.set(mark, entry);
	}

	return {
		add,
		/** Clears a little later, together with other runs. Returns the time. */
		later(mark: string, now: number): number {
			const every = Math.max(LATER_MS, passMs * LATER_SHARE);
			const at = (Math.floor(now / every) + 1) * every;
			add(mark, at);
			return at;
		},
		/** Does what is due. Returns the time of the next step, Infinity if there is none. */
		beat(now: number): number {
			const due = [...entries.values()].filter((entry) => entry.nextAt <= now);
			if (due.length > 0) {
				const found = processes.sweep(due.map((entry) => entry.mark));
				passMs = Math.min(200, parts.clock.monotonic() - now);
				// A process that forks and exits during a pass can escape it. If a run's end (and so its locks) depends on the result, two passes must agree.
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
