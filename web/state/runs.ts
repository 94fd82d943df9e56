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
				end: null,
			});
		else if ((kind === "ended" || kind === "requeued") && last && last.endedAt === null) {
			last.endedAt = Date.parse(at);
			const words = [inWords(data.exit_kind ?? data.to)];
			if (kind === "ended" && data.exit_code) words[0] += ` (${data.exit_code})`;
			const why = kind === "requeued" ? data.message : data.end_reason;
			if (why) words.push(why);
			if (kind === "requeued") words.push("it goes on waiting");
			last.end = words.join(": ");
		}
	}
	return runs.reverse();
}
