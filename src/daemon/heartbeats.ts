// Telling the scheduler, now and then, that this host is there.

import { localHost } from "../host/local.ts";

/** Returns how to end it. */
export function heartbeats(everyMs: number, beat: () => Promise<unknown>, failed: (error: unknown) => void): () => void {
	let cancel = () => {};
	const next = () => {
		cancel = localHost.after(everyMs, () => {
			beat().catch(failed);
			next();
		});
	};
	next();
	return () => cancel();
}
