// Follows other processes that write to the same store: at each poll, if there was a commit, an empty transaction reads what they have committed.

import type { Host } from "../../contracts/host.ts";
import type { Core } from "../operations/core.ts";

/** Starts to follow other processes. Returns a function that ends it. */
export function pollForOthers(parts: {
	isStale: () => boolean;
	host: Pick<Host, "after">;
	core: Pick<Core, "look">;
	/** Wakes workers, so that their claims go into the same transaction instead of the next one. */
	wake: () => void;
	everyMs: number;
}): () => void {
	const { isStale, host, core, wake, everyMs } = parts;
	let [closed, cancel] = [false, () => {}];

	const hasNews = () => {
		try {
			return isStale();
		} catch {
			return false;
		}
	};
	const read = async () => {
		wake();
		// Ignore errors: callers that need the store get them themselves, and the next attempt may succeed.
		await core.look(function* () {}).catch(() => {});
	};
	const poll = () => {
		if (closed) return;
		cancel = host.after(everyMs, () => void (hasNews() ? read() : Promise.resolve()).then(poll));
	};
	poll();
	return () => {
		closed = true;
		cancel();
	};
}
