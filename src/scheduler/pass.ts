// A pass is bounded: one that hangs, since a probe's program never answers, is abandoned, so that the next one can begin.

import { ABANDONED, PASS_MS } from "../core/pass-limit.ts";
import type { Host } from "../host.ts";
import type { Log } from "../log.ts";

/** Rejects when it takes too long. What it does afterwards still counts, but nothing waits for it any more. */
export function inTime<T>(pass: Promise<T>, host: Pick<Host, "after">, log: Pick<Log, "error"> | undefined): Promise<T> {
	return new Promise((resolve, reject) => {
		const cancel = host.after(PASS_MS, () => {
			log?.error(ABANDONED);
			reject(new Error(ABANDONED));
		});
		pass.then(resolve, reject).finally(cancel);
	});
}
