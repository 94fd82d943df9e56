// When the merge queue looks at each job again: at once, at a time, or when an event changes the job. Kept in memory: after a restart, every job is due.

import type { Clock } from "../../contracts/host.ts";
import type { EventRow } from "../../contracts/scheduler.ts";
import type { WorktreeRecord } from "../record.ts";

const RETRY_MS = 30_000;
const LONGEST_MS = 600_000;

/**
 * What follows from a look at a job. `rest`: nothing until an event changes it. `look`: after this time. `retry`: with exponential back-off, because the merge
 * could not be tried. `nothing`: it stays due. `stuck`: whether it waits for a person; absent = as before.
 */
export type NextLook = ({ next: "rest" } | { next: "look"; inMs: number } | { next: "retry" } | { next: "nothing" }) & { stuck?: boolean };

export class MergeTimes {
	readonly #clock: Clock;
	readonly #resting = new Set<number>();
	readonly #waits = new Map<number, { tries: number; until: number; repo: string }>();
	/** Jobs that wait for a person. */
	readonly stuck = new Set<number>();

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	isDue(job: number): boolean {
		return !this.#resting.has(job) && (this.#waits.get(job)?.until ?? 0) <= this.#clock.monotonic();
	}

	/** Notes what follows from a look. */
	set({ job, repo }: WorktreeRecord, then: NextLook): void {
		if (then.stuck === true) this.stuck.add(job);
		if (then.stuck === false) this.stuck.delete(job);
		if (then.next === "rest") {
			this.#resting.add(job);
			this.#waits.delete(job);
		}
		if (then.next === "look") this.#waits.set(job, { tries: 0, until: this.#clock.monotonic() + then.inMs, repo });
		if (then.next === "retry") {
			const tries = (this.#waits.get(job)?.tries ?? 0) + 1;
			const inMs = Math.min(LONGEST_MS, RETRY_MS * 2 ** (tries - 1));
			this.#waits.set(job, { tries, until: this.#clock.monotonic() + inMs, repo });
		}
	}

	/** Returns whether the job is to be looked at at once. */
	hear(job: number, { kind, data }: EventRow): boolean {
		const isAsked = kind === "merge_asked" || (kind === "merge" && data.given_up === true);
		if (kind === "reset" || kind === "ended" || kind === "merge" || isAsked) this.#resting.delete(job);
		if (kind === "reset" || kind === "ended" || isAsked) this.stuck.delete(job);
		if (isAsked) this.#waits.delete(job);
		return kind === "ended" || isAsked;
	}

	/** Something in the repo has changed: returns the jobs that waited for that. A merge that could not be tried keeps its back-off. */
	stir(repo: string): number[] {
		const found = [...this.#waits].filter(([, wait]) => wait.repo === repo && wait.tries === 0).map(([job]) => job);
		for (const job of found) this.#waits.delete(job);
		return found;
	}
}
