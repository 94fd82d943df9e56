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

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Newest first. */
export function runsOf(events: readonly EventDocument[]): RunSeen[] {
	const runs: RunSeen[] = [];
	for (const { kind, at, data } of events) {
		const last = runs.at(-1);
		if (kind === "started")
			runs.push({
				attempt: Number(data.attempt),
				startedAt: Date.parse(at),
				endedAt: null,
				waitedMs: typeof data.waited_ms === "number" ? data.waited_ms : null,
				worker: text(data.worker) ?? "",
				account: text(data.account),
				end: null,
			});
		else if ((kind === "ended" || kind === "requeued") && last && last.endedAt === null) {
			last.endedAt = Date.parse(at);
			const words = [inWords(text(data.exit_kind) ?? text(data.to) ?? "ended")];
			if (typeof data.exit_code === "number" && data.exit_code !== 0) words[0] += ` (${data.exit_code})`;
			const why = text(data.message) ?? text(data.end_reason);
			if (why) words.push(why);
			if (kind === "requeued") words.push("it goes on waiting");
			last.end = words.join(": ");
		}
	}
	return runs.reverse();
}
