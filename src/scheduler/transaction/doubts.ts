// Which facts commits have invalidated, and when: answers of a probe that began before do not count.

import { jobOfPatch } from "../../core/fact.ts";
import type { Tx } from "./tx.ts";

/** Most facts whose invalidation is remembered. */
const DOUBTS_MAX = 10_000;

export class Doubts {
	/** The last event of the commit that invalidated a fact. */
	private readonly at = new Map<string, number>();
	/** The same for the patch of a job that has ended, by the job's number: most commits end jobs, and hardly any job has a patch that others wait for. */
	private readonly ends = new Map<number, number>();
	/** A probe that began before this event may have missed an invalidation. */
	private from = 0;

	/** The engine remembers nothing of what happened up to this event. */
	begin(seq: number): void {
		this.at.clear();
		this.ends.clear();
		this.from = seq;
	}

	note({ probes, doubted, events }: Pick<Tx, "probes" | "doubted" | "events">, seq: number): void {
		if (this.at.size + this.ends.size > DOUBTS_MAX) this.begin(seq);
		for (const key of probes) this.at.set(key, seq);
		for (const key of doubted) this.at.set(key, seq);
		for (const { kind, job } of events) if (kind === "ended" && job !== null) this.ends.set(job, seq);
	}

	/** Whether a fact was, or may have been, invalidated after this event. */
	has(key: string, since: number): boolean {
		if (since < this.from || (this.at.get(key) ?? 0) > since) return true;
		const job = jobOfPatch(key);
		return job !== undefined && (this.ends.get(job) ?? 0) > since;
	}
}
