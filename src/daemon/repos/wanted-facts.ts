// The facts that waiting jobs depend on, read every few seconds. Commands behind other facts need not be run again.

import type { Clock } from "../../contracts/host.ts";
import { everyJob } from "../../contracts/queue.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { isWaiting, type Job } from "../../core/job.ts";

const FRESH_MS = 5_000;

export function wantedFacts(parts: { clock: Clock; list: Scheduler["list"] }): () => Promise<ReadonlySet<string>> {
	let known: Promise<ReadonlySet<string>> | undefined;
	let until = 0;
	return () => {
		if (!known || until <= parts.clock.monotonic()) {
			until = parts.clock.monotonic() + FRESH_MS;
			known = ask(parts.list);
		}
		return known;
	};
}

async function ask(list: Scheduler["list"]): Promise<ReadonlySet<string>> {
	const keys = new Set<string>();
	for await (const job of everyJob({ list })) if (isWaiting(job.status)) for (const key of factKeys(job as unknown as Job)) keys.add(key);
	return keys;
}
