// A job's runs, from its events. Pure.

import type { EventDocument } from "../../src/api/documents.ts";
import { inWords } from "./words.ts";

export type RunSeen = {
	attempt: number;
	startedAt: number;
	endedAt: number | null;
	waitedMs: number | null;
	worker: string;
	account: string | null;
	/** How it ended, in words; null while it runs. */
	end: string | null;
	/** Why it failed, in one line. */
	failure: string | null;
	tokens: number | null;
	costMicros: number | null;
};

/** Newest first. */
export function runsOf(events: readonly EventDocument[]): RunSeen[] {
	const runs: RunSeen[] = [];
	for (const { kind, at, data } of events) {
		const last = runs.at(-1);
		if (kind === "started")
			runs.push({
				attempt: data.attempt,
				startedAt: Date.parse(at),
				endedAt: null,
				waitedMs: data.waited_ms ?? null,
				worker: data.worker,
				account: data.account ?? null,
				...{ end: null, failure: null, tokens: null, costMicros: null },
			});
		else if ((kind === "ended" || kind === "requeued") && last && last.endedAt === null) {
			last.endedAt = Date.parse(at);
			last.end = inWords(data.exit_kind ?? data.to);
			if (kind === "ended" && data.exit_code) last.end += ` (${data.exit_code})`;
			if (kind === "requeued") last.end += ", waits again";
			last.failure = (kind === "requeued" ? data.message : data.end_reason) ?? null;
			last.tokens = data.usage?.tokens ?? null;
			last.costMicros = data.usage?.cost_micro ?? null;
		}
	}
	return runs.reverse();
}
