// Limits the duration of a pass. A pass that hangs, for instance because a probe's program never answers, is abandoned so that the next one can begin.

import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { ABANDONED, PASS_MS } from "../../core/time/pass-limit.ts";

/** Rejects when the pass takes longer than `PASS_MS`. What the pass does afterwards still takes effect, but nothing waits for it any more. */
export function inTime<T>(pass: Promise<T>, host: Pick<Host, "after">, log: Pick<Log, "error"> | undefined): Promise<T> {
	return new Promise((resolve, reject) => {
		const cancel = host.after(PASS_MS, () => {
			log?.error(ABANDONED);
			reject(new Error(ABANDONED));
		});
		pass.then(resolve, reject).finally(cancel);
	});
}
