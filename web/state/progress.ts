// What live runs were last told to be doing, by job. Pure.

import type { EventDocument, ProgressDocument } from "../../src/api/documents.ts";

export class ToldProgress extends Map<number, ProgressDocument> {
	take(news: readonly ProgressDocument[]): void {
		for (const one of news) this.set(one.job, one);
	}

	/** Drops what was told of runs that are over. */
	heard(events: readonly EventDocument[]): void {
		for (const { kind, job } of events) if (job !== null && (kind === "ended" || kind === "requeued")) this.delete(job);
	}
}
