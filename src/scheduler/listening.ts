// Other processes that write to the same store: now and then a look whether they have, and if so an empty transaction, which brings their news along.

import type { Host } from "../host.ts";
import type { Store } from "../store.ts";
import type { Engine } from "./engine.ts";

/** Returns how to end it. */
export function listenForOthers(parts: {
	store: Store;
	host: Pick<Host, "after">;
	engine: Pick<Engine, "run">;
	everyMs: number | undefined;
}): () => void {
	const { store, host, engine, everyMs } = parts;
	let [closed, cancel] = [false, () => {}];
	const look = async () => {
		// A store that fails now says so to whoever wants something of it; the next look may go well.
		try {
			if (store.isStale?.()) await engine.run(function* () {});
		} catch {}
		again();
	};
	const again = () => {
		if (!closed && everyMs !== undefined) cancel = host.after(everyMs, () => void look());
	};
	if (store.isStale) again();
	return () => {
		closed = true;
		cancel();
	};
}
