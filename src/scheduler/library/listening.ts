// Follows other processes that write to the same store: on a notification, or at each poll, an empty transaction reads what they have committed.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Store } from "../../contracts/store.ts";
import type { Engine } from "../transaction/group-commit.ts";

/** Pause between two transactions while they find nothing for this process to do: the first, and the longest. */
const FIRST_GAP_MS = 5;
const LAST_GAP_MS = 250;

/** Starts to follow other processes. Returns a function that ends it. */
export function listenForOthers(parts: {
	store: Store;
	host: Pick<Host, "after">;
	engine: Pick<Engine, "look">;
	/** Wakes workers, so that their claims go into the same transaction instead of the next one. */
	wake: () => void;
	/** Poll interval, for a store that sends no notifications. */
	everyMs: number | undefined;
	clock: Pick<Clock, "monotonic">;
	/** A counter of the events that this process has written. */
	written: () => number;
}): () => void {
	const { store, host, engine, wake, everyMs, clock, written } = parts;
	let [closed, cancel] = [false, () => {}];
	let [asking, again] = [false, false];
	let [before, lookedAt, gap] = [0, Number.NEGATIVE_INFINITY, 0];
	let later: (() => void) | undefined;

	/**
	 * Handles a notification at once, unless the last one gave this process nothing to do: then the pause doubles, and it is zero again once this process has
	 * written something.
	 */
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
	/** One transaction at a time; a notification that arrives meanwhile causes one more. */
	const ask = async () => {
		if (asking || closed) return;
		asking = true;
		[before, lookedAt] = [written(), clock.monotonic()];
		wake();
		// Ignore errors: callers that need the store get them themselves, and the next attempt may succeed.
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
