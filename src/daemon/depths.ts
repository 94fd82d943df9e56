// Logs the queue depth of each lane every 30 seconds, but only while there are jobs or when something has changed.

import type { Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Scheduler } from "../contracts/scheduler.ts";

const DEPTHS_MS = 30_000;

export function logDepths(parts: { scheduler: Pick<Scheduler, "status">; host: Pick<Host, "after">; log: Log }): () => void {
	const { scheduler, host, log } = parts;
	let last = "";
	let stopped = false;
	let cancel = () => {};
	const failed = (error: unknown) => log.warn("the queue depth could not be asked for", { error });
	const next = () => {
		if (!stopped) cancel = host.after(DEPTHS_MS, () => void logOnce().catch(failed).finally(next));
	};
	async function logOnce(): Promise<void> {
		const { lanes, queued_total, running, paused } = await scheduler.status();
		const depths = Object.fromEntries(
			Object.entries(lanes).map(([name, lane]) => [name, `${lane.queued} queued, ${lane.running} running`]),
		);
		const text = JSON.stringify([depths, paused]);
		if (text === last && queued_total === 0 && running === 0) return;
		last = text;
		log.info("queue depth", { ...depths, ...(paused ? { paused } : {}) });
	}
	next();
	return () => {
		stopped = true;
		cancel();
	};
}
