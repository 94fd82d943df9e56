// Other processes that write to the same store: on a notice, or a look now and then, an empty transaction brings their news along.

import type { Host } from "../host.ts";
import type { Store } from "../store.ts";
import type { Engine } from "./engine.ts";

/** Returns how to end it. */
export function listenForOthers(parts: {
	store: Store;
	host: Pick<Host, "after">;
	engine: Pick<Engine, "run">;
	/** Whoever waits for work asks for it in the same transaction, instead of in one after it. */
	wake: () => void;
	/** How often it is looked, where the store does not tell by itself. */
	everyMs: number | undefined;
}): () => void {
	const { store, host, engine, wake, everyMs } = parts;
	let [closed, cancel] = [false, () => {}];
	let [asking, again] = [false, false];

	/** One at a time; a notice that comes meanwhile is followed once more. */
	const ask = async () => {
		again = asking;
		if (asking || closed) return;
		asking = true;
		wake();
		// A store that fails now says so to whoever wants something of it; the next time may go well.
		await engine.run(function* () {}).catch(() => {});
		asking = false;
		if (again) void ask();
	};
	const look = () => {
		if (closed || everyMs === undefined) return;
		cancel = host.after(everyMs, () => {
			let stale = false;
			try {
				stale = store.isStale?.() ?? false;
			} catch {}
			void (stale ? ask() : Promise.resolve()).then(look);
		});
	};
	if (store.isStale) look();
	const deafen = store.listen?.(() => void ask());
	return () => {
		closed = true;
		cancel();
		deafen?.();
	};
}
