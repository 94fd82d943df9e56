// The runs that this host carries now, by id, by job and by the token of their program.

import type { LiveRun } from "./run.ts";

export class LiveRuns {
	readonly #byId = new Map<string, LiveRun>();
	/** A job has at most one live run. */
	readonly #byJob = new Map<number, LiveRun>();
	readonly #bySecret = new Map<string, LiveRun>();
	/** Runs that were forgotten since this set was cleared: an older answer of the scheduler may still name them. */
	readonly forgotten = new Set<string>();

	get size(): number {
		return this.#byId.size;
	}

	has(id: string): boolean {
		return this.#byId.has(id);
	}

	get(id: string): LiveRun | undefined {
		return this.#byId.get(id);
	}

	ofJob(job: number): LiveRun | undefined {
		return this.#byJob.get(job);
	}

	ofSecret(secret: string): LiveRun | undefined {
		return this.#bySecret.get(secret);
	}

	/** A copy: runs may be forgotten while a caller goes through them. */
	all(): LiveRun[] {
		return [...this.#byId.values()];
	}

	add(run: LiveRun): void {
		this.#byId.set(run.id, run);
		this.#byJob.set(run.job, run);
		if (run.secret !== null) this.#bySecret.set(run.secret, run);
	}

	/** False if this is not the present run of its id. */
	delete(run: LiveRun): boolean {
		if (this.#byId.get(run.id) !== run) return false;
		this.#byId.delete(run.id);
		if (this.#byJob.get(run.job) === run) this.#byJob.delete(run.job);
		if (run.secret !== null) this.#bySecret.delete(run.secret);
		this.forgotten.add(run.id);
		return true;
	}
}
