// Other processes that write to the same store: on a notice, or a look now and then, an empty transaction brings their news along.

import type { Clock, Host } from "../host.ts";
import type { Store } from "../store.ts";
import type { Engine } from "./engine.ts";

/** Between two looks of one who finds nothing to do: the first wait, and the longest. */
const FIRST_GAP_MS = 5;
const LAST_GAP_MS = 250;

/** Returns how to end it. */
export function listenForOthers(parts: {
	store: Store;
	host: Pick<Host, "after">;
	engine: Pick<Engine, "look">;
	/** Whoever waits for work asks for it in the same transaction, instead of in one after it. */
	wake: () => void;
	/** How often it is looked, where the store does not tell by itself. */
	everyMs: number | undefined;
	clock: Pick<Clock, "monotonic">;
	/** Counts up with what this process itself has written. */
	written: () => number;
}): () => void {
	const { store, host, engine, wake, everyMs, clock, written } = parts;
	let [closed, cancel] = [false, () => {}];
	let [asking, again] = [false, false];
	let [before, lookedAt, gap] = [0, Number.NEGATIVE_INFINITY, 0];
	let later: (() => void) | undefined;

	/** At once, unless others are busy with what does not concern us: who has found nothing to do comes less often, and is quick again once it has. */
	const heed = () => {
		again = asking;
		if (asking || later || closed) return;
		gap = written() !== before ? 0 : Math.min(Math.max(FIRST_GAP_MS, 2 * gap), LAST_GAP_MS);
		const rest = lookedAt + gap - clock.monotonic();
		if (rest <= 0) return void ask();
		later = host.after(rest, () => {
			later = undefined;
			void ask();
		});
	};
	/** One at a time; a notice that comes meanwhile is followed once more. */
	const ask = async () => {
		if (asking || closed) return;
		asking = true;
		[before, lookedAt] = [written(), clock.monotonic()];
		wake();
		// A store that fails now says so to whoever wants something of it; the next time may go well.
		await engine.look(function* () {}).catch(() => {});
		asking = false;
		if (again) heed();
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
	const deafen = store.listen?.(heed);
	return () => {
		closed = true;
		later?.();
		cancel();
		deafen?.();
	};
}
