// Which facts commits have invalidated, and when: answers of a probe that began before do not count.

import { patchKey } from "../../core/fact.ts";
import type { Tx } from "./tx.ts";

/** Most facts whose invalidation is remembered. */
const DOUBTS_MAX = 10_000;

export class Doubts {
	/** The last event of the commit that invalidated a fact. */
	private readonly at = new Map<string, number>();
	/** A probe that began before this event may have missed an invalidation. */
	private from = 0;

	/** The engine remembers nothing of what happened up to this event. */
	begin(seq: number): void {
		this.at.clear();
		this.from = seq;
	}

	note({ probes, doubted, events }: Pick<Tx, "probes" | "doubted" | "events">, seq: number): void {
		if (this.at.size > DOUBTS_MAX) this.begin(seq);
		for (const key of [...probes, ...doubted]) this.at.set(key, seq);
		for (const { kind, job } of events) if (kind === "ended") this.at.set(patchKey(job), seq);
	}

	/** Whether a fact was, or may have been, invalidated after this event. */
	has(key: string, since: number): boolean {
		return since < this.from || (this.at.get(key) ?? 0) > since;
	}
}
