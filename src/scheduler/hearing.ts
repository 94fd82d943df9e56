// What others commit on the same store: heard of at the next look, each event once, in its order. Our own are told at their commit.

import { ask, type EventRecord, type Op } from "../store.ts";
import { lastEvent } from "./registers.ts";
import type { Tx } from "./tx.ts";

const PIECE = 500;

export type Heard = { events: EventRecord[]; upTo: number; more: boolean };

export function createHearing() {
	/** Everything up to here was told; undefined before the first look. */
	let upTo: number | undefined;
	/** Ours beyond that: others have committed in between, and have not been heard of yet. */
	const own = new Set<number>();
	const forward = () => {
		while (upTo !== undefined && own.delete(upTo + 1)) upTo++;
	};
	return {
		told(events: readonly { seq: number }[]): void {
			for (const { seq } of events) if (upTo !== undefined && seq > upTo) own.add(seq);
			forward();
		},
		/** Within a transaction; what comes of it counts once that is committed. */
		*look(tx: Tx): Op<Heard> {
			const last = yield* lastEvent(tx);
			if (upTo === undefined || last <= upTo) return { events: [], upTo: last, more: false };
			const events = yield* ask({ read: "events", since: upTo, limit: PIECE });
			const more = events.length === PIECE;
			return { events, upTo: more ? (events[PIECE - 1] as EventRecord).seq : last, more };
		},
		/** Those of them that were not told yet. */
		take(heard: Heard): EventRecord[] {
			const from = upTo ?? heard.upTo;
			const fresh = heard.events.filter(({ seq }) => seq > from && !own.has(seq));
			upTo = Math.max(from, heard.upTo);
			for (const seq of own) if (seq <= upTo) own.delete(seq);
			forward();
			return fresh;
		},
	};
}
