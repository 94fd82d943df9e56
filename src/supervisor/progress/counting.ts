// Counts the changed lines of runs' worktrees beside all else: one worktree at a time, each at most every five seconds, and only after its run did something.

import type { SupervisorContext } from "../context.ts";
import type { LiveRun } from "../run.ts";

const COUNT_MS = 5000;
/** A count that took long is repeated less often: after this many times what it took. */
const COUNT_SHARE = 20;

type Count = {
	lines: { added: number; removed: number } | null;
	/** Monotonic milliseconds from which the next count may begin. */
	dueAt: number;
	/** What the run had done at the last count. */
	done: string;
};

export class LineCounts {
	/** Dropped with the run that it belongs to. */
	readonly #counts = new WeakMap<LiveRun, Count>();
	#isCounting = false;

	constructor(private readonly context: SupervisorContext) {}

	of(run: LiveRun): Count["lines"] {
		return this.#counts.get(run)?.lines ?? null;
	}

	/** Begins a count if one is due and none is under way; another run's turn comes with a later look. `done`: what the run has done so far. */
	countSoon(run: LiveRun, done: string): void {
		const { workspaces, clock } = this.context;
		const now = clock.monotonic();
		const count = this.#counts.get(run) ?? { lines: null, dueAt: 0, done: "" };
		if (!run.housed || workspaces === undefined || this.#isCounting || now < count.dueAt) return;
		if (count.lines !== null && count.done === done) return;
		this.#counts.set(run, count);
		this.#isCounting = true;
		count.done = done;
		count.dueAt = now + COUNT_MS;
		void workspaces
			.lines(run.job)
			.then((lines) => {
				count.lines = lines ?? count.lines;
				count.dueAt = now + Math.max(COUNT_MS, COUNT_SHARE * (clock.monotonic() - now));
			})
			.finally(() => {
				this.#isCounting = false;
			});
	}
}
